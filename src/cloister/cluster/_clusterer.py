# SPDX-License-Identifier: Apache-2.0
"""What the estimators that find centres share: fitting, storing the release, and prediction, which needs no budget."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin

from cloister.cluster._base import PrivateFit
from cloister.cluster._declare import estimator
from cloister.cluster._describe import Description, read_columns, read_share
from cloister.cluster._first import FirstSteps
from cloister.cluster._plan import Request
from cloister.cluster._scaled import ScaledEstimator
from cloister.cluster._tables import is_file
from cloister.columns import Declaration, FloatArray, Frame, IntArray
from cloister.data import LocalRows, Rows
from cloister.exceptions import without_sizes
from cloister.nearest import nearest_center, squares_to_centers
from cloister.release import Release

PREDICTED = {"use": "predict", "remedy": "Send release_.predict to where they are, as docs/scale.md shows."}
# Beside the estimators instead of in them: scikit-learn's page for notebooks shows whatever ``vars`` or ``dir`` list, of an
# array the exact length and the first and last entries. What lists, prints, copies or stores an estimator meets no label.
LABELS: WeakKeyDictionary[object, IntArray] = WeakKeyDictionary()


@estimator
class PrivateClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, ScaledEstimator):  # type: ignore[misc]
    """Base of the estimators that have centres.

    Parameters
    ----------
    describe : float, default=0.0
        Part of the budget, up to 0.9, that says what the clusters look like: noisy histograms of every column in each
        of them (``release_.profiles``). It is taken from what finds the centres. 0 asks nothing.
    describe_columns : mapping, optional
        Further columns to describe, declared as in `bounds`, which must be a mapping, too:
        ``{"income": (0, 200_000), "region": Category(["north", "south"])}``. They are read from the same table and
        never clustered by. Their bounds and levels must be public.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        In the units of the input, inside the domain.
    cluster_counts_ : array of shape (n_clusters,)
        Noisy numbers of rows; of persons with ``weighting='person'``.
    n_iter_ : int
        Rounds.
    release_ : Release
        What may be published.
    labels_ : array of shape (n_rows,)
        Row-level, not covered by the guarantee, absent from pickles. Only for tables in memory.
    """

    describe: float = 0.0
    describe_columns: Any = None

    @property
    def labels_(self) -> IntArray:
        """Exists because scikit-learn asks for it; what is about single rows is never shown or stored."""
        if self not in LABELS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'labels_'")
        return LABELS[self]

    @labels_.deleter
    def labels_(self) -> None:
        _ = self.labels_  # there must be some
        del LABELS[self]

    def _label(self, X: object, rows: Rows) -> None:
        LABELS.pop(self, None)  # of an earlier fit
        if isinstance(rows, LocalRows) and not is_file(X):
            LABELS[self] = _find_labels(rows, self._frame, self.cluster_centers_)

    def _store(self, fit: PrivateFit) -> None:
        outcome, frame = fit.outcome, fit.frame
        release = Release(
            **self._about(fit),
            parameters=self._public_parameters(),
            cluster_centers=frame.from_unit(outcome.centers),
            center_errors=frame.errors_from_unit(outcome.center_errors, outcome.centers),
            cluster_counts=outcome.counts,
            count_errors=outcome.count_errors,
            domain=frame.domain,
            cells=fit.cells,
            profiles=fit.profiles,
            details={**fit.row_count, **outcome.details},
        )
        self._publish(release, n_rounds=outcome.n_rounds)
        if outcome.error_inputs is not None:
            self._complete: Callable[[], Release] | None = partial(outcome.error_inputs.complete, release, outcome, frame)
            del self.release_

    @cached_property
    def release_(self) -> Release:
        """What may be published. Total errors are computed when it is first read: they cost time, and a fit needs none."""
        complete = vars(self).get("_complete")
        if complete is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'release_'")
        self._complete = None
        release: Release = complete()
        return release

    # -- describing the clusters -----------------------------------------------------------------------------------------

    def _request(self) -> Request:
        share = read_share(self._where("describe"), self.describe)
        read_columns(self._where("describe_columns"), self.describe_columns, share=share, bounds=self.bounds)
        return super()._request()

    @property
    def _extra_columns(self) -> dict[str, Declaration]:
        where, share = self._where("describe_columns"), float(self.describe)
        return read_columns(where, self.describe_columns, share=share, bounds=self.bounds)

    def _closing_share(self) -> float:
        return float(self.describe)

    def _description(self, request: Request, frame: Frame, first: FirstSteps, n_rows: float) -> Description | None:
        share = float(self.describe)
        if not share:
            return None
        return Description.plan(
            self._where("describe"), request, frame, self._extra_columns, first=first, share=share, n_rows=n_rows
        )

    def _public_parameters(self) -> dict[str, Any]:
        hidden = {"describe_columns"} if self.describe else {"describe", "describe_columns"}  # the profiles say what they are
        return {name: value for name, value in super()._public_parameters().items() if name not in hidden}

    def _publish(self, release: Release, *, n_rounds: int) -> None:
        self._frame = release.frame
        self._n_features_out = release.n_clusters
        self.n_iter_ = n_rounds
        self.cluster_centers_ = release.cluster_centers
        self.cluster_counts_ = release.cluster_counts
        self.privacy_receipt_ = release.receipt
        self.release_ = release
        self._complete = None

    # -- using a fitted model: costs no budget, and says nothing about the rows it was fitted on ---------------------------

    @without_sizes
    def predict(self, X: object) -> IntArray:
        """Return the index of the nearest centre for each row of `X`.

        A row with missing values is compared by its other columns, unless it was declared where missing values lie.

        Notes
        -----
        **Privacy.** Labels describe the rows of `X` one by one and are not covered by the guarantee.

        A label of a cluster that does not stand out of the noise (``release_.stands_out``) says nothing about its row.
        """
        return _find_labels(self._open_new(X, **PREDICTED), self._frame, self.cluster_centers_)

    def fit_predict(self, X: object, y: object = None, *, privacy_unit: object = None, **unknown: object) -> IntArray:
        """Fit, then return the label of each row. The labels are not covered by the guarantee."""
        self.fit(X, privacy_unit=privacy_unit, **unknown)
        labels: IntArray = self.labels_ if hasattr(self, "labels_") else self.predict(X)
        return labels

    @without_sizes
    def transform(self, X: object) -> FloatArray:
        """Return the distance of each row of `X` to every centre, in the units of the input (of half the bounds, if scaled).

        That of a row with missing values is over the columns that are there, as for ``predict``.
        """
        rows, frame = self._open_new(X, **PREDICTED), self._frame
        parts = [np.empty((0, len(self.cluster_centers_)))]
        for block in rows.blocks():
            squares = squares_to_centers(frame, self.cluster_centers_, block[:, : frame.n_raw])
            parts.append(frame.distance_unit * np.sqrt(squares))
        return np.concatenate(parts)

    @without_sizes
    def score(self, X: object, y: object = None) -> float:
        """Return minus the sum of squared distances of the rows of `X` to their nearest centre.

        Notes
        -----
        **Privacy.** An exact function of the rows of `X`: not covered by the guarantee, and no debit. Use rows that are public,
        or treat the number as you treat the rows.
        """
        return -float(np.sum(np.min(self.transform(X), axis=1, initial=np.inf) ** 2))

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - {"labels_"})


def _find_labels(rows: LocalRows, frame: Frame, centers: FloatArray) -> IntArray:
    """Return the index of the nearest centre for each row."""
    return rows.label(lambda block: nearest_center(frame, centers, block[:, : frame.n_raw]))
