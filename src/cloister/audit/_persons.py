# SPDX-License-Identifier: Apache-2.0
"""A person with a thousand rows, of which five are used: attacks, the choice of rows, and replays of every method.

Of two tables that differ in that person, the same rows of everybody else must be used, to the last bit, and at most five of
that person, whether a table is in memory or cut into files. What many answers prove must stay below the claim, and a replay of
every method within the stated sensitivity, also where a number of rows is asserted and nobody counts them.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from cloister.audit._attacks import ADD, COUNTS, POINTS, REPLACE, STEP, SUMS, Attack, attack_cases
from cloister.audit._findings import Case, Check, CheckResult, Settings
from cloister.audit._replays import USED, check_replay, person_cases
from cloister.audit._tables import PersonTable, all_rows
from cloister.columns import WEIGHTINGS, PrivacyUnit
from cloister.data import Bounding, Rows, open_rows
from cloister.privacy import GDP, Cost, Entropy, PureDP

SHARE = 0.2  # of the false-alarm rate
MANY = 1_000  # rows of the person
MISSING_IDS = 30  # rows of others without an id
N_FILES = 3

# -- attacks -------------------------------------------------------------------------------------------------------------

CELLS = POINTS[::10]  # each has a person of its own
CELL_COUNTS, CELL_SUMS = type(COUNTS)(points=CELLS), type(SUMS)(points=CELLS, radius=STEP)


def _person_attacks() -> Iterator[Attack]:
    """Yield attacks on tables in which every cell has one person with many rows, all different, on one side of its point."""
    nobody = PersonTable(np.empty((0, 1)), np.empty(0, dtype=np.int64))
    beyond, ids = STEP * np.linspace(1.0, 1.5, MANY), np.repeat(np.arange(len(CELLS)), MANY)  # offsets are cut at one step
    left, right = (PersonTable((CELLS + side * beyond).reshape(-1, 1), ids) for side in (1, -1))
    costs: dict[str, Cost] = {"Gaussian": GDP(1.0), "pure": PureDP(1.0)}
    for words, cost in costs.items():
        for weighting in WEIGHTINGS:
            given: dict[str, Any] = {"privacy_unit": PrivacyUnit(max_rows=USED, weighting=weighting), "asks": (200, 600)}
            how = f"every {weighting} counts, {words}"
            yield Attack(f"a person in a count, {how}", (CELL_COUNTS,), cost, ADD, left, nobody, **given)
            yield Attack(f"a person who changes sides, {how}", (CELL_SUMS,), cost, REPLACE, left, right, **given)


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
    names = [INTRUDERS[intruder], "" if "some" in intruder else INTRUDERS[intruder]] * many
    others = PersonTable(rows, np.array(ids, dtype=object))
    return others.joined(own, names[:many], generator), others


def choose_both(left: PersonTable, right: PersonTable, seed: int, *, n_files: int = 0) -> list[Counter[bytes]]:
    """Return which rows are used of both tables, under one key of ids and one of rows; in memory, or cut into files."""
    key = Entropy(seed).words(4).tobytes()
    bounding = Bounding.draw(Entropy(seed + 1), USED)
    kept = []
    for table in (left, right):
        with tempfile.TemporaryDirectory() as folder:
            source: dict[str, Any] = {"data": table.rows, "privacy_unit": table.ids}
            for number in range(n_files):  # each has some of the rows of everybody
                part = slice(number, None, n_files)
                columns = {"x": table.rows[part, 0], "y": table.rows[part, 1], "who": pa.array(table.ids[part], pa.string())}
                pyarrow.parquet.write_table(pa.table(columns), Path(folder) / f"{number}.parquet")
                source = {"data": folder, "columns": ["x", "y"], "privacy_unit": "who"}
            rows: Any = open_rows(**source, unit_key=key, n_jobs=1)
            kept.append(rows_of(rows.bounded(bounding)))
    return kept


def rows_of(rows: Rows) -> Counter[bytes]:
    """Return the rows of a made-up table, with rank and number of a person's where persons are protected, as bytes."""
    return Counter(row.tobytes() for row in np.ascontiguousarray(all_rows(rows)))


def check_same_rows(found: CheckResult, left: Counter[bytes], right: Counter[bytes], *, allowed: int) -> None:
    """See that the left table has at most so many rows more than the right one, and all of its rows."""
    found.check_limit((left - right).total(), allowed, "rows that only one of two neighbours has")
    if right - left:
        found.violation(f"{(right - left).total()} rows of others are not those of the neighbour")


# -- the check -----------------------------------------------------------------------------------------------------------


def _cases(settings: Settings, folder: Path) -> Iterator[Case]:
    for number, (intruder, n_files) in enumerate(product(INTRUDERS, (0, N_FILES))):
        run = partial(_check_choice, intruder=intruder, seed=settings.seed + number, n_files=n_files)
        yield Case(f"{intruder}, {n_files} files" if n_files else intruder, "which rows are used", run)
    for number, case in enumerate(person_cases(settings)):
        run = partial(check_replay, case=case, seed=settings.seed + number, folder=folder)
        yield Case(str(case), f"{case.method}, {case.relation.value}", run)
    yield from attack_cases(settings, PERSON_ATTACKS, share=SHARE)


def _check_choice(found: CheckResult, *, intruder: str, seed: int, n_files: int) -> None:
    check_same_rows(found, *choose_both(*choice_neighbours(intruder, seed), seed, n_files=n_files), allowed=USED)


PERSONS = Check(
    title="Persons: whoever has a thousand rows moves no more than was paid for",
    meaning="Two tables differ in a person with a thousand rows, of which five are used. Of everybody else the same rows "
    "must be used, and at most five differ. Every method is replayed on such tables, and an attacker looks at thousands of "
    "answers. The ratio is the largest of what was found over what is allowed.",
    cases=_cases,
    false_alarms=SHARE,
)
