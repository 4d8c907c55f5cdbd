# SPDX-License-Identifier: Apache-2.0
"""What all estimators share: check, open the vault, plan, run, store the releases. Also prediction, which needs no budget."""

import numbers
from abc import abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from cloister import validate
from cloister.cluster._progress import Progress
from cloister.cluster._row_level import RowLevel, without_row_level
from cloister.data import LocalRows, Rows, open_rows, watched
from cloister.domain import Domain, FloatArray, Frame, IntArray, Relation, as_domain, snap
from cloister.exceptions import DataError, ParameterError
from cloister.privacy import (
    ApproxDP,
    Cost,
    Entropy,
    Guarantee,
    Ledger,
    PureDP,
    Receipt,
    as_guarantee,
    convert,
    gaussian_budget,
)
from cloister.questions import Answer, Ask, Nearest, RowCount
from cloister.release import Release, library_versions
from cloister.vault import Vault

__all__ = ["Outcome", "PrivateClusterer", "PrivateEstimator", "PrivateFit", "Request", "count_rows"]

SCALINGS = ("bounds", "none")
SIZE_SHARE = 0.02  # of the budget, for the number of rows where it is not public
REFERENCE_DELTA = 1e-6  # at which rho or mu is read as an epsilon, for heuristics only
LARGEST_N_CLUSTERS = 1 << 20
LARGEST_N_ROWS = 10**15
RARELY_TOO_LOUD = 1e-2  # epsilon or mu of a fit from which on noise that can be drawn has sufficed for every question


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a fit asks for, checked: public numbers only."""

    n_clusters: int
    guarantee: Guarantee
    cost: Cost  # the whole budget of the fit, in the currency of its noise
    relation: Relation
    n_rows: int | None  # None: not public
    entropy: Entropy

    @property
    def epsilon(self) -> float:
        """The guarantee read as an epsilon, for heuristics."""
        if isinstance(self.guarantee, PureDP | ApproxDP):
            return self.guarantee.epsilon
        return convert(self.guarantee, ApproxDP, delta=REFERENCE_DELTA).epsilon


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What an algorithm returns to its estimator, in the coordinates of the unit ball; all of it public."""

    centers: FloatArray
    center_errors: FloatArray
    counts: FloatArray
    count_errors: FloatArray
    n_rounds: int
    history: list[dict[str, Any]] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PrivateFit:
    """What a private fit leaves behind, besides the rows' backend: all of it public."""

    outcome: Any
    frame: Frame
    feature_names: tuple[str, ...] | None
    receipt: Receipt


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of everything that is fitted to private rows. Subclasses assign parameters and implement `_plan` and `_run`."""

    n_clusters: int
    epsilon: float
    delta: float
    guarantee: Guarantee | None
    bounds: Any
    scaling: str
    neighbours: str
    n_rows: int | None
    ledger: Ledger | None
    random_state: Any
    n_jobs: int | None
    progress: bool

    @abstractmethod
    def _plan(self, request: Request, frame: Frame) -> Any:
        """Check the method's own parameters and decide everything that public numbers decide."""

    @abstractmethod
    def _run(self, ask: Ask, request: Request, plan: Any, frame: Frame, progress: Progress) -> Any:
        """Run the algorithm on noisy answers."""

    def _fit_privately(self, X: object, rows: Rows, progress: Progress | None = None) -> PrivateFit:
        """Check, plan, reserve, open the vault, run, close: the one way from rows to results."""
        request = self._request()
        frame = self._domain(rows.n_features).frame(scaling=self._scaling())
        plan = self._plan(request, frame)
        self._refuse_noise_that_cannot_be_drawn(request, plan, frame)
        ledger = self.ledger if self.ledger is not None else _own_ledger(request)
        account = ledger.reserve(request.cost, purpose=type(self).__name__, relation=request.relation)
        vault = Vault(rows, frame=frame, relation=request.relation, account=account, entropy=request.entropy)
        try:
            self._note_features(X, rows)
            with progress or self._new_progress() as shown, watched(rows, shown.within):
                outcome = self._run(vault.ask, request, plan, frame, shown)
        finally:
            receipt = vault.close(request.guarantee)
        return PrivateFit(outcome, frame, rows.feature_names, receipt)

    def _refuse_noise_that_cannot_be_drawn(self, request: Request, plan: Any, frame: Frame) -> None:
        """Rehearse a fit with a tiny budget on a table without rows: it must not fail once something is spent."""
        if (request.cost.epsilon if isinstance(request.cost, PureDP) else request.cost.mu) >= RARELY_TOO_LOUD:
            return
        empty, possible = open_rows(np.empty((0, frame.n_features)), n_jobs=1), True
        try:
            account = _own_ledger(request).reserve(request.cost, purpose="rehearsal", relation=request.relation)
            vault = Vault(empty, frame=frame, relation=request.relation, account=account, entropy=Entropy(0))
            copy(self)._run(vault.ask, request, plan, frame, Progress("rehearsal", enabled=False))
        except ParameterError:  # of a scale, which is no parameter of this estimator
            possible = False
        if not possible:
            rule = "a budget whose noise can be drawn"
            validate.refuse(self._where("epsilon"), rule, str(request.guarantee), remedy="Spend more.")

    def _new_progress(self) -> Progress:
        return Progress(type(self).__name__, enabled=self.progress)

    def _domain(self, n_features: int) -> Domain:
        return as_domain(self._where("bounds"), self.bounds, n_features)

    def _open(self, X: object) -> Rows:
        self._request()  # parameters are checked before the table is touched
        return open_rows(X, n_jobs=self.n_jobs, where=type(self).__name__)

    def _request(self) -> Request:
        guarantee = as_guarantee(type(self).__name__, self.epsilon, self.delta, self.guarantee)
        n_clusters = validate.integer(self._where("n_clusters"), self.n_clusters, low=1, high=LARGEST_N_CLUSTERS)
        n_rows = self.n_rows
        if n_rows is not None:
            n_rows = validate.integer(
                self._where("n_rows"),
                n_rows,
                low=0,
                high=LARGEST_N_ROWS,
                remedy="Pass the number of rows if it is public, or None.",
            )
        if self.ledger is not None and not isinstance(self.ledger, Ledger):
            validate.refuse(self._where("ledger"), "a Ledger or None", self.ledger, remedy="Use Ledger.open(path).")
        validate.boolean(self._where("progress"), self.progress)
        pure = isinstance(guarantee, PureDP) or (isinstance(guarantee, ApproxDP) and guarantee.delta == 0)
        return Request(
            n_clusters=n_clusters,
            guarantee=guarantee,
            cost=convert(guarantee, PureDP) if pure else gaussian_budget(guarantee),
            relation=Relation.parse(self._where("neighbours"), self.neighbours),
            n_rows=n_rows,
            entropy=Entropy(self.random_state, where=self._where("random_state")),
        )

    def _where(self, parameter: str) -> str:
        return f"{type(self).__name__}.{parameter}"

    def _scaling(self) -> str:
        return validate.one_of(self._where("scaling"), self.scaling, SCALINGS)

    def _note_features(self, X: object, rows: Rows) -> None:
        if _is_in_memory(X, rows):
            validate_data(self, _shape_of(X, rows), skip_check_array=True)
            self.n_features_in_ = rows.n_features
            return
        self.n_features_in_ = rows.n_features
        if rows.feature_names is not None:
            self.feature_names_in_ = np.array(rows.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _public_parameters(self) -> dict[str, Any]:
        hidden = {"bounds", "guarantee", "ledger", "n_jobs", "progress", "random_state"}
        if self.guarantee is not None:
            hidden |= {"epsilon", "delta"}  # replaced by the guarantee, which the receipt holds
        return {name: _plain(value) for name, value in self.get_params(deep=False).items() if name not in hidden}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # a missing value is moved into the domain: an error would reveal it
        return tags


class PrivateClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, PrivateEstimator):  # type: ignore[misc]
    """Base of the estimators that have centres."""

    labels_ = RowLevel()  # exists because scikit-learn asks for it; what is about single rows is never shown or stored

    # -- fitting --------------------------------------------------------------------------------------------------------

    def fit(self, X: object, y: object = None) -> Self:
        """Cluster the rows under the guarantee.

        Parameters
        ----------
        X : whatever :func:`cloister.open_rows` opens, or what it returns
            The private rows: an array, a data frame, files, a Dask or Spark collection.
        y : None
            Ignored.

        Returns
        -------
        self
            Fitted.

        Raises
        ------
        ParameterError, DataError, BudgetExceeded
            Before anything is spent.
        """
        rows = self._open(X)
        self._store(self._fit_privately(X, rows))
        type(self).labels_.forget(self)  # of an earlier fit
        if isinstance(rows, LocalRows) and not _is_file(X):
            self.labels_ = _concatenate(self._label_blocks(rows))
        return self

    def _store(self, fit: PrivateFit) -> None:
        outcome, frame = fit.outcome, fit.frame
        release = Release(
            method=type(self).__name__,
            parameters=self._public_parameters(),
            cluster_centers=frame.from_unit(outcome.centers),
            center_errors=outcome.center_errors * frame.scale,
            cluster_counts=outcome.counts,
            count_errors=outcome.count_errors,
            domain=frame.domain,
            scaling=self.scaling,
            receipt=fit.receipt,
            feature_names=fit.feature_names,
            history=outcome.history,
            details=outcome.details,
            versions=library_versions(),
        )
        self._publish(release, n_rounds=outcome.n_rounds)

    def _publish(self, release: Release, *, n_rounds: int) -> None:
        self._frame = release.frame
        self._n_features_out = release.n_clusters
        self.n_iter_ = n_rounds
        self.cluster_centers_ = release.cluster_centers
        self.cluster_counts_ = release.cluster_counts
        self.privacy_receipt_ = release.receipt
        self.release_ = release

    # -- using a fitted model: costs no budget, and says nothing about the rows it was fitted on ---------------------------

    def predict(self, X: object) -> IntArray:
        """Return the index of the nearest centre for each row of `X`.

        Notes
        -----
        **Privacy.** Labels describe the rows of `X` one by one and are not covered by the guarantee.
        """
        return _concatenate(self._label_blocks(self._open_new(X)))

    def fit_predict(self, X: object, y: object = None) -> IntArray:
        """Fit, then return the label of each row. The labels are not covered by the guarantee."""
        self.fit(X)
        labels: IntArray = self.labels_ if hasattr(self, "labels_") else self.predict(X)
        return labels

    def transform(self, X: object) -> FloatArray:
        """Return the distance of each row of `X` to every centre, in the units of the input (of half the bounds, if scaled)."""
        rows, frame = self._open_new(X), self._frame
        reach = float(frame.scale[0]) if self.release_.scaling == "none" else frame.n_features**0.5
        parts = [reach * _distances(frame, self.cluster_centers_, block) for block in rows.blocks()]
        return np.concatenate([np.empty((0, len(self.cluster_centers_))), *parts])

    def score(self, X: object, y: object = None) -> float:
        """Return minus the sum of squared distances of the rows of `X` to their nearest centre.

        Notes
        -----
        **Privacy.** An exact function of the rows of `X`: not covered by the guarantee, and no debit. Use rows that are public,
        or treat the number as you treat the rows.
        """
        return -float(np.sum(np.min(self.transform(X), axis=1, initial=np.inf) ** 2))

    def _open_new(self, X: object) -> LocalRows:
        check_is_fitted(self)
        owner, names = type(self).__name__, getattr(self, "feature_names_in_", None)
        columns = None if names is None or hasattr(type(X), "fold") or not _is_file(X) else list(names)
        rows = open_rows(X, columns, n_jobs=self.n_jobs, where=owner)
        if _is_in_memory(X, rows):
            validate_data(self, _shape_of(X, rows), reset=False, skip_check_array=True)
        elif names is not None and rows.feature_names is not None and rows.feature_names != tuple(names):
            raise DataError(f"{owner}: expected the columns {', '.join(names[:50])}, got others. Pass the same, in order.")
        if rows.n_features != self.n_features_in_:
            raise DataError(
                f"X has {rows.n_features} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input. Pass the same columns."
            )
        if not isinstance(rows, LocalRows):
            raise DataError(
                f"{owner}.predict: expected rows of this machine, got rows of a cluster. Send release_.predict to where "
                "they are, as docs/scale.md shows."
            )
        return rows

    def _label_blocks(self, rows: LocalRows) -> Iterator[IntArray]:
        nearest = Nearest(snap(self._frame.to_unit(self.cluster_centers_)))
        for block in rows.blocks():
            yield nearest(self._frame.clean(block))

    def __dir__(self) -> list[str]:
        return without_row_level(type(self), super().__dir__())


def count_rows(ask: Ask, request: Request) -> tuple[float, Cost]:
    """Return the number of rows, public or noisy, and what is left of the budget after asking for it."""
    if request.n_rows is not None:
        return float(request.n_rows), request.cost
    answer: Answer = ask(RowCount(), request.cost.share(SIZE_SHARE))
    return max(1.0, float(answer.value[0])), request.cost.share(1 - SIZE_SHARE)


def _own_ledger(request: Request) -> Ledger:
    return Ledger(request.guarantee, neighbours=request.relation.value)


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else value


def _is_file(X: object) -> bool:
    return isinstance(X, str) or hasattr(X, "__fspath__") or hasattr(type(X), "fold")


def _is_in_memory(X: object, rows: Rows) -> bool:
    """Whether scikit-learn can look at the shape and the column names itself."""
    return isinstance(rows, LocalRows) and (isinstance(X, list | tuple | np.ndarray) or hasattr(X, "columns"))


def _shape_of(X: Any, rows: Rows) -> Any:
    """Return what has the shape and the column names of `X`; scikit-learn would take the width of a list from its first row."""
    return X if hasattr(X, "columns") else np.empty((0, rows.n_features))


def _concatenate(parts: Iterator[IntArray]) -> IntArray:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def _distances(frame: Frame, centers: FloatArray, block: npt.NDArray[Any]) -> FloatArray:
    rows, points = frame.clean(block), frame.to_unit(centers)
    squares = np.sum(rows**2, axis=1)[:, None] - 2 * rows @ points.T + np.sum(points**2, axis=1)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
