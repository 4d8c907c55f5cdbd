# SPDX-License-Identifier: Apache-2.0
"""The check of receipts passes on honest code, at any seed, and each of its plants is caught by what it does."""

import pytest

from cloister.audit import PLANTS, Settings, planted, run_audit
from cloister.audit._receipts import CARRIED, check_receipts, count_receipt_cases

PLANTED = [name for name, plant in PLANTS.items() if plant.check == "receipts"]
SMALL = ("KMeans", "GridSynopsis", "TreeKMeans")


def test_honest_receipts_pass(seed: int) -> None:
    settings = Settings(quick=True, seed=seed, methods=SMALL)
    found = check_receipts(settings, lambda message: None)
    assert found.violations == ()
    assert found.cases == count_receipt_cases(settings)
    assert 0.9 < found.worst <= 1 + 1e-6
    assert {part.name for part in found.parts} == {"merges", "scalers"}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_caught_by_what_it_does(name: str, seed: int) -> None:
    with planted(name):
        found = run_audit(Settings(quick=True, seed=seed, scale=0.5, methods=SMALL, first=True), checks=["receipts"])
    assert found.caught_by == ("receipts",)
    assert "stopped by" not in found.checks[0].violations[0]


@pytest.mark.slow
def test_every_way_of_carrying_rows_passes(seed: int) -> None:
    settings = Settings(seed=seed, scale=0.1, methods=SMALL)
    found = check_receipts(settings, lambda message: None)
    assert found.violations == ()
    assert found.cases == count_receipt_cases(settings) > len(SMALL) * len(CARRIED)
