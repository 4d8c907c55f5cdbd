# SPDX-License-Identifier: Apache-2.0
"""What the clusters look like: the step that describes them, its share, and the columns it may also describe."""

import cProfile
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.vaults import refusal

from cloister import GDP, Category, Date, Flag, KMeans, Ledger, Number, PureDP, open_rows, plan
from cloister.algorithms import MORE_BINS
from cloister.cluster._describe import FEWEST_BINS, LARGEST, MOST_BINS, USUAL_BINS
from cloister.exceptions import DataError, ParameterError
from cloister.methods import METHODS
from cloister.release import Profiles
from cloister.report import summary
from cloister.rivals import LloydKMeans

N_ROWS = 4000
CLUSTERED = {"age": (0, 100), "sex": Category(["f", "m"], weight=0.1)}
EXTRA = {
    "income": (0, 200_000),
    "region": Category(["north", "south"]),
    "smoker": Flag(),
    "day": Date("2020-01-01", "2024-01-01"),
}
CENTRES = [name for name, method in METHODS.items() if method.kind == "centers"]


@pytest.fixture
def table(generator):
    """Two groups, of which income, region, smoking and day differ; a part of income is missing."""
    group = np.arange(N_ROWS) % 4 == 0
    income = np.where(group, 150_000, 40_000) + generator.normal(0, 8000, N_ROWS)
    region = np.where(group, "south", np.where(generator.random(N_ROWS) < 0.05, "abroad", "north"))
    return pd.DataFrame(
        {
            "region": region,
            "income": np.where(generator.random(N_ROWS) < 0.2, np.nan, income),
            "age": np.where(group, 70, 30) + generator.normal(0, 4, N_ROWS),
            "unused": generator.random(N_ROWS),
            "sex": generator.choice(["f", "m"], N_ROWS),
            "smoker": generator.random(N_ROWS) < np.where(group, 0.8, 0.1),
            "day": pd.Timestamp("2020-06-01") + pd.to_timedelta(np.where(group, 1000, 100), unit="D"),
        }
    )


def fit(table, kind=KMeans, **options):
    given = {"epsilon": 8.0, "bounds": CLUSTERED, "describe": 0.3, "describe_columns": EXTRA, "random_state": 0, "n_jobs": 1}
    return kind(2, **{**given, **options}).fit(table)


def test_clusters_are_described_by_all_columns_and_clustered_by_those_of_bounds_alone(table):
    model = fit(table, guarantee=GDP(8.0))
    profiles = model.release_.profiles
    assert profiles.names == (*CLUSTERED, *EXTRA)
    assert [one.clustered for one in profiles] == [True, True, False, False, False, False]
    assert [one.kind for one in profiles] == ["number", "category", "number", "category", "flag", "date"]
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == list(CLUSTERED)
    assert model.release_.feature_names == tuple(CLUSTERED)
    assert model.cluster_centers_.shape == (2, 3)
    assert "describe_columns" not in model.release_.parameters
    assert model.release_.parameters["describe"] == 0.3
    assert set(model.release_.columns) == {"age", "sex=f", "sex=m"}
    old = int(np.argmax(model.cluster_centers_[:, 0]))
    income, region, smoker, day = (profiles[name] for name in EXTRA)
    assert income.mean().value[[old, 1 - old]] == pytest.approx([150_000, 40_000], abs=4000)
    assert income.spread().value == pytest.approx([8000, 8000], abs=4000)
    assert income.missing().value == pytest.approx([0.2, 0.2], abs=0.06)
    assert region.shares().value[old] == pytest.approx([0, 1, 0, 0], abs=0.05)
    assert region.shares().value[1 - old] == pytest.approx([0.95, 0, 0.05, 0], abs=0.05)
    assert smoker.levels == ("no", "yes")
    assert smoker.difference().value[old, 1] == pytest.approx(0.8 - 0.275, abs=0.06)
    assert np.diff(day.mean().value[[1 - old, old]]) == pytest.approx([900], abs=60)
    assert income.difference().value[old] > 1


@pytest.mark.parametrize("name", ["KMeans", "GridKMeans"])  # a grid reads its rows again
def test_counts_are_those_of_the_rows_with_noise(name, table):
    model = fit(table, METHODS[name].estimator, bounds={"age": (0, 100)}, guarantee=GDP(60.0))
    labels = model.predict(table)
    assert np.array_equal(labels, model.labels_)
    counts = model.release_.profiles["smoker"].noisy_counts
    expected = [[np.sum((labels == label) & (table["smoker"] == yes)) for yes in (False, True)] for label in range(2)]
    assert counts[:, :2] == pytest.approx(np.array(expected), abs=2)
    assert counts[:, 2:] == pytest.approx(0, abs=2)


@pytest.mark.parametrize("name", CENTRES)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_share_is_taken_from_the_budget(name, neighbours, table):
    share = 0.25
    guarantee = PureDP(4.0) if name == "TreeKMeans" else GDP(1.0)
    ledger, method = Ledger(guarantee, neighbours=neighbours), METHODS[name]
    given = {"guarantee": guarantee, "ledger": ledger, "neighbours": neighbours, "n_jobs": 1, "bounds": {"age": (0, 100)}}
    given |= {"describe": share, "describe_columns": EXTRA}
    model = method.estimator(2, **{**method.short, **given}).fit(table)
    assert ledger.spent.fits(guarantee)
    steps = model.plan_.all_steps
    assert steps[-1].name == "describe"
    assert steps[-1].share == pytest.approx(share)
    assert math.fsum(step.share for step in steps) == pytest.approx(1.0)
    look, event = model.privacy_receipt_.events[-2:]
    columns = 5 * (2 if neighbours == "replace" else 1)
    if guarantee.is_pure:
        cost = 2 * 3 / 5 * columns / look.scale + columns / event.scale
        assert cost == pytest.approx(share * guarantee.epsilon, rel=1e-6)
    else:
        cost = 2 * 3 / 5 * columns / look.scale**2 + columns / event.scale**2
        assert cost == pytest.approx(share * guarantee.mu**2, rel=1e-6)
    # Two histograms of each of the three numbers and dates in the whole table, then one of all five columns in each cluster.
    assert {look.question_name, event.question_name} == {"nearest_histograms"}
    assert {look.step, event.step} == {"describe"}
    assert event.size == sum(one.noisy_counts.size for one in model.release_.profiles)
    assert model.release_.profiles["age"].sigma == event.standard_deviation
    assert model.release_.steps[-1].name == "describe"


def test_nothing_is_asked_unless_it_is_wanted(table):
    plain = fit(table, describe=0.0, describe_columns=None)
    assert plain.release_.profiles is None
    assert "describe" not in {event.step for event in plain.privacy_receipt_.events}
    assert plain.plan_.closing == ()
    assert "profiles" not in plain.release_.to_dict()
    assert "describe" not in plain.release_.parameters


@pytest.mark.parametrize("bounds", [(0, 100), "private"])
def test_an_array_is_described_by_its_own_columns(bounds, generator):
    rows = generator.normal([[20.0, 50.0], [70.0, 50.0]], 3.0, size=(1500, 2, 2)).reshape(-1, 2)
    model = KMeans(2, epsilon=8.0, bounds=bounds, describe=0.3, random_state=0).fit(rows)
    profiles = model.release_.profiles
    assert profiles.names == ("x0", "x1")
    order = np.argsort(model.cluster_centers_[:, 0])
    assert profiles["x0"].mean().value[order] == pytest.approx([20, 70], abs=4)
    low, high = profiles["x0"].edges[[0, -1]]
    assert (low, high) == ((0, 100) if bounds != "private" else model.release_.domain.columns[0].interval)


def as_parquet(table, folder):
    pa.parquet.write_table(pa.Table.from_pandas(table), folder / "rows.parquet", row_group_size=700)
    return folder / "rows.parquet"


def test_rows_that_were_opened_for_a_fit_are_also_labelled(table, tmp_path):
    rows = open_rows(as_parquet(table, tmp_path), {**CLUSTERED, **EXTRA})
    model = fit(rows)
    for one, other in zip(model.release_.profiles, fit(table).release_.profiles, strict=True):
        assert np.array_equal(one.noisy_counts, other.noisy_counts)
    assert np.array_equal(model.predict(rows), model.predict(table))
    assert model.transform(rows).shape == (N_ROWS, 2)
    assert np.array_equal(fit(as_parquet(table, tmp_path)).fit_predict(rows), model.predict(table))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"describe": 1e-9}, r"KMeans\.describe: expected 0, or at least 0\.001, got 1e-09\. Pass"),
        ({"describe": ["income"]}, r"KMeans\.describe: expected a finite number .* Pass describe=0\.1, .* describe_columns="),
        ({"bounds": (0, 100)}, r"describe_columns: expected bounds that name the columns to cluster by, got \(0, 100\)"),
        ({"describe_columns": {"age": (0, 1)}}, r"expected columns that are not in bounds, got 'age'\. Leave"),
        ({"describe_columns": {"income": None}}, r"describe_columns\['income'\]: expected what the column is, got None"),
        ({"describe_columns": {"income": "private"}}, r"describe_columns\['income'\]: expected public bounds"),
        ({"describe_columns": {}}, r"KMeans\.describe_columns: expected at least one column"),
        ({"describe": 0.5, "bounds_share": 0.45, "scaling": "spread"}, r"KMeans\.describe: expected at most 0\.9 .* 0\.45"),
    ],
)
def test_what_cannot_be_described_is_refused_before_anything_is_spent(options, message, table):
    with refusal(ParameterError, message, epsilon=10.0) as ledger:
        fit(table, ledger=ledger, **options)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"wealth": (0, 1)}, r"KMeans: column 'wealth' is not in the table"),
        ({"region": Date("2020-01-01", "2021-01-01"), "day": (0, 1)}, r"in column 'day', declared as Number"),
    ],
)
def test_columns_that_are_not_in_the_table_are_refused_before_anything_is_spent(columns, message, table):
    with refusal(DataError, message, epsilon=10.0) as ledger:
        fit(table, ledger=ledger, describe_columns=columns)


def test_rows_without_the_described_columns_are_refused(table):
    with pytest.raises(DataError, match=r"KMeans\.bounds: expected the columns of the rows, in order"):
        fit(open_rows(table, CLUSTERED))


def test_more_bins_than_can_be_noised_are_refused(table):
    wide = {"region": Category(range(1000))}
    with pytest.raises(ParameterError, match=rf"LloydKMeans\.describe: expected at most {LARGEST:,} bins in all clusters"):
        LloydKMeans(1 << 15, bounds=CLUSTERED, describe=0.1, describe_columns=wide).fit(table)


@pytest.mark.parametrize(("n_rows", "n_bins"), [(10, FEWEST_BINS), (1_000_000, MOST_BINS)])
def test_the_number_of_bins_follows_from_rows_clusters_and_noise(n_rows, n_bins, table):
    profiles = fit(table, n_rows=n_rows, epsilon=1.0).release_.profiles
    for name in ("age", "income", "day"):
        assert n_bins <= len(profiles[name].edges) - 1 <= n_bins + MORE_BINS


def test_where_nobody_knows_the_number_of_rows_bins_are_the_usual_ones(table):
    model = fit(table, METHODS["FastLloyd"].estimator, scaling="bounds")
    assert USUAL_BINS <= len(model.release_.profiles["age"].edges) - 1 <= USUAL_BINS + MORE_BINS


def test_a_table_without_rows_says_nothing(table):
    profiles = fit(table[:0], epsilon=1.0).release_.profiles
    assert not any(one.above_noise.all() for one in profiles)


def test_a_tiny_budget_is_rehearsed_with_all_columns(table):
    with pytest.raises(ParameterError, match=r"KMeans\.epsilon: expected a budget whose noise can be drawn"):
        fit(table, epsilon=1e-13, delta=1e-20)
    assert fit(table, epsilon=5e-3, n_rows=N_ROWS).release_.profiles is not None


@pytest.mark.parametrize("name", ["KMeans", "PEMeans", "LloydKMeans"])
def test_a_forecast_lists_the_step_as_the_fit_does(name, generator):
    rows, method = generator.uniform(0, 1, (3000, 4)), METHODS[name]
    forecast = plan(3000, 4, 3, method=name, epsilon=2.0, describe=0.2)
    model = method.estimator(3, epsilon=2.0, bounds=(0, 1), n_rows=3000, describe=0.2, n_jobs=1).fit(rows)
    assert [step.share for step in forecast.steps if step.name == "describe"] == pytest.approx([0.2])
    assert forecast.steps[-1] == model.plan_.all_steps[-1]
    assert math.fsum(step.share for step in forecast.steps) == pytest.approx(1.0)


def test_a_forecast_refuses_what_a_fit_does():
    with pytest.raises(ParameterError, match=r"plan\.describe: expected a finite number of at least 0 and of at most 0\.9"):
        plan(1000, 2, 3, describe=1.0)
    with pytest.raises(ParameterError, match=r"plan\.describe: expected a method that finds centres, got 'GridSynopsis'"):
        plan(1000, 2, 3, method="GridSynopsis", describe=0.1)


@pytest.mark.parametrize(
    "work",
    [
        lambda model, table: model.fit(table),
        lambda model, _: summary(model.release_),
        lambda model, _: model.release_.to_frame(),
    ],
)
def test_work_grows_as_columns_do(work, generator):
    calls = []
    for n_columns in (30, 240):
        levels = [str(number) for number in range(2)]
        columns = {f"c{index}": Category(levels) if index % 2 else Number(0, 1) for index in range(n_columns)}
        table = pd.DataFrame({name: generator.integers(0, 2, 20).astype(str) for name in columns})
        model = LloydKMeans(2, n_rounds=2, epsilon=20.0, bounds=columns, describe=0.3, n_rows=20, random_state=0, n_jobs=1)
        model.fit(table).release_.profile()
        profile = cProfile.Profile(builtins=False)  # counts calls of Python's own functions
        profile.runcall(work, model, table)
        calls.append(sum(one.callcount for one in profile.getstats()))
    assert calls[1] < 1.3 * 8 * calls[0]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_day_that_noise_hides_is_none_in_a_frame(library, table):
    model = KMeans(
        2, epsilon=50.0, bounds={"age": (0, 100)}, describe=0.3, describe_columns={"day": EXTRA["day"]}, random_state=0
    )
    release = model.fit(table).release_
    (age, day), empty = release.profiles.columns, np.array([1.0, 0.0])[:, None]
    hidden = replace(release, profiles=Profiles(columns=(age, replace(day, noisy_counts=day.noisy_counts * empty))))
    frame = hidden.to_frame(library)
    assert [one is None or one != one for one in frame["day"]] == [False, True]
