# SPDX-License-Identifier: Apache-2.0
"""Persons with many rows: which rows are used, what attacks prove, and that a missing bound is found."""

import numpy as np
import pyarrow as pa
import pytest

from cloister.audit import DECLARED, GUARANTEES, Settings, person_neighbours, planted, replay
from cloister.audit._attacks import attack_once
from cloister.audit._methods import make_fit
from cloister.audit._persons import INTRUDERS, MANY, PERSON_ATTACKS, choice_neighbours, choose_both
from cloister.audit._replays import USED, person_cases
from cloister.audit._tables import HOSTILE_CELLS, declared_row, declared_table
from cloister.columns import PrivacyUnit, Relation

LEVEL = 1e-7  # of a false alarm, for each attack


@pytest.mark.parametrize("intruder", INTRUDERS)
@pytest.mark.parametrize("n_files", [0, 3])
def test_whoever_comes_moves_nobody_elses_rows(intruder: str, n_files: int, seed: int) -> None:
    left, right = choice_neighbours(intruder, seed)
    used, without = choose_both(left, right, seed, n_files=n_files)
    assert not without - used, "rows of others are the same, with rank and number, to the last bit"
    assert (used - without).total() == (0 if intruder == "no id" else USED)
    assert len(left.rows) - len(right.rows) == MANY


def test_who_has_very_many_rows_moves_nobody_either(seed: int) -> None:
    # The five that are used have smaller numbers than any row of the others: under no key would that push them out.
    left, right = choice_neighbours("rows anywhere", seed, many=20_000)
    used, without = choose_both(left, right, seed)
    assert not without - used


@pytest.mark.parametrize(("asks", "least"), [(20, 0.0), pytest.param(1_000, 0.7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("attack", PERSON_ATTACKS, ids=lambda attack: attack.name)
def test_a_person_with_a_thousand_rows_stays_below_the_claim(attack, asks, least, seed):
    assert least * attack.claimed <= attack_once(attack, asks=asks, seed=seed, level=LEVEL) <= attack.claimed


@pytest.mark.parametrize("attack", PERSON_ATTACKS[:4], ids=lambda attack: attack.name)  # weights add up to one row
def test_an_attack_alone_finds_that_rows_are_not_limited(attack, seed):
    with planted("persons-unbounded"):
        assert attack_once(attack, asks=20, seed=seed, level=LEVEL) > attack.claimed


@pytest.mark.parametrize(
    "attack", [one for one in PERSON_ATTACKS if not one.privacy_unit.is_weighted], ids=lambda one: one.name
)
def test_an_attack_alone_finds_that_a_person_pays_for_one_row(attack, seed, monkeypatch):
    claimed = attack.claimed
    monkeypatch.setattr(PrivacyUnit, "factor", property(lambda unit: unit.steps))
    assert attack_once(attack, asks=20, seed=seed, level=LEVEL) > claimed


def test_cases_take_turns_and_persons_differ_as_they_should(generator) -> None:
    cases = person_cases(Settings(quick=True))
    protected = {(one.relation, one.options["weighting"], one.options["units_bounded"]) for one in cases}
    assert protected == {(one, *how) for one in Relation for how in (("row", False), ("person", False), ("row", True))}
    assert {case.options["max_rows_per_unit"] for case in cases} == {1, 5, 11, "auto"}
    assert len(person_cases(Settings())) == 4 * len(cases)
    for relation in Relation:
        left, right = person_neighbours(relation, "edge", generator)
        others = [np.sort(table.rows[table.ids != 99], axis=0) for table in (left, right)]
        assert np.array_equal(*others)
        assert np.count_nonzero(left.ids == 99) > np.count_nonzero(right.ids == 99)
        assert (relation is Relation.REPLACE) == bool(np.count_nonzero(right.ids == 99))


def declared_people(relation: Relation, hostile: str, generator: np.random.Generator) -> list[pa.Table]:
    """Return two tables of declared columns that differ in a person with many hostile rows; who replaces them has two."""
    rows, ids = [declared_row(generator) for _ in range(200)], [f"p{one}" for one in generator.integers(0, 60, 200)]
    plain = declared_row(generator)
    others = [] if relation is Relation.ADD_REMOVE else [plain] * 2
    tables = []
    for own in ([HOSTILE_CELLS[hostile](plain)] * 60, others):
        table = declared_table([*rows, *own])
        tables.append(table.append_column("who", pa.array([*ids, *["zoe"] * len(own)])))
    return tables


@pytest.mark.slow
@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("name", DECLARED)
def test_declared_columns_private_bounds_and_descriptions_stay_within_what_was_paid_for(name, turn, generator):
    """Guarantees, limits and cells take turns; a method meets every pair of a relation and a weighting twice."""
    cells, relation = [*HOSTILE_CELLS], list(Relation)[turn]
    for number, (kind, guarantee) in enumerate(GUARANTEES.items()):
        weighting, max_rows = ("row", "person")[(number + turn) % 2], (5, "auto", 11, 1)[number]
        given = {"weighting": weighting, "privacy_unit": "who", "max_rows_per_unit": max_rows}
        fit = make_fit(name, guarantee, relation=relation, seed=number, **given)
        found = replay(fit, *declared_people(relation, cells[(len(name) + number) % len(cells)], generator))
        assert found.violations == (), kind
        assert found.worst <= 1 + 1e-12
