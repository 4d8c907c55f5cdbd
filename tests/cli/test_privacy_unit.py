# SPDX-License-Identifier: Apache-2.0
"""Persons as the unit of privacy on the command line: from a real file to a release that protects them."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from .conftest import Run

CANARY = "canary-4711"
BOUNDS = ("--bounds", "age=0:120,weight=20:200")
FIT = ("-k", 2, "--epsilon", 3, *BOUNDS, "--privacy-unit", "patient_id")


@pytest.fixture
def visits(tmp_path: Path, generator: np.random.Generator) -> Path:
    """Visits of some 400 patients in two groups; the column of ids stands in the middle."""
    patients = generator.integers(0, 400, 1500)
    old = patients % 2 == 0
    columns = {
        "age": np.where(old, 70, 30) + generator.normal(0, 3, len(patients)),
        "patient_id": [CANARY if number == 7 else f"id-{number}" for number in patients],
        "weight": np.where(old, 90, 60) + generator.normal(0, 3, len(patients)),
    }
    pa.parquet.write_table(pa.table(columns), tmp_path / "visits.parquet")
    return tmp_path / "visits.parquet"


def person_ledger(run: Run, path: Path) -> Path:
    run("ledger", "create", path, "--epsilon", 9, "--unit", "person", shows=["It protects one person, with all of their rows."])
    return path


def without_account(path: Path) -> dict[str, Any]:
    """Return a release without what is drawn anew for every fit."""
    text = re.sub(r'"account": "[0-9a-f]*"', '"account": ""', path.read_text())
    return dict(json.loads(text))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_fit_protects_whoever_the_column_names(visits: Path, tmp_path: Path, run: Run, ending: str) -> None:
    output, report = tmp_path / "release.json", tmp_path / "report.html"
    if ending == "csv":
        pa.csv.write_csv(pa.parquet.read_table(visits), visits := tmp_path / "visits.csv")
    ledger = person_ledger(run, tmp_path / "budget.sqlite")
    more = ("--max-rows-per-unit", 5, "--epsilon", 8, "--ledger", ledger, "-o", output, "--report", report)
    result = run("fit", visits, *FIT, *more)
    assert "Protects one patient_id, with at most 5 rows each." in result.stdout
    assert "(auto)" not in result.stdout
    release = json.loads(output.read_text())
    assert release["receipt"]["privacy_unit"] == {"name": "patient_id", "max_rows": 5, "weighting": "row"}
    centers = sorted(release["cluster_centers"])
    assert np.abs(np.array(centers) - [[30, 60], [70, 90]]).max() < 5
    for path in (output, report, ledger):
        content = path.read_bytes()
        assert CANARY.encode() not in content
        assert b"id-12" not in content
    assert CANARY not in result.output


def test_the_ids_are_no_column_of_the_release(visits: Path, tmp_path: Path, run: Run) -> None:
    output = tmp_path / "release.json"
    run("fit", visits, "-k", 2, "--epsilon", 3, "--bounds", "0,200", "--privacy-unit", "patient_id", "-o", output, "-q")
    shown = json.loads(run("show", output, "--json").stdout)
    assert shown["columns"] == ["age", "weight"]
    labels = run("predict", output, visits, "--keep", "patient_id")
    assert labels.stdout.startswith("patient_id,label\n")
    assert CANARY in labels.stdout


def test_auto_prints_the_number_that_was_found(visits: Path, run: Run) -> None:
    used = json.loads(run("fit", visits, *FIT, "--seed", 1, "--json").stdout)["receipt"]["persons"]["max_rows"]
    found = f"Rows of one patient_id that are used: at most {used}, found with noise (auto)."
    run("fit", visits, *FIT, "--seed", 1, shows=[found, f"Protects one patient_id, with at most {used} row"])


@pytest.mark.fast("auto")
@pytest.mark.parametrize("more", [(), ("--weighting", "person", "--max-rows-per-unit", 4)], ids=["auto", "persons"])
def test_a_seed_repeats_a_run(visits: Path, tmp_path: Path, run: Run, more: tuple[object, ...]) -> None:
    first, second, other = (tmp_path / f"{name}.json" for name in ("first", "second", "other"))
    for path, seed in ((first, 5), (second, 5), (other, 6)):
        run("fit", visits, *FIT, *more, "--seed", seed, "--allow-seeded", "-o", path, "-q")
    assert without_account(first) == without_account(second)
    assert without_account(first) != without_account(other)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--weighting", "person", "--max-rows-per-unit", 4), ("persons (noisy)", "Every person counts 1")),
        (("--units-bounded", "--max-rows-per-unit", 20), ("The limit was asserted, not checked.",)),
    ],
)
def test_a_fit_says_how_rows_count(visits: Path, run: Run, options: tuple[object, ...], words: tuple[str, ...]) -> None:
    run("fit", visits, *FIT, *options, shows=words)


@pytest.mark.parametrize("kind", ["grid", "points"])
def test_synopses_protect_persons(visits: Path, tmp_path: Path, run: Run, kind: str) -> None:
    options = ("--kind", kind, "--epsilon", 2, *BOUNDS, "--privacy-unit", "patient_id", "--weighting", "person")
    shown = "Protects one patient_id", "found with noise (auto)"
    result = run("synopsis", "fit", visits, *options, "-o", tmp_path / "synopsis.json", shows=shown)
    assert re.search(r"^Persons: ", result.stdout, re.MULTILINE)
    assert CANARY not in (tmp_path / "synopsis.json").read_text()


def test_the_source_of_source_target_may_be_of_persons(visits: Path, tmp_path: Path, run: Run) -> None:
    target = tmp_path / "target.csv"
    target.write_text("age,weight\n30,60\n70,90\n50,75\n")
    given = ("-k", 2, "--epsilon", 3, "--privacy-unit", "patient_id")
    run("source-target", target, "--source", visits, *given, shows=["Protects one patient_id"])


# -- ledgers ------------------------------------------------------------------------------------------------------------


def test_a_ledger_of_rows_refuses_a_fit_of_persons_and_the_other_way_round(
    visits: Path, tmp_path: Path, run: Run, free: Run, refused: Run, ledger: Path
) -> None:
    fit, persons = ("fit", visits, "-k", 2, "--epsilon", 1, *BOUNDS), person_ledger(run, tmp_path / "persons.sqlite")
    assert "protects one row" in run("ledger", "show", ledger).stdout
    words = "--ledger: this ledger protects one row, the fit one person. Leave --privacy-unit out, or take a ledger that was "
    free(*fit, "--privacy-unit", "patient_id", match=f"{words}created with --unit person.")
    words = "protects one person, the fit one row. Pass --privacy-unit COLUMN, or take a ledger"
    refused(*fit, "--ledger", persons, match=words)
    assert "protects one person, with all of their rows" in run("ledger", "show", persons).stdout
    summary = json.loads(run("ledger", "show", persons, "--json").stdout)
    assert (summary["unit"], summary["accounts"]) == ("person", [])


# -- refusals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (("--weighting", "person"), "--weighting: expected --privacy-unit beside it, got person. Pass --privacy-unit"),
        (("--max-rows-per-unit", 3), "--max-rows-per-unit: expected --privacy-unit beside it, got 3."),
        (("--units-bounded",), "--units-bounded: expected --privacy-unit beside it. Pass"),
        (("--privacy-unit", ""), "--privacy-unit: expected the name of a column, got ''."),
        (("--privacy-unit", "nobody"), "column 'nobody' is not in the table."),
        (("--privacy-unit", "age"), "expected a column that is none of those to cluster by or to describe, got 'age'."),
        (("--privacy-unit", "patient_id", "--units-bounded"), "units_bounded: expected False unless max_rows_per_unit is"),
    ],
)
def test_refusals(visits: Path, refused: Run, options: tuple[object, ...], match: str) -> None:
    result = refused("fit", visits, "-k", 2, "--epsilon", 1, *BOUNDS, *options, match=match)
    assert CANARY not in result.output


def test_a_draft_leaves_the_ids_out(visits: Path, run: Run, refused: Run) -> None:
    draft = json.loads(run("schema", visits, "--privacy-unit", "patient_id").stdout)
    assert [name for name in draft if name != "_help"] == ["age", "weight"]
    assert "patient_id" in run("schema", visits).stdout
    refused(
        "schema", visits, "--privacy-unit", "patient", match="--privacy-unit: expected a column of the table, got 'patient'."
    )


# -- plans and comparisons ----------------------------------------------------------------------------------------------

NUMBERS = ("--n-rows", 20_000, "--features", 6, "-k", 5, "--epsilon", 1)


def test_a_plan_for_persons(run: Run) -> None:
    shown = "20,000 persons x 6", "if persons have 1 to 50 rows, all equally often (an assumption)"
    result = run(
        "plan", *NUMBERS, "--privacy-unit", "--rows-per-unit", 50, shows=(*shown, "all, each row under epsilon = 0.02")
    )
    assert len(re.findall(r"recommended$", result.stdout, re.MULTILINE)) == 1
    summary = json.loads(
        run("plan", *NUMBERS, "--privacy-unit", "--max-rows-per-unit", 7, "--weighting", "person", "--json").stdout
    )
    assert summary["privacy_unit"]["max_rows"] == 7
    assert [one["max_rows"] for one in summary["privacy_unit"]["limits"]] == [1, 2, 3, 5, 7, 10]


@pytest.mark.slow
def test_methods_are_compared_for_persons(visits: Path, run: Run, refused: Run) -> None:
    options = ("-k", 2, "--epsilon", 1, "--bounds", "0,200", "--methods", "kmeans,fast-lloyd", "--repeats", 1, "--json")
    found = [json.loads(run("compare", visits, *options, "--privacy-unit", "patient_id").stdout) for _ in range(2)]
    for one in found:
        for contender in one["contenders"]:
            assert contender.pop("failure") is None
            del contender["seconds"]
    assert found[0] == found[1]
    assert found[0]["n_features"] == 2
    assert found[0]["protects"].startswith("one patient_id, with a number of rows each")
    refused("compare", visits, *options, "--weighting", "person", match="--weighting: expected --privacy-unit beside it")
    made_up = ("-k", 2, "--epsilon", 1, "--n-rows", 100, "--features", 2, "--privacy-unit", "patient_id")
    refused("compare", *made_up, match="compare.privacy_unit: expected left out for made-up rows")
