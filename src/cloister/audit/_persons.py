# SPDX-License-Identifier: Apache-2.0
"""A person with a thousand rows, of which five are used: attacks, the choice of rows, and replays of every method.

Of two tables that differ in that person, the same rows of everybody else must be used, to the last bit, and at most five of
that person, whether a table is in memory or cut into files. What many answers prove must stay below the claim, and a replay of
every method within the stated sensitivity, also where a number of rows is asserted and nobody counts them.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from cloister.audit._attacks import COUNTS, POINTS, STEP, SUMS, Attack, attack_once
from cloister.audit._chance import FALSE_ALARM
from cloister.audit._coupling import all_rows
from cloister.audit._findings import CheckResult, Findings, Settings, Step
from cloister.audit._guarantees import GUARANTEES
from cloister.audit._methods import DOMAINS, METHODS, make_fit
from cloister.audit._replay import Replay, replay
from cloister.audit._tables import PersonTable, neighbours
from cloister.columns import WEIGHTINGS, PrivacyUnit, Relation
from cloister.data import Bounding, open_rows
from cloister.privacy import GDP, Cost, Entropy, PureDP

__all__ = [
    "INTRUDERS",
    "PERSON_ATTACKS",
    "PersonCase",
    "check_persons",
    "choice_neighbours",
    "choose_both",
    "count_person_cases",
    "person_cases",
    "person_neighbours",
    "run_person_case",
]

TITLE = "Persons: whoever has a thousand rows moves no more than was paid for"
SHARE = 0.2  # of the false-alarm rate
MANY, USED = 1_000, 5  # rows of the person, and how many of them are used
MISSING_IDS = 30  # rows of others without an id
N_FILES = 3
CELLS = 100  # of an attack; each has a person of its own
ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE
COSTS: dict[str, Cost] = {"Gaussian": GDP(1.0), "pure": PureDP(1.0)}


# -- attacks -------------------------------------------------------------------------------------------------------------


def _crowded(side: float) -> PersonTable:
    """Return a table in which every cell has one person with many rows, all different, on one side of its point."""
    beyond = side * STEP * np.linspace(1.0, 1.5, MANY)  # offsets are cut at one step
    places = POINTS[:: len(POINTS) // CELLS]
    return PersonTable((places + beyond).reshape(-1, 1), np.repeat(np.arange(len(places)), MANY))


NOBODY = PersonTable(np.empty((0, 1)), np.empty(0, dtype=np.int64))
CELL_COUNTS = type(COUNTS)(points=POINTS[:: len(POINTS) // CELLS])
CELL_SUMS = type(SUMS)(points=POINTS[:: len(POINTS) // CELLS], radius=STEP)


def _person_attacks() -> Iterator[Attack]:
    left, right = _crowded(1.0), _crowded(-1.0)
    for words, cost in COSTS.items():
        for weighting in WEIGHTINGS:
            privacy_unit = PrivacyUnit(max_rows=USED, weighting=weighting)
            how = f"every {weighting} counts, {words}"
            given: dict[str, Any] = {"cost": cost, "privacy_unit": privacy_unit}
            yield Attack(f"a person in a count, {how}", (CELL_COUNTS,), relation=ADD, left=left, right=NOBODY, **given)
            yield Attack(f"a person who changes sides, {how}", (CELL_SUMS,), relation=REPLACE, left=left, right=right, **given)


PERSON_ATTACKS = tuple(_person_attacks())


# -- which rows are used -------------------------------------------------------------------------------------------------

# Who comes: what their rows are, beside those of the others, and which id they have where the first of the others is "Ann 7".
INTRUDERS: dict[str, str] = {
    "rows anywhere": "Zoe",
    "copies of everybody's rows": "Zoe",
    "one row over and over": "Zoe",
    "an id in other letters": "ann 7",
    "an id with a space more": "Ann 7 ",
    "an id in another form": "Ann \uff17",
    "nothing but missing values": "Zoe",
    "no id": "",
    "an id on some rows only": "Zoe",
}


@dataclass(frozen=True)
class Chosen:
    """The rows that are used of two neighbouring tables, with rank and number, as bytes."""

    left: Counter[bytes]
    right: Counter[bytes]

    @property
    def added(self) -> int:
        """Rows that only the left table has."""
        return (self.left - self.right).total()

    @property
    def lost(self) -> int:
        """Rows that only the right table has."""
        return (self.right - self.left).total()


def choice_neighbours(intruder: str, seed: int, *, many: int = MANY) -> tuple[PersonTable, PersonTable]:
    """Return a table with a person who has many rows, somewhere among those of the others, and the table without.

    Some rows of the others have no id.
    """
    generator = Entropy(seed).public_generator()
    ids = [f"Ann {number}" for number in generator.permutation(np.repeat(np.arange(7, 47), generator.integers(1, 12, 40)))]
    ids += [""] * MISSING_IDS
    rows = generator.uniform(-1, 1, size=(len(ids), 2))
    own = generator.uniform(-1, 1, size=(many, 2))
    if "copies" in intruder:
        own = np.resize(rows, (many, 2))
    elif "over and over" in intruder:
        own[:] = own[0]
    elif "missing" in intruder:
        own[:] = np.nan
    order = generator.permutation(len(ids) + many)
    names = [INTRUDERS[intruder], "" if "some" in intruder else INTRUDERS[intruder]] * many
    both = np.array([*ids, *names[:many]], dtype=object)[order]
    return PersonTable(np.concatenate([rows, own])[order], both), PersonTable(rows, np.array(ids, dtype=object))


def choose_both(left: PersonTable, right: PersonTable, seed: int, *, n_files: int = 0) -> Chosen:
    """Return which rows are used of both tables, under one key of ids and one of rows; in memory, or cut into files."""
    key = Entropy(seed).words(4).tobytes()
    bounding = Bounding.draw(Entropy(seed + 1), USED)
    kept = []
    for table in (left, right):
        with tempfile.TemporaryDirectory() as folder:
            rows: Any = open_rows(**_as_source(table, Path(folder), n_files), unit_key=key, n_jobs=1)
            kept.append(Counter(row.tobytes() for row in np.ascontiguousarray(all_rows(rows.bounded(bounding)))))
    return Chosen(*kept)


def _as_source(table: PersonTable, folder: Path, n_files: int) -> dict[str, Any]:
    """Return what opens a table: of files each has some of the rows of everybody."""
    if not n_files:
        return {"data": table.rows, "privacy_unit": table.ids}
    for number in range(n_files):
        part = slice(number, None, n_files)
        columns = {"x": table.rows[part, 0], "y": table.rows[part, 1], "who": pa.array(table.ids[part], pa.string())}
        pyarrow.parquet.write_table(pa.table(columns), folder / f"{number}.parquet")
    return {"data": folder, "columns": ["x", "y"], "privacy_unit": "who"}


# -- replays -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PersonCase:
    """A pair of tables that differ in a person with many rows, and one fit."""

    method: str
    kind: str  # of guarantee
    relation: Relation
    weighting: str
    max_rows: int | str
    hostile: str
    backwards: bool = False  # record the table without the person, replay the one with them
    stated: bool = False  # that nobody has more rows is asserted, and true; rows are not counted

    def __str__(self) -> str:
        how = f"every {self.weighting} counts, rows per person: {self.max_rows}{', asserted' * self.stated}"
        return ", ".join([self.method, self.kind, self.relation.value, how, self.hostile])


LIMITS: tuple[int | str, ...] = (USED, "auto", 11, 1)  # 11 does not divide the weight of a person
HOSTILE_ROWS = ("edge", "missing", "outside", "duplicate", "signalling")
N_FEATURES, N_HOSTILE, FEWER = 2, 60, 8


def person_cases(settings: Settings) -> list[PersonCase]:
    """Return the cases of an audit: every method, relation and weighting; guarantees, limits and rows take turns."""
    rounds = settings.amount(1, len(LIMITS))
    names = [name for name in METHODS if _wanted(settings, name) and min(METHODS[name].dimensions) <= N_FEATURES]
    fits = [(name, relation, weighting) for name in names for relation in Relation for weighting in WEIGHTINGS]
    asserted = [
        PersonCase(
            method=name,
            kind=METHODS[name].kinds[index % len(METHODS[name].kinds)],
            relation=relation,
            weighting=WEIGHTINGS[0],
            max_rows=USED,
            hostile=HOSTILE_ROWS[index % len(HOSTILE_ROWS)],
            stated=True,
        )
        for index, (name, relation) in enumerate((name, relation) for name in names for relation in Relation)
    ]
    return asserted + [
        PersonCase(
            method=name,
            kind=METHODS[name].kinds[(index + turn) % len(METHODS[name].kinds)],
            relation=relation,
            weighting=weighting,
            max_rows=LIMITS[(index + index // len(LIMITS) + turn) % len(LIMITS)],
            hostile=HOSTILE_ROWS[(index + turn) % len(HOSTILE_ROWS)],
            backwards=(index // 3 + turn) % 2 == 1,
        )
        for index, (name, relation, weighting) in enumerate(fits)
        for turn in range(rounds)
    ]


def run_person_case(case: PersonCase, *, seed: int) -> Replay:
    """Make the tables of a case and replay it."""
    domain = DOMAINS["box"](N_FEATURES)
    fit = make_fit(
        METHODS[case.method],
        GUARANTEES[case.kind],
        relation=case.relation,
        domain=domain,
        n_features=N_FEATURES,
        seed=seed,
        weighting=case.weighting,
        max_rows_per_unit=case.max_rows,
        units_bounded=case.stated,
    )
    most = {"many": USED, "few": USED - 1} if case.stated else {}
    left, right = person_neighbours(case.relation, case.hostile, Entropy(seed).public_generator(), **most)
    return replay(fit, right, left) if case.backwards else replay(fit, left, right)


def person_neighbours(
    relation: Relation, hostile: str, generator: np.random.Generator, *, many: int = N_HOSTILE, few: int = FEWER
) -> tuple[PersonTable, PersonTable]:
    """Return a table with a person of many hostile rows, and the one without, or with another person on the other side.

    Who replaces them has fewer rows, so that rows come or go as well.
    """
    given: dict[str, Any] = {"relation": REPLACE, "hostile": hostile, "generator": generator}
    pair = neighbours(DOMAINS["box"](N_FEATURES), N_FEATURES, **given)
    others = [place for place in range(len(pair.left)) if np.array_equal(pair.left[place], pair.right[place], equal_nan=True)]
    ids = generator.integers(0, 12, len(others))
    base = PersonTable(pair.left[others], ids)
    places = np.setdiff1d(np.arange(len(pair.left)), others)
    if not len(places):  # a row that is missing in both
        places = np.array([0])
    left = base.joined(np.repeat(pair.left[places[:1]], many, axis=0), 99, generator)
    if relation is ADD:
        return left, base
    number = int(generator.integers(1, few))
    return left, base.joined(np.repeat(pair.right[places[:1]], number, axis=0), 99, generator)


def _wanted(settings: Settings, name: str) -> bool:
    return not settings.methods or any(name.split(",")[0] == one or name == one for one in settings.methods)


# -- the check -----------------------------------------------------------------------------------------------------------


def count_person_cases(settings: Settings) -> int:
    """Return how many cases the check has."""
    return 2 * len(INTRUDERS) + len(PERSON_ATTACKS) + len(person_cases(settings))


def check_persons(settings: Settings, step: Step) -> CheckResult:
    """See which rows are used, replay every method, and attack counts and sums."""
    found = Findings("persons", TITLE, step, settings.first)
    for number, (intruder, n_files) in enumerate((one, n_files) for one in INTRUDERS for n_files in (0, N_FILES)):
        found.begin(intruder, part="which rows are used")
        _check_choice(found, intruder, settings.seed + number, n_files=n_files)
    for number, case in enumerate(person_cases(settings)):
        found.begin(str(case), part=f"{case.method}, {case.relation.value}")
        seen = run_person_case(case, seed=settings.seed + number)
        found.ratio(seen.worst)
        for message in dict.fromkeys(seen.violations):
            found.violation(f"{case}: {message}")
    best = 0.0
    for index, attack in enumerate(PERSON_ATTACKS):
        found.begin(attack.name, part=attack.name)
        level = FALSE_ALARM * SHARE / len(PERSON_ATTACKS)
        proven = attack_once(attack, asks=settings.amount(200, 600), seed=settings.seed + 2 * index, level=level)
        best = max(best, proven / attack.claimed)
        found.check_limit(proven, attack.claimed, f"{attack.name}: epsilon proven by the answers")
    found.notes.append(f"the best attack proves {best:.0%} of the claimed epsilon; false alarms: {FALSE_ALARM * SHARE:.1g}")
    return found.result()


def _check_choice(found: Findings, intruder: str, seed: int, *, n_files: int) -> None:
    chosen = choose_both(*choice_neighbours(intruder, seed), seed, n_files=n_files)
    where = f"{intruder}, {n_files} files" if n_files else intruder
    found.check_limit(chosen.added, USED, f"{where}: rows that are used of a person")
    if chosen.lost:
        found.violation(f"{where}: {chosen.lost} rows of others are used no more when somebody comes")
