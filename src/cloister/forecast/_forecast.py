# SPDX-License-Identifier: Apache-2.0
"""The public function ``plan``: what a fit will ask, how noisy the answers are, and, of KMeans, what to expect."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, TypeAlias

from cloister import validate
from cloister.cluster import Plan, read_share
from cloister.columns import LARGEST_MAX_ROWS, WEIGHTINGS, PrivacyUnit, Relation
from cloister.forecast._model import Outlook, outlook_of
from cloister.forecast._setting import LARGEST_ROWS, PersonForecast, RowLimit, Setting, forecast_persons, recommend
from cloister.forecast._words import about, advise, aligned, find_enough, html_table, judge, part, standing_out
from cloister.methods import METHODS, find_method
from cloister.privacy import Guarantee, Step, as_guarantee

LARGEST = 1 << 20
USUAL_ROWS = 10  # of a person, where nobody says
LARGEST_ROWS_PER_UNIT = 10**4
Rows: TypeAlias = list[tuple[str, ...]]
Table: TypeAlias = tuple[str, tuple[str, ...], Rows]  # with a title and heads
SIZES = (0.1, 1 / 3, 1.0, 3.0, 10.0)  # of clusters, in units of the average


@dataclass(frozen=True)
class CenterError:
    """How far the centre of a cluster of so many rows may be off."""

    size: int
    error: float  # in units of the root mean squared distance of its rows
    found: bool  # whether a cluster of that size stands out of the noise at all


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What :func:`cloister.plan` returns; prints as a page, in a notebook too.

    Attributes
    ----------
    method : str
        The estimator.
    n_rows, n_features, n_clusters : int
        What it was asked about.
    guarantee : PureDP, ApproxDP, ZCDP or GDP
        The same.
    neighbours : str
        The same.
    plan : Plan
        How the fit will divide its budget, exactly.
    steps : tuple of Step
        The steps in order, with the share and the noise of every question.
    smallest_cluster : float or None
        Rows of the smallest cluster that is found more often than not; more than there are rows if none is. Of KMeans alone.
    center_errors : tuple of CenterError
        The expected error of a centre for some sizes of clusters, the average among them; of KMeans alone.
    stands_out_at : float or None
        The epsilon (rho, mu) from which on a cluster of average size is found; None if no usual one is enough. Of KMeans alone.
    verdict, advice : tuple of str
        What to expect, and what to change.
    enough : mapping of str to float
        What a single number would have to be for a cluster of average size to be found or, if it is, for its centre to be
        within a tenth of its radius: ``{"epsilon": 0.8, "n_rows": 25_000.0}``. Empty if it is. Of KMeans alone.
    privacy_unit : PersonForecast or None
        Where persons are protected: how many of their rows are used, what other numbers would cost and lose, and which is
        recommended. `n_rows` is the number of persons then.
    """

    method: str
    n_rows: int
    n_features: int
    n_clusters: int
    guarantee: Guarantee
    neighbours: str
    plan: Plan
    outlook: Outlook | None = field(repr=False)  # of KMeans alone
    smallest_cluster: float | None
    center_errors: tuple[CenterError, ...]
    stands_out_at: float | None
    verdict: tuple[str, ...]
    advice: tuple[str, ...]
    enough: Mapping[str, float]
    privacy_unit: PersonForecast | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """What the fit will ask, in order, that before the method's own steps included."""
        return self.plan.all_steps

    @property
    def n_projected(self) -> int | None:
        """Dimensions in which votes are cast, where these are not all columns."""
        dimension = getattr(self.plan, "dimension", self.n_features)
        return dimension if dimension < self.n_features else None

    def error(self, size: float) -> float:
        """Return the expected error of the centre of a cluster of `size` rows, in units of its radius; of KMeans alone."""
        if self.outlook is None:
            validate.refuse("Forecast.error", "a forecast of KMeans", self.method, remedy='Ask plan(..., method="KMeans").')
        return self.outlook.error(validate.number("Forecast.error", size, low=1.0))

    def to_dict(self) -> dict[str, Any]:
        """Return the forecast as plain data."""
        names = "method", "n_rows", "n_features", "n_clusters", "neighbours", "n_projected", "smallest_cluster", "stands_out_at"
        return {
            **{name: getattr(self, name) for name in names},
            "guarantee": self.guarantee.to_dict(),
            "steps": [
                {
                    **{name: getattr(step, name) for name in ("name", "purpose", "n_points", "share")},
                    "questions": [{"of": one.name, "share": one.share, "sigma": one.sigma} for one in step.queries],
                }
                for step in self.steps
            ],
            "center_errors": [asdict(one) for one in self.center_errors],
            "verdict": list(self.verdict),
            "advice": list(self.advice),
            "privacy_unit": None if self.privacy_unit is None else self.privacy_unit.to_dict(),
        }

    def __str__(self) -> str:
        lines = [self._headline, "", *self.verdict, *self.advice]
        for title, head, rows in self._tables:
            lines += ["", f"{title}:", "", *aligned(head, rows)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        sentences = "".join(f"<li>{escape(line)}</li>" for line in (*self.verdict, *self.advice))
        tables = "".join(html_table(title, head, rows) for title, head, rows in self._tables)
        return f"<div><p><strong>{escape(self._headline)}</strong></p><ul>{sentences}</ul>{tables}</div>"

    @property
    def _headline(self) -> str:
        where = f", votes in a projection to {self.n_projected}" if self.n_projected else ""
        persons, whom = "", ""
        if self.privacy_unit is not None:
            persons, whom = " persons", f", protects {self.privacy_unit.words}"
        return (
            f"{self.method}, {self.n_rows:,}{persons} x {self.n_features:,}, k = {self.n_clusters:,}, {self.guarantee}, "
            f"{self.neighbours} neighbours{whom}{where}"
        )

    @property
    def _tables(self) -> list[Table]:
        counted = "rows" if self.privacy_unit is None else self.privacy_unit.counted
        tables = [_step_table(self.steps, counted)]
        if self.privacy_unit is not None:
            tables.insert(0, _person_table(self.privacy_unit))
        if self.center_errors:
            title = "Expected error of a centre, in parts of its cluster's radius"
            heads = (f"{counted} of a cluster", "error of its centre")
            errors = (part(one.error) if one.found else "missed or merged" for one in self.center_errors)
            sizes = (f"{one.size:,}" for one in self.center_errors)
            tables.insert(0, (title, heads, list(zip(sizes, errors, strict=True))))
        return tables


def plan(
    n_rows: int,
    n_features: int,
    n_clusters: int,
    *,
    method: str = "KMeans",
    options: Mapping[str, Any] | None = None,
    epsilon: float = 1.0,
    delta: float | None = None,
    guarantee: Guarantee | None = None,
    neighbours: str = "add-remove",
    describe: float = 0.0,
    privacy_unit: bool = False,
    rows_per_unit: int = USUAL_ROWS,
    max_rows_per_unit: Any = "auto",
    weighting: str = "row",
) -> Forecast:
    """Forecast a fit from public numbers, before any budget is spent.

    Parameters
    ----------
    n_rows : int
        About how many rows there are; with `privacy_unit`, how many persons. It is yours to give: take a number that is public,
        or a guess.
    n_features, n_clusters : int
        Columns and centres.
    method : str, default="KMeans"
        The estimator, by its name. What to expect of centres is said of KMeans alone; of others, what they ask and how noisily.
    options : mapping, optional
        Parameters of the method's own, such as ``{"n_rounds": 8}`` of PEMeans.
    epsilon : float, default=1.0
        The guarantee.
    delta : float, optional
        The same; 0 is pure differential privacy. None takes the method's own default.
    guarantee : PureDP, ApproxDP, ZCDP or GDP, optional
        Replaces `epsilon` and `delta`.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Which tables count as neighbours.
    describe : float, default=0.0
        Part of the budget that says what the clusters look like, in all columns; of methods that find centres.
    privacy_unit : bool, default=False
        Whether persons are protected, each with all of their rows, instead of single rows.
    rows_per_unit : int, default=10
        Your guess of how many rows persons have: from 1 to so many, all numbers equally often. All that is said of persons
        rests on this assumption; no row is counted.
    max_rows_per_unit : int or "auto", default="auto"
        Rows of a person that are used, at most. "auto" takes the recommended number, and reckons with a fit that finds it.
    weighting : {"row", "person"}, default="row"
        Whether every row that is used counts 1, or every person.

    Returns
    -------
    Forecast
        ``steps`` (shares and noise of every question), ``smallest_cluster`` (rows), ``center_errors`` (for some sizes; any
        other by ``error(size)``), ``stands_out_at`` (the epsilon from which on an average cluster is found), ``verdict`` and
        ``advice`` (sentences), ``privacy_unit`` (what using so many rows of a person costs and loses). Prints as a page;
        ``().to_dict()`` is plain data.

    Raises
    ------
    ParameterError
        For numbers that no fit could have.

    Notes
    -----
    **Privacy.** Sees no rows and spends nothing: sensitivity 0, any relation. What it says follows from the numbers you pass,
    so pass public ones.

    Errors are those of round clusters about five radii apart, against the mean of their rows, in units of the cluster's own
    radius (the root mean squared distance of its rows). On such data fits agree within a factor of 2. Clusters that overlap do
    worse, and so do clusters much farther apart in many columns. The fit is assumed to be given `n_rows`, otherwise it
    spends 2 % of the budget on that number, and a box of numbers: bounds or spreads that are to be found take
    ``bounds_share`` of it.

    Examples
    --------
    >>> forecast = plan(10_000, 8, 16, epsilon=1.0)
    >>> print(forecast.verdict[0])
    With 10,000 rows and epsilon 1 expect clusters of average size (625 rows) to be found.
    >>> forecast.error(600) < 0.1
    True
    >>> forecast = plan(10_000, 8, 16, privacy_unit=True, rows_per_unit=5)
    >>> next(one.max_rows for one in forecast.privacy_unit.limits if one.recommended)
    1
    """
    found = find_method(method) if isinstance(method, str) else None
    if found is None:
        validate.refuse("plan.method", "the name of an estimator", method, remedy=f"Pass one of {', '.join(METHODS)}.")
    if options is not None and not isinstance(options, Mapping):
        validate.refuse("plan.options", "a mapping of parameters or None", options, remedy='Pass {"n_rounds": 8}, for example.')
    own, share = dict(options or {}), read_share("plan.describe", describe)
    for name in own:  # their values are checked by the estimator
        validate.one_of("plan.options", name, found.parameters, remedy=f"It has {', '.join(found.parameters)}.")
    if share and found.kind != "centers":
        validate.refuse("plan.describe", "a method that finds centres", found.name, remedy="Leave it out.")
    setting = Setting(
        n_rows=validate.integer("plan.n_rows", n_rows, low=1, high=LARGEST_ROWS),
        n_features=validate.integer("plan.n_features", n_features, low=1, high=LARGEST),
        n_clusters=validate.integer("plan.n_clusters", n_clusters, low=1, high=LARGEST),
        guarantee=as_guarantee("plan", epsilon, found.delta if delta is None else delta, guarantee),
        relation=Relation.parse("plan.neighbours", neighbours),
        method=found,
        options=own,
        describe=share,
        **_persons(privacy_unit, rows_per_unit, max_rows_per_unit, weighting),
    )
    if setting.finds:
        setting = setting.limited(recommend(setting))
    asked = setting.plan()
    outlook = outlook_of(setting.plan(own_noise=False)) if found.name == "KMeans" else None
    enough: dict[str, float] = {}
    errors: tuple[CenterError, ...] = ()
    if outlook is not None:
        enough = find_enough(setting, outlook)
        sizes = sorted({min(int(outlook.plan.n_rows), max(1, round(size * outlook.average))) for size in SIZES})
        errors = tuple(CenterError(size, outlook.error(size), size >= outlook.smallest) for size in sizes)
    return Forecast(
        method=found.name,
        n_rows=setting.n_rows,
        n_features=setting.n_features,
        n_clusters=setting.n_clusters,
        guarantee=setting.guarantee,
        neighbours=setting.relation.value,
        plan=asked,
        outlook=outlook,
        smallest_cluster=None if outlook is None else outlook.smallest,
        center_errors=errors,
        stands_out_at=None if outlook is None else standing_out(setting),
        verdict=tuple(judge(setting, asked, outlook)),
        enough=enough,
        advice=tuple(advise(setting, asked, outlook, enough)),
        privacy_unit=forecast_persons(setting),
    )


def _persons(privacy_unit: object, rows_per_unit: object, max_rows: object, weighting: object) -> dict[str, Any]:
    """Check the parameters that concern persons; a number of rows that is to be found is 1 for now."""
    if validate.boolean("plan.privacy_unit", privacy_unit):
        finds = validate.is_word(max_rows, "auto")
        remedy = 'Pass "auto" or how many rows of a person are used.'
        where = "plan.max_rows_per_unit"
        limit = 1 if finds else validate.integer(where, max_rows, low=1, high=LARGEST_MAX_ROWS, remedy=remedy)
        unit = PrivacyUnit(max_rows=limit, weighting=validate.one_of("plan.weighting", weighting, WEIGHTINGS))
        most_rows = validate.integer("plan.rows_per_unit", rows_per_unit, low=1, high=LARGEST_ROWS_PER_UNIT)
        return {"privacy_unit": unit, "most_rows": most_rows, "finds": finds}
    usual = {"rows_per_unit": USUAL_ROWS, "max_rows_per_unit": "auto", "weighting": "row"}
    for name, value in zip(usual, (rows_per_unit, max_rows, weighting), strict=True):
        if value != usual[name]:
            validate.refuse(f"plan.{name}", "privacy_unit with it", value, remedy="Pass privacy_unit=True, or leave it out.")
    return {}


# -- tables -------------------------------------------------------------------------------------------------------------


def _person_table(persons: PersonForecast) -> Table:
    title = (
        f"What so many rows of a person cost and lose, if persons have 1 to {persons.rows_per_unit:,} rows, all equally "
        f"often (an assumption). Noise of a count in {persons.counted}{', last line rows' * (persons.counted != 'rows')}; "
        "error of the centre of a cluster of average size, the accident of who was collected included"
    )
    heads = ("rows of a person", "rows used", "noise of a count", "of all", "error of a centre", "")

    def line(first: str, one: RowLimit, mark: str = "") -> tuple[str, ...]:
        noise = "" if one.count_noise is None else about(one.count_noise)
        share = "" if one.noise_share is None else part(one.noise_share)
        return first, f"{one.rows_used:,}", noise, share, part(one.center_error), mark

    rows = []
    for one in persons.limits:
        marks = (one.recommended, "recommended"), (one.max_rows == persons.max_rows and not persons.found, "this plan")
        rows.append(line(f"{one.max_rows:,}", one, ", ".join(word for is_so, word in marks if is_so)))
    return title, heads, [*rows, line(f"all, each row under {persons.row_guarantee}", persons.divided)]


def _step_table(steps: tuple[Step, ...], counted: str) -> Table:
    title = (
        "Shares of the budget, and the standard deviation of the noise in each number "
        f"({counted}; of sums: {counted} times the radius that offsets are clipped to)"
    )
    richest = sorted(steps, key=lambda step: -len(step.queries))  # so that questions stand in the order they are asked in
    questions = tuple(dict.fromkeys(query.name for step in richest for query in step.queries))
    rows = []
    for step in steps:
        noises = ["" if (sigma := step.sigma(name)) is None else about(sigma) for name in questions]
        rows.append((step.name, f"{step.n_points:,}", part(step.share), *noises))
    return title, ("step", "points", "share", *questions), rows
