# SPDX-License-Identifier: Apache-2.0
"""Every variant of the ablation switches something off: the plan has other steps, or the same steps lead elsewhere."""

import numpy as np
import pytest
from benchmarks.ablation import VARIANTS

from cloister import KMeans
from cloister.cluster import plan_fit

GIVEN = {"epsilon": 4.0, "bounds": (-1, 1), "n_rows": 1200, "n_init": 1, "random_state": 3, "n_jobs": 1}


@pytest.fixture
def rows(generator):
    middles = generator.uniform(-0.8, 0.8, size=(4, 12)) * np.array([[0.1], [0.3], [0.6], [1.0]])  # near and far from the mean
    return np.repeat(middles, 300, axis=0) + 0.05 * generator.normal(size=(1200, 12))


@pytest.mark.fast("no shrinkage", "no projection")
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_changes_the_fit(variant, rows):
    whole = KMeans(4, **GIVEN).fit(rows).cluster_centers_
    with VARIANTS[variant]():
        assert not np.array_equal(KMeans(4, **GIVEN).fit(rows).cluster_centers_, whole)
    assert np.array_equal(KMeans(4, **GIVEN).fit(rows).cluster_centers_, whole)


@pytest.mark.parametrize(
    ("variant", "kind", "count"),
    [("one round of sums", "round", 1), ("two rounds of sums", "round", 2), ("one round of votes", "vote", 1)],
)
def test_rounds_that_are_left_out_are_not_in_the_plan(variant, kind, count):
    with VARIANTS[variant]():
        steps = [step.name for step in plan_fit(KMeans(4, **GIVEN), 12).steps]
    assert [name for name in steps if name.startswith(kind)] == [f"{kind} {number}" for number in range(1, count + 1)]
