# SPDX-License-Identifier: Apache-2.0
"""``cloister show``: a release for people, for machines, and as a report."""

import dataclasses
import json
from pathlib import Path

import numpy as np

from cloister import PEMeans, load_release

from .conftest import Run


def test_a_release_is_shown(run: Run, release: Path, tmp_path: Path) -> None:
    result = run("show", release, "--report", tmp_path / "report.html")
    for words in ("2 centres", "rows (noisy)", "Guarantee: epsilon = 5", "report.html"):
        assert words in result.stdout
    assert "The privacy receipt" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_machines_and_pipes(run: Run, release: Path) -> None:
    summary = json.loads(run("show", release, "--json").stdout)
    assert summary["columns"] == ["age", "weight"]
    assert run("show", "-", stdin=release.read_bytes()).stdout == run("show", release).stdout
    assert run("show", release, "--report", "-").stdout.startswith("<!doctype html>")


def test_refusals(refused: Run, release: Path, tmp_path: Path) -> None:
    refused("show", tmp_path / "none.json", match="cannot read 'none.json' (No such file or directory)")
    refused("show", release, "--report", release, "--force", match="is also given as RELEASE")
    (tmp_path / "old.html").write_text("old")
    refused("show", release, "--report", tmp_path / "old.html", match="exists")
    refused("show", match="Missing argument 'RELEASE'")


def test_standard_input_that_is_no_json_is_refused(run: Run) -> None:
    result = run("show", "-", stdin=b"\xff\xfe", code=2)
    assert result.stderr == "Error: load_release: standard input is not JSON. Pass what 'fit' wrote.\n"


def test_names_are_text_not_markup_or_control(run: Run, release: Path, tmp_path: Path) -> None:
    odd = dataclasses.replace(load_release(release), feature_names=("[bold]x[/bold]", "a\x1b[31m\nb"))
    odd.save(tmp_path / "odd.json")
    output = run("show", tmp_path / "odd.json").stdout
    assert "[bold]x[/bold]" in output
    assert "\x1b" not in output


def test_many_columns_are_cut_to_those_that_matter(run: Run, tmp_path: Path, generator: np.random.Generator) -> None:
    rows = generator.normal(0, 0.01, (400, 12))
    rows[:200, 7] += 0.9
    PEMeans(2, epsilon=1e4, bounds=(-1, 1), n_rounds=12, n_variations=100).fit(rows).release_.save(tmp_path / "wide.json")
    output = run("show", tmp_path / "wide.json").stdout
    assert "x7" in output
    assert "columns that separate the centres best, of 12" in output
