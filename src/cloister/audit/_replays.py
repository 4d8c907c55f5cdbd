# SPDX-License-Identifier: Apache-2.0
"""The cases that are replayed: every method, with hostile rows, declared columns, persons, domains and engines in turn."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cloister.audit._findings import Case, Check, CheckResult, Settings
from cloister.audit._methods import DECLARED, GUARANTEES, METHODS, make_fit
from cloister.audit._replay import Replay, replay
from cloister.audit._tables import (
    AUDIT_ENGINES,
    DECLARED_ENGINES,
    DOMAINS,
    HOSTILE,
    HOSTILE_CELLS,
    as_table,
    declared_neighbours,
    installed,
    neighbours,
    person_neighbours,
)
from cloister.columns import WEIGHTINGS, Relation
from cloister.privacy import Entropy

DECLARED_COLUMNS, PERSONS = "declared columns", "persons"  # kinds of tables beside the rows of a domain
SLOW_TO_START = ("spark",)  # left out of a quick audit unless it is named, and given few questions: each takes a second
SIZES = (40, 40, 2, 0)  # in a small table one row is all there is: an average of few rows moves most
ENGINE_METHODS = ("KMeans", "GridSynopsis", "TreeKMeans", "SourceTargetKMedoids, nas")
USED = 5  # rows of a person
LIMITS: tuple[int | str, ...] = (USED, "auto", 11, 1)  # 11 does not divide the weight of a person
HOSTILE_PERSONS = ("edge", "missing", "outside", "duplicate", "signalling")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ReplayCase:
    """One pair of neighbouring tables and one fit."""

    method: str
    kind: str  # of guarantee
    relation: Relation
    hostile: str
    table: str = "box"  # a domain, declared columns, or persons
    n_features: int = 2
    engine: str = "numpy"
    other: str = "edge"  # what replaces the hostile row
    size: int = 40  # rows that both tables share
    backwards: bool = False  # record the table without the hostile row, replay the one with it
    options: Mapping[str, Any] = field(default_factory=dict)  # of the estimator

    def __str__(self) -> str:
        options = [f"{name}={value}" for name, value in self.options.items()]
        words = (self.method, self.kind, self.relation.value, f"d = {self.n_features}", self.hostile, self.table, self.engine)
        return ", ".join([*words, *options])


def run_case(case: ReplayCase, *, seed: int, folder: Path) -> Replay:
    """Make the tables of a case and replay it."""
    given: dict[str, Any] = {"relation": case.relation, "hostile": case.hostile}
    given["generator"] = Entropy(seed).public_generator()
    domain = DOMAINS[case.table if case.table in DOMAINS else "box"](case.n_features)
    tables: Sequence[Any]
    if case.table == DECLARED_COLUMNS:
        tables = declared_neighbours(**given)
    elif case.table == PERSONS:
        given |= {"many": USED, "few": USED - 1} if case.options["units_bounded"] else {}
        tables = person_neighbours(**given)
    else:
        tables = neighbours(domain, case.n_features, other=case.other, size=case.size, **given)
    fit = make_fit(
        case.method,
        GUARANTEES[case.kind],
        relation=case.relation,
        seed=seed,
        domain=None if case.table == DECLARED_COLUMNS else domain,
        n_features=case.n_features,
        **case.options,
    )
    left, right = (as_table(rows, case.engine, folder, name) for rows, name in zip(tables, ("left", "right"), strict=True))
    return replay(fit, right, left) if case.backwards else replay(fit, left, right)


def check_replay(found: CheckResult, *, case: ReplayCase, seed: int, folder: Path) -> None:
    """Replay a case and note what that found."""
    seen = run_case(case, seed=seed, folder=folder)
    found.ratio(seen.worst)
    for message in dict.fromkeys(seen.violations):
        found.violation(message)


def replay_cases(settings: Settings) -> list[ReplayCase]:
    """Return the cases of rows in memory: hostile rows and domains take turns, all of them in a full audit.

    A quick audit takes two of the guarantees.
    """
    rounds = settings.amount(2, len(HOSTILE))
    others = [kind for kind, guarantee in GUARANTEES.items() if not guarantee.is_pure]
    fits: list[tuple[str, str, Relation, int]] = []
    for name in settings.wanted(METHODS):
        variant, quick = METHODS[name], ("pure", _turn(others, list(METHODS).index(name)))
        kinds = quick if settings.quick else variant.method.guarantees
        fits += itertools.product([name], kinds, Relation, variant.dimensions)
    return [
        ReplayCase(
            method=method,
            kind=kind,
            relation=relation,
            n_features=n_features,
            hostile=_turn(HOSTILE, 3 * index + 7 * turn),  # 7 shares no factor with 11: all in eleven turns
            table=(domain := _turn(METHODS[method].domains, index + index // len(METHODS[method].domains) + turn)),
            other="edge" if (index + turn) % 3 else "missing",
            size=_turn(SIZES, index + turn + index // 2),
            backwards=(index // 5 + turn) % 2 == 1,
            options={
                "n_rows": None if turn % 2 else 40,
                "scaling": "bounds" if "box" in domain and index % 2 else "none",
            },
        )
        for index, (method, kind, relation, n_features) in enumerate(fits)
        for turn in range(rounds)
    ]


def declared_cases(settings: Settings) -> list[ReplayCase]:
    """Return the cases with declared columns: cells, guarantees and engines take turns, all of the cells in a full audit."""
    engines = [one for one in DECLARED_ENGINES if installed(one) and one in (settings.engines or AUDIT_ENGINES)] or ["arrow"]
    return [
        ReplayCase(
            method=method,
            kind=_turn(tuple(GUARANTEES), index + turn),
            relation=relation,
            hostile=_turn(tuple(HOSTILE_CELLS), 3 * index + turn),
            table=DECLARED_COLUMNS,
            n_features=7,
            engine=_turn(engines, index + turn),
            options={"n_rows": None if turn % 2 else 400},
        )
        for index, (method, relation) in enumerate(itertools.product(settings.wanted(DECLARED), Relation))
        for turn in range(settings.amount(2, len(HOSTILE_CELLS)))
    ]


def engine_cases(settings: Settings, engine: str) -> list[ReplayCase]:
    """Return a few cases for an engine that does not have all the others."""
    methods = ["GridSynopsis"] if engine in SLOW_TO_START else settings.wanted(ENGINE_METHODS)
    return [
        ReplayCase(
            method=method,
            kind="approx",
            relation=relation,
            hostile=hostile,
            table=METHODS[method].domains[index % 2],
            engine=engine,
        )
        for method, relation in itertools.product(methods, Relation)
        for index, hostile in enumerate(HOSTILE[: settings.amount(2, 5)])
    ]


def person_cases(settings: Settings) -> list[ReplayCase]:
    """Return the cases in which a person with many rows differs: guarantees, limits and rows take turns.

    Every method is also fitted where the number of rows is asserted, and true, so that nobody counts them.
    """
    names = [name for name in settings.wanted(METHODS) if min(METHODS[name].dimensions) <= 2]
    protections = [*((weighting, False) for weighting in WEIGHTINGS), (WEIGHTINGS[0], True)]
    return [
        ReplayCase(
            method=name,
            kind=_turn(METHODS[name].method.guarantees, index + turn),
            relation=relation,
            hostile=_turn(HOSTILE_PERSONS, index + turn),
            table=PERSONS,
            backwards=(index // 3 + turn) % 2 == 1,
            options={
                "weighting": weighting,
                "max_rows_per_unit": USED if asserted else _turn(LIMITS, index + index // len(LIMITS) + turn),
                "units_bounded": asserted,
            },
        )
        for index, (name, relation, (weighting, asserted)) in enumerate(itertools.product(names, Relation, protections))
        for turn in range(settings.amount(1, len(LIMITS)))
    ]


def _turn(values: Sequence[T], number: int) -> T:
    return values[number % len(values)]


# -- the check -----------------------------------------------------------------------------------------------------------


def _cases(settings: Settings, folder: Path) -> Iterator[Case]:
    """Yield every method read by NumPy, declared columns, and a few cases of every other engine."""
    engines = settings.engines or AUDIT_ENGINES
    cases = [*replay_cases(settings), *declared_cases(settings)] if "numpy" in engines else []
    for engine in engines:
        absence = "" if installed(engine) else "not installed"
        if not absence and engine in SLOW_TO_START and settings.quick and not settings.engines:
            absence = f"left out of a quick audit; pass --engine {engine}"
        if absence:
            yield Case(engine, "engines", partial(CheckResult.note, words=f"{engine}: {absence}"))
        elif engine != "numpy":
            cases += engine_cases(settings, engine)
    for number, case in enumerate(cases):
        words = f"read by {case.engine}" if case.engine != "numpy" else case.method
        part = f"{DECLARED_COLUMNS}, {case.relation.value}" if case.table == DECLARED_COLUMNS else words
        yield Case(str(case), part, partial(check_replay, case=case, seed=settings.seed + number, folder=folder))


REPLAYS = Check(
    title="Replay: neighbours answered alike lie within the stated sensitivity",
    meaning="Two tables that differ in one hostile row are fitted; the second gets the answers of the first. At every "
    "question the exact integers must lie within the sensitivity that the event states. The ratio is the largest distance over "
    "its sensitivity: 1 is reached by rows that move an answer as far as a row can.",
    cases=_cases,
)
