# SPDX-License-Identifier: Apache-2.0
"""GridSynopsis and GridKMeans: what a fit costs, how fine the grid is, and that one synopsis answers for ever."""

import math

import numpy as np
import pytest

from cloister import ApproxDP, Box, GridKMeans, GridSynopsis, Ledger, PureDP, load_synopsis
from cloister.exceptions import BudgetExceeded, ParameterError

ESTIMATORS = (GridSynopsis, GridKMeans)


def test_one_synopsis_is_used_again_and_again_for_one_debit(rows, tmp_path, generator):
    ledger = Ledger(PureDP(1.0))
    given = {"n_clusters": 5, "bounds": (0, 1), "n_rows": len(rows), "missing": "middle"}
    model = GridSynopsis(epsilon=1.0, ledger=ledger, **given).fit(rows).synopsis_
    before = ledger.lines
    for count in range(2, 21):
        assert model.cut(count, n_init=1).n_clusters == count
    for _ in range(100):
        low = generator.uniform(0, 0.8, size=2)
        assert math.isfinite(model.count((low, low + 0.2)).value)
    assert model.sample(10_000).shape == (10_000, 2)
    model.marginal([0]), model.marginal([1, 0]), model.choose_k(range(1, 4)), model.to_arrow()
    model.save(tmp_path / "s.parquet")
    load_synopsis(tmp_path / "s.parquet").cut(3)
    model.merge(model)
    assert ledger.lines == before
    assert [line["asked"] for line in before if line["kind"] == "debit"] == ["grid_counts"]
    assert len(ledger.events) == 1
    assert ledger.left == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(BudgetExceeded):
        GridSynopsis(epsilon=0.01, bounds=(0, 1), ledger=ledger).fit(rows)


def test_pure_by_default_gaussian_on_request(rows):
    pure = GridSynopsis(bounds=(0, 1), n_rows=len(rows), missing="middle").fit(rows).privacy_receipt_
    assert pure.guarantee == PureDP(1.0)
    assert [(event.mechanism, event.question_name) for event in pure.events] == [("discrete_laplace", "grid_counts")]
    assert pure.spent.fits(PureDP(1.0))
    assert "pure" in pure.explain()[0]
    gaussian = GridSynopsis(delta=1e-6, bounds=(0, 1), n_rows=len(rows), missing="middle").fit(rows).privacy_receipt_
    assert gaussian.guarantee == ApproxDP(1.0, 1e-6)
    assert [event.mechanism for event in gaussian.events] == ["rounded_gaussian"]
    assert not gaussian.spent.fits(PureDP(1.0))


def test_the_number_of_rows_costs_a_stated_share(rows):
    synopsis = GridSynopsis(bounds=(0, 1), epsilon=2.0, missing="middle").fit(rows).synopsis_
    first, second = synopsis.receipt.events
    assert (first.question_name, second.question_name) == ("row_count", "grid_counts")
    assert first.cost.epsilon == pytest.approx(0.04)
    assert second.cost.epsilon == pytest.approx(1.96)
    assert synopsis.n_rows == pytest.approx(1200, abs=40 * 25)
    given = GridSynopsis(bounds=(0, 1), rule=6, missing="middle").fit(rows).synopsis_
    assert [event.question_name for event in given.receipt.events] == ["grid_counts"]
    assert given.total is None
    assert given.n_rows == given.noisy_counts.sum()


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize(
    "too_many", [{"rule": 1000}, {"rule": (1000, 1000, 1000)}, {"n_rows": 10**9, "epsilon": 100.0}], ids=str
)
def test_too_many_cells_are_refused_before_anything_is_spent(kind, too_many):
    ledger = Ledger(PureDP(1000.0))
    with pytest.raises(ParameterError, match=r"rule: expected at most 16,777,216 cells, .* got '\d+ x \d+ x \d+ = "):
        kind(bounds=(0, 1), ledger=ledger, **too_many).fit(np.zeros((5, 3)))
    assert [line["kind"] for line in ledger.lines] == ["budget"]


def test_cells_per_axis_and_boxes_that_are_no_cube(generator):
    rows = generator.uniform([0, 10], [120, 60], size=(2000, 2))
    box = Box([0, 10], [120, 60])
    plain = GridSynopsis(4, bounds=box, n_rows=2000, scaling="none").fit(rows).synopsis_
    scaled = GridSynopsis(4, bounds=box, n_rows=2000).fit(rows).synopsis_
    assert scaled.scaling == "bounds"  # what "auto" comes to where widths differ
    assert plain.grid.cells[0] / plain.grid.cells[1] == pytest.approx(2.4, rel=0.1)
    assert scaled.grid.cells[0] == scaled.grid.cells[1]
    given = GridSynopsis(4, bounds=box, rule=[6, 5], epsilon=1e5).fit(rows).synopsis_
    expected = np.histogram2d(rows[:, 0], rows[:, 1], bins=(6, 5), range=[[0, 120], [10, 60]])[0]
    assert given.grid.cells == (6, 5)
    assert np.allclose(given.histogram, expected)
    assert [edges[-1] for edges in given.grid.edges] == [120, 60]


def test_rules_are_told_the_noise_that_is_drawn(rows):
    sizes = {"bounds": (0, 1), "n_rows": 100_000, "n_clusters": 4}
    quiet, noisy = (GridSynopsis(epsilon=e, **sizes).fit(rows).synopsis_.grid.cells[0] for e in (4.0, 0.1))
    gaussian = GridSynopsis(epsilon=0.1, delta=1e-9, **sizes).fit(rows).synopsis_.grid.cells[0]
    assert gaussian < noisy < quiet


@pytest.mark.parametrize("representatives", ["center", "slope"])
def test_the_clusters_are_found(representatives, rows):
    found = GridKMeans(3, epsilon=1.0, bounds=(0, 1), representatives=representatives).fit(rows).cluster_centers_
    assert np.allclose(found[np.argsort(found[:, 0])], [[0.2, 0.2], [0.5, 0.8], [0.8, 0.3]], atol=0.08)


@pytest.mark.parametrize(("neighbours", "scale"), [("add-remove", 0.5), ("replace", 1.0)])
def test_the_stated_noise_is_that_of_the_mechanism(neighbours, scale, fit):
    synopsis, q = fit(rule=4, neighbours=neighbours, missing="middle"), math.exp(-1 / scale)  # epsilon 2
    assert synopsis.sigma == synopsis.receipt.events[-1].standard_deviation
    assert math.sqrt(2 * q) / (1 - q) * (1 - 1e-9) <= synopsis.sigma <= math.sqrt(2) * scale * (1 + 1e-9)
