# SPDX-License-Identifier: Apache-2.0
"""Bad rows: missing, infinite or out of bounds, none makes a fit fail or look different, and each is one row."""

import warnings

import numpy as np
import pytest
from tests.rows import PATTERNS, signalling

from cloister.privacy import PROCESS

from ._cases import every_method, results, same

MISSING = {"nan": np.nan, "-inf": -np.inf, "signalling": signalling(64, PATTERNS[64][2])[0]}
OUTSIDE = {"far": 7.0, "1e300": 1e300}


def spoil(rows, value):
    spoilt = rows.copy()
    spoilt[7, 1] = value
    return spoilt


@pytest.mark.fast("KMeans-*", "GridSynopsis-nan", "SourceTargetKMedoids-signalling")
@pytest.mark.parametrize("value", MISSING)
def test_a_missing_value_counts_as_one_in_the_middle_of_its_column(case, value, rows):
    # Fault 11: one NaN row raised an error or changed a branch, so its presence was visible. The row keeps its other values.
    assert same(case.fit(spoil(rows, MISSING[value]), random_state=3), case.fit(spoil(rows, 0.0), random_state=3))


@pytest.mark.fast("KMeans-*", "GridSynopsis-far", "SourceTargetKMedoids-1e300")
@pytest.mark.parametrize("value", OUTSIDE)
def test_a_row_out_of_bounds_counts_as_one_on_their_edge(case, value, rows):
    edge = spoil(rows, np.sign(OUTSIDE[value]))
    assert same(case.fit(spoil(rows, OUTSIDE[value]), random_state=3), case.fit(edge, random_state=3))


@pytest.mark.fast("*-KMeans", "*-GridSynopsis", "*-SourceTargetKMedoids")
@every_method
@pytest.mark.parametrize("value", ["nan", "1e300"])
def test_a_hostile_row_changes_neither_shapes_nor_what_is_asked(case, value, generator):
    # What is asked how often may follow from noisy answers; that it does not follow from the rows is seen by replay.
    clean = generator.uniform(-1, 1, size=(60, 12)) / 12**0.5
    tables = clean, spoil(clean, {**MISSING, **OUTSIDE}[value])
    with warnings.catch_warnings(), PROCESS.apart():
        warnings.simplefilter("error")
        models = [case.fit(table, n_rows=60) for table in tables]
    shapes = [{name: np.shape(one) for name, one in results(model).items() if name != "sanitized_source_"} for model in models]
    assert shapes[0] == shapes[1]
    names = [{event.question_name for event in model.privacy_receipt_.events} for model in models]
    assert names[0] == names[1]
