# SPDX-License-Identifier: Apache-2.0
"""Persons as the unit of privacy, for every method: neighbours by replay, ids that are found nowhere, budgets and ledgers."""

import logging
import pickle
import re
import struct
import warnings

import numpy as np
import pandas as pd
import pytest

from cloister import Ledger, PureDP
from cloister.audit import PersonTable, person_neighbours, replay
from cloister.columns import Identifier, Relation
from cloister.data._ids import hash_objects
from cloister.exceptions import CloisterError, LedgerError
from cloister.privacy import Entropy

from ._cases import GUARANTEES, PLAIN, RELATIONS, every_method, same, targets
from .test_budgets import check_extreme, check_spent
from .test_canary import of_a_ledger, of_a_model, of_what_is_published

CANARY = "CANARY-PERSON-17"
SEED = 5
# What stands in the rows of the person, and how tables differ.
HOSTILE = {"edge": "add-remove", "missing": "replace", "signalling": "add-remove"}


def fit(case, table, **parameters):
    """Fit a method to the rows of persons; where it also takes a public table, beside one."""
    model = case.make(2, **{"max_rows_per_unit": 5, "random_state": SEED, **parameters})
    if isinstance(table, PersonTable):
        return case.fit_to(model, table.rows, ids=table.ids)
    target = pd.DataFrame(targets(2), columns=["a", "b"]) if isinstance(table, pd.DataFrame) else targets(2)
    return case.fit_to(model, table, target=target)


def people(generator, n_persons=25, who="person"):
    """Return rows of persons, some with many."""
    ids = np.repeat(np.arange(n_persons), generator.integers(1, 15, n_persons))
    rows = generator.uniform(-1, 1, size=(len(ids), 2))
    return PersonTable(rows, np.array([f"{who} {one}" for one in ids], dtype=object))


# -- neighbours ------------------------------------------------------------------------------------------------------------


def check_replay(case, relation, generator, *, hostile, many=40, **parameters):
    left, right = person_neighbours(Relation(relation), hostile, generator, many=many)
    options = {"neighbours": relation, "epsilon": 4.0, **parameters}
    found = replay(lambda table: fit(case, table, **options), left, right)
    assert found.violations == ()
    assert found.calls
    assert found.worst <= 1 + 1e-12


@pytest.mark.fast("KMeans-*", "GridSynopsis-edge", "SourceTargetKMedoids-missing")
@pytest.mark.parametrize("hostile", HOSTILE)
@every_method
def test_a_person_moves_no_answer_further_than_was_paid_for(case, hostile, generator):
    weighting = "person" if hostile == "edge" else "row"
    check_replay(case, HOSTILE[hostile], generator, hostile=hostile, weighting=weighting)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("max_rows", "weighting", "relation"),
    [(1, "row", "replace"), (7, "person", "add-remove"), (11, "row", "add-remove"), ("auto", "person", "replace")],
)
def test_nor_with_other_numbers_of_rows(case, relation, weighting, max_rows, generator):
    for hostile, many in (("edge", 40), ("outside", 1_000), ("missing", 3)):
        given = {"weighting": weighting, "max_rows_per_unit": max_rows}
        check_replay(case, relation, generator, hostile=hostile, many=many, **given)


@pytest.mark.fast("KMeans-*", "PointSynopsis-person")
@pytest.mark.parametrize("weighting", ["row", pytest.param("person", marks=pytest.mark.slow)])
@every_method
def test_the_order_of_rows_changes_nothing(case, weighting, generator):
    table = people(generator)
    order = generator.permutation(len(table.rows))
    other = PersonTable(table.rows[order], table.ids[order])
    assert same(fit(case, table, weighting=weighting), fit(case, other, weighting=weighting))


# -- ids are found nowhere -------------------------------------------------------------------------------------------------


def lanes_of(ids):
    """Return what ids are read as in a fit with the seed of this file, as text and as bytes."""
    key = Entropy(SEED).key("privacy_unit")
    numbers = hash_objects(ids, Identifier(key)).ravel().tolist()
    texts = [str(int(number)).encode() for number in numbers] + [f"{number:.9g}".encode() for number in numbers]
    return [*texts, *(struct.pack("<d", number) for number in numbers), key, key.hex().encode()]


def as_bytes(thing):
    return thing if isinstance(thing, bytes) else (thing if isinstance(thing, str) else repr(thing)).encode()


@pytest.mark.fast("KMeans")
@every_method
def test_ids_are_in_nothing_that_a_fit_leaves_behind(case, generator, tmp_path, caplog, capfd):
    table = people(generator, who=CANARY)
    frame = pd.DataFrame({"a": table.rows[:, 0], "b": table.rows[:, 1], "who": table.ids})
    with caplog.at_level(logging.DEBUG), Ledger.create(tmp_path / "ledger", epsilon=5.0, delta=1e-6, unit="person") as ledger:
        model = fit(case, frame, privacy_unit="who", max_rows_per_unit="auto", ledger=ledger)
        things = [*of_a_model(model), *of_what_is_published(model), *of_a_ledger(ledger)]
    things += [("file", one.read_bytes()) for one in tmp_path.iterdir()]
    printed = capfd.readouterr()
    things += [("log", caplog.text), ("printed", printed.out + printed.err)]
    forms = re.compile(b"|".join(map(re.escape, [CANARY.encode(), *lanes_of(sorted(set(table.ids)))])))
    assert {name for name, thing in things if forms.search(as_bytes(thing))} == set()
    assert "who" in " ".join(model.privacy_receipt_.explain())


@every_method
def test_ids_that_are_passed_beside_the_rows_are_not_kept(case, generator):
    model = fit(case, people(generator, who=CANARY))
    assert CANARY.encode() not in pickle.dumps(model)
    assert CANARY not in repr(vars(model)) + repr(model)


@pytest.mark.parametrize(
    "parameters", [{"max_rows_per_unit": 0}, {"weighting": "both"}, {"privacy_unit": "who"}, {"epsilon": -1.0}], ids=str
)
def test_nor_in_errors(parameters, generator):
    table = people(generator, who=CANARY)
    short = PersonTable(table.rows, table.ids[:-1])
    for one in (table, short):
        with pytest.raises(CloisterError) as caught:
            fit(PLAIN[0], one, **parameters)
        assert CANARY not in repr(caught.value) + repr(caught.value.__context__)
    with pytest.raises(CloisterError, match="one id for each row") as caught:
        fit(PLAIN[0], short)
    assert CANARY not in repr(caught.value)
    assert str(len(short.rows)) not in str(caught.value)


@pytest.mark.parametrize("odd", [None, float("nan"), 10**400, b"\xff\xfe", object(), "", 2**70, -0.0, "a" * 100_000], ids=type)
def test_no_id_raises_or_warns(odd, generator):
    table = people(generator)
    ids = table.ids.copy()
    ids[3] = odd
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(PLAIN[0], PersonTable(table.rows, ids))


# -- budgets ---------------------------------------------------------------------------------------------------------------


@pytest.mark.fast("KMeans-*", "GridSynopsis-add-remove")
@pytest.mark.parametrize("relation", RELATIONS)
@every_method
def test_a_fit_that_finds_the_number_of_rows_spends_its_budget_and_no_more(case, relation, generator):
    for number, kind in enumerate(sorted(set(case.method.guarantees))):
        if number % 2 != RELATIONS.index(relation):
            continue
        whole = GUARANTEES[kind]
        ledger = Ledger(whole, neighbours=relation, unit="person")
        given = {"guarantee": whole, "neighbours": relation, "ledger": ledger, "max_rows_per_unit": "auto"}
        model = fit(case, people(generator), **given)
        assert check_spent(model, case, whole, ledger)[0].question_name == "rows_per_unit"


@every_method
def test_a_ledger_of_the_other_unit_is_refused_before_anything_is_spent(case, generator):
    table = people(generator)
    for unit, rows in (("row", table), ("person", table.rows)):
        ledger = Ledger(epsilon=5.0, delta=1e-6, unit=unit)
        before = ledger.lines
        parameters = {} if unit == "row" else {"max_rows_per_unit": "auto"}
        with pytest.raises(LedgerError, match=rf"this ledger protects one {unit}, the fit one "):
            fit(case, rows, ledger=ledger, **parameters)
        assert ledger.lines == before


@pytest.mark.parametrize("strength", [1e-3, 0.011])
@pytest.mark.parametrize(("weighting", "max_rows"), [("person", 5), ("row", 1000), ("row", "auto")])
@pytest.mark.parametrize("case", [one for one in PLAIN if one.name in ("KMeans", "PointSynopsis", "LloydKMeans")], ids=str)
def test_a_budget_too_small_for_noise_is_refused_before_anything_is_spent(case, weighting, max_rows, strength):
    check_extreme(case, PureDP(strength), ("person",), weighting=weighting, max_rows_per_unit=max_rows)
