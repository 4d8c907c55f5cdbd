# SPDX-License-Identifier: Apache-2.0
"""What a fit asks before its own plan: missing values stay in their cells, bounds and spreads are found, and it is told.

Figures are in benchmarks; here are the laws, and on tables with plain clusters what must come true at any seed.
"""

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from cloister import GDP, Ball, Box, Category, Date, Flag, KMeans, Ledger, Number, PrivacyWarning, Release
from cloister.cluster import plan_fit
from cloister.cluster._first import FirstSteps, Ready, correct_for_missing
from cloister.cluster._plan import Outcome
from cloister.columns import Table
from cloister.exceptions import BoundsError, ParameterError
from cloister.methods import METHODS
from cloister.privacy import Query, Step
from cloister.questions import Answer
from cloister.release import CellSummary

N_ROWS = 6000
SCALED = [name for name, method in METHODS.items() if method.kind != "source-target"]
CENTRED = [name for name in SCALED if METHODS[name].kind == "centers" and not name.startswith("Grid")]
COLUMNS = {
    "age": (0, 120),
    "income": "private",
    "sex": Category(["f", "m", "x"], weight=0.3),
    "smoker": Flag(weight=0.3),
    "admitted": Date("2020-01-01", "2026-12-31"),
    "glucose": Number(40, 400, missing="own", weight=0.3),
}


def make(name, **parameters):
    method = METHODS[name]
    return method.estimator(2, **{**method.short, **(method.wide if "bounds" in parameters else {}), "n_jobs": 1, **parameters})


@pytest.fixture
def people(generator):
    """Two groups of people, and which is whose."""
    group = generator.integers(0, 2, N_ROWS)
    columns = {
        "patient": np.arange(N_ROWS),  # not declared, and not used
        "age": np.where(generator.random(N_ROWS) < 0.3, np.nan, 30 + 40 * group + generator.normal(0, 4, N_ROWS)),
        "income": 2e4 + 6e4 * group + generator.normal(0, 3e3, N_ROWS),
        "sex": np.array(["f", "m", "x", "?"])[np.minimum(group + generator.integers(0, 3, N_ROWS), 3)].tolist(),
        "smoker": (generator.random(N_ROWS) < 0.1 + 0.7 * group).tolist(),
        "admitted": np.datetime64("2021-01-01") + (1500 * group + generator.integers(0, 200, N_ROWS)).astype("timedelta64[D]"),
        "glucose": np.where(generator.random(N_ROWS) < 0.2, np.nan, 90 + 80 * group + generator.normal(0, 6, N_ROWS)),
    }
    return pa.table(columns), group


# -- missing values --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_clusters", [2, 3])
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_no_phantom_cluster_sits_where_missing_values_were_placed(n_clusters, delta, generator):
    """Two groups, of which 15 % miss a value: both are found where they are, and nothing at the middle of the bounds."""
    group = np.repeat([0, 1], 10_000)
    rows = np.column_stack([30 + 35 * group, 95 + 60 * group]) + generator.normal(size=(20_000, 2)) * [4, 8]
    rows[generator.random(20_000) < 0.15, 1] = np.nan
    model = KMeans(n_clusters, epsilon=2.0, delta=delta, bounds=[(0, 120), (40, 400)]).fit(rows)
    centers = model.cluster_centers_
    assert (np.abs(centers[:, 1] - 220) > 0.05 * 220).all()
    for true in ([30, 95], [65, 155]):
        assert np.abs(centers - true).min(axis=0).max() < 3
    cells = model.release_.cells
    assert cells.missing == pytest.approx([0.0, 0.15], abs=5 * cells.error + 0.01)
    assert cells.outside == pytest.approx([0.0, 0.0], abs=5 * cells.error + 0.01)
    assert 0 < cells.error < 0.05


def test_what_is_outside_is_told(generator):
    rows = generator.uniform(0, 1, (N_ROWS, 2))
    rows[: N_ROWS // 4, 1] = 7.0
    cells = KMeans(2, epsilon=3.0, bounds=(0, 1)).fit(rows).release_.cells
    assert cells.outside == pytest.approx([0.0, 0.25], abs=5 * cells.error)


@pytest.mark.parametrize("name", SCALED)
def test_nothing_is_asked_where_missing_values_go_to_the_middle(name, generator):
    rows = generator.uniform(-1, 1, (N_ROWS, 2))
    rows[::3, 0] = np.nan
    options = {"bounds": (-1, 1), "n_rows": N_ROWS, "missing": "middle"}
    for further in ({}, {"bounds": "private"}, {"bounds": {"a": (-1, 1), "b": "private"}}):
        table = pa.table({"a": rows[:, 0], "b": rows[:, 1]}) if isinstance(further.get("bounds"), dict) else rows
        model = make(name, **{**options, **further}).fit(table)
        asked = {event.question_name for event in model.privacy_receipt_.events}
        assert not asked & {"cell_states", "nearest_missing"}
        assert ("column_magnitudes" in asked) == bool(further)


def test_a_column_that_says_its_own_place_keeps_it(generator):
    rows = generator.uniform(0, 1, (N_ROWS, 2))
    rows[::2] = np.nan
    model = KMeans(1, epsilon=3.0, bounds=[Number(0, 1, missing=0.9), Number(0, 1)], missing="middle").fit(rows)
    places = model.release_.cells.places
    assert places[0] == pytest.approx(0.9)
    assert places[1] == pytest.approx(0.5, abs=0.05)
    assert model.cluster_centers_[0] == pytest.approx([0.7, 0.5], abs=0.05)  # a half at 0.9; the mean of what is there


@pytest.mark.parametrize("size", [0, 1, 30])
@pytest.mark.parametrize("name", SCALED)
def test_with_too_few_rows_nothing_is_asked_and_nothing_is_told(name, size, generator):
    model = make(name, epsilon=0.5, bounds=(-1, 1), n_rows=size).fit(generator.uniform(-1, 1, (size, 2)))
    assert "cell_states" not in {event.question_name for event in model.privacy_receipt_.events}
    if hasattr(model, "release_"):
        assert model.release_.cells.missing is None


def test_types_without_missing_values_need_no_mean(generator):
    table = pa.table({"a": generator.integers(0, 9, N_ROWS), "b": generator.integers(0, 9, N_ROWS)})
    strict = table.cast(pa.schema([pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.int64(), nullable=False)]))
    model = KMeans(2, epsilon=3.0, bounds=(0, 9)).fit(strict)
    assert [event.step for event in model.privacy_receipt_.events].count("cells") == 1


def present(ready, counts, *, sigma=1e-6):
    """Return what `correct_for_missing` makes of two centres, where so many cells were missing."""
    cost = Query("cells", "clusters", GDP(1.0), 0.01, 1.0)
    first = FirstSteps(cells=Step(name="cells", purpose="", n_points=1, queries=(cost,)))
    event = SimpleNamespace(standard_deviation=sigma)
    outcome = Outcome(
        centers=ready.frame.to_unit([[3.0, 5.0], [9.0, 5.0]]),
        center_errors=np.full((2, 2), 1e-3),
        counts=np.array([100.0, 300.0]),
        count_errors=np.ones(2),
        n_rounds=1,
    )
    asked = []

    def ask(question, query):
        asked.append((question, query))
        return Answer(np.array(counts, dtype=float), event)

    return correct_for_missing(ask, first, ready, outcome), asked, ready.frame


def ready_for(*, filled, missing=(8.0, 5.0)):
    missing = np.array(missing)
    frame = Box([0, 0], [10, 10]).frame(missing=missing)
    cells = CellSummary(places=missing, missing=[0.2, 0.0], outside=[0.0, 0.0], error=0.01)
    return Ready(frame=frame, scaling="none", cells=cells, n_rows=400.0, filled=filled)


def test_centres_are_those_of_what_is_there():
    told, asked, frame = present(ready_for(filled=(0,)), [[20.0], [60.0]])
    centers = frame.from_unit(told.centers)
    assert centers[:, 0] == pytest.approx([(3 - 0.2 * 8) / 0.8, (9 - 0.2 * 8) / 0.8], abs=1e-6)
    assert centers[:, 1] == pytest.approx([5.0, 5.0])
    assert (told.center_errors[:, 0] > 1e-3).all()
    assert told.center_errors[:, 1] == pytest.approx(1e-3)
    assert len(asked) == 1
    assert asked[0][0].columns == (0,)


def test_centres_are_left_alone_where_the_clusters_do_not_confirm_that_values_are_missing():
    """Noise can make a full column look as if values were missing, and in a domain much too wide their place is far away."""
    ready = ready_for(filled=(0,))
    for counts, moves in (([[20.0], [-5.0]], False), ([[-30.0], [10.0]], False), ([[40.0], [35.0]], True)):
        told, _, frame = present(ready, counts, sigma=20.0)
        assert np.allclose(frame.from_unit(told.centers), [[3.0, 5.0], [9.0, 5.0]], atol=1e-9) != moves
        assert np.allclose(told.center_errors, 1e-3) != moves


def test_centres_stay_in_the_domain_whatever_is_answered():
    for counts in ([[1e9], [-1e9]], [[100.0], [300.0]], [[0.0], [0.0]], [[-5.0], [1e15]]):
        told, _, frame = present(ready_for(filled=(0,)), counts)
        centers = frame.from_unit(told.centers)
        assert np.isfinite(centers).all()
        assert ((centers >= -1e-9) & (centers <= 10 + 1e-9)).all()
        assert np.isfinite(told.center_errors).all()
        assert (told.center_errors <= 1).all()


def test_nothing_more_is_asked_where_nothing_is_missing():
    told, asked, _ = present(ready_for(filled=()), [])
    assert not asked
    assert told.n_rounds == 1


# -- declared columns ------------------------------------------------------------------------------------------------------


@pytest.mark.fast("*-KMeans", "spread-PEMeans")
@pytest.mark.parametrize("name", CENTRED)
@pytest.mark.parametrize("scaling", ["auto", "spread"])
def test_every_method_takes_declared_columns(name, scaling, people):
    table, _ = people
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make(name, epsilon=3.0, bounds=COLUMNS, scaling=scaling).fit(table)
    release = model.release_
    told = release.domain.published_names(tuple(COLUMNS))
    assert release.cluster_centers.shape == (2, len(told)) == release.center_errors.shape
    assert np.isfinite(release.cluster_centers).all()
    assert (release.center_errors >= 0).all()
    shares = release.cluster_centers[:, 2:5]
    assert (shares >= 0).all()
    assert shares.sum(axis=1) == pytest.approx(1.0)
    low, high = release.domain.columns[1].interval
    assert low < 2e4 < 8e4 < high < 1e6  # found: nobody said so
    assert release.domain.found[1]
    assert release.receipt.spent.fits(release.receipt.guarantee)
    assert model.n_features_in_ == len(COLUMNS)
    assert model.feature_names_in_.tolist() == list(COLUMNS)
    assert model.labels_.shape == (N_ROWS,)
    assert Release.from_dict(release.to_dict()).to_dict() == release.to_dict()


def test_groups_are_found_and_told_in_the_columns_own_words(people):
    table, group = people
    model = KMeans(2, epsilon=3.0, bounds=COLUMNS).fit(table)
    agree = np.mean(model.predict(table) == group)
    assert max(agree, 1 - agree) > 0.97
    order = np.argsort(model.cluster_centers_[:, 0])
    centers = model.cluster_centers_[order]
    assert centers[:, 0] == pytest.approx([30, 70], abs=3)
    assert centers[:, 1] == pytest.approx([2e4, 8e4], rel=0.1)
    assert centers[:, 5] == pytest.approx([0.1, 0.8], abs=0.06)
    assert centers[:, 8] == pytest.approx([0.2, 0.2], abs=0.05)  # share of missing glucose
    cells = model.release_.cells
    assert cells.missing[[0, 5]] == pytest.approx([0.3, 0.2], abs=5 * cells.error + 0.01)
    assert cells.outside[2] > 0.1  # the question mark is no level


def test_only_declared_columns_are_used_in_their_order(people):
    table, _ = people
    reordered = table.select(["glucose", "admitted", "sex", "smoker", "income", "age"])
    fits = [KMeans(2, bounds=COLUMNS, random_state=3).fit(one) for one in (table, reordered)]
    assert np.array_equal(fits[0].cluster_centers_, fits[1].cluster_centers_)


@pytest.mark.parametrize("name", [name for name in SCALED if name.startswith("Grid")])
@pytest.mark.parametrize(
    "other",
    [{"sex": Category(["f", "m"])}, {"age": Number(0, 9, missing="own")}, {"age": Number(0, 9, weight=2), "b": (0, 1)}],
    ids=str,
)
def test_a_grid_cuts_intervals_of_equal_weight_alone(name, other, people):
    other_method = "PointSynopsis" if name == "GridSynopsis" else "KMeans"
    with pytest.raises(
        ParameterError, match=rf"{name}\.bounds: expected numbers, dates and flags of equal weight, .* or use {other_method}"
    ):
        make(name, bounds=other).fit(pa.table(dict.fromkeys(other, people[0]["age"])))


def test_a_grid_takes_a_word_that_is_none_for_a_missing_one(generator):
    words = generator.choice(["yes", "no", "perhaps", None], N_ROWS, p=[0.4, 0.1, 0.3, 0.2]).tolist()
    table = pa.table({"smoker": words, "age": generator.uniform(0, 100, N_ROWS)})
    model = make("GridSynopsis", epsilon=20.0, n_rows=N_ROWS, bounds={"smoker": Flag(missing=True), "age": (0, 100)}, rule=2)
    counts = model.fit(table).synopsis_.marginal([0]).noisy_counts
    assert counts / counts.sum() == pytest.approx([0.1, 0.9], abs=0.03)


# -- scaling ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bounds", "scaling", "meant"),
    [
        ((0, 1), "auto", "none"),
        ([(0, 1), (5, 6)], "auto", "none"),
        ([(0, 1), (0, 2)], "auto", "bounds"),
        ([(0, 1), (0, 2)], "none", "none"),
        (Ball(1.0), "auto", "none"),
        ("private", "auto", "bounds"),
        ((0, 1), "spread", "spread"),
        ([Number(0, 1), Number(0, 1)], "none", "none"),
    ],
    ids=str,
)
def test_what_the_default_comes_to(bounds, scaling, meant, generator):
    model = KMeans(2, epsilon=5.0, bounds=bounds, scaling=scaling).fit(generator.random((500, 2)))
    assert model.release_.scaling == meant


def test_a_scaling_that_has_no_meaning_is_refused():
    rows = np.zeros((3, 2))
    with pytest.raises(
        ParameterError, match=r"KMeans\.scaling: expected a box or declared columns for the spread .*, got 'a ball'"
    ):
        KMeans(2, bounds=Ball(1.0), scaling="spread").fit(rows)
    with pytest.raises(
        ParameterError, match=r"KMeans\.scaling: expected distances relative to bounds or spread, as categories"
    ):
        KMeans(2, bounds={"a": Category(["x", "y"])}, scaling="none").fit(pa.table({"a": ["x"]}))


def test_a_column_counts_by_its_spread(generator):
    """Clusters in a column whose bounds are a thousand times too wide are found by the spread, and lost by the bounds."""
    group = generator.integers(0, 2, N_ROWS)
    rows = np.column_stack([10 * group + generator.normal(size=N_ROWS), generator.uniform(0, 1, N_ROWS)])
    found = {}
    for scaling in ("spread", "bounds"):
        labels = KMeans(2, epsilon=3.0, bounds=[(-5000, 5000), (0, 1)], scaling=scaling).fit(rows).labels_
        found[scaling] = max(np.mean(labels == group), np.mean(labels != group))
    assert found["spread"] > 0.97
    assert found["bounds"] < 0.8


def test_bounds_nobody_knows_are_told_with_the_release(generator):
    rows = np.column_stack([generator.normal(5e6, 10.0, N_ROWS), generator.random(N_ROWS)])
    domain = KMeans(2, epsilon=3.0, bounds=["private", (0, 1)]).fit(rows).release_.domain
    assert domain.found == ("noise", "")
    low, high = domain.columns[0].interval
    assert 4_999_000 < low < 5e6 < high < 5_001_000
    assert isinstance(domain, Table)


@pytest.mark.parametrize("options", [{"bounds_share": 0.2}, {"n_rows": 60}], ids=str)
def test_a_column_whose_bounds_are_not_found_ends_the_fit_before_its_main_questions(options, generator):
    """All missing, or fewer rows than noise: the remedy is named, and the ledger gets back what was not asked."""
    n_rows = options.get("n_rows", N_ROWS)
    rows = np.column_stack([generator.normal(50, 5, n_rows), np.full(n_rows, np.nan)])
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    unseen = "x0, x1" if "n_rows" in options else "x1"
    message = rf"KMeans\.bounds: .* found none in {unseen}\. Declare bounds .* or use more rows"
    with pytest.raises(BoundsError, match=message) as refusal:
        KMeans(2, bounds="private", ledger=ledger, **options).fit(rows)
    assert ", ".join(refusal.value.columns) == unseen
    assert {event.question_name for event in ledger.events} <= {"row_count", "column_magnitudes", "column_intervals"}
    assert bool(ledger.events) == ("n_rows" not in options), "what public numbers rule out costs nothing"
    assert ledger.spent.epsilon_at(1e-6) < 0.5


def test_the_search_takes_what_it_needs():
    """The share for bounds follows from public numbers: more columns and fewer rows need more of the budget."""

    def share(n_rows, n_columns, **options):
        model = KMeans(2, bounds="private", n_rows=n_rows, **options)
        return math.fsum(step.share for step in plan_fit(model, n_columns).preliminary if step.name.startswith(("mag", "int")))

    assert share(10**6, 2) == pytest.approx(0.02)
    assert share(20_000, 2) < share(10_000, 2) < share(10_000, 4) <= 0.2
    assert share(3000, 20) == pytest.approx(0.2)
    assert share(10, 2) == 0.0
    assert share(10**6, 2, bounds_share=0.3) == pytest.approx(0.3)


@pytest.mark.parametrize("n_odd", [0, 20, 100])
def test_a_column_that_is_nearly_constant_does_not_drown_the_others(n_odd, generator):
    """Its spread is that of all rows where noise shows the others; where it hides them, they are moved to narrow bounds."""
    group = generator.integers(0, 2, 5000)
    odd = np.full(5000, 7.0)
    odd[:n_odd] = generator.uniform(0, 100, n_odd)
    rows = np.column_stack([odd, 10 * group + generator.normal(size=5000)])
    model = KMeans(2, bounds=[(0, 100), (-50, 50)], scaling="spread").fit(rows)
    assert max(np.mean(model.labels_ == group), np.mean(model.labels_ != group)) > 0.97
    low, high = model.release_.domain.columns[0].interval
    assert (high - low) / model.release_.domain.spreads[0] < 100


# -- what is said ----------------------------------------------------------------------------------------------------------


def test_empty_promises_are_warned_of_from_public_numbers(generator):
    rows = generator.uniform(0, 1, (60, 2))
    with pytest.warns(PrivacyWarning, match=r"KMeans\.delta: 0\.01 is at least 1 / n_rows: .* Pass a delta well below 0\.01"):
        KMeans(2, bounds=(0, 1), delta=0.01, n_rows=100).fit(rows)
    with pytest.warns(PrivacyWarning, match=r"KMeans\.epsilon: 20 promises little: .* Pass an epsilon of at most 10"):
        KMeans(2, bounds=(0, 1), epsilon=20.0).fit(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        KMeans(2, bounds=(0, 1), delta=0.5, epsilon=1.0).fit(rows)  # the number of rows is not public, and is not looked at
        KMeans(2, bounds=(0, 1), delta=1e-3, n_rows=100).fit(rows)
