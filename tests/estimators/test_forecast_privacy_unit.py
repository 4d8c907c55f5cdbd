# SPDX-License-Identifier: Apache-2.0
"""``cloister.plan(privacy_unit=True)``: the noise is that of persons, and the table says what some rows cost and lose."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest

from cloister import GDP, ZCDP, ApproxDP, KMeans, PureDP, plan
from cloister.columns import LARGEST_MAX_ROWS
from cloister.exceptions import ParameterError
from cloister.forecast import RowLimit
from cloister.methods import commands


def persons(**options):
    return plan(20_000, 6, 5, privacy_unit=True, rows_per_unit=50, **options)


def counts_of(forecast):
    """Return the noise of every count, in order."""
    return [step.sigma("counts") for step in forecast.steps if step.sigma("counts") is not None]


@pytest.mark.parametrize("options", [{"max_rows_per_unit": 1}, {"max_rows_per_unit": 4, "weighting": "person"}], ids=str)
def test_the_plan_is_that_of_a_fit(options, generator):
    n_persons = 400
    ids = np.repeat(np.arange(n_persons), 3)
    rows = generator.normal(0, 0.1, (len(ids), 3))
    table = pa.table({**dict(zip("abc", rows.T, strict=True)), "person": ids})
    model = KMeans(2, bounds=(-1, 1), n_rows=n_persons, privacy_unit="person", **options).fit(table)
    forecast = plan(n_persons, 3, 2, privacy_unit=True, **options)
    assert model.plan_ == forecast.plan
    events = {event.step: event for event in model.privacy_receipt_.events if event.question_name == "nearest_counts"}
    sigma = {step.name: step.sigma("counts") for step in forecast.steps}
    votes = [name for name in events if name.startswith("vote")]
    assert votes
    for name in votes:
        assert math.isclose(events[name].standard_deviation, sigma[name], rel_tol=1e-2)


def test_where_the_number_of_rows_is_found_a_fit_asks_how_many_rows_are_used(generator):
    """Even if it finds that one row of each person is used: it cannot know that beforehand."""
    rows = generator.normal(0, 0.1, (400, 3))
    model = KMeans(2, bounds=(-1, 1), n_rows=400).fit(rows, privacy_unit=np.arange(400))
    forecast = plan(400, 3, 2, privacy_unit=True)
    assert forecast.privacy_unit.max_rows == 1
    assert [step.name for step in forecast.steps[:2]] == [step.name for step in model.plan_.all_steps[:2]]
    assert forecast.steps[1].name == "count"


def test_where_every_row_counts_noise_grows_with_the_rows():
    """FastLloyd asks the same of any table, so that nothing but the sensitivity changes."""
    noise = [one.count_noise for one in persons(method="FastLloyd").privacy_unit.limits]
    limits = [one.max_rows for one in persons(method="FastLloyd").privacy_unit.limits]
    np.testing.assert_allclose(np.array(noise) / limits, noise[0], rtol=0.01)


def test_where_every_person_counts_it_does_not():
    forecast = persons(weighting="person", method="FastLloyd")
    assert len({one.count_noise for one in forecast.privacy_unit.limits}) == 1
    assert all(one.noise_share == one.count_noise / 20_000 for one in forecast.privacy_unit.limits)
    alone = plan(20_000, 6, 5, method="FastLloyd")
    with_one = plan(20_000, 6, 5, method="FastLloyd", privacy_unit=True, max_rows_per_unit=1)
    assert counts_of(alone) == counts_of(with_one)


def test_rows_that_are_used_and_lost():
    limits = {one.max_rows: one for one in persons().privacy_unit.limits}
    assert list(limits) == [1, 2, 3, 5, 10, 20, 30, 50]
    assert limits[1].rows_used == 20_000
    assert limits[50].rows_used == 20_000 * 51 / 2
    assert limits[10].rows_used == 20_000 * (55 + 40 * 10) / 50


def test_the_smallest_number_that_is_about_as_good_is_recommended():
    for options in ({}, {"delta": 0.0}, {"epsilon": 0.1}, {"weighting": "person"}, {"neighbours": "replace"}):
        privacy_unit = persons(**options).privacy_unit
        (best,) = [one for one in privacy_unit.limits if one.recommended]
        least = min(one.center_error for one in privacy_unit.limits)
        assert best.center_error <= math.sqrt(1.05) * least * (1 + 1e-9)
        assert all(one.center_error > math.sqrt(1.05) * least for one in privacy_unit.limits if one.max_rows < best.max_rows)
        assert best.max_rows == privacy_unit.max_rows
        assert best.center_error < privacy_unit.divided.center_error


def test_a_small_budget_takes_few_rows_and_a_large_one_more():
    assert persons(epsilon=0.1).privacy_unit.max_rows < persons(epsilon=10).privacy_unit.max_rows


def test_a_number_that_is_given_is_in_the_table():
    privacy_unit = persons(max_rows_per_unit=7).privacy_unit
    assert not privacy_unit.found
    assert 7 in [one.max_rows for one in privacy_unit.limits]
    assert privacy_unit.words == "one person, with at most 7 rows each"
    assert "rows per person" in [step.name for step in persons().steps]
    assert "rows per person" not in [step.name for step in persons(max_rows_per_unit=7).steps]


@pytest.mark.parametrize(
    ("guarantee", "of_a_row"),
    [(PureDP(1.0), PureDP(0.02)), (ZCDP(0.5), ZCDP(0.0002)), (GDP(1.0), GDP(0.02))],
    ids=str,
)
def test_what_each_row_would_have_to_be_promised(guarantee, of_a_row):
    found = persons(guarantee=guarantee).privacy_unit.row_guarantee
    assert type(found) is type(of_a_row)
    assert math.isclose(found.strength, of_a_row.strength)


def test_group_privacy_of_what_each_row_would_be_promised():
    """Rows of one person change one after the other: epsilons add up, and each delta grows by those that follow."""
    found, delta = persons(guarantee=ApproxDP(1.0, 1e-6)).privacy_unit.row_guarantee, 0.0
    for _ in range(50):
        delta = delta * math.exp(found.epsilon) + found.delta
    assert math.isclose(50 * found.epsilon, 1.0)
    assert math.isclose(delta, 1e-6)


def test_it_is_told_in_words_and_as_data():
    forecast = persons(weighting="person")
    assert "20,000 persons" in forecast.verdict[0]
    assert "persons) " in forecast.verdict[0]
    assert "recommended" in str(forecast)
    assert forecast.privacy_unit.counted == "persons"
    assert "(an assumption)" in forecast._repr_html_()
    data = json.loads(json.dumps(forecast.to_dict()))
    assert data["privacy_unit"]["limits"][0]["rows_used"] == 20_000
    assert data["privacy_unit"]["divided"]["guarantee"]["epsilon"] == 0.02
    assert plan(100, 2, 2).to_dict()["privacy_unit"] is None
    assert isinstance(forecast.privacy_unit.divided, RowLimit)


@pytest.mark.parametrize("method", commands())
@pytest.mark.parametrize("weighting", ["row", "person"])
def test_every_method_has_a_plan_for_persons(method, weighting):
    forecast = plan(5000, 3, 4, privacy_unit=True, method=method, weighting=weighting)
    assert math.isclose(sum(step.share for step in forecast.steps), 1.0)
    assert forecast.n_rows == 5000


def test_many_rows():
    assert plan(100, 2, 2, privacy_unit=True, rows_per_unit=10_000).privacy_unit.limits[-1].max_rows == LARGEST_MAX_ROWS
    assert [one.max_rows for one in plan(100, 2, 2, privacy_unit=True, rows_per_unit=1).privacy_unit.limits] == [1]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"privacy_unit": "patient_id"}, r"plan\.privacy_unit: expected"),
        ({"rows_per_unit": 3}, r"plan\.rows_per_unit: expected privacy_unit with it, got 3\. Pass privacy_unit=True"),
        ({"max_rows_per_unit": 3}, r"plan\.max_rows_per_unit: expected privacy_unit with it"),
        ({"weighting": "person"}, r"plan\.weighting: expected privacy_unit with it"),
        ({"privacy_unit": True, "weighting": "table"}, r"plan\.weighting: expected"),
        ({"privacy_unit": True, "rows_per_unit": 1.5}, r"plan\.rows_per_unit: expected"),
        ({"privacy_unit": True, "max_rows_per_unit": 1001}, r"plan\.max_rows_per_unit: expected an integer from 1 to 1000"),
    ],
)
def test_refusals(options, match):
    with pytest.raises(ParameterError, match=match):
        plan(1000, 3, 2, **options)
