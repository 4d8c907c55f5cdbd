# SPDX-License-Identifier: Apache-2.0
"""``cloister synopsis`` on grids and on points: which kind is fitted, what works on both, what is refused; ``fit -k auto``."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from cloister import Ledger, Synopsis, load_release, load_synopsis
from cloister.synopsis import WeightedPoints
from cloister.text import number

from .conftest import Run

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


@pytest.fixture
def points(run: Run, table: Path, tmp_path: Path) -> Path:
    given = ("--epsilon", 5, "--bounds", BOUNDS, "--kind", "points", "--max-clusters", 5, "-o", tmp_path / "p.json", "-q")
    result = run("synopsis", "fit", table, *given)
    assert (result.exit_code, result.output) == (0, "")
    return tmp_path / "p.json"


@pytest.fixture
def grid(run: Run, table: Path, tmp_path: Path) -> Path:
    given = ("--epsilon", 5, "--bounds", BOUNDS, "--rule", 8, "-o", tmp_path / "g.json", "-q")
    assert run("synopsis", "fit", table, *given).exit_code == 0
    return tmp_path / "g.json"


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
        (("--bounds", "a=0:100,b=0:100", "--kind", "points"), "points"),
        (("--bounds", "a=0:100,b=0:100,c=0:100,d=0:100", "--kind", "grid", "--rule", 3), "grid"),
        (("--bounds", "a=0:100,b=private"), "grid"),
    ],
)
def test_the_kind_follows_from_columns_and_options(run: Run, wide: Path, options: tuple[object, ...], kind: str) -> None:
    result = run("synopsis", "fit", wide, "--epsilon", 4, *options, "--json", "--seed", 1)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["kind"] == kind
    assert found["receipt"]["guarantee"].get("delta", 0.0) == (0.0 if kind == "grid" else 1e-6)


def test_points_are_printed_and_written(run: Run, wide: Path, ledger: Path, tmp_path: Path) -> None:
    given = ("--epsilon", 1.5, "--delta", 0, "--bounds", "0,100", "--bounds", "ward=x|y|z", "--max-clusters", 6)
    files = ("--ledger", ledger, "--output", tmp_path / "p.parquet", "--report", tmp_path / "p.html")
    result = run("synopsis", "fit", wide, *given, *files)
    assert result.exit_code == 0, result.output
    shown = "points, made for up to 6 clusters", "ward", "category", "x, y, z", "epsilon = 1.5 (pure)", "The synopsis is in"
    assert all(part in result.stdout for part in shown)
    found = load_synopsis(tmp_path / "p.parquet")
    assert isinstance(found, WeightedPoints)
    assert found.max_clusters == 6
    assert 'type="range"' in (tmp_path / "p.html").read_text(encoding="utf-8")
    with Ledger.open(ledger) as opened:
        before = len(opened.events)
    for command in (("cut", "-k", 3), ("choose-k",), ("tree",), ("sample", "-n", 4), ("show",)):
        free = run("synopsis", command[0], tmp_path / "p.parquet", *command[1:])
        assert free.exit_code == 0, free.output
        assert free.stdout
    with Ledger.open(ledger) as opened:
        assert len(opened.events) == before


def test_the_number_of_points_can_be_given(run: Run, table: Path) -> None:
    result = run("synopsis", "fit", table, "--epsilon", 5, "--bounds", BOUNDS, "--points", 12, "--json", "--seed", 1)
    assert json.loads(result.stdout)["n_points"] == 12


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (
            ("--kind", "points", "--rule", 5),
            "--rule: is for a grid, got it with --kind points. Leave it out, or pass --kind grid.",
        ),
        (("--kind", "points", "-k", 5), "--clusters: is for a grid, got it with --kind points. Pass --max-clusters 5 instead"),
        (
            ("--kind", "grid", "--points", 5),
            "--points: is for points, got it with --kind grid. Leave it out, or pass --kind points.",
        ),
        (("--kind", "grid", "--max-clusters", 5), "--max-clusters: is for points, got it with --kind grid"),
        (("--rule", 5, "--points", 5), "--points: is for points, and --rule for a grid. Leave one of them out."),
        (("--max-clusters", 0), "max_clusters: expected an integer"),
        (("--points", 0), "n_points: expected"),
    ],
)
def test_options_of_the_other_kind_are_refused(free: Run, table: Path, options: tuple[object, ...], match: str) -> None:
    free("synopsis", "fit", table, "--epsilon", 1, "--bounds", BOUNDS, *options, match=match)


def test_a_hint_for_a_grid_is_refused_where_points_are_chosen(refused: Run, wide: Path) -> None:
    given = ("--epsilon", 1, "--bounds", "0,100", "--columns", "a,b,c,d", "-k", 5)
    refused("synopsis", "fit", wide, *given, match="got it with 4 columns. Pass --max-clusters 5")


@pytest.mark.parametrize("command", [("query", "age=0:50"), ("density",)])
def test_what_only_a_grid_can_do_is_refused_for_points(refused: Run, points: Path, command: tuple[object, ...]) -> None:
    words = f"synopsis {command[0]}: expected a synopsis of a grid, got one of points. Fit one with"
    refused("synopsis", command[0], points, *command[1:], match=words)


def test_points_are_clustered_and_predict(run: Run, points: Path, table: Path, tmp_path: Path) -> None:
    result = run("synopsis", "cut", points, "-k", 2, "-o", tmp_path / "r.json", "--report", tmp_path / "r.html", "--seed", 1)
    assert result.exit_code == 0, result.output
    centers = load_release(tmp_path / "r.json").cluster_centers
    assert np.allclose(centers[np.argsort(centers[:, 0])], [[30, 60], [70, 90]], atol=4)
    assert "2 centres, with errors" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert len(run("predict", tmp_path / "r.json", table).stdout.split()) == 601


def test_numbers_are_compared_up_to_what_points_were_made_for(run: Run, points: Path, tmp_path: Path) -> None:
    result = run("synopsis", "choose-k", points, "--seed", 1, "--report", tmp_path / "c.html")
    assert "Best: 2 of 1 to 5 clusters." in result.stdout
    assert "best: 2" in (tmp_path / "c.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["grid", "points"])
def test_the_tree_is_printed_from_the_top(run: Run, kind: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(kind)
    lines = run("synopsis", "tree", path, "-k", 3).stdout.splitlines()
    assert len(lines) == 5, "three branches and two joins"
    assert sum("split at" in line for line in lines) == 2
    data = json.loads(run("synopsis", "tree", path, "--json").stdout)
    found = load_synopsis(path)
    assert data["linkage"] == found.tree(random_state=0).tolist()
    assert lines[0] == f"{number(round(sum(data['rows'])))} rows, split at {data['linkage'][-1][2]:.4g}"
    assert any(line.endswith(f"split at {data['linkage'][-2][2]:.4g}") for line in lines[1:])
    assert len(run("synopsis", "tree", path, "-k", 1).stdout.splitlines()) == 1
    assert isinstance(found, Synopsis) == (kind == "grid")


def test_a_tree_of_no_clusters_is_refused(refused: Run, points: Path) -> None:
    refused("synopsis", "tree", points, "-k", 0, match="0 is not in the range")


# -- fit -k auto ---------------------------------------------------------------------------------------------------------


def test_the_number_of_clusters_is_found(run: Run, table: Path, tmp_path: Path) -> None:
    given = ("--epsilon", 5, "--bounds", BOUNDS, "--max-clusters", 6, "--seed", 1, "--allow-seeded")
    result = run("fit", table, "-k", "auto", *given, "--output", tmp_path / "r.json", "--report", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    shown = "2 centres", "The number of clusters was chosen", "no further cost: 2.", "Best of 1 to 6: 2."
    assert all(part in result.stdout for part in shown)
    assert load_release(tmp_path / "r.json").n_clusters == 2
    assert "How many clusters" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Best of 1 to 6: 2." in run("show", tmp_path / "r.json").stdout
    assert json.loads(run("fit", table, "-k", "AUTO", *given, "--json").stdout)["choice"]["best"] == 2


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (
            ("-k", "auto", "--method", "grid"),
            "--clusters: expected a number for --method grid, got auto. Pass a number, or --method kmeans.",
        ),
        (("-k", 3, "--max-clusters", 6), "--max-clusters: expected '-k auto' beside it, got '-k 3'"),
        (("-k", "many"), "'many' is no whole number, nor auto"),
    ],
)
def test_numbers_that_cannot_be_found_are_refused(refused: Run, table: Path, options: tuple[object, ...], match: str) -> None:
    refused("fit", table, "--epsilon", 1, "--bounds", BOUNDS, *options, match=match)
