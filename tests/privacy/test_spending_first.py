# SPDX-License-Identifier: Apache-2.0
"""What is asked before a method's own plan is paid from the same budget: bounds, spreads, missing values, the number of rows.

All of it is added up by the audit's own sum. What was planned and not asked, because the answers made it pointless, is not
spent; with it the sum is the budget.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cloister import GDP, ApproxDP, KMeans, Ledger, PEMeans, PureDP
from cloister.audit import share_spent
from cloister.columns import Category, Date, Flag, Number
from cloister.privacy import Guarantee
from cloister.questions import NearestSums
from cloister.rivals import CoresetKMeans, LloydKMeans, TreeKMeans

from .conftest import Paid

N_ROWS = 3000
COLUMNS: dict[str, Any] = {
    "age": (0, 120),
    "income": "private",
    "sex": Category(["f", "m", "x"]),
    "smoker": Flag(missing="own", weight=2),
    "admitted": Date("2020-01-01", "2026-12-31"),
    "height": Number("private", missing="own"),
}


@pytest.fixture
def table(generator: np.random.Generator) -> pa.Table:
    """Two groups of people; of every column a part is missing or nothing that was declared."""
    group = generator.integers(0, 2, N_ROWS)
    days = np.datetime64("2021-01-01") + (group * 1500 + generator.integers(0, 300, N_ROWS)).astype("timedelta64[D]")
    columns = {
        "age": np.where(generator.random(N_ROWS) < 0.4, np.nan, 30 + 40 * group + generator.normal(0, 3, N_ROWS)),
        "income": 1e5 * np.exp(group + generator.normal(0, 0.3, N_ROWS)),
        "sex": generator.choice(["f", "m", "x", "?"], N_ROWS).tolist(),
        "smoker": [bool(one) if one < 2 else None for one in generator.integers(0, 3, N_ROWS)],
        "admitted": days,
        "height": generator.normal(170, 8, N_ROWS),
    }
    return pa.table(columns)


def unasked(model: Any, paid: Paid) -> float:
    """The shares of what was planned before the method's own steps, and of no event."""
    asked = [event.step for _, event in paid]
    left = []
    for step in model.plan_.preliminary:
        if step.name.startswith("weight"):  # what a small fit does not ask is left to its later rounds
            continue
        shares = [query.share for query in step.queries]
        left += shares[asked.count(step.name) :]  # a step's questions are left out from its last one on
    return math.fsum(left)


SETTINGS: dict[str, Mapping[str, Any]] = {
    "declared": {},
    "spread": {"scaling": "spread", "bounds_share": 0.2},
    "rows known": {"n_rows": N_ROWS},
    "nothing missing": {"bounds": {"height": "private", "admitted": COLUMNS["admitted"]}},
}


@pytest.mark.fast("declared-gdp-add-remove", "spread-pure-replace", "rows known-pure-add-remove", "nothing missing-gdp-replace")
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("guarantee", [GDP(1.0), PureDP(6.0)], ids=lambda one: one.kind)
@pytest.mark.parametrize("options", SETTINGS)
def test_all_together_are_the_budget(options: str, guarantee: Guarantee, neighbours: str, table: pa.Table, paid: Paid) -> None:
    ledger = Ledger(guarantee, neighbours=neighbours)
    given = {"bounds": COLUMNS, "n_init": 1, "n_jobs": 1, "neighbours": neighbours, **SETTINGS[options]}
    model = KMeans(2, guarantee=guarantee, ledger=ledger, **given).fit(table)
    assert tuple(ledger.events) == model.privacy_receipt_.events == tuple(event for _, event in paid)
    share = share_spent(ledger.events, guarantee) ** (1 if guarantee.is_pure else 2)  # squares of mu add up
    assert share <= 1 + 1e-12
    assert share == pytest.approx(1 - unasked(model, paid), rel=1e-3)
    names = [event.question_name for _, event in paid]
    assert names.count("column_magnitudes") == 1
    assert names.count("column_intervals") >= 1
    assert names.count("cell_states") == 1
    assert names.count("nearest_missing") <= (options != "nothing missing")
    if not guarantee.is_pure:  # Laplace noise may hide what is missing, and nothing more is asked then
        assert names[-1] == "nearest_missing" or options == "nothing missing"


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_bounds_cost_the_share_that_is_stated(share: float, generator: np.random.Generator, paid: Paid) -> None:
    rows = generator.normal([5e6, -0.3], [10.0, 0.01], (N_ROWS, 2))
    model = KMeans(2, guarantee=PureDP(2.0), bounds="private", bounds_share=share, n_rows=N_ROWS, n_jobs=1).fit(rows)
    planned = [step for step in model.plan_.preliminary if step.name.startswith(("magnitudes", "intervals"))]
    assert math.fsum(step.share for step in planned) == pytest.approx(share)
    spent = math.fsum(event.cost.epsilon for _, event in paid if event.question_name.startswith("column_"))
    assert spent <= 2.0 * share * (1 + 1e-9)
    assert math.fsum(step.share for step in model.plan_.all_steps) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", [CoresetKMeans, LloydKMeans, PEMeans, TreeKMeans])
@pytest.mark.parametrize("guarantee", [ApproxDP(1.0, 1e-9), PureDP(3.0)], ids=lambda one: one.kind)
def test_every_method_leaves_room_for_it(kind: Any, guarantee: Guarantee, table: pa.Table, paid: Paid) -> None:
    ledger = Ledger(guarantee)
    model = kind(2, guarantee=guarantee, bounds=COLUMNS, ledger=ledger, n_jobs=1).fit(table)
    assert tuple(ledger.events) == model.privacy_receipt_.events
    assert ledger.spent.fits(guarantee)
    assert math.fsum(step.share for step in model.plan_.all_steps) == pytest.approx(1.0)
    assert {"column_magnitudes", "column_intervals"} <= {event.question_name for _, event in paid}


def test_columns_that_cannot_be_missing_ask_for_no_mean(generator: np.random.Generator, paid: Paid) -> None:
    """Whole numbers of NumPy know no missing value: that is a fact of the type, and no answer is asked for it."""
    KMeans(2, bounds=(0, 100), n_jobs=1).fit(generator.integers(0, 100, (N_ROWS, 3)))
    names = [event.question_name for _, event in paid]
    assert names.count("cell_states") <= 1
    assert "nearest_missing" not in names


def test_sums_are_of_the_unit_ball_whatever_is_asked_first(table: pa.Table, paid: Paid) -> None:
    KMeans(2, bounds=COLUMNS, scaling="spread", n_jobs=1).fit(table)
    first = next(question for question, event in paid if event.step == "cells" and isinstance(question, NearestSums))
    assert first.radius == 1.0
    assert len(first.points) == 1
