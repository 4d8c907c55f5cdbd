# SPDX-License-Identifier: Apache-2.0
"""``cloister plan``: a forecast for people and for machines, without a table."""

import json

import pytest

from cloister import plan

from .conftest import Run

NUMBERS = ("--n-rows", 10_000, "--features", 6, "-k", 8, "--epsilon", 1)


def test_a_forecast_is_printed(run: Run) -> None:
    result = run("plan", *NUMBERS)
    assert result.stdout.startswith("KMeans, 10,000 x 6, k = 8, epsilon = 1, delta = 1e-06, add-remove neighbours\n")
    forecast = plan(10_000, 6, 8)
    for words in (*forecast.verdict, "round 1", "missed or merged", "1,250"):
        assert " ".join(words.split()) in " ".join(result.stdout.split())


def test_machines_get_the_same(run: Run) -> None:
    summary = json.loads(run("plan", *NUMBERS, "--delta", 0, "--neighbours", "replace", "--json").stdout)
    assert summary == json.loads(json.dumps(plan(10_000, 6, 8, delta=0.0, neighbours="replace").to_dict()))
    assert summary["guarantee"] == {"kind": "pure", "epsilon": 1.0}
    assert summary["neighbours"] == "replace"


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        (("--n-rows", 0), "plan.n_rows: expected an integer from 1"),
        (("--epsilon", "much"), "Invalid value for '--epsilon': 'much' is not a valid float"),
    ],
)
def test_refusals(refused: Run, changes: tuple[object, ...], match: str) -> None:
    refused("plan", *NUMBERS, *changes, match=match)
