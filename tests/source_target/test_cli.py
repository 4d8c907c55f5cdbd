# SPDX-License-Identifier: Apache-2.0
"""``cloister source-target``: what it prints and writes, and every refusal before any budget is spent."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.cli.conftest import contents, words

from cloister import Ledger, load_release


@pytest.fixture
def folder(tmp_path, target, source, run):
    """The public table as CSV, the private one as Parquet, with one column more and in another order; and a budget."""
    pd.DataFrame(target, columns=["east", "north"]).to_csv(tmp_path / "streets.csv", index=False)
    people = {"name": ["x"] * len(source), "north": source[:, 1], "east": source[:, 0]}
    pd.DataFrame(people).to_parquet(tmp_path / "people.parquet")
    run("ledger", "create", tmp_path / "b.sqlite", "--epsilon", 4)
    return tmp_path


@pytest.fixture
def start(folder):
    return ("source-target", folder / "streets.csv", "--source", folder / "people.parquet", "-k", 3)


def test_it_prints_chosen_rows_costs_receipt_and_places(run, start, folder, target):
    files = ("-o", folder / "r.json", "--report", folder / "r.html", "--indices", folder / "m.csv")
    shown = "3 of 120 target points", "row of the target", "east", "north", "The source, as sanitised, serves"
    costs = "Mean distance", "without it", "Guarantee: epsilon = 3 (pure)", "Left in the ledger: epsilon", "m.csv"
    result = run(*start, "--epsilon", 3, "--ledger", folder / "b.sqlite", *files, shows=(*shown, *costs))
    release = load_release(folder / "r.json")
    rows = release.details["medoid_indices"]
    assert (folder / "m.csv").read_text() == "row\n" + "".join(f"{row}\n" for row in rows)
    assert np.allclose(release.cluster_centers, target[rows])
    assert release.columns == ("east", "north")
    assert (folder / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert all(str(row) in result.stdout for row in rows)
    assert "SourceTargetKMedoids" in run("show", folder / "r.json", "--json").stdout
    run("show", folder / "r.json", shows=shown[:1])
    labels = run("predict", folder / "r.json", folder / "streets.csv").stdout.split()[1:]
    assert labels.count("-1") == release.details["served_by_source"]


def test_json_is_for_machines(run, start, folder):
    result = run(*start, "--rho", 1, "--json", "--indices", folder / "m.csv", "--method", "nas", "--n-rows", 600)
    summary = json.loads(result.stdout)
    assert summary["receipt"]["guarantee"] == {"kind": "zcdp", "rho": 1.0}
    assert [event["asked"] for event in summary["receipt"]["events"]] == ["neighbour_means"]
    assert len(summary["source_target"]["rows"]) == 3
    assert summary["files"] == {"indices": str(folder / "m.csv")}
    bounded = json.loads(run(*start, "--epsilon", 1, "--bounds", "east=-5:30", "--json").stdout)
    assert (bounded["columns"], bounded["bounds"], bounded["domain"]) == (["east"], [[-5.0, 30.0]], "box")
    assert summary["domain"] == "ball"
    assert "map" not in summary


def test_a_dash_is_standard_output(run, start):
    result = run(*start, "--epsilon", 1, "--indices", "-")
    assert result.stdout.startswith("row\n")
    assert len(result.stdout.split()) == 4
    assert "3 of 120 target points" in result.stderr
    assert json.loads(run(*start, "--epsilon", 1, "-o", "-", "-q").stdout)["method"] == "SourceTargetKMedoids"


def test_options_reach_the_estimator(run, start):
    given = {"confidence": 0.9, "neighbors": 7, "coreset_radius": 0.2, "metric": "manhattan", "neighbours": "replace"}
    given |= {"max_representatives": 50, "solver": "exact", "n_init": 1, "calibration": "paper"}
    options = words({f"--{name.replace('_', '-')}": value for name, value in given.items()})
    summary = json.loads(run(*start, "--epsilon", 1, "--delta", 1e-6, *options, "--columns", "north", "--json").stdout)
    assert summary["columns"] == ["north"]
    given["n_neighbors"] = given.pop("neighbors")
    assert {name: summary["parameters"][name] for name in given} == given
    assert summary["receipt"]["guarantee"]["delta"] == 1e-6


def test_a_plan_reads_no_source_and_spends_nothing(run, start, folder):
    (folder / "people.parquet").unlink()
    options = ("--rho", 3, "--method", "nas", "--n-rows", 600, "--plan")
    shown = "NAS, rho = 3", "Noise on means", "Theorem 5.12 states", "Delta_t(S)", "Observation 4.2"
    run("source-target", folder / "streets.csv", "-k", 3, "--ledger", folder / "b.sqlite", *options, shows=shown)
    assert json.loads(run(*start, *options, "--json").stdout)["n_neighbors"] == 150
    with Ledger.open(folder / "b.sqlite") as opened:
        assert [line["kind"] for line in opened.lines] == ["budget"]


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"--epsilon": None}, "expected one of --epsilon and --rho"),
        ({"--rho": 1}, "expected one of --epsilon and --rho"),
        ({"--epsilon": None, "--rho": 1, "--delta": 1e-6}, "--delta: goes with --epsilon"),
        ({"--epsilon": 0}, "epsilon: expected a finite number above 0"),
        ({"--epsilon": 9}, "this fit costs epsilon 9"),
        ({"--source": None}, "Missing option '--source'"),
        ({"--source": "none.csv"}, "there is no file or folder 'none.csv'"),
        ({"--method": "magic"}, "'magic' is not"),
        ({"--columns": "up"}, "column 'up' is not in the table"),
        ({"--columns": "east,"}, "expected names joined by commas"),
        ({"--bounds": "up=0:1"}, "column 'up' is not in the table"),
        ({"--bounds": "east=1:0"}, "expected low < high"),
    ],
)
def test_bad_input_is_one_line_and_free(refused, folder, changes, match):
    options = {"--source": folder / "people.parquet", "-k": 3, "--epsilon": 1, "--ledger": folder / "b.sqlite"}
    before = contents(folder)
    refused(
        "source-target", folder / "streets.csv", *words({**options, "--output": folder / "out.json", **changes}), match=match
    )
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (("-o", "x.json", "--indices", "x.json"), "is also given as --output"),
        (("--indices", "streets.csv", "--force"), "is also given as TARGET"),
        (("--indices", "people.parquet", "--force"), "is also given as --source"),
        (("--indices", "-", "--json"), "standard output is taken"),
    ],
)
def test_no_file_is_written_over_another(refused, folder, start, monkeypatch, options, match):
    monkeypatch.chdir(folder)
    before = contents(folder)
    refused(*start, "--epsilon", 1, *options, match=match)
    assert contents(folder) == before
