# SPDX-License-Identifier: Apache-2.0
"""``cloister plan``: a forecast, without a table. ``cloister compare``: choose a method on rows that are public."""

import json
from pathlib import Path

import numpy as np
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


# -- compare -------------------------------------------------------------------------------------------------------------

QUICK = ("--repeats", 1, "--methods", "kmeans, FastLloyd")  # by either name


def test_made_up_rows(run: Run) -> None:
    result = run("compare", "-k", 3, "--n-rows", 2000, "--features", 2, "--epsilon", 1, *QUICK)
    assert result.stdout.startswith("2,000 made-up rows x 2, k = 3, epsilon = 1")
    assert "KMeans" in result.stdout
    assert "FastLloyd" in result.stdout


def test_a_public_table_in_its_own_units(run: Run, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal([40, 70], [5, 10], (300, 2))
    path = tmp_path / "public.csv"
    np.savetxt(path, rows, delimiter=",", header="age,weight", comments="")
    given = ("-k", 2, "--epsilon", 2, "--bounds", "age=0:120,weight=20:200", *QUICK, "--json")
    summary = json.loads(run("compare", path, *given).stdout)
    assert (summary["n_rows"], summary["n_features"]) == (300, 2)
    assert summary["limit"] < summary["one_centre"] < 1, "columns are divided by their widths, as a fit would do"


def test_refusals_of_a_comparison_carry_its_name(refused: Run, tmp_path: Path) -> None:
    made = ("compare", "-k", 3, "--epsilon", 1, "--n-rows", 100, "--features", 2)
    refused(*made, "--methods", "soup", match="compare.methods: expected")
    refused(*made, "--methods", "kmeans,,", match="--methods: expected names joined by commas, got 'kmeans,,'. Pass --methods")
    public = ("compare", tmp_path / "none.csv", "-k", 3, "--epsilon", 1, "--bounds", "0,1")
    refused(*public, match="compare: there is no file or folder 'none.csv'")
    refused("compare", "-k", 3, "--epsilon", 1, match="Pass one or the other, never private rows.")
