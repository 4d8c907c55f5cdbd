# SPDX-License-Identifier: Apache-2.0
"""The scoreboard is made of the stored measurements and of nothing else, and these are whole."""

import json
import math
import re

import numpy as np
import pytest
from benchmarks._data import shape_of
from benchmarks._errors import BenchError
from benchmarks._measured import Measurement, condense, read_measured, write_measured
from benchmarks._methods import LIMIT, LIMITS, METHODS
from benchmarks._page import Table
from benchmarks._results import open_results
from benchmarks._stats import EPSILONS

from benchmarks import scoreboard

STORED = [json.loads(line) for line in scoreboard.MEASURED.read_text(encoding="utf-8").splitlines()]
RUNS = {line["run"]: line for line in STORED if "command" in line}
LINES = [{**line, **RUNS[line["run"]]} for line in STORED if "command" not in line]
PAGE = scoreboard.PAGE.read_text(encoding="utf-8")
BOARD = scoreboard.Board(tuple(read_measured(scoreboard.MEASURED)))


def rows_of(table: Table) -> list[dict[str, str]]:
    """Return the rows of a table of the page, by column."""
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def stored_area(data: str, method: str) -> float | None:
    """Return an area from the lines of the file, without the code of the page."""
    means = {line["epsilon"]: line["mean"] for line in LINES if (line["data"], line["method"]) == (data, method)}
    return float(np.trapezoid([means[one] for one in EPSILONS], EPSILONS)) if set(means) == set(EPSILONS) else None


def test_page_and_picture_are_those_of_the_file(capsys):
    assert scoreboard.main(["--check"]) == 0, capsys.readouterr().err


def test_every_area_comes_from_the_file():
    methods = {line["method"] for line in LINES} - set(LIMITS)
    wanted = {(data, method): stored_area(data, method) for data in BOARD.data for method in methods}
    assert set(BOARD.data) == {line["data"] for line in LINES}
    assert set(BOARD.methods) == methods
    assert {key: area.value for key, area in BOARD.areas.items()} == pytest.approx(
        {key: area for key, area in wanted.items() if area is not None}
    )
    limits = {line["data"]: 3.75 * line["mean"] for line in LINES if line["method"] == LIMIT}
    assert BOARD.limits == pytest.approx(limits)
    areas, ratios = rows_of(scoreboard._areas(BOARD)), rows_of(scoreboard._ratios(BOARD))
    for data, area, ratio in zip(BOARD.data, areas, ratios, strict=False):
        assert (area["data"].split(" ")[0], ratio["data"], area["limit"]) == (data, data, f"{limits[data]:.4g}")
        for method in methods:
            found = wanted[data, method]
            assert area[method].split(" ± ")[0] == ("-" if found is None else f"{found:.4g}")
            assert ratio[method] == ("-" if found is None else f"{found / limits[data]:.3f}")


def test_every_mean_and_win_comes_from_the_file():
    few = [name for name in BOARD.data if shape_of(name)[1] <= 6]
    assert BOARD.few == few
    for row in rows_of(scoreboard._ranks(BOARD)):
        method = row["method"].strip("`")
        for column, names in (("all", BOARD.data), ("few columns", few)):
            known = [stored_area(name, method) for name in names]
            found = BOARD.mean(method, names)
            if None in known:
                assert (found, row[column]) == (None, "-")
                continue
            logs = [math.log(area / BOARD.limits[name]) for area, name in zip(known, names, strict=True)]
            assert found.value == pytest.approx(sum(logs) / len(logs))
            assert found.low <= found.value <= found.high
            assert row[column].split(" ")[0] == f"{math.exp(found.value):.3f}"
        wins = [data for data in BOARD.data if BOARD.lowest(data) == method]
        assert all(
            stored_area(data, method) <= area.value for data in wins for (one, _), area in BOARD.areas.items() if one == data
        )
        assert row["lowest"].startswith(f"{len(wins)} (")


def test_the_stored_lines_are_whole_and_name_no_machine():
    assert LINES
    assert {line["run"] for line in LINES} == set(RUNS)
    for line in LINES:
        found = Measurement(**{name: value for name, value in line.items() if name != "run"})
        assert found.n >= 1
        assert found.mean > 0
        assert (found.sd is None) == (found.n == 1)
        assert all(re.fullmatch(r"[0-9a-f]{7,40}", commit) for commit in found.commits), "a commit without changes"
        assert {"cloister", "numpy", "python", "scikit-learn"} <= set(found.versions)
        assert found.command.startswith("python -m benchmarks table1 --datasets ")
        assert not re.search(r"/(tmp|home|root|work)\b", json.dumps(line))
        needs = METHODS[found.method].needs
        assert needs is None or f"{needs} (worker)" in found.versions
    keys = [(line["suite"], line["data"], line["method"], line["epsilon"], line["seed"]) for line in LINES]
    assert len(set(keys)) == len(keys)


def test_other_libraries_are_on_the_board_by_their_own_code():
    rows = {row["method"].strip("`"): row["code"] for row in rows_of(scoreboard._ranks(BOARD))}
    others = {name: code for name, code in rows.items() if METHODS[name].needs}
    assert set(others) == {"diffprivlib", "dpmm-MST"}
    assert all(code.startswith(f"{METHODS[name].needs} ") for name, code in others.items())


def test_a_run_becomes_lines_with_the_same_areas(made_up, tmp_path):
    folder = made_up(n_repeats=4)
    write_measured(tmp_path / "table1.jsonl", condense([folder]))
    lines = read_measured(tmp_path / "table1.jsonl")
    board, cells = scoreboard.Board(tuple(lines)), open_results(folder).cells()
    assert set(board.areas) == {(data, method) for data, _, method in cells if method not in LIMITS}
    for (data, method), area in board.areas.items():
        full = cells[data, "exact", method].area
        assert area.value == pytest.approx(full.value, rel=1e-4)
        assert area.half_width == pytest.approx(full.half_width, rel=1e-3)
        assert area.n_runs == 4
    assert board.methods == ["PEMeans", "GridKMeans", "FastLloyd"]
    assert [board.lowest(data) for data in board.data] == ["PEMeans", "PEMeans"]
    assert board.stands_out("iris", "PEMeans")
    assert not any(line.method == "TreeKMeans" for line in lines), "all of its fits failed"
    assert lines[0].command == (
        "python -m benchmarks table1 --datasets iris,sklearn_4_4 --methods PEMeans,GridKMeans,FastLloyd,TreeKMeans "
        "--repeats 4 --seed 0"
    )


def test_a_fit_measured_twice_is_refused(made_up):
    with pytest.raises(BenchError, match=r"measures PEMeans on iris again\. Put its lines into one folder"):
        condense([made_up(), made_up()])


def test_a_stale_page_is_noticed(monkeypatch, tmp_path, capsys):
    old = tmp_path / "docs" / "scoreboard.md"
    old.parent.mkdir()
    old.write_text(PAGE.replace("Scoreboard", "Board"), encoding="utf-8")
    monkeypatch.setattr(scoreboard, "PAGE", old)
    monkeypatch.setattr(scoreboard, "ROOT", tmp_path)
    monkeypatch.setattr(scoreboard, "IMAGE", tmp_path / "docs" / "none.svg")
    assert scoreboard.main(["--check"]) == 1
    assert "scoreboard.md is not current: run python -m benchmarks.scoreboard" in capsys.readouterr().err
    assert scoreboard.main([]) == 0
    assert old.read_text(encoding="utf-8") == PAGE
    assert scoreboard.main(["--check"]) == 0
