# SPDX-License-Identifier: Apache-2.0
"""The check of receipts passes on honest code, at any seed."""

import pytest

from cloister.audit import Settings
from cloister.audit._receipts import CARRIED, check_receipts, count_receipt_cases

SMALL = ("KMeans", "GridSynopsis", "TreeKMeans")


def test_honest_receipts_pass(seed: int) -> None:
    settings = Settings(quick=True, seed=seed, methods=SMALL)
    found = check_receipts(settings, lambda message: None)
    assert found.violations == ()
    assert found.cases == count_receipt_cases(settings)
    assert 0.9 < found.worst <= 1 + 1e-6
    assert {part.name for part in found.parts} == {"merges", "scalers"}


@pytest.mark.slow
def test_every_way_of_carrying_rows_passes(seed: int) -> None:
    settings = Settings(seed=seed, scale=0.1, methods=SMALL)
    found = check_receipts(settings, lambda message: None)
    assert found.violations == ()
    assert found.cases == count_receipt_cases(settings) > len(SMALL) * len(CARRIED)
