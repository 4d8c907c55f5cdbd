# SPDX-License-Identifier: Apache-2.0
"""How much categories and flags weigh beside numbers: nobody has to say it, and it is paid for, planned and recorded."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from cloister import Category, Flag, GridKMeans, KMeans, Ledger, Number, PointSynopsis
from cloister.cluster import plan_fit
from cloister.cluster._weigh import WEIGHTS
from cloister.columns import Table
from cloister.exceptions import ParameterError

N_ROWS = 8000
COLUMNS = {"x": (-8.0, 8.0), "y": (-8.0, 8.0), "z": (-8.0, 8.0), "ward": Category([0, 1, 2]), "a": Flag(), "b": Flag()}
STEPS = ["weight 1", "scatter", "weight 2", "weight 3"]


def patients(generator, tells, size=N_ROWS):
    """Return a table of three groups that numbers, categories and flags, or both tell apart, and the group of each row."""
    group = generator.integers(0, 3, size)
    ward, flags = generator.integers(0, 3, size), generator.random((size, 2)) < 0.5
    numbers = generator.normal(0, 0.5, (size, 3))
    if tells != "levels":
        numbers += np.array([[-2, 0, 1], [0, 2, -1], [2, -2, 0]])[group]
    if tells != "numbers":
        sure = generator.random((size, 3)) < 0.9
        ward = np.where(sure[:, 0], group, ward)
        flags = np.where(sure[:, 1:], np.array([[False, False], [False, True], [True, False]])[group], flags)
    table = pd.DataFrame(numbers, columns=["x", "y", "z"])
    return table.assign(ward=ward, a=flags[:, 0], b=flags[:, 1]), group


def weighed(model):
    return [step for step in model.release_.steps if step.name.startswith("weight")]


@pytest.mark.parametrize("factor", [1.0, 4.0])
@pytest.mark.parametrize("tells", ["numbers", "levels", "both"])
def test_groups_are_found_whatever_tells_them_and_however_wide_the_bounds_are(tells, factor, generator):
    table, group = patients(generator, tells)
    wide = dict.fromkeys("xyz", (-4 * factor, 4 * factor))
    model = KMeans(3, epsilon=2.0, bounds={**COLUMNS, **wide}).fit(table)
    assert adjusted_rand_score(group, model.predict(table)) > (0.75 if tells == "levels" else 0.95)
    chosen = max(weighed(model), key=lambda step: step.figures["explained"]).figures["weight"]
    assert {one.weight for one in model.release_.domain.columns if one.has_levels} == {chosen}


@pytest.mark.parametrize(
    "options",
    [{}, {"delta": 0.0, "epsilon": 4.0}, {"describe": 0.85, "bounds_share": 0.05}, {"scaling": "auto", "n_rows": N_ROWS}],
)
def test_small_fits_are_planned_paid_and_recorded(options, generator):
    table, _ = patients(generator, "both")
    given = {"epsilon": 1.0, "bounds": COLUMNS, "random_state": 0, **options}
    model = KMeans(3, **given).fit(table)
    plan = plan_fit(KMeans(3, **given), len(COLUMNS), expected=float(N_ROWS))
    for steps in (plan.preliminary, model.plan_.preliminary):
        assert [step.name for step in steps][-4:] == STEPS
    for steps in (plan.all_steps, model.plan_.all_steps):
        assert sum(step.share for step in steps) == pytest.approx(1.0)
    assert [step.figures["weight"] for step in weighed(model)] == list(WEIGHTS)
    assert {event.step for event in model.privacy_receipt_.events} >= set(STEPS)


def test_declared_weights_are_multiplied(generator):
    table, _ = patients(generator, "numbers")
    bounds = {**COLUMNS, "ward": Category([0, 1, 2], weight=0.5), "x": Number(-8, 8, weight=2)}
    release = KMeans(3, epsilon=2.0, bounds=bounds, random_state=0).fit(table).release_
    x, _, _, ward, flag, _ = release.domain.columns
    assert (x.weight, ward.weight / flag.weight) == (2.0, 0.5)


@pytest.mark.parametrize(
    ("bounds", "options"),
    [
        ({name: COLUMNS[name] for name in "xyz"}, {}),
        ({name: COLUMNS[name] for name in ("ward", "a", "b")}, {}),
        (COLUMNS, {"scaling": "bounds"}),
        (COLUMNS, {"scaling": "spread"}),
        (COLUMNS, {"n_clusters": 1}),
    ],
)
def test_nothing_is_compared_where_there_is_nothing_to_choose(bounds, options, generator):
    table, _ = patients(generator, "both")
    model = KMeans(**{"n_clusters": 3, "epsilon": 1.0, "bounds": bounds, **options}).fit(table[list(bounds)])
    assert not weighed(model)
    assert [one.weight for one in model.release_.domain.columns] == [1.0] * len(bounds)


@pytest.mark.parametrize("size", [0, 1, 100])
def test_few_rows_are_not_compared_and_do_not_fail(size, generator):
    table, _ = patients(generator, "both", size)
    for options in ({}, {"n_rows": size}):
        assert not weighed(KMeans(3, epsilon=0.5, bounds=COLUMNS, **options).fit(table))


@pytest.mark.parametrize("epsilon", [1e-9, 1e-7, 1e-4])
@pytest.mark.parametrize("n_rows", [10**6, 10**12, 10**15])
def test_tiny_budgets_are_refused_before_anything_is_spent_or_serve(epsilon, n_rows, generator):
    table, _ = patients(generator, "both", 50)
    ledger = Ledger(epsilon=1.0, delta=1e-3)
    model = KMeans(3, epsilon=epsilon, delta=1e-12, bounds=COLUMNS, n_rows=n_rows, ledger=ledger)
    try:
        model.fit(table)
    except ParameterError:
        assert not ledger.events


def test_persons_pay_for_it_too(generator):
    table, group = patients(generator, "numbers", 12_000)
    table["who"] = generator.integers(0, 6000, len(table))
    model = KMeans(3, epsilon=4.0, bounds=COLUMNS, privacy_unit="who").fit(table)
    assert weighed(model)
    assert adjusted_rand_score(group, model.predict(table)) > 0.9


def test_a_synopsis_compares_and_a_grid_does_not(generator):
    table, _ = patients(generator, "numbers")
    synopsis = PointSynopsis(3, epsilon=2.0, bounds=COLUMNS, random_state=0).fit(table).synopsis_
    assert synopsis.scaling == "spread"
    assert {one.weight for one in synopsis.domain.columns if one.has_levels} <= set(WEIGHTS[:2])
    few = {"x": (-8, 8), "a": Flag()}
    assert GridKMeans(2, epsilon=2.0, bounds=few).fit(table[list(few)]).release_.scaling == "bounds"


def test_weights_stay_within_what_can_be_declared():
    table = Table((Number(0, 1), Category(["a", "b"], weight=1e-6), Flag(weight=1e6)))
    for factor in (0.1, 10.0):
        assert table.weigh_levels(factor).columns[0].weight == 1.0
        assert all(1e-6 <= one.weight <= 1e6 for one in table.weigh_levels(factor).columns)


def test_a_release_says_which_columns_make_the_distances_between_its_centres(generator):
    table, _ = patients(generator, "levels")
    release = KMeans(3, epsilon=4.0, bounds=COLUMNS, random_state=0).fit(table).release_
    shares = release.distance_shares
    assert list(shares) == list(COLUMNS)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["ward"] + shares["a"] + shares["b"] > 0.9
    assert "Part of the squared distances between centres that each column makes: ward" in str(release)
    same = KMeans(3, epsilon=4.0, bounds=(-8, 8), random_state=0).fit(table[["x", "y", "z"]]).release_
    assert "distances between centres" not in str(same), "of plain numbers, which are all alike"
