# SPDX-License-Identifier: Apache-2.0
"""``cloister.plan``: the noise it names is the noise that is drawn, and what it foretells comes true on generated blobs."""

import dataclasses
import itertools
import json
import math
import re

import numpy as np
import pytest

from cloister import GDP, ZCDP, ApproxDP, Ball, KMeans, PureDP, plan
from cloister.exceptions import ParameterError
from cloister.forecast._words import about
from cloister.methods import METHODS

from ..common._cases import Case

ASKED = {
    "sums": "nearest_sums",
    "counts": "nearest_counts",
    "distances": "distance_histogram",
    "moments": "second_moments",
}
ASKED_OF_CELLS = {"counts": "cell_states", "sums": "nearest_sums", "clusters": "nearest_missing"}
REPLACE = {"neighbours": "replace"}


def words(forecast):
    return " ".join((*forecast.verdict, *forecast.advice))


# -- the noise ----------------------------------------------------------------------------------------------------------


@pytest.mark.fast("100-14-{}", "8000-3-{'delta': 0.0, 'neighbours': 'replace'}", "60000-14-{'guarantee': *")
@pytest.mark.parametrize("options", [{}, REPLACE, {"delta": 0.0}, {"delta": 0.0, **REPLACE}, {"guarantee": ZCDP(0.1)}], ids=str)
@pytest.mark.parametrize(("n_rows", "n_features"), [(100, 14), (8000, 3), pytest.param(60_000, 14, marks=pytest.mark.slow)])
def test_the_noise_it_names_is_the_noise_that_is_drawn(options, n_rows, n_features, generator):
    rows = generator.normal(0, 0.1, (n_rows, n_features))
    rows[: 9 * n_rows // 10, 1] = np.nan  # so that all that may be asked of missing values is asked
    model = KMeans(2, bounds=Ball(1.0), n_rows=n_rows, n_init=1, **options).fit(rows)
    forecast = plan(n_rows, n_features, 2, **options)
    asked_again = {event.step for event in model.privacy_receipt_.events}
    left_out = tuple(step for step in forecast.plan.locate_steps.origin if step.name not in asked_again)
    rounds = {one.step.name: one.step for one in forecast.plan.rounds_without(left_out)}
    settled = [rounds.pop(name) for name in tuple(rounds) if name.startswith("settling") and name not in asked_again]
    *_, last = rounds
    rounds[last] = rounds[last].times(1 + sum(step.share for step in settled) / rounds[last].share)  # which gets what is left
    steps = [rounds.get(step.name, step) for step in forecast.steps if step.name in asked_again]
    questions = [(step, one) for step in steps for one in step.queries]
    late = [one for one in questions if one[1].name == "clusters"]  # what is asked when the centres are found
    assert model.plan_ == forecast.plan
    assert len(left_out) < len(forecast.plan.locate_steps.origin)
    assert (forecast.steps[0].name == "cells") == (n_rows > 1000) == bool(late)
    events, budget = model.privacy_receipt_.events, model.privacy_receipt_.guarantee.noise_budget()
    for event, (step, noise) in zip(events, [one for one in questions if one not in late] + late, strict=True):
        assert event.question_name == (ASKED_OF_CELLS if step.name == "cells" else ASKED)[noise.name]
        spent = event.cost.mu**2 / budget.mu**2 if isinstance(event.cost, GDP) else event.cost.epsilon
        assert math.isclose(spent, noise.share, rel_tol=1e-3)
        if noise.name == "counts" and step.name != "cells":
            assert event.size <= step.n_points
        if (
            noise.name not in ("sums", "clusters", "moments") or step.name == "mean 1"
        ):  # the radius of a sum is chosen on the way
            assert math.isclose(event.standard_deviation, noise.sigma, rel_tol=1e-2)


# -- what follows from it -----------------------------------------------------------------------------------------------


def test_more_of_everything_is_better():
    errors = [plan(10_000, 6, 8, epsilon=epsilon).error(1000) for epsilon in (0.1, 0.3, 1, 3, 10)]
    assert errors == sorted(errors, reverse=True)
    smallest = [plan(10_000, 6, 8, epsilon=epsilon).smallest_cluster for epsilon in (0.01, 0.1, 1, 10)]
    assert smallest == sorted(smallest, reverse=True)
    forecast = plan(10_000, 6, 8)
    sizes = [forecast.error(size) for size in (1, 10, 100, 1000, 10_000)]
    assert sizes == sorted(sizes, reverse=True)
    assert plan(10_000, 60, 8).error(1000) > forecast.error(1000)
    assert plan(10_000, 6, 8, neighbours="replace").error(1000) > forecast.error(1000)
    assert [one.size for one in forecast.center_errors] == [125, 417, 1250, 3750, 10_000]


@pytest.mark.parametrize(
    ("numbers", "options", "said"),
    [
        ((1, 784, 5), {"epsilon": 1e-3}, "not even the mean of all rows"),
        ((150, 4, 3), {"epsilon": 0.25}, "With 150 rows and epsilon 0.25 expect little more than the mean of all rows"),
        ((300, 4, 4), {"epsilon": 0.25}, "expect a coarse picture: groups of neighbouring clusters"),
        ((150, 4, 3), {"epsilon": 0.25}, "No cluster stands out"),
        ((100_000, 8, 10), {}, "and much smaller ones to be found"),
        ((5, 3, 9), {"epsilon": 100}, "centres to repeat others"),
        ((1000, 5, 1), {}, "Expect it within"),
        ((100, 2, 3), {"epsilon": 1000}, "a handful of rows shows"),
        ((100, 2, 3), {"epsilon": 1000}, "promises each row little"),
        ((100, 2, 3), {"guarantee": GDP(10.0)}, "promises each row little"),
        ((100, 6, 3), {"delta": 0.01}, "delta 0.01 is not below 1 / 100"),
        ((5000, 2, 5), {}, "GridSynopsis"),
        ((20_000, 200, 4), {"delta": 0.0}, "With delta 1e-06 this epsilon finds clusters"),
        ((100_000, 1, 4), {"epsilon": 8}, "With delta 0 this epsilon finds clusters"),
    ],
)
def test_the_verdict_is_graded(numbers, options, said):
    assert said in words(plan(*numbers, **options))


def test_what_does_not_apply_is_not_said():
    text = words(plan(100_000, 8, 10))
    for unsaid in ("GridSynopsis", "To find", "To place", "promises each row little", "not below"):
        assert unsaid not in text


@pytest.mark.slow
def test_grades_follow_each_other():
    verdicts = [plan(10_000, 8, 16, epsilon=epsilon).verdict[0] for epsilon in np.geomspace(1e-4, 50, 25)]
    seen = [grade for grade, _ in itertools.groupby(re.split(r"epsilon \S+ ", sentence)[1] for sentence in verdicts)]
    assert len(seen) == len(set(seen)) == 7


@pytest.mark.slow
def test_advice_comes_true():
    forecast = plan(20_000, 128, 64, epsilon=0.25)

    def stands_out(n_rows=20_000, n_features=128, n_clusters=64, epsilon=0.25):
        forecast = plan(n_rows, n_features, n_clusters, epsilon=epsilon)
        return n_rows / n_clusters >= forecast.smallest_cluster

    epsilon = forecast.stands_out_at
    assert stands_out(epsilon=1.01 * epsilon)
    assert not stands_out(epsilon=0.97 * epsilon)
    enough = dict(forecast.enough)
    assert enough.pop("epsilon") == pytest.approx(epsilon, rel=0.01)
    assert stands_out(n_rows=math.ceil(1.01 * enough["n_rows"]))
    assert not stands_out(n_rows=int(0.97 * enough.pop("n_rows")))
    for name, number in enough.items():
        assert stands_out(**{name: number})
        assert not stands_out(**{name: number + 1})
    assert set(enough) == {"n_clusters", "n_features"}
    columns = enough["n_features"]
    assert f"To find a cluster of average size: epsilon {about(epsilon)} or more; or at most" in words(forecast)
    assert f" clusters; or at most {columns} columns; or about {about(forecast.enough['n_rows'])} rows." in words(forecast)


def test_advice_for_precision_comes_true():
    forecast = plan(500, 8, 4, epsilon=0.7)
    epsilon = forecast.enough["epsilon"]
    assert plan(500, 8, 4, epsilon=1.01 * epsilon).error(125) <= 0.1 < plan(500, 8, 4, epsilon=0.97 * epsilon).error(125)
    assert f"To place such a centre within 10 % of the radius: epsilon {about(epsilon)} or more" in words(forecast)
    assert plan(500, 8, 4, epsilon=1.01 * epsilon).enough == {}


@pytest.mark.fast("epsilon = 1 (pure)", "rho = 0.05 (zCDP)")
@pytest.mark.parametrize("guarantee", [PureDP(1.0), ApproxDP(1.0, 1e-6), ApproxDP(1.0, 0.0), ZCDP(0.05), GDP(0.3)], ids=str)
def test_every_guarantee_has_its_own_currency(guarantee):
    forecast = plan(10_000, 6, 40, guarantee=guarantee)
    name = {"zcdp": "rho", "gdp": "mu"}.get(guarantee.kind, "epsilon")
    assert f"{name} {getattr(guarantee, name):g} expect" in forecast.verdict[0]
    above = dataclasses.replace(guarantee, **{name: 1.01 * forecast.stands_out_at})
    below = dataclasses.replace(guarantee, **{name: 0.98 * forecast.stands_out_at})
    assert plan(10_000, 6, 40, guarantee=above).smallest_cluster <= 250
    assert plan(10_000, 6, 40, guarantee=below).smallest_cluster > 250


def test_the_guarantee_replaces_the_shortcut():
    assert plan(1000, 3, 2, guarantee=PureDP(2.0)) == plan(1000, 3, 2, epsilon=2.0, delta=0.0)


# -- pages and refusals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "options"), [(1e-3, {}), (1.0, {"delta": 0.0}), (1e3, REPLACE)], ids=str)
@pytest.mark.parametrize(
    ("n_rows", "n_features", "n_clusters"), [(1, 1, 1), (1, 784, 5), (7, 3, 100), (10**9, 784, 10), (10**15, 2, 1 << 20)]
)
def test_extremes_are_finite_and_print(n_rows, n_features, n_clusters, epsilon, options):
    forecast = plan(n_rows, n_features, n_clusters, epsilon=epsilon, **options)
    assert json.loads(json.dumps(forecast.to_dict(), allow_nan=False))["verdict"] == list(forecast.verdict)
    assert all(0 < one.error <= 5 for one in forecast.center_errors)
    assert forecast.smallest_cluster >= 1
    for page in (str(forecast), forecast._repr_html_()):
        assert forecast.verdict[0] in page
        assert not re.search(r"\b(nan|inf|None)\b", page)


def test_a_forecast_is_frozen_and_told_in_full():
    forecast = plan(10_000, 20, 8)
    with pytest.raises(dataclasses.FrozenInstanceError):
        forecast.verdict = ()
    page = str(forecast)
    assert page.startswith(
        "KMeans, 10,000 x 20, k = 8, epsilon = 1, delta = 1e-06, add-remove neighbours, votes in a projection to"
    )
    for step in forecast.steps:
        assert step.name in page
    assert "1,250" in page
    assert forecast.to_dict()["n_projected"] == forecast.plan.dimension
    assert plan(10_000, 20, 8) == forecast


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_rows": 0}, r"plan\.n_rows: expected an integer from 1 to \d+, got 0\."),
        ({"n_rows": 10.5}, r"plan\.n_rows: expected an integer .*, got 10\.5\."),
        ({"n_rows": 10**16}, r"plan\.n_rows: expected an integer"),
        ({"n_features": 0}, r"plan\.n_features: expected an integer from 1"),
        ({"n_features": True}, r"plan\.n_features: .*got True"),
        ({"n_clusters": -1}, r"plan\.n_clusters: expected an integer from 1 to 1048576, got -1"),
        ({"epsilon": 0}, r"plan\.epsilon: expected a finite number above 0, got 0"),
        ({"epsilon": math.nan}, r"plan\.epsilon: expected a finite number above 0, got nan"),
        ({"delta": 1.0}, r"plan\.delta: expected a finite number of at least 0 and below 1, got 1\.0"),
        ({"guarantee": 1.0}, r"plan\.guarantee: expected PureDP, ApproxDP, ZCDP or GDP, got 1\.0"),
        ({"neighbours": "near"}, r"plan\.neighbours: expected one of .*, got 'near'"),
        ({"method": "DBSCAN"}, r"plan\.method: expected the name of an estimator, got 'DBSCAN'\. Pass one of KMeans"),
    ],
)
def test_refusals(changes, message):
    with pytest.raises(ParameterError, match=message):
        plan(**{"n_rows": 100, "n_features": 3, "n_clusters": 2, **changes})


def test_an_error_is_for_at_least_one_row():
    with pytest.raises(ParameterError, match=r"Forecast\.error: expected a finite number of at least 1, got 0"):
        plan(100, 3, 2).error(0)


# -- does it come true? -------------------------------------------------------------------------------------------------
# Round normal clusters of radius 1, neighbours at least 4.5 radii apart. Every bound below was met with room to spare by
# each of several seeds; the errors of a fit are averaged over at least 16 centres.

APART = 4.5
CASES = [
    (4000, 2, 8, {}),
    (4000, 8, 8, {}),
    (6000, 20, 8, {}),
    (3000, 100, 4, {}),
    (4000, 4, 8, {"delta": 0.0}),
    (3000, 20, 4, {"delta": 0.0}),
    (3000, 12, 4, REPLACE),
]


def spread_centers(generator, n_clusters, n_features):
    """Draw points that keep their distance: in a cube that holds them in few dimensions, on a sphere in many."""
    reach, centers = APART * n_clusters ** (1 / n_features), np.empty((0, n_features))
    while len(centers) < n_clusters:
        if n_features < 8:
            point = generator.uniform(-reach, reach, n_features)
        else:
            point = generator.normal(size=n_features) * 3.6 / math.sqrt(n_features)
        if np.all(np.linalg.norm(centers - point, axis=1) > APART):
            centers = np.vstack([centers, point])
        reach *= 1.0005
    return centers


def fit_blobs(generator, sizes, n_features, **options):
    """Fit blobs, and return the model, the rows, the means of the blobs and the mean squared distance of a row to its own."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rows = spread_centers(generator, len(sizes), n_features)[labels]
    rows += generator.normal(size=rows.shape) / math.sqrt(n_features)
    bounds = Ball(1.2 * np.linalg.norm(rows, axis=1).max())
    model = KMeans(len(sizes), bounds=bounds, n_rows=len(rows), n_jobs=1, **options).fit(rows)
    means = np.array([rows[labels == label].mean(axis=0) for label in range(len(sizes))])
    return model, rows, means, np.mean(np.sum((rows - means[labels]) ** 2, axis=1))


def fit_errors(generator, sizes, n_features, **options):
    """Fit blobs, and return how far the nearest centre is from the mean of each, in units of its radius."""
    model, _, means, _ = fit_blobs(generator, sizes, n_features, **options)
    return np.linalg.norm(means[:, None] - model.cluster_centers_, axis=2).min(axis=1)


def fit_gain(generator, sizes, n_features, **options):
    """Fit blobs, and return what part of the squared distances from the mean, beyond those within clusters, was removed."""
    model, rows, _, within = fit_blobs(generator, sizes, n_features, **options)
    one = rows.var(axis=0).sum()
    return (one + model.score(rows) / len(rows)) / (one - within)


@pytest.mark.slow
@pytest.mark.parametrize(("n_features", "epsilon"), [(8, 0.5), (16, 0.5), (64, 2.0)])
def test_errors_of_fits_of_a_sample_are_within_a_factor_of_three(n_features, epsilon, generator):
    forecast = plan(200_000, n_features, 8, epsilon=epsilon)
    seen = math.sqrt(np.mean(np.square([fit_errors(generator, [25_000] * 8, n_features, epsilon=epsilon) for _ in range(3)])))
    assert forecast.plan.row_share < 1
    assert 1 / 3 < seen / forecast.error(25_000) < 3


@pytest.mark.slow
@pytest.mark.parametrize(("n_rows", "n_features", "n_clusters", "options"), CASES, ids=str)
def test_errors_of_fits_are_within_a_factor_of_two(n_rows, n_features, n_clusters, options, generator):
    start = plan(n_rows, n_features, n_clusters, **options).stands_out_at
    for times in (6, 30):
        forecast = plan(n_rows, n_features, n_clusters, epsilon=times * start, **options)
        sizes = [n_rows // n_clusters] * n_clusters
        errors = [fit_errors(generator, sizes, n_features, epsilon=times * start, **options) for _ in range(4)]
        seen = math.sqrt(np.mean(np.square(errors)))
        assert 0.5 < seen / forecast.error(n_rows / n_clusters) < 2


@pytest.mark.slow
@pytest.mark.parametrize(("n_rows", "n_features", "n_clusters", "options"), CASES, ids=str)
def test_average_clusters_stand_out_where_it_says(n_rows, n_features, n_clusters, options, generator):
    start = plan(n_rows, n_features, n_clusters, **options).stands_out_at
    sizes = [n_rows // n_clusters] * n_clusters
    found = {
        times: np.mean([fit_errors(generator, sizes, n_features, epsilon=times * start, **options) < 1 for _ in range(5)])
        for times in (0.25, 3)
    }
    assert found[0.25] < 0.5
    assert found[3] > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_features", "options"), [(2, {}), (8, {}), (20, {}), (48, {}), (4, {"delta": 0.0}), (6, REPLACE)], ids=str
)
def test_small_clusters_are_found_or_missed_as_it_says(n_features, options, generator):
    smallest = plan(6000, n_features, 8, **options).smallest_cluster

    def found(size):
        sizes = [size, *[(6000 - size) // 7] * 7]
        return np.mean([fit_errors(generator, sizes, n_features, **options)[0] < 1 for _ in range(10)])

    assert found(int(smallest / 3)) <= 0.4
    assert found(int(smallest * 3)) >= 0.6


@pytest.mark.slow
@pytest.mark.parametrize(("n_rows", "n_features", "n_clusters"), [(1000, 4, 8), (3000, 16, 16), (3000, 2, 16)])
def test_little_more_than_the_mean_is_said_where_little_more_is_found(n_rows, n_features, n_clusters, generator):
    sizes = [n_rows // n_clusters] * n_clusters
    for epsilon in (0.03, 0.06, 0.12, 0.25, 0.5):
        said = "little more than the mean" in plan(n_rows, n_features, n_clusters, epsilon=epsilon).verdict[0]
        gained = np.mean([fit_gain(generator, sizes, n_features, epsilon=epsilon) for _ in range(3)])
        assert not said or gained < 0.6


# -- other methods ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in METHODS if name != "KMeans"])
@pytest.mark.parametrize("options", [{}, REPLACE], ids=str)
def test_of_every_method_it_says_what_a_fit_asks_and_how_noisily(name, options, generator):
    method = METHODS[name]
    forecast = plan(400, 2, 3, method=name, **options)
    assert (forecast.method, forecast.center_errors, forecast.smallest_cluster) == (name, (), None)
    assert math.isclose(sum(step.share for step in forecast.steps), 1.0)
    rows = generator.uniform(-1, 1, (400, 2))
    model = Case(method).fit_to(method.estimator(3, bounds=(-1, 1), n_rows=400, **options), rows, target=rows[:30])
    planned = {step.name: step for step in forecast.steps}
    compared = 0
    for event in model.privacy_receipt_.events:
        if event.question_name.endswith("_sums") or event.step in ("leaves", "average"):
            continue  # a radius is chosen on the way; and what a tree that ends early leaves over goes to the last step
        if name == "PointSynopsis" and event.step.startswith(("round", "settling")):
            continue  # as with KMeans, steps that are not needed leave their share to the rounds
        noises = [query.sigma for query in planned[event.step].queries if query.name != "sums"]
        assert any(math.isclose(event.standard_deviation, noise, rel_tol=1e-6) for noise in noises)
        compared += 1
    assert compared > 0
    with pytest.raises(ParameterError, match=r"Forecast\.error: expected a forecast of KMeans, got .*"):
        forecast.error(10)
