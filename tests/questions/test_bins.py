# SPDX-License-Identifier: Apache-2.0
"""A table of bins puts every number where a search would."""

import numpy as np
import pytest

from cloister.questions._counts import MOST_WITHIN, Bins

EDGES = {
    "octaves": 2.0 ** (np.arange(-54, 1) / 3),
    "one": np.array([0.25]),
    "even": np.arange(1, 40) / 40,
    "dense": 1 + np.arange(50) * 2.0**-40,  # many in one cell of the table
    "extreme": np.array([5e-324, 1e-300, 1e-100, 1.0, 1e100, 1.7e308, np.inf]),  # squares of edges may overflow
    "equal": np.array([0.0, 0.0, 0.0, 0.5]),  # or vanish
}


@pytest.mark.parametrize("name", EDGES)
def test_numbers_are_where_a_search_finds_them(name, generator):
    edges = EDGES[name]
    beside = [np.nextafter(edges, 0), np.nextafter(np.minimum(edges, 1e308), np.inf)]
    values = np.concatenate([[0.0, 5e-324, 4.0], edges[np.isfinite(edges)], *beside, generator.random(500) ** 8])
    values = values[np.isfinite(values)]
    bins, expected = Bins.between(edges), np.searchsorted(edges, values, side="right")
    assert np.array_equal(bins.find(values), expected)
    assert np.array_equal(bins.count(values), np.bincount(expected, minlength=len(edges) + 1))
    assert not bins.count(np.empty(0)).any()
    assert (bins.n_within > MOST_WITHIN) == (name == "dense")
