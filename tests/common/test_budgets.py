# SPDX-License-Identifier: Apache-2.0
"""Budgets: under every guarantee and relation the events of a fit add up to its budget and no more; a shared one is kept.

The sum is the audit's own, which uses nothing of the package's accounting.
"""

import numpy as np
import pytest
from tests.vaults import refusal

from cloister import GDP, ZCDP, ApproxDP, Ledger, PureDP
from cloister.audit import share_spent
from cloister.exceptions import BudgetExceeded, CloisterError
from cloister.methods import METHODS

from ._cases import CASES, GUARANTEES, RELATIONS, Case, every_method

LEAST = 0.999
KEPT = 0.02  # for the means of columns with missing values: where there are none, it stays unspent
LEAST_OF = {"paper": 0.0}  # the published rule charges for more than rows can move; how much, its own tests say


def as_spent(events, guarantee):
    """Return the guarantee in the currency of the events: a method that is always pure spends a pure one."""
    pure = all(event.mechanism != "rounded_gaussian" for event in events)
    return guarantee.pure_budget() if pure else guarantee


def check_budget(case, whole, relation, generator, *, width, n_rows):
    """Fit with a ledger that holds just the budget, and add up what was spent."""
    ledger = Ledger(whole, neighbours=relation)
    rows = generator.uniform(-1, 1, size=(40, width)) / width**0.5
    model = case.fit(rows, guarantee=whole, neighbours=relation, ledger=ledger, n_rows=n_rows)
    assert {event.relation for event in check_spent(model, case, whole, ledger)} == {relation}


def check_spent(model, case, whole, ledger):
    """Check that a fit spent the whole budget of its ledger, and no more; return its events."""
    events = tuple(ledger.events)
    assert events == model.privacy_receipt_.events
    kept = KEPT if any(event.question_name == "cell_states" for event in events) else 0.0
    assert LEAST_OF.get(case.variant, LEAST) - kept <= share_spent(events, as_spent(events, whole))
    assert share_spent(events, whole) <= 1 + 1e-12
    assert ledger.spent.fits(whole)
    return events


@pytest.mark.fast("KMeans-*", "GridSynopsis-*", "SourceTargetKMedoids-*")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_a_fit_spends_its_budget_and_no_more(case, guarantee, relation, generator):
    # Fault 1: a split whose shares were swapped when unpacked spent 1.5 times epsilon in 20 columns and 5.4 times in 784.
    shape = {"width": 3, "n_rows": None} if relation == "add-remove" else {"width": 1, "n_rows": 40}
    check_budget(case, GUARANTEES[guarantee], relation, generator, **shape)


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_nor_in_other_shapes(case, guarantee, generator):
    shapes = ((1, None), (3, 40), (12, 40), (case.method.max_features or 64, None))
    for place, (width, n_rows) in enumerate(shapes):
        check_budget(case, GUARANTEES[guarantee], RELATIONS[place % 2], generator, width=width, n_rows=n_rows)


@every_method
def test_a_shared_ledger_pays_for_every_fit_and_refuses_in_time(case, rows):
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    model = case.fit(rows, epsilon=0.9, ledger=ledger)
    before = ledger.lines
    assert tuple(ledger.events) == model.privacy_receipt_.events
    with pytest.raises(BudgetExceeded, match=r"Ledger\.reserve: this fit costs epsilon 0\.9.* but .* of .* is left\. "):
        case.fit(rows, epsilon=0.9, ledger=ledger)
    assert ledger.lines == before
    assert ledger.spent.fits(ledger.budget)


EXTREMES = (
    *(PureDP(10.0**power) for power in (-99, -12, -8, -6, -5, -4, -3, 3, 90)),
    *(ApproxDP(10.0**power, delta) for power in (-30, -9, -6, -3, 3, 9) for delta in (1e-99, 1e-6, 0.5)),
    *(ZCDP(10.0**power) for power in (-90, -14, -10, -6, 4, 90)),
    *(GDP(10.0**power) for power in (-90, -14, -8, -5, 3, 90)),
)


def check_extreme(case, guarantee, units=("row", "person"), **options):
    """Fit with far too little or far too much: the fit is complete, or it is refused before its first debit."""
    rows, ids = np.random.default_rng(0).uniform(-1, 1, (40, 2)), np.arange(40) // 2
    for unit in units:
        for n_rows in (None, 40):
            ledger = Ledger(GDP(1e95), unit=unit)
            try:
                model = case.make(2, guarantee=guarantee, ledger=ledger, n_rows=n_rows, **options)
                case.fit_to(model, rows, target=rows[:12], ids=ids if unit == "person" else None)
            except CloisterError:
                assert len(ledger.lines) == 1
            else:
                assert [line["kind"] for line in ledger.lines[-1:]] == ["close"]


# KMeans meets every extreme, every other method and variant one in eight, all of them together each several times.
MEETINGS = [(CASES[0], one) for one in EXTREMES]
MEETINGS += [(case, one) for place, case in enumerate(CASES[1:]) for one in EXTREMES[place % 8 :: 8]]


@pytest.mark.fast("KMeans-*(pure)", "KMeans-rho*", "KMeans-*delta = 0.5*")
@pytest.mark.parametrize(("case", "guarantee"), MEETINGS, ids=str)
def test_a_fit_is_complete_or_refused_before_its_first_debit(case, guarantee):
    check_extreme(case, guarantee)


SOURCE_TARGET = METHODS["SourceTargetKMedoids"]
PUBLISHED = {"calibration": "paper", "distance_share": 0.3}


@pytest.mark.parametrize(
    ("guarantee", "options"),
    [
        (ApproxDP(1e-6, 0.5), PUBLISHED),  # the published noise is set by epsilon alone, however large delta is
        (ApproxDP(1e-9, 0.5), {**PUBLISHED, "distance_share": 0.0}),
    ],
    ids=str,
)
def test_nor_is_a_source_asked_before_it_is_known_that_noise_can_be_drawn(guarantee, options):
    check_extreme(Case(SOURCE_TARGET, "nas"), guarantee, **options)


@pytest.mark.parametrize("seed", range(6))
def test_more_neighbours_than_expected_hold_more_rows_of_a_person(seed):
    """How many neighbours are averaged follows from a noisy count: noise that can be drawn for few must do for all."""
    options = {"n_neighbors": 150, "max_rows_per_unit": 200, "random_state": seed}
    with refusal(CloisterError, "expected a budget whose noise can be drawn", unit="person") as ledger:
        model = Case(SOURCE_TARGET, "nas").make(2, guarantee=PureDP(5e-6), ledger=ledger, **options)
        model.fit(np.eye(2), source=np.zeros((400, 2)), privacy_unit=np.zeros(400))


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", EXTREMES, ids=str)
@pytest.mark.parametrize("options", [PUBLISHED, {"distance_share": 0.9, "n_neighbors": 150}, {"bounds": None}], ids=str)
def test_nor_in_other_source_target_fits(guarantee, options):
    check_extreme(Case(SOURCE_TARGET, "nas"), guarantee, **options)
