# SPDX-License-Identifier: Apache-2.0
"""``cloister synopsis``: one command that spends, others that do not, on grids and on points; what is refused before that."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from cloister import Ledger, load_release, load_synopsis
from cloister.synopsis import read_synopsis
from cloister.text import number, with_error

from .conftest import Run, words

BOUNDS = "age=0:120,weight=20:200"


@pytest.fixture
def wide(tmp_path: Path, generator: np.random.Generator) -> Path:
    """Three groups in five columns, one of them a category."""
    group = generator.integers(0, 3, 1500)
    centers = np.array([[20, 60, 10, 90], [50, 20, 80, 20], [80, 80, 50, 50]], dtype=float)
    rows = centers[group] + generator.normal(0, 3, (1500, 4))
    columns = {name: rows[:, index] for index, name in enumerate("abcd")}
    pa.parquet.write_table(pa.table({**columns, "ward": [("x", "y", "z")[one] for one in group]}), tmp_path / "wide.parquet")
    return tmp_path / "wide.parquet"


KINDS = {"grid": ("--rule", "24,18"), "points": ("--kind", "points", "--max-clusters", 5)}
every_kind = pytest.mark.parametrize("kind", KINDS)


def fitted(run: Run, table: Path, kind: str) -> Path:
    output = table.parent / f"{kind}.json"
    assert run("synopsis", "fit", table, "--epsilon", 5, "--bounds", BOUNDS, *KINDS[kind], "-o", output, "-q").output == ""
    return output


@pytest.fixture
def synopsis(run: Run, table: Path) -> Path:
    return fitted(run, table, "grid")


@pytest.fixture
def points(run: Run, table: Path) -> Path:
    return fitted(run, table, "points")


# -- the fit ------------------------------------------------------------------------------------------------------------


def test_a_fit_prints_grid_receipt_and_places(run: Run, table: Path, ledger: Path, tmp_path: Path) -> None:
    result = run(
        *("synopsis", "fit", table, "-k", 2, "--epsilon", 1.5, "--bounds", BOUNDS, "--ledger", ledger, "--n-rows", 600),
        *("--output", tmp_path / "s.parquet", "--report", tmp_path / "s.html"),
    )
    found = load_synopsis(tmp_path / "s.parquet")
    shape = " x ".join(map(str, found.grid.cells))
    shown = shape, "age", "weight", "Rows: 600 (public)", "epsilon = 1.5 (pure)", "Left in the ledger", "The synopsis is in"
    assert all(part in result.stdout for part in shown)
    assert found.columns == ("age", "weight")
    assert found.scaling == "bounds"
    assert not found.receipt.seeded
    assert "<svg" in (tmp_path / "s.html").read_text(encoding="utf-8")
    with Ledger.open(ledger) as opened:
        assert [event.question_name for event in opened.events] == ["grid_counts"]


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (("--bounds", "a=0:100"), "grid"),
        (("--bounds", "a=0:100,b=0:100,c=0:100"), "grid"),
        (("--bounds", "a=0:100,b=0:100,c=0:100,d=0:100"), "points"),
        (("--bounds", "a=0:100", "--bounds", "ward=x|y|z"), "points"),
        (("--bounds", "a=0:100,b=0:100", "--scaling", "spread"), "points"),
        (("--bounds", "a=0:100,b=0:100", "--max-clusters", 6), "points"),
        (("--bounds", "a=0:100,b=0:100", "--points", 20), "points"),
        (("--bounds", "a=0:100,b=0:100,c=0:100,d=0:100", "--rule", 3), "grid"),
        (("--bounds", "a=0:100,b=0:100,c=0:100,d=0:100", "--kind", "grid", "--rule", 3), "grid"),
        (("--bounds", "a=0:100,b=private"), "grid"),
    ],
)
def test_the_kind_follows_from_columns_and_options(run: Run, wide: Path, options: tuple[object, ...], kind: str) -> None:
    result = run("synopsis", "fit", wide, "--epsilon", 4, *options, "--json", "--seed", 1)
    found = json.loads(result.stdout)
    assert found["kind"] == kind
    assert found["receipt"]["guarantee"].get("delta", 0.0) == (0.0 if kind == "grid" else 1e-6)
    if "--points" in options:
        assert found["n_points"] == 20


def test_points_are_printed_and_written(run: Run, wide: Path, ledger: Path, tmp_path: Path) -> None:
    given = ("--epsilon", 1.5, "--delta", 0, "--bounds", "0,100", "--bounds", "ward=x|y|z", "--max-clusters", 6)
    files = ("--ledger", ledger, "--output", tmp_path / "p.parquet", "--report", tmp_path / "p.html")
    shown = "points, made for up to 6 clusters", "ward", "category", "x, y, z", "epsilon = 1.5 (pure)", "The synopsis is in"
    run("synopsis", "fit", wide, *given, *files, shows=shown)
    found = load_synopsis(tmp_path / "p.parquet")
    assert found.method == "PointSynopsis"
    assert found.max_clusters == 6
    assert 'type="range"' in (tmp_path / "p.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("rule", "cells"), [("5", (5, 5)), ("6,3", (6, 3)), (" 6, 3 ", (6, 3)), ("eugkm", None), ("adaptive", None)]
)
def test_rules(run: Run, table: Path, rule: str, cells: tuple[int, int] | None) -> None:
    given = ("--epsilon", 1, "--bounds", BOUNDS, "--rule", rule, "--json", "--seed", 1)
    summary = json.loads(run("synopsis", "fit", table, *given).stdout)
    assert cells is None or tuple(summary["cells"]) == cells
    assert summary["receipt"]["seeded"]
    assert summary["files"] == {}
    assert "noisy_counts" not in summary


@pytest.mark.parametrize(("command", "name"), [(("fit", "-k", 1), "release"), (("synopsis", "fit"), "synopsis")])
def test_what_is_not_kept_is_said(run: Run, table: Path, command: tuple[object, ...], name: str) -> None:
    kept = f"The {name} was not kept. Pass --output {name}.json"
    result = run(*command, table, "--epsilon", 1, "--bounds", BOUNDS, shows=[kept])
    assert f"Warning: --ledger: nobody adds up what this fit has spent, and no {name} is kept." in result.stderr


def test_gaussian_noise_and_replace(run: Run, table: Path) -> None:
    arguments = ("synopsis", "fit", table, "--epsilon", 1, "--bounds", BOUNDS, "--delta", 1e-6, "--neighbours", "replace")
    summary = json.loads(run(*arguments, "--json").stdout)
    assert summary["receipt"]["guarantee"]["delta"] == 1e-6
    assert {event["event"] for event in summary["receipt"]["events"]} == {"rounded_gaussian"}
    assert summary["receipt"]["neighbours"] == "replace"


def test_pipes(run: Run, table: Path) -> None:
    fitted = run("synopsis", "fit", table, "--epsilon", 5, "--bounds", BOUNDS, "--output", "-")
    assert json.loads(fitted.stdout)["format"] == "cloister.synopsis"
    assert "cells" in fitted.stderr
    released = run("synopsis", "cut", "-", "-k", 2, "-o", "-", stdin=fitted.stdout_bytes)
    assert json.loads(released.stdout)["format"] == "cloister.release"
    run("show", "-", stdin=released.stdout_bytes, shows=["2 centres"])
    parquet = read_synopsis(fitted.stdout_bytes, name="the pipe").to_bytes("parquet")
    run("synopsis", "show", "-", stdin=parquet, shows=["age"])


# -- what is free afterwards --------------------------------------------------------------------------------------------


@every_kind
def test_everything_after_the_fit_is_free(run: Run, table: Path, ledger: Path, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    run("synopsis", "fit", table, "--epsilon", 1, "--bounds", BOUNDS, *KINDS[kind], "--ledger", ledger, "-o", path)
    before, of_a_grid = ledger.read_bytes(), (("density", path), ("query", path, "age=20:40"))
    for command in (
        *(("cut", path, "-k", 3), ("choose-k", path, "--range", "1:3"), ("tree", path), ("sample", path, "-n", 5)),
        *(("show", path), *(of_a_grid if kind == "grid" else ())),
    ):
        assert run("synopsis", *command).stdout
    assert ledger.read_bytes() == before


@every_kind
def test_cut_writes_a_release_that_predicts(run: Run, table: Path, tmp_path: Path, kind: str) -> None:
    cut, report = ("synopsis", "cut", fitted(run, table, kind), "-k", 2, "--seed", 1), tmp_path / "r.html"
    shown = "2 centres", "age", "The release is in", "The report is in"
    run(*cut, "-o", tmp_path / "r.json", "--report", report, shows=shown)
    centers = load_release(tmp_path / "r.json").cluster_centers
    assert np.allclose(centers[np.argsort(centers[:, 0])], [[30, 60], [70, 90]], atol=4)
    assert {"grid": "The noisy grid", "points": "2 centres, with errors"}[kind] in report.read_text(encoding="utf-8")
    assert len(run("predict", tmp_path / "r.json", table).stdout.split()) == 601
    summary = json.loads(run(*cut, "--json").stdout)
    assert [cluster["center"] for cluster in summary["clusters"]] == centers.tolist()


@every_kind
def test_choose_k_compares(run: Run, table: Path, tmp_path: Path, kind: str) -> None:
    path = fitted(run, table, kind)
    best = f"Best of 1 to {12 if kind == 'grid' else 5}: 2."
    run("synopsis", "choose-k", path, "--seed", 1, "--report", tmp_path / "c.html", shows=[best])
    assert "best: 2" in (tmp_path / "c.html").read_text(encoding="utf-8")
    summary = json.loads(run("synopsis", "choose-k", path, "--range", "2:4", "--json").stdout)
    assert (summary["n_clusters"], summary["best"]) == ([2, 3, 4], 2)


@every_kind
def test_the_tree_is_printed_from_the_top(run: Run, table: Path, kind: str) -> None:
    path = fitted(run, table, kind)
    lines = run("synopsis", "tree", path, "-k", 3).stdout.splitlines()
    assert len(lines) == 5, "three branches and two joins"
    assert sum("split at" in line for line in lines) == 2
    data = json.loads(run("synopsis", "tree", path, "--json").stdout)
    found = load_synopsis(path)
    assert data["linkage"] == found.tree(random_state=0).tolist()
    assert lines[0] == f"{number(round(sum(data['rows'])))} rows, split at {data['linkage'][-1][2]:.4g}"
    assert any(line.endswith(f"split at {data['linkage'][-2][2]:.4g}") for line in lines[1:])
    assert len(run("synopsis", "tree", path, "-k", 1).stdout.splitlines()) == 1
    assert (found.grid is not None) == (kind == "grid")


def test_dense_cells_are_listed(run: Run, synopsis: Path) -> None:
    shown = "2 clusters of dense cells in a grid of 432 cells", "age", "weight", " to ", "In no cluster:", "Guarantee:"
    run("synopsis", "density", synopsis, shows=shown)
    summary = json.loads(run("synopsis", "density", synopsis, "--json").stdout)
    assert summary == load_synopsis(synopsis).density_clusters().to_dict()
    assert [abs(one["rows"] - 300) < 60 for one in summary["clusters"]] == [True, True]
    none = "No cluster of dense cells", "Nothing stands out of the noise"
    run("synopsis", "density", synopsis, "--min-density", 1000, shows=none)


def test_too_few_cells_are_one_line_of_warning(run: Run, synopsis: Path) -> None:
    result = run("synopsis", "cut", synopsis, "-k", 500, "--json")
    assert len(json.loads(result.stdout)["clusters"]) == 500
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("Warning: Synopsis.cut.n_clusters: 500 clusters of 432 cells")


def test_queries_print_value_and_error(run: Run, synopsis: Path) -> None:
    (found,) = json.loads(run("synopsis", "query", synopsis, "age=0:50", "--json").stdout)
    assert abs(found["value"] - 300) < 6 * found["standard_error"]
    shown = " ± ".join(with_error(found["value"], found["standard_error"]))
    assert run("synopsis", "query", synopsis, "age=0:50").stdout == f"{shown}\n"
    both = run("synopsis", "query", synopsis, "age=0:50,weight=40:80", "0,300").stdout.splitlines()
    assert both[0].startswith("age=0:50,weight=40:80: ")
    assert both[1].startswith("0,300: ")
    summary = json.loads(run("synopsis", "query", synopsis, "weight=20:200", "--json").stdout)
    assert summary[0]["query"] == "weight=20:200"
    assert summary[0]["value"] == load_synopsis(synopsis).noisy_counts.sum()
    assert summary[0]["standard_error"] >= summary[0]["noise_error"] > summary[0]["edge_error"] == 0


def test_samples_are_tables(run: Run, synopsis: Path, tmp_path: Path) -> None:
    assert run("synopsis", "sample", synopsis, "-n", 100, "-o", tmp_path / "rows.csv").stdout == ""
    run("synopsis", "sample", synopsis, "-n", 100, "-o", tmp_path / "rows.parquet")
    for found in (pyarrow.csv.read_csv(tmp_path / "rows.csv"), pyarrow.parquet.read_table(tmp_path / "rows.parquet")):
        assert found.column_names == ["age", "weight"]
        assert found.num_rows == 100
        assert 0 <= min(found["age"].to_pylist()) <= max(found["age"].to_pylist()) <= 120
    first, second = (run("synopsis", "sample", synopsis, "-n", 3, "--seed", 4).stdout for _ in range(2))
    assert first == second
    assert len(first.splitlines()) == 4
    run("fit", tmp_path / "rows.csv", "-k", 1, "--epsilon", 1, "--bounds", BOUNDS)


def test_show_is_for_people_machines_and_browsers(run: Run, synopsis: Path, tmp_path: Path) -> None:
    shown = "24 x 18 = 432 cells", "width of a cell", "epsilon = 5 (pure)", "1 x grid_counts", "s.html"
    run("synopsis", "show", synopsis, "--report", tmp_path / "s.html", shows=shown)
    summary = json.loads(run("synopsis", "show", synopsis, "--json").stdout)
    assert summary["cells"] == [24, 18]
    assert summary["columns"] == ["age", "weight"]
    assert run("synopsis", "show", synopsis, "--report", "-").stdout.startswith("<!doctype html>")


# -- refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"--epsilon": 0}, "epsilon: expected a finite number above 0"),
        ({"--rule": "best"}, "rule: expected one of 'adaptive', 'eugkm', 'rugnik', got 'best'"),
        ({"--rule": "5,x"}, "--rule: expected rugnik, eugkm, adaptive, N or N,N,..., got '5,x'"),
        ({"--rule": 31_623}, "at most 16,777,216 cells, each of which must be noised, got '31623 x 31623 = 1,000,014,129'"),
        ({"--output": "s.csv"}, "--output: a synopsis is written as JSON or Parquet, got 's.csv'. Choose a name"),
        ({"--output": "none/s.json"}, "there is no folder 'none'"),
        (
            {"--kind": "points", "--rule": 5},
            "--rule: is for a grid, got it with --kind points. Leave it out, or pass --kind grid.",
        ),
        ({"--kind": "points", "-k": 5}, "--clusters: is for a grid, got it with --kind points. Pass --max-clusters 5 instead"),
        ({"--kind": "grid", "--points": 5}, "is for points, got it with --kind grid. Leave it out, or pass --kind points."),
        ({"--kind": "grid", "--max-clusters": 5}, "--max-clusters: is for points, got it with --kind grid"),
        ({"--rule": 5, "--points": 5}, "--points: is for points, and --rule for a grid. Leave one of them out."),
    ],
)
def test_bad_input_is_one_line_and_free(free: Run, table: Path, tmp_path: Path, changes: dict[str, object], match: str) -> None:
    options = {"--epsilon": 1, "--bounds": BOUNDS, "--output": tmp_path / "out.json", **changes}
    free("synopsis", "fit", table, *words(options), match=match)


@pytest.mark.parametrize(
    ("command", "match"),
    [
        (("cut", "-k", 2, "-o", "-", "--json"), "standard output is taken"),
        (("choose-k", "--range", "5"), "--range: expected FIRST:LAST, whole numbers from 1, got '5'"),
        (("choose-k", "--range", "0:4"), "--range: expected FIRST:LAST"),
        (("tree", "-k", 0), "0 is not in the range"),
        (("query",), "Missing argument 'QUERY...'"),
        (("query", ""), "QUERY: expected column=low:high, got ''"),
        (("query", "age=0:10,weight"), "QUERY: expected column=low:high, got 'weight'"),
        (("query", "age=10:0"), "QUERY['age']: expected low < high"),
        (("query", "shoe=1:2"), "QUERY: 'shoe' not in the table. The columns are: 'age', 'weight'"),
        (("sample", "-n", 1, "-o", "rows.txt"), "--output: synthetic rows are written as CSV or Parquet, got"),
        (("show", "--report", "none/x.html"), "there is no folder 'none'"),
    ],
)
def test_bad_questions_are_one_line(refused: Run, synopsis: Path, command: tuple[object, ...], match: str) -> None:
    refused("synopsis", command[0], synopsis, *command[1:], match=match)


def test_files_that_are_no_synopsis(refused: Run, release: Path, tmp_path: Path) -> None:
    refused("synopsis", "show", tmp_path / "none.json", match="cannot read 'none.json' (No such file or directory)")
    refused("synopsis", "show", release, match="expected a Cloister synopsis, got another file")


def test_inputs_and_files_that_exist_are_kept(refused: Run, run: Run, synopsis: Path, tmp_path: Path) -> None:
    before = synopsis.read_bytes()
    refused("synopsis", "cut", synopsis, "-k", 2, "-o", synopsis, "--force", match="is also given as SYNOPSIS")
    refused("synopsis", "show", synopsis, "--report", synopsis, "--force", match="is also given as SYNOPSIS")
    (tmp_path / "rows.csv").write_text("old")
    refused("synopsis", "sample", synopsis, "-n", 1, "-o", tmp_path / "rows.csv", match="exists")
    run("synopsis", "sample", synopsis, "-n", 1, "-o", tmp_path / "rows.csv", "--force")
    assert synopsis.read_bytes() == before


def test_a_hint_for_a_grid_is_refused_where_points_are_chosen(refused: Run, wide: Path) -> None:
    given = ("--epsilon", 1, "--bounds", "0,100", "--columns", "a,b,c,d", "-k", 5)
    refused("synopsis", "fit", wide, *given, match="got it with 4 columns. Pass --max-clusters 5")


@pytest.mark.parametrize("command", [("query", "age=0:50"), ("density",)])
def test_what_only_a_grid_can_do_is_refused_for_points(refused: Run, points: Path, command: tuple[object, ...]) -> None:
    words = f"synopsis {command[0]}: expected a synopsis of a grid, got one of points. Fit one with"
    refused("synopsis", command[0], points, *command[1:], match=words)
