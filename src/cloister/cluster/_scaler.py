# SPDX-License-Identifier: Apache-2.0
"""PrivateScaler: what StandardScaler is used for, paid for. Its output says where it lies, so that a pipeline stays honest."""

from dataclasses import field
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cloister import validate
from cloister.cluster._base import PrivateFit
from cloister.cluster._declare import estimator
from cloister.cluster._plan import Plan, Planner, Request
from cloister.cluster._privacy_unit import SIZES_SHARE
from cloister.cluster._scaled import ScaledEstimator
from cloister.columns import Box, FloatArray, Frame
from cloister.data import ScaledRows
from cloister.exceptions import DataError, without_sizes
from cloister.questions import Ask
from cloister.release import Caution, cell_cautions

RANGES_SHARE = 0.94  # of the budget; the rest is for the number of rows and for missing values


@estimator
class PrivateScaler(  # type: ignore[call-arg]
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ScaledEstimator,
    auto_wrap_output_keys=None,  # a data frame would hold neither bounds nor receipt
):
    """Centre columns and divide them by their spread, found with noise and paid for.

    A scaler in front of a private fit reads the rows: an ordinary one does so without paying, and the guarantee of the fit
    behind it is void. This one pays from the same ledger, and hands the box that its output lies in to the estimator behind
    it, which then needs no `bounds`. The receipt of that estimator covers both: what the scaler found is part of every result
    behind it. Its `neighbours` and privacy unit must be the scaler's. ``KMeans(scaling="spread")`` does the same in one step,
    for less.

    Parameters
    ----------
    epsilon, delta : float, default=0.1 and 1e-6
        The guarantee of the scaler alone; that of the estimator behind it covers both, and a shared ledger pays each once.
    bounds : "private", (low, high), Box, list of pairs or mapping, default="private"
        Where rows may lie, as for :class:`KMeans`.
    scaling : {"spread", "bounds"}, default="spread"
        Divide by the standard deviation, or by half the width of the bounds.

    Attributes
    ----------
    bounds_ : Box
        Where the output lies. Public.
    domain_ : Table
        What was found: bounds and spreads of the columns. Public.
    center_, scale_ : array of shape (n_features_out,)
        What is subtracted, and what is divided by, where every column is a number. Public.

    Notes
    -----
    **Privacy.** The questions of ``bounds="private"`` and ``scaling="spread"``: noisy histograms of all columns at once (l2
    sensitivity sqrt(d) for adding or removing a row, sqrt(2 d) for replacing one). The output of `transform` describes
    single rows and is as private as these. It carries the receipt, also through slices, copies, stacks and pickles; converted
    to a plain array or a data frame it does not, and a fit of that states its own cost alone.

    Examples
    --------
    >>> from cloister import KMeans, Ledger
    >>> from sklearn.pipeline import make_pipeline
    >>> rows = np.random.default_rng(0).normal([[20.0, 3e6], [60.0, 9e6]], [[2.0, 1e5]] * 2, size=(4000, 2, 2)).reshape(-1, 2)
    >>> ledger = Ledger(epsilon=1.0, delta=1e-6)
    >>> scaler = PrivateScaler(epsilon=0.3, ledger=ledger, random_state=0)
    >>> model = make_pipeline(scaler, KMeans(2, epsilon=0.6, ledger=ledger, random_state=0)).fit(rows)
    >>> np.sort(scaler.inverse_transform(model[-1].cluster_centers_)[:, 0]).round(-1)
    array([20., 60.])
    """

    epsilon: float = field(default=0.1, kw_only=False)
    bounds: Any = "private"
    scaling: str = "spread"
    n_clusters: Any = field(default=1, init=False)  # these three are no parameters of a scaler
    missing: str = field(default="mean", init=False)
    bounds_share: float = field(default=RANGES_SHARE, init=False)

    def _store(self, fit: PrivateFit) -> None:
        self._frame = fit.frame
        self._cautions = list(cell_cautions(fit.frame.domain, fit.feature_names, fit.cells))
        self.domain_ = fit.frame.domain
        self.privacy_receipt_ = fit.receipt
        self.bounds_ = Box(-fit.frame.reach, fit.frame.reach)
        self._n_features_out = fit.frame.n_features
        if fit.frame.half_widths is not None:
            self.center_, self.scale_ = fit.frame.center, fit.frame.scale / fit.frame.distance_unit

    @property
    def warnings_(self) -> list[Caution]:
        """What to know before using what was found, each with its remedy."""
        return self._cautions

    def _request(self) -> Request:
        validate.one_of(self._where("scaling"), self.scaling, ("bounds", "spread"))
        return super()._request()

    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> Plan:
        return Plan()  # nothing but the preliminary steps

    def _run(self, ask: Ask, plan: Any, frame: Frame, *, n_rows: float, generator: np.random.Generator) -> None:
        """Ask nothing: the preliminary questions have found everything."""

    def _bounds_share(self) -> float | None:
        finds = self._max_rows() is None and (self.privacy_unit is not None or self._ids is not None)
        return RANGES_SHARE - (SIZES_SHARE if finds else 0.0)

    @without_sizes
    def transform(self, X: object) -> ScaledRows:
        """Return the rows, scaled and moved into `bounds_`. They are as private as `X`."""
        rows, frame = self._open_new(X, use="transform", remedy="Use KMeans(scaling='spread')."), self._frame
        parts = [frame.clean(block[:, : frame.n_raw]) * frame.distance_unit for block in rows.blocks()]
        scaled = np.concatenate([np.empty((0, frame.n_features)), *parts]).view(ScaledRows)
        scaled.bounds, scaled.receipt = self.bounds_, self.privacy_receipt_.in_front()
        return scaled

    def inverse_transform(self, X: object) -> FloatArray:
        """Return scaled points, such as centres, in the units of the input."""
        check_is_fitted(self)
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self._frame.n_features:
            raise DataError(
                f"{type(self).__name__}.inverse_transform: expected a table of {self._frame.n_features} columns. "
                "Pass scaled points."
            )
        return self._frame.from_unit(points / self._frame.distance_unit)
