# SPDX-License-Identifier: Apache-2.0
"""What all estimators share: parameters, and the one way from rows to results: check, plan, reserve, ask, close."""

import numbers
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NoReturn

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from cloister import validate
from cloister.cluster._declare import estimator
from cloister.cluster._describe import Description
from cloister.cluster._first import (
    BOUNDS_SHARE,
    FirstSteps,
    Ready,
    TableSpec,
    ask_first,
    correct_for_missing,
    plan_first,
    weigh_levels,
)
from cloister.cluster._notebook import NotebookPage
from cloister.cluster._plan import REFERENCE_DELTA, Decision, Outcome, Plan, Planner, Request
from cloister.cluster._privacy_unit import (
    PLANNED_ROWS,
    SIZES,
    STARTS,
    PersonParameters,
    assume_rows,
    find_max_rows,
    unit_options,
)
from cloister.cluster._progress import Progress
from cloister.cluster._tables import has_names, is_file, is_in_memory, shape_of
from cloister.columns import (
    PRIVATE,
    Box,
    Declaration,
    FloatArray,
    Frame,
    Neighbours,
    Number,
    Relation,
    Table,
    as_domain,
    declare_columns,
)
from cloister.data import LocalRows, Rows, open_rows
from cloister.exceptions import BoundsError, DataError, ParameterError, PrivacyWarning, warn
from cloister.privacy import PROCESS, SAME, Entropy, Guarantee, Ledger, Query, Receipt, StepRecord, as_guarantee
from cloister.questions import Ask, RowCount
from cloister.release import Caution, Profiles, library_versions
from cloister.text import plain_text
from cloister.vault import Vault

WEAK_EPSILON = 10.0  # above which a guarantee promises little
LARGEST_N_CLUSTERS = 1 << 20
LARGEST_N_ROWS = 10**15
RARELY_TOO_NOISY = 1e-2  # epsilon or mu of a fit from which on noise that can be drawn has sufficed for every question
SMALLEST_PART = 1e-2  # of that, for one question: the published noise of a method may need far less than its budget
SHOWN_NAMES = 10  # of columns, in a message
UNKNOWN_ROWS = 1.0  # stands for the number of rows while parameters are checked, where it is not public


@dataclass(frozen=True, kw_only=True, eq=False)
class FitResult(Ready):
    """What the questions of a fit have found."""

    outcome: Any
    plan: Plan
    profiles: Profiles | None
    row_count: dict[str, float]  # the number of rows and its error, as a release publishes them; empty if nobody knows it


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivateFit(FitResult):
    """What a private fit leaves behind, besides the rows' backend: all of it public."""

    steps: tuple[StepRecord, ...]
    feature_names: tuple[str, ...] | None
    receipt: Receipt


@estimator
class PrivateEstimator(NotebookPage, PersonParameters, BaseEstimator):  # type: ignore[misc]
    """Base of everything that is fitted to private rows. Subclasses declare parameters and implement `_plan` and `_run`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of centres; always exactly so many are returned.
    epsilon, delta : float, default=1.0 and 1e-06
        The guarantee. ``delta=0`` is pure differential privacy, with Laplace noise; Gaussian noise above.
    guarantee : PureDP, ApproxDP, ZCDP or GDP, optional
        Replaces `epsilon` and `delta`.
    bounds : (low, high), Box, Ball, list of pairs, mapping or "private"
        Where rows may lie, known without looking at them: ``(X.min(0), X.max(0))`` publishes rows that nobody paid for.
        Rows outside are moved to the boundary. A mapping says what each column is,
        ``{"age": (0, 120), "sex": Category(["f", "m"])}``, and only these columns are used; see :class:`~cloister.Number`,
        :class:`~cloister.Category`, :class:`~cloister.Flag` and :class:`~cloister.Date`. ``"private"``, for all columns or
        for some, finds bounds with noise.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Which tables count as neighbours.
    privacy_unit : str, optional
        The column that says whose row it is. Then a person is protected with all of their rows, instead of one row: two
        tables are neighbours if they differ in one person. It is never clustered by, and no id is published. Rows
        without an id are left out. Ids of a table in memory may be passed to ``fit(X, privacy_unit=ids)`` instead.
    max_rows_per_unit : "auto" or int, default="auto"
        Rows of a person that are used, up to 1,000; of whoever has more, as many are drawn at random. More rows are
        more noise: where every row counts, so many times as much. ``"auto"`` spends 2 % of the budget on a noisy
        histogram of rows per person and takes the number with the least expected error.
    weighting : {"row", "person"}, default="row"
        With `privacy_unit`: every row that is used counts 1, or every person, in equal parts for each of their rows.
        Persons need less noise, and counts are numbers of persons.
    units_bounded : bool, default=False
        Your statement that nobody has more than `max_rows_per_unit` rows: they are not counted, which saves a pass.
        The guarantee rests on it.
    n_rows : int, optional
        The number of rows, if it is public; with `privacy_unit`, that of persons. ``len(X)`` is not: it counts private
        rows exactly. None spends 2 % of the budget on a noisy count, where the method needs one.
    dataset, purpose : str, default="" and ""
        What the data set is called and what the fit is for: public words that ledger, release and report keep. They
        change no result.
    ledger : Ledger, optional
        A budget shared with other fits; the fit is refused where it does not fit.
    random_state : int, optional
        Makes noise and choices reproducible and stamps the receipt ``seeded``: for tests, not for publication.
    n_jobs : int, optional
        Threads; None uses all processors.
    progress : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    plan_ : Plan
        What was asked, step by step, and how the budget was divided.
    privacy_receipt_ : Receipt
        Guarantee and events.
    n_features_in_ : int
        Columns.
    warnings_ : list of Caution
        What to know before believing the result, each with its remedy: columns whose values are missing, none of the declared
        levels or outside their bounds, clusters made of noise. Nothing is printed by `fit`.
    """

    n_clusters: Any = field(default=8, kw_only=False)
    epsilon: float = 1.0
    delta: float = 1e-6
    guarantee: Guarantee | None = None
    bounds: Any = None
    neighbours: str = "add-remove"
    privacy_unit: str | None = None
    max_rows_per_unit: Any = "auto"
    weighting: str = "row"
    units_bounded: bool = False
    n_rows: int | None = None
    dataset: str = ""
    purpose: str = ""
    ledger: Ledger | None = None
    random_state: Any = None
    n_jobs: int | None = None
    progress: bool = False
    _ids: Any = field(default=None, init=False)  # during a fit

    _single_pass: ClassVar[bool] = False  # whether all questions are answered in one pass, so that keeping rows does not pay

    # -- what a method decides --------------------------------------------------------------------------------------------

    @abstractmethod
    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> Plan:
        """Check the method's own parameters and decide everything that public numbers decide."""

    @abstractmethod
    def _run(self, ask: Ask, plan: Any, frame: Frame, *, n_rows: float, generator: np.random.Generator) -> Any:
        """Run the algorithm on noisy answers."""

    def _with_own_noise(self, request: Request, setting: TableSpec) -> Request:
        """Return the request with another budget that its guarantee implies; nothing else shares the guarantee."""
        return request

    def _needs_n_rows(self) -> bool:
        """Whether the number of rows matters for the plan, so that it is asked for where it is not public."""
        return True

    def _bounds_share(self) -> float | None:
        """Part of the budget for bounds and spreads, where these are to be found; None: as much as that needs."""
        return BOUNDS_SHARE

    def _asks_cells(self, domain: Table) -> bool:
        """Whether to ask what part of each column is missing or outside its bounds."""
        return False

    def _weighs_levels(self, setting: TableSpec) -> bool:
        """Whether to find out how much categories and flags weigh beside numbers."""
        return False

    def _closing_share(self) -> float:
        """Part of the budget for what is asked after the method's own steps."""
        return 0.0

    @property
    def _extra_columns(self) -> dict[str, Declaration]:
        """Columns that are read behind those that rows are compared by, to be described."""
        return {}

    def _description(self, request: Request, frame: Frame, first: FirstSteps, n_rows: float) -> Description | None:
        """Return what is asked of the clusters once they are found, if anything."""
        return None

    def _found_centers(self, outcome: Any, ready: Ready) -> FloatArray:
        """Return the centres that will be published, in the unit ball's coordinates."""
        centers: FloatArray = outcome.centers
        return centers

    def _decisions(self, outcome: Any) -> dict[str, Decision]:
        """Return what the steps decided."""
        return outcome.decisions if isinstance(outcome, Outcome) else {}

    # -- fitting ----------------------------------------------------------------------------------------------------------

    def _fit_privately(self, X: object, rows: Rows, progress: Progress | None = None) -> PrivateFit:
        """Check, plan, reserve, open the vault, run, close: the one way from rows to results."""
        request = self._request()
        before = self._scaler_receipt(rows, request.relation)
        setting = self._setting(rows)
        if before is None and self.ledger is None and PROCESS.paying is None:
            request = self._with_own_noise(request, setting)
        first = self._first_plan(request, setting)
        self._refuse_noise_that_cannot_be_drawn(request, setting, first)
        self._warn_of_empty_promises(request, before)
        shared = self._shared_ledger(request, before)
        ledger = _own_ledger(request) if shared is None else shared
        account = ledger.reserve(
            request.cost,
            purpose=self._owner,
            relation=request.relation,
            delta=request.guarantee.stated_delta,
            dataset=self.dataset,
            stated_purpose=self.purpose,
        )
        with account:
            bar = progress or self._new_progress()
            vault = Vault(
                rows,
                frame=setting.frame,
                relation=request.relation,
                account=account,
                entropy=request.entropy,
                watch=bar.within,
                single_pass=self._single_pass,
            )
            try:
                self._note_features(X, rows)
                with bar:
                    bar.follow(first.all_steps)
                    done = self._ask_all(vault, request, setting, bar)
            finally:
                receipt = vault.close(request.guarantee)
        balance = None if shared is None else shared.balance(account.identity)
        receipt = replace(receipt, dataset=self.dataset, purpose=self.purpose, ledger=balance)
        self.plan_ = done.plan
        decisions = {**done.decisions, **self._decisions(done.outcome)}
        if receipt.privacy_unit is not None:
            decisions = {**decisions, SIZES: Decision(figures={"max_rows": float(receipt.privacy_unit.max_rows or 0)})}
        steps = _records(done.plan, decisions, receipt)
        return PrivateFit(
            **vars(done),
            steps=steps,
            feature_names=None if rows.feature_names is None else rows.feature_names[: self._n_compared(rows)],
            receipt=receipt
            if before is None
            else Receipt.cover((receipt, before), SAME, dataset=self.dataset, purpose=self.purpose),
        )

    def _setting(self, rows: Rows) -> TableSpec:
        """Return what is declared about the rows."""
        n_features = self._n_compared(rows)
        domain, scaling = self._scaled(self._domain(n_features, rows.bounds))
        self._check_domain(domain)
        names = rows.feature_names or tuple(f"x{index}" for index in range(rows.n_features))
        return TableSpec(domain, scaling, rows.nullable[:n_features], names)

    def _n_compared(self, rows: Rows) -> int:
        """Return how many columns rows are compared by; what is only described stands behind them."""
        return rows.n_features - len(self._extra_columns)

    def _first_steps(self, request: Request, setting: TableSpec, n_rows: float | None) -> FirstSteps:
        """Return what is asked before the method's own plan; `n_rows` is None while nobody knows it."""
        weighs = self._weighs_levels(setting)
        return plan_first(
            request,
            setting.domain,
            scaling=setting.scaling,
            n_rows=n_rows,
            sizes=request.relation.privacy_unit is not None and self._max_rows() is None,
            counts=request.n_rows is None and (weighs or self._needs_n_rows()),
            bounds_share=self._bounds_share(),
            cells=self._asks_cells(setting.domain),
            weighs=weighs,
            left_over=1 - self._closing_share(),
        )

    def _first_plan(self, request: Request, setting: TableSpec, *, expected: float | None = None) -> Plan:
        """Return the plan before anything is asked: all parameters are checked, and the steps are those for the public size.

        Where nobody knows it, `expected` stands for it.
        """
        request = assume_rows(request, PLANNED_ROWS)
        known = expected if request.n_rows is None else max(float(request.n_rows), 1.0)
        n_rows = UNKNOWN_ROWS if known is None else known
        first = self._first_steps(request, setting, known)
        return self._whole_plan(request, setting.frame, first, n_rows)

    def _whole_plan(self, request: Request, frame: Frame, first: FirstSteps, n_rows: float) -> Plan:
        last = self._description(request, frame, first, n_rows)
        part = 1 - (first.share + (0.0 if last is None else last.step.share))
        planner = Planner(request.cost.share(part) if part < 1 else request.cost, request.relation, part)
        plan = self._plan(request, frame, n_rows=n_rows, planner=planner)
        if not plan.can_be_drawn:
            self._refuse_budget(request)
        return replace(plan, preliminary=first.steps, closing=() if last is None else (last.step,))

    def _ask_all(
        self,
        vault: Vault,
        request: Request,
        setting: TableSpec,
        progress: Progress,
        refuse: Callable[[Sequence[str]], None] | None = None,
    ) -> FitResult:
        """Ask what comes first, complete the plan, and run it; `refuse` is told of columns whose bounds are not found."""
        ask = _followed(vault.ask, progress)
        n_rows = None if request.n_rows is None else float(request.n_rows)
        n_rows_error = 0.0
        generator = request.entropy.public_generator()
        first = self._first_steps(assume_rows(request, PLANNED_ROWS), setting, n_rows)
        if first.sizes is not None:
            max_rows = find_max_rows(ask, first.sizes["counts"], request, setting.frame.n_features)
            vault.limit_rows(max_rows)
            request = assume_rows(request, max_rows)
            first = self._first_steps(request, setting, n_rows)
        if first.count is not None:
            answer = ask(RowCount(), first.count["counts"])
            n_rows, n_rows_error = max(1.0, float(answer.value[0])), answer.sigma
            first = self._first_steps(request, setting, n_rows)
        ready = ask_first(ask, first, setting, n_rows=n_rows, use=vault.use, refuse=refuse or self._refuse_unseen)
        if first.trials is not None:
            ready = weigh_levels(ask, first, ready, generator=generator, use=vault.use)
        size = UNKNOWN_ROWS if n_rows is None else n_rows
        planned = size if request.n_rows is None else max(size, 1.0)
        plan = self._whole_plan(request, ready.frame, first, planned)
        progress.follow(plan.all_steps)
        outcome = self._run(ask, plan, ready.frame, n_rows=size, generator=generator)
        if isinstance(outcome, Outcome):
            outcome = correct_for_missing(ask, first, ready, outcome)
        last, profiles = self._description(request, ready.frame, first, planned), None
        if last is not None:
            profiles = last.ask(ask, ready.frame, self._found_centers(outcome, ready), setting.names)
        progress.finish()
        row_count = {} if n_rows is None else {"n_rows": n_rows, "n_rows_error": n_rows_error}
        return FitResult(**vars(ready), outcome=outcome, plan=plan, profiles=profiles, row_count=row_count)

    def _shared_ledger(self, request: Request, before: Receipt | None) -> Ledger | None:
        """Return the ledger that counts the fit, if any; warn of the 2nd, 10th, 100th, ... fit that none counts."""
        shared = self.ledger if self.ledger is not None else PROCESS.paying
        if shared is None and not request.entropy.seeded:
            pays_for_both = before is not None and before.ledger is None and not before.seeded
            number = PROCESS.count_uncounted(before.account if before is not None and pays_for_both else "")
            if number == 2 or (number >= 10 and str(number).strip("0") == "1"):
                warn(
                    f"{self._where('ledger')}: this is the {number}{'nd' if number == 2 else 'th'} fit in this process that no "
                    "ledger counts; if they read the same people, their budgets add up. Pass ledger=, or call "
                    "Ledger(...).set_default().",
                    PrivacyWarning,
                )
        return shared

    def _warn_of_empty_promises(self, request: Request, before: Receipt | None) -> None:
        """Warn, from public numbers alone, where the guarantee promises little; `before` is that of a scaler in front."""
        where, delta = self._owner, request.guarantee.stated_delta
        unit = request.relation.unit
        if request.n_units and delta * request.n_units >= 1:
            warn(
                f"{where}.delta: {delta:g} is at least 1 / n_rows: publishing a {unit} at random would satisfy it. "
                f"Pass a delta well below {1 / request.n_units:.1g}.",
                PrivacyWarning,
            )
        epsilon, beside = request.epsilon, ""
        if before is not None:
            epsilon = max(epsilon, before.promised.plus(request.cost).epsilon_at(delta or REFERENCE_DELTA))
            beside = ", with the scaler in front of it,"
        if epsilon > WEAK_EPSILON:
            warn(
                f"{where}.epsilon: {epsilon:.4g}{beside} promises little: one {unit} may change the odds of a result by a "
                f"factor of e^{epsilon:.4g}. Pass an epsilon of at most {WEAK_EPSILON:g}.",
                PrivacyWarning,
            )

    def _noisiest(self, request: Request) -> Request:
        """Return the request as it is where answers make the noise largest."""
        return assume_rows(request, STARTS[-1])

    def _refuse_noise_that_cannot_be_drawn(self, request: Request, setting: TableSpec, first: Plan) -> None:
        """Rehearse a fit with a tiny budget on a table without rows: it must not fail once something is spent."""
        model, request = copy(self), self._noisiest(request)
        privacy_unit = request.relation.privacy_unit
        enough = RARELY_TOO_NOISY * (1 if privacy_unit is None else privacy_unit.factor)
        strengths = (query.cost.strength for step in first.all_steps for query in step.queries)
        if request.cost.strength >= enough and all(one >= enough * SMALLEST_PART for one in strengths):
            return
        ids: dict[str, Any] = {} if privacy_unit is None or privacy_unit.stated else {"privacy_unit": []}
        if privacy_unit is not None:
            model.max_rows_per_unit = privacy_unit.max_rows
        empty = open_rows(np.empty((0, len(setting.names))), n_jobs=1, **ids)
        try:
            account = _own_ledger(request).reserve(request.cost, purpose="rehearsal", relation=request.relation)
            vault = Vault(empty, frame=setting.frame, relation=request.relation, account=account, entropy=Entropy(0))
            model._first_plan(request, setting)
            model._ask_all(vault, request, setting, Progress("rehearsal", enabled=False), refuse=lambda _: None)
            return
        except ParameterError:  # of a scale, which is no parameter of this estimator
            pass
        self._refuse_budget(request)

    def _refuse_budget(self, request: Request) -> NoReturn:
        rule = "a budget whose noise can be drawn"
        validate.refuse(self._where("epsilon"), rule, str(request.guarantee), remedy="Spend more.")

    def _refuse_unseen(self, names: Sequence[str]) -> NoReturn:
        """Refuse a fit before its main questions: noisy answers that are paid for hide where some columns lie."""
        shown = ", ".join(plain_text(one) for one in names[:SHOWN_NAMES])
        more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
        error = BoundsError(
            f"{self._where('bounds')}: expected values distinguishable from noise, found none in {shown}{more}. Declare "
            "bounds of these columns, leave them out, or use more rows or a larger epsilon. At most the search for bounds was "
            "spent."
        )
        error.columns = tuple(names)
        raise error

    def _new_progress(self) -> Progress:
        return Progress(self._owner, enabled=self.progress)

    @property
    def warnings_(self) -> list[Caution]:
        """What to know before believing a fit, each with its remedy; from noisy answers that are paid for."""
        published = getattr(self, "release_", None) or getattr(self, "synopsis_", None)
        if published is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'warnings_'")
        return list(published.warnings)

    # -- parameters -------------------------------------------------------------------------------------------------------

    def _request(self) -> Request:
        guarantee = as_guarantee(self._owner, self.epsilon, self.delta, self.guarantee)
        n_clusters = self._wanted_clusters()
        n_rows, remedy = self.n_rows, "Pass the number of rows if it is public, or None."
        if n_rows is not None:
            n_rows = validate.integer(self._where("n_rows"), n_rows, low=0, high=LARGEST_N_ROWS, remedy=remedy)
        if self.ledger is not None and not isinstance(self.ledger, Ledger):
            validate.refuse(self._where("ledger"), "a Ledger or None", self.ledger, remedy="Use Ledger.open(path).")
        validate.boolean(self._where("progress"), self.progress)
        for name in ("dataset", "purpose"):
            validate.text(self._where(name), getattr(self, name))
        privacy_unit = self._read_privacy_unit()
        return Request(
            n_clusters=n_clusters,
            guarantee=guarantee,
            cost=guarantee.noise_budget(),
            relation=Neighbours(Relation.parse(self._where("neighbours"), self.neighbours), privacy_unit),
            n_rows=n_rows if self._counts_units() else None,
            n_units=n_rows,
            entropy=Entropy(self.random_state, where=self._where("random_state")),
        )

    def _wanted_clusters(self) -> int:
        remedy = 'Pass a number; KMeans takes "auto".' if validate.is_word(self.n_clusters, "auto") else ""
        return validate.integer(self._where("n_clusters"), self.n_clusters, low=1, high=LARGEST_N_CLUSTERS, remedy=remedy)

    @property
    def _owner(self) -> str:
        """Whose name messages carry."""
        return type(self).__name__

    def _where(self, parameter: str) -> str:
        return f"{self._owner}.{parameter}"

    def _whole_or_auto(self, parameter: str, *, low: int = 1, high: int | None = None) -> int | None:
        """Return a parameter that is a whole number, or None for "auto"."""
        value, remedy = getattr(self, parameter), 'Pass "auto" or a whole number.'
        if validate.is_word(value, "auto"):
            return None
        return validate.integer(self._where(parameter), value, low=low, high=high, remedy=remedy)

    def _whole(self, parameter: str, *, low: int = 1, high: int | None = None) -> int:
        """Return a parameter that is a whole number."""
        return validate.integer(self._where(parameter), getattr(self, parameter), low=low, high=high)

    def _domain(self, n_features: int, scaled: Box | None = None) -> Table:
        """Return where rows may lie; that of rows which a PrivateScaler has scaled comes with them."""
        return as_domain(self._where("bounds"), scaled if self.bounds is None else self.bounds, n_features)

    def _check_domain(self, domain: Table) -> None:
        """Refuse a domain that the method cannot work with, before anything is spent."""

    def _scaled(self, domain: Table) -> tuple[Table, str]:
        """Return how distances are measured, and the domain as that needs it."""
        return domain, "none"

    @property
    def _declared(self) -> dict[str, Declaration] | None:
        """What the columns are, where `bounds` says so by name."""
        return declare_columns(self._where("bounds"), self.bounds) if isinstance(self.bounds, Mapping) else None

    def _open(self, X: object) -> Rows:
        self._request()  # parameters are checked before the table is touched
        declared = self._declared
        whole = None if declared is None else {**declared, **self._extra_columns}
        rows = self._open_as(X, whole, **({} if isinstance(X, Rows) else self._unit_options()))
        if isinstance(X, Rows):
            self._check_ids(rows)
        return rows

    def _open_as(self, X: object, declared: Mapping[str, Declaration] | None, **options: Any) -> Rows:
        """Open a table with the columns that are declared; rows that are open already must have been read as these."""
        if not isinstance(X, Rows):
            return open_rows(X, declared, n_jobs=self.n_jobs, where=self._owner, **options)
        # The position of a level is no number, nor that of another list.
        rows = open_rows(X, n_jobs=self.n_jobs, where=self._owner)
        numbers = (Number(PRIVATE),) * rows.n_features
        wanted = numbers if declared is None else tuple(declared.values())
        if declared is not None and (rows.feature_names not in (None, tuple(declared)) or rows.n_features != len(declared)):
            raise DataError(
                f"{self._where('bounds')}: expected the columns of the rows, in order, got others. Pass the same mapping to "
                "open_rows."
            )
        if [one.reading for one in rows.declared or numbers] != [one.reading for one in wanted]:
            raise DataError(
                f"{self._where('bounds')}: expected the declarations that open_rows was given, got others. Pass the same "
                "mapping to both."
            )
        return rows

    def _open_new(self, X: object, *, use: str, remedy: str) -> LocalRows:
        """Open rows for a fitted model; a table may have columns beside those of the fit, such as one of ids."""
        check_is_fitted(self)
        names, declared = getattr(self, "feature_names_in_", None), self._declared
        if declared is not None:
            whole = {**declared, **self._extra_columns}  # rows opened for a fit may have those that were described
            rows = self._open_as(X, whole if isinstance(X, Rows) and X.n_features == len(whole) else declared)
        else:
            chooses = is_file(X) or (self.privacy_unit is not None and has_names(X))
            columns = None if names is None or isinstance(X, Rows) or not chooses else list(names)
            rows = open_rows(X, columns, n_jobs=self.n_jobs, where=self._owner)
            if is_in_memory(X, rows) and columns is None:
                validate_data(self, shape_of(X, rows), reset=False, skip_check_array=True)
            elif names is not None and rows.feature_names is not None and rows.feature_names != tuple(names):
                shown = ", ".join(names[:50])
                raise DataError(f"{self._owner}: expected the columns {shown}, got others. Pass the same, in order.")
            self._check_width(rows.n_features)
        if not isinstance(rows, LocalRows):
            raise DataError(f"{self._owner}.{use}: expected rows of this machine, got rows of a cluster. {remedy}")
        return rows

    def _check_width(self, n_features: int) -> None:
        if n_features != self.n_features_in_:
            raise DataError(
                f"X has {n_features} features, but {self._owner} is expecting {self.n_features_in_} features as input. "
                "Pass the same columns."
            )

    def _scaler_receipt(self, rows: Rows, near: Neighbours) -> Receipt | None:
        """Return the receipt of the scaler that rows come from, if any; one that protects something else is refused.

        What it found is a function of the same rows, so that the results of this fit are functions of its answers, too.
        """
        found = rows.scaled_by
        if found is None:
            return None
        if found.neighbours != near.value:
            raise DataError(
                f"{self._where('neighbours')}: expected {found.neighbours!r}, as the scaler of these rows has it, got "
                f"{near.value!r}. Pass the same neighbours to both."
            )
        mine, other = near.privacy_unit, found.privacy_unit
        named = [] if mine is None or other is None else [one.name for one in (mine, other) if one.name]
        if (mine is None) != (other is None) or len(set(named)) > 1:
            raise DataError(
                f"{self._where('privacy_unit')}: expected rows that were scaled under the same unit of privacy, got rows of a "
                f"scaler that protects one {found.unit}. Pass the same privacy_unit to both, or none."
            )
        return found

    def _unit_options(self) -> dict[str, Any]:
        """Return how a table is opened that says whose rows they are."""
        privacy_unit = self.privacy_unit if self._ids is None else self._ids
        entropy = Entropy(self.random_state, where=self._where("random_state"))
        return unit_options(privacy_unit, units_bounded=self.units_bounded, entropy=entropy)

    def _check_ids(self, rows: Rows) -> None:
        """Refuse open rows that say otherwise than the estimator whose rows they are, before anything is set aside for them."""
        if self._ids is not None:
            raise DataError(
                f"{self._where('privacy_unit')}: expected None for rows already open, got ids. Pass the table itself with them."
            )
        found, is_read = rows.privacy_unit, rows.n_hidden > 0
        if self.privacy_unit != found or (found is not None and is_read == self.units_bounded):
            raise DataError(
                f"{self._where('privacy_unit')}: expected privacy_unit and units_bounded as open_rows was given them, got "
                "other ones. Pass the same to both; ids that are no column go to fit(table, privacy_unit=ids)."
            )

    def _note_features(self, X: object, rows: Rows) -> None:
        if is_in_memory(X, rows) and self._declared is None and self.privacy_unit is None:
            validate_data(self, shape_of(X, rows), skip_check_array=True)
            self.n_features_in_ = rows.n_features
            return
        self.n_features_in_ = self._n_compared(rows)
        if rows.feature_names is not None:
            self.feature_names_in_ = np.array(rows.feature_names[: self.n_features_in_], dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _about(self, fit: PrivateFit) -> dict[str, Any]:
        """Return what every document of a fit says of it."""
        names = "scaling", "receipt", "feature_names", "steps"
        return {"method": self._owner, "versions": library_versions(), **{name: getattr(fit, name) for name in names}}

    def _public_parameters(self) -> dict[str, Any]:
        """Return the parameters that a release keeps."""
        hidden = {"bounds", "dataset", "guarantee", "ledger", "n_jobs", "progress", "purpose", "random_state"}
        hidden |= {"privacy_unit", "max_rows_per_unit", "weighting", "units_bounded"}  # the receipt says whom it protects
        if self.guarantee is not None:
            hidden |= {"epsilon", "delta"}  # replaced by the guarantee, which the receipt holds
        return {name: _plain(value) for name, value in self.get_params(deep=False).items() if name not in hidden}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # a missing value is moved into the domain: an error would reveal it
        return tags


def plan_fit(
    model: PrivateEstimator,
    n_features: int,
    *,
    max_rows: int | None = None,
    expected: float | None = None,
    own_noise: bool = True,
) -> Plan:
    """Return what a fit of an estimator to so many columns would ask, before any row is seen.

    Where it is found with noise how many rows of a person are used, `max_rows` says what will be found; where rows are counted
    with noise, `expected` says how many will be. Without `own_noise` the noise is what the guarantee usually has.
    """
    request = model._request()
    if max_rows is not None:
        request = assume_rows(request, max_rows)
    width = n_features + len(model._extra_columns)
    setting = model._setting(open_rows(np.empty((0, width)), n_jobs=1))
    if own_noise and model.ledger is None:
        request = model._with_own_noise(request, setting)
    return model._first_plan(request, setting, expected=expected)


def _followed(ask: Ask, progress: Progress) -> Ask:
    """Return the vault's ``ask``, with a progress bar that follows the steps."""

    def follow(question: Any, cost: Any) -> Any:
        first = cost[0] if isinstance(cost, Sequence) else cost
        if isinstance(first, Query):
            progress.enter(first.step)
        return ask(question, cost)

    return follow


def _own_ledger(request: Request) -> Ledger:
    return Ledger(request.guarantee, neighbours=request.relation.value, unit=request.relation.unit)


def _records(plan: Plan, decisions: dict[str, Decision], receipt: Receipt) -> tuple[StepRecord, ...]:
    """Return a record of every step that was asked, in order."""
    records = []
    for step in plan.all_steps:
        events = [event for event in receipt.events if event.step == step.name]
        if not events:
            continue
        # A plan states at most how many points it asks about and how noisily, the events say it.
        asked = {query.name: event for query, event in zip(step.queries, events, strict=False)}
        sizes = [asked[name].size for name in ("counts", "choice") if name in asked]
        figures = {"n_points": float((*sizes, step.n_points)[0])}
        if "counts" in asked:
            figures["count_error"] = asked["counts"].standard_deviation
        decision = decisions.get(step.name, Decision())
        figures |= decision.figures
        records.append(StepRecord(name=step.name, purpose=step.purpose, figures=figures, picture=decision.picture))
    return tuple(records)


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else value
