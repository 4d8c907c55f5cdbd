# SPDX-License-Identifier: Apache-2.0
"""The report of a synopsis: pictures for one, two and more columns, the elbow, the receipt; escaped, silent, well-formed."""

import re
import xml.etree.ElementTree

import numpy as np
import pytest

from cloister.report import synopsis_html, synopsis_summary


def pictures(html):
    """Return all drawings, parsed: a mark that is not closed would end in an error."""
    return [xml.etree.ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", html, flags=re.S)]


def labelled(html, start):
    return [one for one in pictures(html) if one.get("aria-label", "").startswith(start)]


def test_two_columns_are_a_heat_map_with_centres(fit):
    synopsis = fit(rule=(12, 9))
    html = synopsis_html(synopsis, random_state=0)
    for words in (
        "A grid of 12 \u00d7 9 cells in 2 columns",
        "The noisy grid",
        "How many clusters",
        "best: 3",
        "3 centres, with errors",
        "The privacy receipt",
        "epsilon = 2 (pure)",
        "How many rows lie in each cell of the grid",
        "Discrete Laplace",
        "Seeded run: not for publication.",
    ):
        assert words in html
    (heat,) = labelled(html, "Noisy counts of x0 and x1")
    steps = {one.get("class"): one.get("d").count("M") for one in heat if re.fullmatch(r"h\d", one.get("class", ""))}
    assert set(steps) == {f"h{step}" for step in range(1, 8)}
    assert steps["h7"] >= 1
    assert len(heat.findall(".//circle")) == 3


def test_negative_counts_are_empty_and_the_fullest_cell_is_strongest(by_hand):
    html = synopsis_html(by_hand([[-5.0, 0.0], [1.0, 100.0]]), random_state=0)
    (heat,) = labelled(html, "Noisy counts")
    drawn = {one.get("class"): one.get("d") for one in heat if re.fullmatch(r"h\d", one.get("class", ""))}
    assert sum(path.count("M") for path in drawn.values()) == 2
    assert drawn["h7"].count("M") == drawn["h1"].count("M") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("n_features", "n_pairs"), [(3, 3), (4, 6), (6, 6)])
def test_more_columns_are_pairs(n_features, n_pairs, fit, generator):
    synopsis = fit(generator.random((400, n_features)), rule=3)
    html = synopsis_html(synopsis, random_state=0)
    assert len(labelled(html, "Noisy counts of")) == n_pairs
    assert ("four are drawn" in html) == (n_features > 4)


def test_one_column_is_bars(fit, generator):
    html = synopsis_html(fit(generator.random((400, 1)), rule=20), random_state=0)
    (bars,) = labelled(html, "Noisy counts of x0")
    assert "M" in bars.find("./*[@class='pale']").get("d")
    assert "A grid of 20 cells in 1 column" in html


def test_fine_grids_are_drawn_coarser_and_say_so(by_hand, generator):
    html = synopsis_html(by_hand(generator.integers(-3, 9, size=(300, 250))), random_state=0)
    assert "Neighbouring cells are drawn together" in html
    assert len(html) < 1_000_000


def test_large_grids_are_compared_on_demand(by_hand):
    html = synopsis_html(by_hand(np.ones((400, 400))), random_state=0)
    assert "How many clusters" not in html
    assert "1 centre, with errors" in html


@pytest.mark.parametrize("counts", [np.zeros((3, 3)), -np.ones((3, 3)), np.zeros(1), np.full((2, 2), 1e12)])
def test_empty_and_huge_counts_can_be_drawn(counts, by_hand):
    assert pictures(synopsis_html(by_hand(counts), random_state=0))


def test_the_summary_says_how_well_the_rows_are_known(fit, by_hand):
    assert synopsis_summary(fit())["n_rows_error"] == 0
    both = fit(n_rows=None)  # a count of all rows, and the sum of the cells
    counted, added = 2**0.5 / 0.04, both.sigma * both.noisy_counts.size**0.5
    assert synopsis_summary(both)["n_rows_error"] == pytest.approx((counted**-2 + added**-2) ** -0.5, rel=1e-3)
    added = by_hand(np.ones((3, 4)), sigma=2.0)
    assert synopsis_summary(added)["n_rows_error"] == pytest.approx(2 * 12**0.5)
