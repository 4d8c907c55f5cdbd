# SPDX-License-Identifier: Apache-2.0
"""The cases that are replayed: every method under both relations, with hostile rows, domains and engines in turn."""

import itertools
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cloister.audit._declared import (
    DECLARED,
    DECLARED_ENGINES,
    HOSTILE_CELLS,
    declared_fit,
    declared_neighbours,
    declared_table,
)
from cloister.audit._findings import CheckResult, Findings, Settings, Step
from cloister.audit._guarantees import GUARANTEES
from cloister.audit._methods import DOMAINS, METHODS, make_fit
from cloister.audit._replay import Replay, replay
from cloister.audit._tables import AUDIT_ENGINES, HOSTILE, as_table, installed, neighbours
from cloister.columns import Relation
from cloister.privacy import Entropy

__all__ = [
    "DeclaredCase",
    "ReplayCase",
    "all_cases",
    "check_replay",
    "declared_cases",
    "engine_cases",
    "replay_cases",
    "run_case",
]

TITLE = "Replay: neighbours answered alike lie within the stated sensitivity"
SLOW_TO_START = ("spark",)  # left out of a quick audit unless it is named, and given few questions: each takes a second
SIZES = (40, 40, 2, 0)  # in a small table one row is all there is: an average of few rows moves most
ENGINE_METHODS = ("KMeans", "GridSynopsis", "TreeKMeans", "SourceTargetKMedoids, nas")


@dataclass(frozen=True, kw_only=True)
class ReplayCase:
    """One pair of neighbouring tables and one fit."""

    method: str
    kind: str  # of guarantee
    relation: Relation
    n_features: int
    hostile: str
    domain: str
    engine: str = "numpy"
    n_rows: int | None = None
    scaling: str = "none"
    other: str = "edge"  # what replaces the hostile row
    size: int = 40  # rows that both tables share
    backwards: bool = False  # record the table without the hostile row, replay the one with it

    def __str__(self) -> str:
        message = [self.method, self.kind, self.relation.value, f"d = {self.n_features}", self.hostile, self.domain]
        return ", ".join(message if self.engine == "numpy" else [*message, self.engine])


@dataclass(frozen=True, kw_only=True)
class DeclaredCase:
    """One pair of neighbouring tables of declared columns and one fit."""

    method: str  # a key of DECLARED
    kind: str  # of guarantee
    relation: Relation
    hostile: str
    engine: str = "arrow"
    n_rows: int | None = None

    def __str__(self) -> str:
        return ", ".join([self.method, self.kind, self.relation.value, "declared columns", self.hostile, self.engine])


def check_replay(settings: Settings, step: Step) -> CheckResult:
    """Replay all cases of an audit."""
    found = Findings("replay", TITLE, step, settings.first)
    found.notes.extend(f"{engine}: {reason}" for engine, reason in _left_out(settings).items())
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(all_cases(settings)):
            found.begin(str(case), part=_part(case))
            _note(found, case, run_case(case, seed=settings.seed + number, folder=Path(folder)))
    return found.result()


def _part(case: ReplayCase | DeclaredCase) -> str:
    if isinstance(case, DeclaredCase):
        return f"declared columns, {case.relation.value}"
    return f"{case.method}, {case.relation.value}" if case.engine == "numpy" else f"read by {case.engine}"


def all_cases(settings: Settings) -> list[ReplayCase | DeclaredCase]:
    """Return all cases of an audit: every method by NumPy, declared columns, and a few cases by every other engine."""
    engines = [one for one in settings.engines or AUDIT_ENGINES if one not in _left_out(settings)]
    cases: list[ReplayCase | DeclaredCase] = []
    if "numpy" in engines:
        cases += [*replay_cases(settings), *declared_cases(settings)]
    for engine in engines:
        cases += engine_cases(settings, engine)
    return cases


def _left_out(settings: Settings) -> dict[str, str]:
    """Return the engines that are not used, each with the reason."""
    reasons = {one: "not installed" for one in settings.engines or AUDIT_ENGINES if not installed(one)}
    if settings.quick and not settings.engines:
        reasons |= {one: f"left out of a quick audit; pass --engine {one}" for one in SLOW_TO_START if one not in reasons}
    return reasons


def run_case(case: ReplayCase | DeclaredCase, *, seed: int, folder: Path) -> Replay:
    """Make the tables of a case and replay it."""
    if isinstance(case, DeclaredCase):
        return _run_declared(case, seed=seed, folder=folder)
    domain = DOMAINS[case.domain](case.n_features)
    pair = neighbours(
        domain,
        case.n_features,
        relation=case.relation,
        hostile=case.hostile,
        generator=Entropy(seed).public_generator(),
        other=case.other,
        size=case.size,
    )
    options: dict[str, Any] = {"n_rows": case.n_rows, "scaling": case.scaling}
    fit = make_fit(
        METHODS[case.method],
        GUARANTEES[case.kind],
        relation=case.relation,
        domain=domain,
        n_features=case.n_features,
        seed=seed,
        **options,
    )
    first, second = (pair.right, pair.left) if case.backwards else (pair.left, pair.right)
    return replay(fit, as_table(first, case.engine, folder, "first"), as_table(second, case.engine, folder, "second"))


def _run_declared(case: DeclaredCase, *, seed: int, folder: Path) -> Replay:
    generator = Entropy(seed).public_generator()
    pair = declared_neighbours(relation=case.relation, hostile=case.hostile, generator=generator)
    fit = declared_fit(case.method, GUARANTEES[case.kind], relation=case.relation, seed=seed, n_rows=case.n_rows)
    left, right = (declared_table(rows, case.engine, folder, name) for rows, name in zip(pair, ("left", "right"), strict=True))
    return replay(fit, left, right)


def declared_cases(settings: Settings) -> list[DeclaredCase]:
    """Return the cases with declared columns: cells, guarantees and engines take turns, all of the cells in a full audit."""
    rounds, cells, kinds = settings.amount(2, len(HOSTILE_CELLS)), tuple(HOSTILE_CELLS), tuple(GUARANTEES)
    engines = [one for one in DECLARED_ENGINES if installed(one) and one in (settings.engines or AUDIT_ENGINES)] or ["arrow"]
    fits = [(name, relation) for name in DECLARED if _wanted(settings, name) for relation in Relation]
    return [
        DeclaredCase(
            method=method,
            kind=kinds[(index + turn) % len(kinds)],
            relation=relation,
            hostile=cells[(3 * index + turn) % len(cells)],
            engine=engines[(index + turn) % len(engines)],
            n_rows=None if turn % 2 else 400,
        )
        for index, (method, relation) in enumerate(fits)
        for turn in range(rounds)
    ]


def replay_cases(settings: Settings) -> list[ReplayCase]:
    """Return the cases of an audit: hostile rows and domains take turns, all of them in a full one."""
    rounds = settings.amount(2, len(HOSTILE))
    cases = []
    for index, (method, kind, relation, n_features) in enumerate(_kinds_of_fit(settings)):
        for turn in range(rounds):
            domains = METHODS[method].domains
            hostile = HOSTILE[(3 * index + 7 * turn) % len(HOSTILE)]  # 7 shares no factor with 11: all in eleven turns
            domain = domains[(index + index // len(domains) + turn) % len(domains)]
            cases.append(
                ReplayCase(
                    method=method,
                    kind=kind,
                    relation=relation,
                    n_features=n_features,
                    hostile=hostile,
                    domain=domain,
                    n_rows=None if turn % 2 else 40,
                    scaling="bounds" if "box" in domain and index % 2 else "none",
                    other="edge" if (index + turn) % 3 else "missing",
                    size=SIZES[(index + turn + index // 2) % len(SIZES)],
                    backwards=(index // 5 + turn) % 2 == 1,
                )
            )
    return cases


def engine_cases(settings: Settings, engine: str) -> list[ReplayCase]:
    """Return a few cases for one engine."""
    if engine == "numpy":
        return []  # has all the others
    few = HOSTILE[: settings.amount(2, 5)]
    wanted = [name for name in ENGINE_METHODS if _wanted(settings, name)]
    chosen = ["GridSynopsis"] if engine in SLOW_TO_START else wanted
    return [
        ReplayCase(
            method=method,
            kind="approx",
            relation=relation,
            n_features=2,
            hostile=hostile,
            domain=METHODS[method].domains[index % 2],
            engine=engine,
        )
        for method in chosen
        for relation in Relation
        for index, hostile in enumerate(few)
    ]


def _kinds_of_fit(settings: Settings) -> Iterator[tuple[str, str, Relation, int]]:
    """Yield method, guarantee, relation and number of columns; a quick audit takes two of the guarantees."""
    others = [kind for kind, guarantee in GUARANTEES.items() if not guarantee.is_pure]
    for number, (name, method) in enumerate(METHODS.items()):
        if not _wanted(settings, name):
            continue
        kinds = method.kinds if not settings.quick else ("pure", others[number % len(others)])
        yield from ((name, *rest) for rest in itertools.product(kinds, Relation, method.dimensions))


def _wanted(settings: Settings, name: str) -> bool:
    return not settings.methods or any(name.split(",")[0] == one or name == one for one in settings.methods)


def _note(found: Findings, case: ReplayCase | DeclaredCase, seen: Replay) -> None:
    found.ratio(seen.worst)
    for message in dict.fromkeys(seen.violations):
        found.violation(f"{case}: {message}")
