# SPDX-License-Identifier: Apache-2.0
"""Adaptive grids: the second question, how cells are split, what the two levels say together, and what is read off them."""

import math

import numpy as np
import pytest

from cloister import GridSynopsis, plan, write_report
from cloister.algorithms import CellNoise, GridSplit, combine_levels, denoise_leaves, split_factors
from cloister.exceptions import ParameterError, ReleaseError
from cloister.questions import GridCounts, SplitCounts
from cloister.report import synopsis_summary

HALF = np.array([0.5, 0.5])


@pytest.fixture
def synopsis(generator):
    skewed = np.minimum(generator.exponential(0.06, (6000, 2)), 1.0)
    return GridSynopsis(4, epsilon=1.0, bounds=(0, 1), rule="adaptive").fit(skewed).synopsis_


# -- the question --------------------------------------------------------------------------------------------------------


def test_a_row_counts_in_one_part_of_its_own_cell_or_nowhere(generator):
    factors = np.array([[1, 2, 4], [8, 1, 2]])
    rows = generator.uniform(-0.5, 0.5, (500, 2))
    counts = SplitCounts(half_widths=HALF, cells=(2, 3), factors=factors).exact(rows)
    coarse = GridCounts(half_widths=HALF, cells=(2, 3)).exact(rows).ravel()
    ends = np.cumsum(np.where(factors > 1, factors**2, 0).ravel())
    sums = np.diff(np.concatenate([[0], np.cumsum(counts)])[np.concatenate([[0], ends])])
    assert len(counts) == ends[-1]
    assert np.array_equal(sums, np.where(factors.ravel() > 1, coarse, 0))
    for row in rows[:50]:
        assert SplitCounts(half_widths=HALF, cells=(2, 3), factors=factors).exact(row[None]).sum() in (0, 1)


@pytest.mark.parametrize(
    ("factors", "match"),
    [
        (np.ones((2, 2), dtype=int), r"SplitCounts\.factors: expected whole numbers, some above 1, got 1"),
        (np.zeros((2, 2), dtype=int), r"SplitCounts\.factors: expected whole numbers"),
        (np.full((2, 3), 2), r"SplitCounts\.factors: expected"),
        (np.full((2, 2), 1 << 20), r"SplitCounts\.factors: expected"),
    ],
)
def test_splits_that_make_no_sense_are_refused(factors, match):
    with pytest.raises(ParameterError, match=match):
        SplitCounts(half_widths=HALF, cells=(2, 2), factors=factors)


# -- leaves --------------------------------------------------------------------------------------------------------------


def test_leaves_tile_the_box_and_lie_where_the_question_counts():
    split = GridSplit(np.array([[1, 2, 4], [4, 1, 2]]), 1.0)
    assert split.cells == (8, 12)
    assert split.n_leaves == 1 + 4 + 16 + 16 + 1 + 4
    assert np.prod(split.widths, axis=1).sum() == pytest.approx(1.0)
    middles = (split.low + split.widths / 2) - 0.5
    listed = split.n_parts[split.owners] > 1
    counted = SplitCounts(half_widths=HALF, cells=(2, 3), factors=split.factors)
    for order, row in enumerate(middles[listed]):
        assert np.flatnonzero(counted.exact(row[None])).tolist() == [order]
    values = np.arange(split.n_leaves, dtype=float)
    assert np.bincount(split.labels.ravel(), weights=split.spread(values).ravel()) == pytest.approx(values)
    assert split.average(np.ones(split.cells)) == pytest.approx(1.0)


def test_full_cells_are_split_and_empty_ones_are_not():
    counts = np.zeros((6, 6))
    counts[0, 0] = 20_000.0
    sizes = {"n_rows": 20_000, "n_clusters": 4, "sigma": 3.0, "finer_sigma": 3.0}
    factors = split_factors(counts, most_leaves=2000, **sizes)
    assert factors[0, 0] >= 8
    assert (np.delete(factors.ravel(), 0) == 1).all()
    assert (split_factors(counts, most_leaves=100, **sizes) ** 2).sum() <= 100
    assert (split_factors(np.zeros((6, 6)), most_leaves=100, **{**sizes, "n_rows": 0}) == 1).all()
    assert (split_factors(counts, most_leaves=2000, **{**sizes, "sigma": 1e6, "finer_sigma": 1e9}) == 1).all()


def test_the_two_levels_are_put_together_by_least_squares(generator):
    split = GridSplit(np.array([[2, 1], [1, 2]]), 2.0)
    noise = CellNoise(3.0, split)
    coarse, finer = generator.normal(50, 9, (2, 2)), generator.normal(12, 5, 8)
    found = combine_levels(coarse, noise, finer)
    # Minimise the sum of squares over the leaves' counts, each divided by its variance.
    design = np.vstack([np.eye(10)[[0, 1, 2, 3, 6, 7, 8, 9]], np.zeros((4, 10))])
    design[8, :4] = design[9, 4] = design[10, 5] = design[11, 6:] = 1
    scale = np.array([1 / 2.0] * 8 + [1 / 3.0] * 4)
    best = np.linalg.lstsq(design * scale[:, None], np.concatenate([finer, coarse.ravel()]) * scale, rcond=None)[0]
    assert found == pytest.approx(best)
    # Its covariance is that of the estimate; of any sum of leaves the error is exact.
    covariance = np.linalg.inv((design * scale[:, None]).T @ (design * scale[:, None]))
    assert noise.of_each == pytest.approx(np.sqrt(np.diag(covariance)))
    for _ in range(5):
        part = generator.uniform(0, 1, 10)
        assert noise.of_sums(part)[0] == pytest.approx(math.sqrt(part @ covariance @ part))
    groups = np.array([0, 0, 1, 1, 1, 0, 2, 2, 2, 0])
    for group in range(3):
        part = (groups == group).astype(float)
        assert noise.of_counts(groups, 3)[group] == pytest.approx(math.sqrt(part @ covariance @ part))


def test_weights_are_not_negative_and_add_up(generator):
    split = GridSplit(generator.choice([1, 2, 4], (5, 5)), 4.0)
    counts = generator.normal(3, 6, split.n_leaves)
    weights = denoise_leaves(counts, CellNoise(6.0, split), "nonnegative-total", total=200.0)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(200.0)
    assert (denoise_leaves(counts, CellNoise(6.0, split), "clip", total=200.0) == np.maximum(counts, 0)).all()
    assert denoise_leaves(counts, CellNoise(6.0, split), "none", total=200.0) is counts


# -- the synopsis --------------------------------------------------------------------------------------------------------


def test_one_budget_pays_for_both_questions(synopsis):
    assert [event.question_name for event in synopsis.receipt.events][-2:] == ["grid_counts", "split_counts"]
    assert synopsis.receipt.spent.epsilon_sum <= 1.0
    assert [step.name for step in synopsis.steps][-2:] == ["grid", "parts"]
    steps = plan(6000, 2, 4, method="GridSynopsis").plan.all_steps
    assert sum(step.share for step in steps) == pytest.approx(1.0)


def test_a_table_without_rows_stays_unsplit_and_spends_no_more():
    synopsis = GridSynopsis(4, epsilon=1.0, bounds=(0, 1), rule="adaptive", n_rows=0).fit(np.empty((0, 2))).synopsis_
    assert synopsis.grid.split is None
    assert "split_counts" not in {event.question_name for event in synopsis.receipt.events}


@pytest.mark.slow
def test_every_use_of_a_synopsis(synopsis, tmp_path):
    release = synopsis.cut(4, random_state=0)
    assert release.n_clusters == 4
    assert release.parameters["rule"] == "adaptive"
    assert release.cluster_counts.sum() == pytest.approx(synopsis.n_rows)
    assert (release.center_errors > 0).all()
    assert release.details["loss"] > 0
    assert synopsis.choose_k(range(1, 5), random_state=0).best >= 1
    assert synopsis.loss(4, random_state=0).value == pytest.approx(release.details["loss"], rel=0.3)
    assert 0 < synopsis.silhouette(4, random_state=0) < 1
    assert synopsis.tree(random_state=0).shape[1] == 4
    assert synopsis.density_clusters().cell_labels.shape == synopsis.grid.split.coarse
    assert synopsis.density_clusters().predict([[0.01, 0.01]]).tolist() == [0]
    assert synopsis.marginal([1]).grid.cells == synopsis.grid.split.coarse[1:]
    table = synopsis.to_arrow()
    assert table.num_rows == synopsis.n_points == synopsis.grid.split.n_leaves
    areas = (table["x0_high"].to_numpy() - table["x0_low"]) * (table["x1_high"].to_numpy() - table["x1_low"])
    assert areas.sum() == pytest.approx(1.0)
    assert "adaptive grid" in repr(synopsis)
    assert synopsis_summary(synopsis)["n_cells"] == synopsis.n_points
    write_report(synopsis, tmp_path / "report.html")
    assert "An adaptive grid of" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    "change",
    [
        {"split": None},
        *({"split": {"factors": [factor] * 4, "coarse": [2, 2], "sigma": 1.0}} for factor in (3, 1.5)),
        {"noisy_counts": [1.0]},
    ],
)
def test_a_damaged_split_is_refused(synopsis, change):
    with pytest.raises(ReleaseError, match="damaged"):
        type(synopsis).from_dict({**synopsis.to_dict(), **change})


def test_what_cannot_be_had_is_refused_with_a_remedy(synopsis):
    with pytest.raises(ParameterError, match=r"merge what `coarse\(\)` returns of both"):
        synopsis.merge(synopsis)
    with pytest.raises(ParameterError, match=r"representatives: expected 'center' for an adaptive grid, got 'slope'"):
        synopsis.cut(3, representatives="slope")
    both = synopsis.coarse().merge(synopsis.coarse())
    assert both.noisy_counts.sum() == pytest.approx(2 * synopsis.noisy_counts.sum())
    uniform = synopsis.coarse()
    assert uniform.coarse() is uniform


@pytest.mark.slow
def test_stated_errors_are_those_that_occur(generator):
    # 120 fits of one evenly filled table. Spread of the error over the stated one: 1 +- 4 / sqrt(240), noise not normal.
    rows = np.vstack([generator.uniform(0, 0.25, (4000, 2)), generator.uniform(0, 1, (1000, 2))])
    boxes = [((0, 0), (0.25, 0.25)), ((0.1, 0.05), (0.22, 0.2)), ((0.5, 0.5), (1, 1)), ((0, 0), (1, 1))]
    scores = []
    for _ in range(120):
        found = GridSynopsis(4, epsilon=0.5, bounds=(0, 1), rule="adaptive", n_rows=5000).fit(rows).synopsis_
        for low, high in boxes:
            counted = found.count((low, high))
            inside = (rows >= low) & ((rows < high) | (np.array(high) == 1))
            scores.append((counted.value - inside.all(axis=1).sum()) / counted.standard_error)
    spread = np.array(scores).reshape(-1, len(boxes)).std(axis=0)
    assert spread.max() < 1.35
    assert np.mean(np.abs(scores) < 1.96) > 0.9
