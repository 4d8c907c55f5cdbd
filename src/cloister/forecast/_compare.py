# SPDX-License-Identifier: Apache-2.0
"""The public function ``compare``: several methods side by side on rows that are public, or made up.

What it returns is exact and covered by no guarantee, so it is for choosing a method before private rows are touched.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans as Reference
from sklearn.metrics import pairwise_distances_argmin_min

from cloister import validate
from cloister.cluster import Progress
from cloister.columns import FloatArray, PrivacyUnit, Relation
from cloister.exceptions import CloisterError
from cloister.forecast._public import PublicRows, make_up, read_public
from cloister.forecast._show import aligned, html_table
from cloister.methods import METHODS, Method, comparable, find_method
from cloister.privacy import PROCESS, Guarantee, as_guarantee

__all__ = ["Comparison", "Contender", "compare"]

HEAD = ("method", "loss / limit", "+-", "seconds", "")


@dataclass(frozen=True)
class Contender:
    """How one method did."""

    method: str
    loss: float | None  # mean squared distance of a row to its centre, over all repeats; None if the method failed
    error: float | None  # standard error of the mean; None after a single fit
    seconds: float | None  # of a fit, the median
    failure: str | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What :func:`cloister.compare` returns; prints as a table, in a notebook too.

    Attributes
    ----------
    contenders : tuple of Contender
        The best first; those that failed, with the reason, last.
    limit : float
        The loss without privacy: the best of ten starts of scikit-learn's KMeans.
    one_centre : float
        The loss of a single centre at the mean: what no method should exceed.
    n_rows, n_features, n_clusters, repeats : int
        What was compared.
    guarantee : PureDP, ApproxDP, ZCDP or GDP
        At what cost.
    made_up : bool
        Whether the rows were made up, of a shape that was asked for.
    protects : str
        What a fit protects: one row, or one person with at most so many rows.
    """

    contenders: tuple[Contender, ...]
    limit: float
    one_centre: float
    n_rows: int
    n_features: int
    n_clusters: int
    repeats: int
    guarantee: Guarantee
    made_up: bool = False
    protects: str = "one row"

    @property
    def best(self) -> str:
        """The method with the lowest mean loss."""
        if self.contenders[0].loss is None:
            validate.refuse("compare.methods", "one that can be fitted", self.contenders[0].failure, remedy="Add another one.")
        return self.contenders[0].method

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {
            "n_rows": self.n_rows,
            "n_features": self.n_features,
            "n_clusters": self.n_clusters,
            "repeats": self.repeats,
            "guarantee": str(self.guarantee),
            "limit": self.limit,
            "one_centre": self.one_centre,
            "made_up": self.made_up,
            "protects": self.protects,
            "contenders": [asdict(one) for one in self.contenders],
        }

    def __str__(self) -> str:
        return "\n".join([self._headline, "", *aligned(HEAD, self._lines)])

    def _repr_html_(self) -> str:
        return html_table(self._headline, HEAD, self._lines)

    @property
    def _headline(self) -> str:
        kind = "made-up" if self.made_up else "public"
        times = "once" if self.repeats == 1 else f"{self.repeats} times"
        whom = "" if self.protects == "one row" else f" for {self.protects}"
        return (
            f"{self.n_rows:,} {kind} rows x {self.n_features}, k = {self.n_clusters}, {self.guarantee}{whom}, {times}; "
            f"the limit is the loss without privacy, one centre at the mean gets {self.one_centre / self.limit:.2f}"
        )

    @property
    def _lines(self) -> list[tuple[str, ...]]:
        return [self._line(one) for one in self.contenders]

    def _line(self, one: Contender) -> tuple[str, ...]:
        if one.loss is None or one.seconds is None:
            return one.method, "-", "-", "-", f"failed: {one.failure}"
        error = "-" if one.error is None else f"{one.error / self.limit:.3f}"
        return one.method, f"{one.loss / self.limit:.3f}", error, f"{one.seconds:.2f}", ""


def compare(
    rows: Any = None,
    *,
    n_clusters: int = 8,
    n_rows: int | None = None,
    n_features: int | None = None,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    guarantee: Guarantee | None = None,
    bounds: Any = None,
    scaling: str = "none",
    neighbours: str = "add-remove",
    privacy_unit: str | None = None,
    max_rows_per_unit: Any = "auto",
    weighting: str = "row",
    methods: Sequence[Any] = comparable(),
    repeats: int = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Comparison:
    """Fit several methods to public rows, or to made-up ones of the same shape, and tell how far from the limit each ends.

    Parameters
    ----------
    rows : table, optional
        **Public** rows: the figures that come back are exact and protect nobody. Anything that ``fit`` takes and this
        process can hold. Left out, rows are made up: `n_clusters` round clusters of unequal size in [-1, 1].
    n_clusters : int, default=8
        Number of centres, and of made-up clusters.
    n_rows, n_features : int, optional
        The shape of made-up rows; not with `rows`.
    epsilon, delta, guarantee
        As for the estimators, and the same for all of them.
    bounds : (low, high), Box or Ball
        As for the estimators; not for made-up rows, whose domain is known.
    scaling : {"none", "bounds"}, default="none"
        As for the estimators: measure distances in the units of the input, or with every column divided by its width.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Which tables count as neighbours.
    privacy_unit : str, optional
        The column of `rows` that says whose row it is: fits then protect persons. It is not clustered by.
    max_rows_per_unit : int or "auto", default="auto"
        As for the estimators. The loss that is compared is always that of all rows, each counting 1.
    weighting : {"row", "person"}, default="row"
        The same.
    methods : sequence of str or estimators
        Names of estimators, or estimators that set parameters of their own, such as ``PEMeans(selection="top-k")``. By default
        all that find centres; a synopsis takes part by name, cut at `n_clusters`. One that cannot be fitted is listed with the
        reason.
    repeats : int, default=5
        Fits of each method.
    random_state : int, default=0
        Makes the whole comparison reproducible.
    n_jobs : int, optional
        Threads; None uses all processors.
    progress : bool, default=False
        Show a progress bar on standard error.

    Returns
    -------
    Comparison
        ``best`` and ``contenders``; prints as a table.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule, or a public row is not finite.
    DataError
        If the rows cannot be read.

    Notes
    -----
    **Privacy.** None: do not pass private rows. To choose a method on private rows themselves would cost a share of the
    budget for every method tried.

    Examples
    --------
    >>> found = compare(n_clusters=3, n_rows=2000, n_features=2, methods=["KMeans", "FastLloyd"], repeats=2)
    >>> sorted(one.method for one in found.contenders)
    ['FastLloyd', 'KMeans']
    """
    validate.boolean("compare.progress", progress)
    k = validate.integer("compare.n_clusters", n_clusters, low=1)
    times = validate.integer("compare.repeats", repeats, low=1)
    seed = validate.integer("compare.random_state", random_state, low=0)
    promised = as_guarantee("compare", epsilon, delta, guarantee)
    relation = Relation.parse("compare.neighbours", neighbours).value
    contenders = _contenders(methods)
    relative = validate.one_of("compare.scaling", scaling, ("none", "bounds")) == "bounds"
    if rows is None:
        public = make_up(seed, k, bounds, n_rows, n_features, privacy_unit=privacy_unit)
    else:
        public = read_public(rows, bounds, n_rows, n_features, relative=relative, privacy_unit=privacy_unit)
    table, size = public.table, len(public.table)
    settings = {
        "guarantee": promised,
        "bounds": public.domain,
        "neighbours": relation,
        "max_rows_per_unit": max_rows_per_unit,
        "weighting": weighting,
        "n_rows": public.n_units,
        "n_jobs": n_jobs,
    }
    limit = Reference(min(k, size), n_init=10, random_state=seed % 2**32).fit(table).inertia_ / size
    return Comparison(
        contenders=_fit_all(contenders, public, k, range(seed, seed + times), settings, enabled=progress),
        limit=float(max(limit, np.finfo(float).tiny)),
        one_centre=float(np.mean(np.sum((table - table.mean(axis=0)) ** 2, axis=1))),
        n_rows=size,
        n_features=table.shape[1],
        n_clusters=k,
        repeats=times,
        guarantee=promised,
        made_up=rows is None,
        protects=_protects(privacy_unit, max_rows_per_unit),
    )


def _protects(privacy_unit: str | None, max_rows: Any) -> str:
    if privacy_unit is None:
        return "one row"
    return PrivacyUnit(name=privacy_unit, max_rows=None if validate.is_word(max_rows, "auto") else max_rows).words


@dataclass(frozen=True)
class _Chosen:
    """A method with parameters of its own."""

    method: Method
    parameters: tuple[tuple[str, Any], ...] = ()  # that differ from the default

    @property
    def label(self) -> str:
        """How it is listed."""
        words = ", ".join(f"{name}={value!r}" for name, value in self.parameters)
        return f"{self.method.name}({words})" if words else self.method.name

    def centers(self, model: Any, n_clusters: int) -> FloatArray:
        """Return the centres that a fitted model finds."""
        found = model.synopsis_.cut(n_clusters).cluster_centers if self.method.kind == "synopsis" else model.cluster_centers_
        return np.asarray(found)


def _contenders(methods: Sequence[Any]) -> list[_Chosen]:
    """Return what to compare, each once."""
    known = comparable("centers", "synopsis")
    remedy = f"Pass some of {', '.join(known)}, or estimators of them."
    given = validate.items("compare.methods", methods, rule="a list of methods", remedy=remedy)
    if not given:
        validate.refuse("compare.methods", "at least one method", given, remedy=remedy)
    found = [_of_estimator(one) if type(one).__name__ in METHODS else _of_name(one, known) for one in given]
    return list({one.label: one for one in found}.values())


def _of_name(name: Any, known: Sequence[str]) -> _Chosen:
    method = find_method(name) if isinstance(name, str) else None
    return _Chosen(METHODS[validate.one_of("compare.methods", name if method is None else method.name, known)])


def _of_estimator(model: Any) -> _Chosen:
    """Take an estimator's own parameters; refuse those that are the same for all methods here."""
    chosen = _of_name(type(model).__name__, comparable("centers", "synopsis"))
    usual = type(model)().get_params(deep=False)
    set_here = {name: value for name, value in model.get_params(deep=False).items() if not _same(value, usual[name])}
    for name in set_here:
        if name not in chosen.method.parameters:
            remedy = f"Pass {name} to compare, which sets it for all methods."
            validate.refuse("compare.methods", "estimators that set parameters of their own alone", name, remedy=remedy)
    return _Chosen(chosen.method, tuple((name, set_here[name]) for name in chosen.method.parameters if name in set_here))


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(np.all(one == other))


def _fit_all(
    chosen: Sequence[_Chosen], public: PublicRows, k: int, seeds: range, settings: dict[str, Any], *, enabled: bool
) -> tuple[Contender, ...]:
    """Fit every method with every seed; the best first, those that failed last."""
    with Progress("compare", enabled=enabled) as progress, PROCESS.apart():
        progress.expect(len(seeds) * len(chosen))
        found = [_fit_one(one, public, k, seeds, settings, progress) for one in chosen]
    return tuple(sorted(found, key=lambda one: (one.loss is None, one.loss or 0.0)))


def _fit_one(
    chosen: _Chosen, public: PublicRows, k: int, seeds: range, settings: dict[str, Any], progress: Progress
) -> Contender:
    progress.say(chosen.label)
    table, losses, seconds = public.table, [], []
    ids = {} if public.ids is None else {"privacy_unit": public.ids}
    for seed in seeds:
        start = time.perf_counter()
        try:
            model = chosen.method.estimator(k, **settings, **dict(chosen.parameters), random_state=seed).fit(table, **ids)
            centers = chosen.centers(model, k)
        except CloisterError as refusal:
            return Contender(chosen.label, None, None, None, str(refusal))
        seconds.append(time.perf_counter() - start)
        losses.append(_loss(table, centers))
        progress.advance()
    error = float(np.std(losses, ddof=1)) / len(losses) ** 0.5 if len(losses) > 1 else None
    return Contender(chosen.label, float(np.mean(losses)), error, float(np.median(seconds)))


def _loss(table: FloatArray, centers: FloatArray) -> float:
    """Return the mean squared distance of a row to its nearest centre."""
    return float(np.mean(pairwise_distances_argmin_min(table, centers, metric="sqeuclidean")[1]))
