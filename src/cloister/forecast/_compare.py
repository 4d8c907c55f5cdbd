# SPDX-License-Identifier: Apache-2.0
"""The public function ``compare``: several methods side by side on rows that are public, or made up.

What it returns is exact and covered by no guarantee, so it is for choosing a method before private rows are touched.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans as Reference
from sklearn.metrics import pairwise_distances_argmin_min

from cloister import validate
from cloister.cluster import Progress
from cloister.columns import Box, FloatArray, IntArray, PrivacyUnit, Relation, Table, as_domain
from cloister.data import LocalRows, Rows, open_rows
from cloister.exceptions import CloisterError
from cloister.forecast._words import aligned, html_table
from cloister.methods import METHODS, Method, comparable, find_method
from cloister.privacy import PROCESS, Entropy, Guarantee, as_guarantee

HEAD = ("method", "loss / limit", "+-", "seconds", "")
LARGEST = 1 << 27  # numbers in a table that is made up
SPREAD = 0.05  # standard deviation of made-up clusters, whose domain reaches from -1 to 1


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
        return {**asdict(self), "guarantee": str(self.guarantee), "contenders": [asdict(one) for one in self.contenders]}

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
        lines = list[tuple[str, ...]]()
        for one in self.contenders:
            if one.loss is None or one.seconds is None:
                lines.append((one.method, "-", "-", "-", f"failed: {one.failure}"))
            else:
                error = "-" if one.error is None else f"{one.error / self.limit:.3f}"
                lines.append((one.method, f"{one.loss / self.limit:.3f}", error, f"{one.seconds:.2f}", ""))
        return lines


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
    chosen = _read_methods(methods)
    relative = validate.one_of("compare.scaling", scaling, ("none", "bounds")) == "bounds"
    if rows is None:
        public = _make_up(seed, k, bounds, n_rows, n_features, privacy_unit=privacy_unit)
    else:
        public = _read_public(rows, bounds, n_rows, n_features, relative=relative, privacy_unit=privacy_unit)
    table, size = public.table, len(public.table)
    settings = {
        "guarantee": promised,
        "bounds": public.domain,
        "neighbours": relation,
        "max_rows_per_unit": max_rows_per_unit,
        "weighting": weighting,
        "n_rows": size if public.ids is None else len(np.unique(public.ids)),
        "n_jobs": n_jobs,
    }
    limit = Reference(min(k, size), n_init=10, random_state=seed % 2**32).fit(table).inertia_ / size
    with Progress("compare", enabled=progress) as bar, PROCESS.apart():
        bar.expect(times * len(chosen))
        seeds = range(seed, seed + times)
        found = [_fit(label, *one, public, k, seeds, settings, bar) for label, one in chosen.items()]
    protects = PrivacyUnit(
        name=privacy_unit or "", max_rows=None if validate.is_word(max_rows_per_unit, "auto") else max_rows_per_unit
    )
    return Comparison(
        contenders=tuple(sorted(found, key=lambda one: (one.loss is None, one.loss or 0.0))),
        limit=float(max(limit, np.finfo(float).tiny)),
        one_centre=float(np.mean(np.sum((table - table.mean(axis=0)) ** 2, axis=1))),
        n_rows=size,
        n_features=table.shape[1],
        n_clusters=k,
        repeats=times,
        guarantee=promised,
        made_up=rows is None,
        protects="one row" if privacy_unit is None else protects.words,
    )


# -- methods ------------------------------------------------------------------------------------------------------------


def _read_methods(methods: Sequence[Any]) -> dict[str, tuple[Method, dict[str, Any]]]:
    """Return what to compare, by how it is listed: a method, and the parameters of its own that differ from the default."""
    known = comparable("centers", "synopsis")
    remedy = f"Pass some of {', '.join(known)}, or estimators of them."
    given = validate.items("compare.methods", methods, rule="a list of methods", remedy=remedy)
    if not given:
        validate.refuse("compare.methods", "at least one method", given, remedy=remedy)
    found = {}
    for one in given:
        is_estimator = type(one).__name__ in METHODS
        name = type(one).__name__ if is_estimator else one
        method = find_method(name) if isinstance(name, str) else None
        method = METHODS[validate.one_of("compare.methods", name if method is None else method.name, known)]
        own = {}
        if is_estimator:
            usual, set_to = type(one)().get_params(deep=False), one.get_params(deep=False)
            own = {
                key: value
                for key, value in set_to.items()
                if type(value) is not type(usual[key]) or not np.all(value == usual[key])
            }
        for key in own:
            if key not in method.parameters:
                remedy = f"Pass {key} to compare, which sets it for all methods."
                validate.refuse("compare.methods", "estimators that set parameters of their own alone", key, remedy=remedy)
        words = ", ".join(f"{key}={own[key]!r}" for key in method.parameters if key in own)
        found[f"{method.name}({words})" if words else method.name] = method, own
    return found


def _fit(
    label: str,
    method: Method,
    own: Mapping[str, Any],
    public: "_PublicRows",
    k: int,
    seeds: range,
    settings: dict[str, Any],
    progress: Progress,
) -> Contender:
    progress.say(label)
    table, losses, seconds = public.table, [], []
    ids = {} if public.ids is None else {"privacy_unit": public.ids}
    for seed in seeds:
        start = time.perf_counter()
        try:
            model = method.estimator(k, **settings, **own, random_state=seed).fit(table, **ids)
            centers = model.synopsis_.cut(k).cluster_centers if method.kind == "synopsis" else model.cluster_centers_
        except CloisterError as refusal:
            return Contender(label, None, None, None, str(refusal))
        seconds.append(time.perf_counter() - start)
        losses.append(float(np.mean(pairwise_distances_argmin_min(table, centers, metric="sqeuclidean")[1])))
        progress.advance()
    error = float(np.std(losses, ddof=1)) / len(losses) ** 0.5 if len(losses) > 1 else None
    return Contender(label, float(np.mean(losses)), error, float(np.median(seconds)))


# -- rows ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _PublicRows:
    """Rows that protect nobody, where they may lie, and whose they are."""

    table: FloatArray  # (n_rows, n_features)
    domain: Table
    ids: IntArray | None = None  # one for each row, where persons are protected


def _read_public(
    rows: Any, bounds: Any, n_rows: int | None, n_features: int | None, *, relative: bool, privacy_unit: str | None
) -> _PublicRows:
    """Return public rows as the fits will see them, inside the domain and in the units in which distances are measured."""
    _refuse_given("left out beside rows, which have a shape", "Leave it out.", n_rows=n_rows, n_features=n_features)
    if privacy_unit is not None and (not isinstance(privacy_unit, str) or not privacy_unit):
        remedy = "Make the ids a column of the rows."
        validate.refuse("compare.privacy_unit", "the name of a column", type(privacy_unit).__name__, remedy=remedy)
    source = rows
    if privacy_unit is None or not isinstance(rows, Rows):
        source = open_rows(rows, privacy_unit=privacy_unit, where="compare")
    elif rows.privacy_unit != privacy_unit:
        validate.refuse("compare.privacy_unit", "what open_rows was given", privacy_unit, remedy="Pass the same name to both.")
    if not isinstance(source, LocalRows):
        validate.refuse("compare.rows", "rows that this process can hold", source, remedy="Pass an array, a frame or a file.")
    domain = as_domain("compare.bounds", bounds, source.n_features)
    if domain.is_declared:
        remedy = "Pass bounds=(low, high) or pairs per column; public rows have bounds that can be seen."
        validate.refuse("compare.bounds", "a box or a ball around rows of numbers", bounds, remedy=remedy)
    whole = np.concatenate([np.empty((0, source.width)), *source.blocks()])
    table, lanes, ids = whole[:, : source.n_features], whole[:, source.n_features :], None
    if lanes.shape[1]:
        # They are a hash of the ids with a secret key. Numbers in the order of first rows are the same for every key, so that a
        # comparison can be repeated.
        _, first, inverse = np.unique(lanes, axis=0, return_index=True, return_inverse=True)
        ids = np.argsort(np.argsort(first))[inverse.reshape(-1)]
    if not len(table) or not np.isfinite(table).all():
        rule, got = "finite numbers in at least one row", f"{len(table)} rows"
        validate.refuse("compare.rows", rule, got, remedy="Leave rows with missing values out.")
    table = domain.clip(table)
    if relative:
        table, domain = domain.relative(table)
    return _PublicRows(table, domain, ids)


def _make_up(
    seed: int, k: int, bounds: Any, n_rows: int | None, n_features: int | None, *, privacy_unit: str | None
) -> _PublicRows:
    """Return round clusters in a cube; their sizes differ by up to a factor of two."""
    rule, remedy = "left out for made-up rows, which nobody owns", "Leave it out, or pass public rows."
    _refuse_given(rule, remedy, bounds=bounds, privacy_unit=privacy_unit)
    if n_rows is None or n_features is None:
        remedy = "Pass one or the other, never private rows."
        validate.refuse("compare.rows", "public rows, or n_rows and n_features", None, remedy=remedy)
    size = validate.integer("compare.n_rows", n_rows, low=1)
    width = validate.integer("compare.n_features", n_features, low=1)
    if size * width > LARGEST:
        validate.refuse("compare.n_rows", f"at most {LARGEST // width:,} rows of {width}", size, remedy="Ask for fewer.")
    generator = Entropy(seed).public_generator()
    middles = generator.uniform(-0.8, 0.8, (k, width))
    sizes = generator.uniform(1, 2, k)
    labels = generator.choice(k, size=size, p=sizes / sizes.sum())
    domain = Box(-1.0, 1.0).spread(width)
    return _PublicRows(domain.clip(middles[labels] + SPREAD * generator.standard_normal((size, width))), domain)


def _refuse_given(rule: str, remedy: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            validate.refuse(f"compare.{name}", rule, value, remedy=remedy)
