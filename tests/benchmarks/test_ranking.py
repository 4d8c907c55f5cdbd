# SPDX-License-Identifier: Apache-2.0
"""Who is best: the geometric mean over what all were measured on, in the right order, in the picture and on the page."""

import math

import pytest
from benchmarks._ranking import TIMES, rank_methods, ranking_svg

FIGURES = {
    ("a", "slow"): 4.0,
    ("b", "slow"): 9.0,
    ("a", "fast"): 1.0,
    ("b", "fast"): 4.0,
    ("c", "fast"): 100.0,  # on which the other was not measured
    ("a", "rare <b>"): 0.1,
}


def test_methods_are_ranked_on_what_all_were_measured_on():
    ranking = rank_methods(FIGURES, what="Loss")
    assert [(rank.method, rank.wins) for rank in ranking.ranks] == [("fast", 2), ("slow", 0)]
    assert [rank.value for rank in ranking.ranks] == pytest.approx([2.0, 6.0])
    assert ranking.n_cases == 2
    assert ranking.left_out == ["rare <b>"]
    assert "over 2 data sets" in ranking.words
    assert "fewer than half: rare <b>" in ranking.words


@pytest.mark.parametrize(
    "figures", [{}, {("a", "one"): 1.0}, {("a", "one"): 1.0, ("b", "two"): 1.0}, {("a", "x"): 0.0, ("a", "y"): 1.0}]
)
def test_nothing_is_ranked_that_cannot_be_compared(figures):
    assert rank_methods(figures, what="Loss") is None


def test_bars_are_as_long_as_the_figures_and_names_are_text():
    figures = {("a", "<i>"): 1.5, ("a", "two"): 1.0, ("a", "three"): 4.0}
    ranking = rank_methods(figures, what="Loss", unit=TIMES, base=1.0)
    assert ranking.lengths[0] == 3.0, "the best loses nothing, and is still seen"
    assert ranking.lengths[2] == pytest.approx(ranking.lengths[1] * math.log(4) / math.log(1.5))
    svg = ranking_svg(ranking)
    assert all(f"h{length:.1f}v" in svg for length in ranking.lengths)
    assert "&lt;i&gt;" in svg
    assert "1.50 \u00d7" in svg
