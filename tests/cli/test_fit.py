# SPDX-License-Identifier: Apache-2.0
"""``cloister fit``: what it prints, what it writes, and every refusal before any budget is spent."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from cloister import Ledger, load_release

from .conftest import CANARY, Run, words

BOUNDS = "age=0:120,weight=20:200"


def test_a_fit_prints_centres_receipt_and_places(run: Run, table: Path, ledger: Path, tmp_path: Path) -> None:
    shown = "2 centres", "age", "weight", "±", "Guarantee: epsilon = 1.5", "Left in the ledger: epsilon", "release.json"
    run(
        *("fit", table, "-k", 2, "--epsilon", 1.5, "--bounds", BOUNDS, "--ledger", ledger),
        *("--output", tmp_path / "release.json", "--report", tmp_path / "report.html"),
        shows=(*shown, "report.html"),
    )
    release = load_release(tmp_path / "release.json")
    assert release.columns == ("age", "weight")
    assert release.scaling == "bounds"
    assert not release.receipt.seeded
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert {path.name for path in tmp_path.iterdir()} == {"budget.sqlite", "people.parquet", "release.json", "report.html"}
    with Ledger.open(ledger) as opened:
        assert len(opened.events) == len(release.receipt.events)


def test_columns_and_a_pair(run: Run, table: Path, tmp_path: Path) -> None:
    result = run("fit", table, "-k", 2, "--epsilon", 1, "--columns", "weight, age", "--bounds", "0,200", "-o", "-", "--quiet")
    summary = json.loads(result.stdout)
    assert summary["feature_names"] == ["weight", "age"]
    assert summary["scaling"] == "none"
    assert result.stderr == ""
    result = run("fit", table, "-k", 1, "--epsilon", 1, "--columns", "age", "--bounds", BOUNDS, "--json")
    assert json.loads(result.stdout)["columns"] == ["age"], "bounds of columns that are not used are allowed"


def test_json_is_for_machines(run: Run, table: Path, ledger: Path, tmp_path: Path) -> None:
    target = tmp_path / "release.json"
    seeded = ("--seed", 3, "--allow-seeded")
    result = run("fit", table, "-k", 2, "--epsilon", 1, "--bounds", BOUNDS, "--ledger", ledger, "--json", "-o", target, *seeded)
    summary = json.loads(result.stdout)
    assert [len(cluster["center"]) for cluster in summary["clusters"]] == [2, 2]
    assert summary["receipt"]["seeded"] is True
    assert summary["ledger"]["left"] < 2
    assert summary["files"] == {"release": str(target)}


def test_a_dash_is_standard_output_and_the_summary_goes_elsewhere(run: Run, table: Path) -> None:
    result = run("fit", table, "-k", 1, "--epsilon", 1, "--bounds", BOUNDS, "--output", "-")
    assert json.loads(result.stdout)["format"] == "cloister.release"
    assert "1 centre, " in result.stderr
    html = run("fit", table, "-k", 1, "--epsilon", 1, "--bounds", BOUNDS, "--report", "-", "-q")
    assert html.stdout.startswith("<!doctype html>")


def test_a_seed_repeats_a_run_and_is_stamped(run: Run, table: Path) -> None:
    arguments = ("fit", table, "-k", 2, "--epsilon", 1, "--bounds", BOUNDS, "--seed", 5, "--n-rows", 600, "--jobs", 1)
    first, second = run(*arguments), run(*arguments)
    assert first.stdout == second.stdout
    assert "SEEDED" in first.stdout


@pytest.mark.parametrize(
    ("method", "name", "delta"), [("kmeans", "KMeans", 1e-6), ("grid", "GridKMeans", 0), ("fast-lloyd", "FastLloyd", 1e-6)]
)
def test_delta_is_the_methods_own_unless_it_is_given(run: Run, table: Path, method: str, name: str, delta: float) -> None:
    arguments = ("fit", table, "-k", 2, "--epsilon", 1, "--method", method, "--bounds", BOUNDS, "--json")
    for given, expected in (((), delta), (("--delta", 0), 0), (("--delta", 1e-7), 1e-7)):
        summary = json.loads(run(*arguments, *given).stdout)
        assert (summary["method"], len(summary["clusters"])) == (name, 2)
        assert summary["receipt"]["guarantee"].get("delta", 0) == expected
        assert summary["receipt"]["guarantee"]["kind"] == ("approx" if expected else "pure")


@pytest.mark.slow
def test_progress_is_for_terminals(table: Path) -> None:
    arguments = ["fit", str(table), "-k", "2", "--epsilon", "1", "--bounds", BOUNDS, "--json"]
    assert "KMeans" in _stderr_of_terminal(arguments)
    assert _stderr_of_terminal([*arguments, "--quiet"]) == ""


def _stderr_of_terminal(arguments: list[str]) -> str:
    """Run the command with a pseudo-terminal as its standard error."""
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cloister", *arguments]
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment)
    os.close(theirs)
    heard = b""
    try:
        while part := os.read(ours, 4096):
            heard += part
    except OSError:  # how a pseudo-terminal ends on Linux
        pass
    os.close(ours)
    assert process.wait(60) == 0, heard
    return heard.decode()


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"--epsilon": "nan"}, "epsilon: expected a finite number above 0"),
        ({"--epsilon": "much"}, "'much' is not a valid float"),
        ({"--method": "magic"}, "'magic' is not one of 'kmeans', 'pe-means', 'grid'"),
        ({"--bounds": None}, "--bounds: expected where rows may lie"),
        ({"--bounds": "120,0"}, "--bounds['all columns']: expected low < high"),
        ({"--bounds": "age=0:120,height=0:3"}, "column 'height' is not in the table"),
        ({"--bounds": "0,1"}, "expected numbers in column 'town', got string"),
        (
            {"-k": "auto", "--method": "grid"},
            "expected a number for --method grid, got auto. Pass a number, or --method kmeans.",
        ),
        ({"-k": 3, "--max-clusters": 6}, "--max-clusters: expected '-k auto' beside it, got '-k 3'"),
        ({"-k": "many"}, "'many' is no whole number, nor auto"),
        ({"--columns": "age,height"}, "no bounds for 'height'"),
        ({"--columns": "age,,weight"}, "expected names joined by commas"),
        ({"--columns": "age,age"}, "expected every column once"),
    ],
)
def test_bad_input_is_one_line_and_free(free: Run, table: Path, tmp_path: Path, changes: dict[str, object], match: str) -> None:
    options = {"-k": 2, "--epsilon": 1, "--bounds": BOUNDS, "--output": tmp_path / "out.json", **changes}
    free("fit", table, *words(options), match=match)


def test_a_ledger_that_is_spent_missing_or_of_another_kind_refuses(run: Run, refused: Run, table: Path, ledger: Path) -> None:
    arguments = ("fit", table, "-k", 1, "--epsilon", 1.9, "--bounds", BOUNDS, "--ledger", ledger)
    run(*arguments)
    before = ledger.read_bytes()
    refused(*arguments, match="this fit costs epsilon 1.9 at delta 1e-06 but epsilon")
    assert ledger.read_bytes() == before
    arguments = ("fit", table, "-k", 1, "--epsilon", 1, "--bounds", BOUNDS, "--ledger")
    missing, text = table.parent / "none.sqlite", table.parent / "text.sqlite"
    refused(*arguments, missing, match="Create it with 'cloister ledger create'")
    assert not missing.exists()
    text.write_text("no database, but long enough to look like one " * 100)
    refused(*arguments, text, match="cannot be used")
    refused(*arguments, ledger, "--neighbours", "replace", match="this ledger is about 'add-remove' neighbours")


def test_the_ledger_decides_about_neighbours(run: Run, table: Path, tmp_path: Path) -> None:
    run("ledger", "create", tmp_path / "r.sqlite", "--epsilon", 2, "--neighbours", "replace")
    result = run("fit", table, "-k", 1, "--epsilon", 1, "--bounds", BOUNDS, "--ledger", tmp_path / "r.sqlite", "--json")
    assert json.loads(result.stdout)["receipt"]["neighbours"] == "replace"


@pytest.mark.parametrize("option", ["--output", "--report"])
def test_a_place_that_cannot_be_written_is_found_before_the_fit(
    free: Run, table: Path, ledger: Path, tmp_path: Path, option: str
) -> None:
    arguments = ("fit", table, "-k", 1, "--epsilon", 1, "--bounds", BOUNDS, option)
    (tmp_path / "old").write_text("old")
    free(*arguments, tmp_path / "old", match="exists. Choose another name, or pass --force")
    free(*arguments, tmp_path, match="expected a file, got the folder")
    free(*arguments, tmp_path / "none" / "x", match="there is no folder")
    free(*arguments, tmp_path / ("x" * 300), match="File name too long")
    free(*arguments, table, "--force", match="is also given as DATA")
    free(*arguments, ledger, "--force", match="is also given as --ledger")


def test_one_file_for_two_outputs_or_of_another_kind_is_refused(free: Run, table: Path, tmp_path: Path) -> None:
    arguments = ("fit", table, "-k", 1, "--epsilon", 1, "--bounds", BOUNDS)
    free(*arguments, "-o", tmp_path / "x", "--report", tmp_path / "." / "x", match="is also given as --output")
    free(*arguments, "-o", "-", "--report", "-", match="is also given as --output")
    free(*arguments, "-o", "-", "--json", match="standard output is taken")
    free(*arguments, "--report", "x.pdf", match="got 'x.pdf'. Choose a name that ends in .html, or print it to PDF")
    free(*arguments, "--report", "x.json", match="the report is one HTML file")
    free(*arguments, "-o", "x.csv", match="a release is written as JSON, got 'x.csv'. Choose a name that ends in .json.")


def test_force_replaces_and_devices_are_written_as_they_are(run: Run, table: Path, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    arguments = ("fit", table, "-k", 1, "--epsilon", 1, "--bounds", BOUNDS, "--output")
    run(*arguments, tmp_path / "old", "--force")
    assert load_release(tmp_path / "old").n_clusters == 1
    run(*arguments, os.devnull)
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize(
    "command", [("fit", "-k", 2), ("synopsis", "fit", "--kind", "grid"), ("synopsis", "fit", "--kind", "points")]
)
def test_the_canary_stays_inside(run: Run, table: Path, ledger: Path, tmp_path: Path, command: tuple[object, ...]) -> None:
    arguments = (*command, table, "--epsilon", 1, "--bounds", BOUNDS, "--ledger", ledger)
    shown = ("synopsis", "show") if command[0] == "synopsis" else ("show",)
    results: list[Result] = [
        run(*arguments, "-o", tmp_path / "out.json", "--report", tmp_path / "out.html"),
        run(*arguments, "--json"),
        run(*arguments, "--epsilon", 50, code=2),
        run(*shown, tmp_path / "out.json"),
        run("ledger", "show", ledger, "--events", "--json"),
    ]
    written = [path.read_bytes() for path in tmp_path.iterdir() if path != table]
    assert len(written) == 3
    for text in (*(result.output.encode() for result in results), *written):
        assert str(CANARY).encode()[:8] not in text
        assert str(table.parent).encode() not in text.replace(str(tmp_path / "out").encode(), b"")


@pytest.mark.slow
@pytest.mark.parametrize("command", [["fit"], ["synopsis", "fit"]])
def test_workers_of_dask_say_the_same(command: list[str], run: Run, table: Path) -> None:
    options = ("-k", 2, "--epsilon", 1, "--bounds", BOUNDS, "--seed", 1, "--allow-seeded", "--output", "-", "--quiet")
    here, there = (json.loads(run(*command, table, *options, "--engine", engine).stdout) for engine in ("numpy", "dask"))
    for found in (here, there):
        found.pop("created", None)
        assert found.pop("receipt")["seeded"]  # events carry the time
    assert here == there


@pytest.mark.slow
def test_an_address_needs_an_engine_and_somebody_who_answers(
    refused: Run, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cloister.data._dask.CONNECT_SECONDS", 0.5)
    options = ("fit", table, "-k", 2, "--epsilon", 1, "--bounds", BOUNDS, "-o", tmp_path / "r.json")
    refused(*options, "--scheduler", "tcp://127.0.0.1:1", match="fit.scheduler: expected an engine of a cluster with it")
    refused(*options, "--scheduler", "tcp://127.0.0.1:1", "--engine", "dask", match="no Dask scheduler answers at")
    assert not (tmp_path / "r.json").exists()


# -- fit -k auto ---------------------------------------------------------------------------------------------------------


def test_the_number_of_clusters_is_found(run: Run, table: Path, tmp_path: Path) -> None:
    given = ("--epsilon", 5, "--bounds", BOUNDS, "--max-clusters", 6, "--seed", 1, "--allow-seeded")
    shown = "2 centres", "The number of clusters was chosen", "no further cost: 2.", "Best of 1 to 6: 2."
    run("fit", table, "-k", "auto", *given, "--output", tmp_path / "r.json", "--report", tmp_path / "r.html", shows=shown)
    assert load_release(tmp_path / "r.json").n_clusters == 2
    assert "How many clusters" in (tmp_path / "r.html").read_text(encoding="utf-8")
    run("show", tmp_path / "r.json", shows=["Best of 1 to 6: 2."])
    assert json.loads(run("fit", table, "-k", "AUTO", *given, "--json").stdout)["choice"]["best"] == 2


def test_what_to_know_before_believing_it_stands_first(run: Run, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("age\n" + "\n".join(str(20 + one % 60) for one in range(4000)))
    result = run("fit", tmp_path / "n.csv", "-k", 2, "--epsilon", 2, "--bounds", "0,1")
    assert 0 < result.stdout.index("Warning: age: ") < result.stdout.index("label")
    plain = json.loads(run("fit", tmp_path / "n.csv", "-k", 2, "--epsilon", 2, "--bounds", "0,1", "--json").stdout)
    assert "age" in [one["column"] for one in plain["warnings"]]
