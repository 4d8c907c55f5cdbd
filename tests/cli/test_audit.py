# SPDX-License-Identifier: Apache-2.0
"""``cloister audit``: exit codes, the table, the page, plants and refusals."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cloister.audit import PLANTS

from .conftest import Run


def test_a_clean_audit_ends_well_and_replaces_its_page(run: Run, tmp_path: Path, seed: int) -> None:
    page = tmp_path / "page.html"
    page.write_text("an older audit")
    given = ("--quick", "--check", "spending", "--method", "GridSynopsis", "--seed", seed, "-o", page)
    result = run("audit", *given)
    shown = "spending", "passed", f"No violation found. Seed {seed}; false alarms at most 1e-06."
    assert all(words in result.stdout for words in shown)
    html = page.read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert all(words in html for words in ("No violation found", "GridSynopsis, pure"))
    assert not any(words in html.replace("http-equiv", "") for words in ("<script", "http", "older"))
    found = json.loads(run("audit", *given, "--json").stdout)
    assert (found["passed"], found["seed"], found["checks"][0]["name"]) == (True, seed, "spending")
    assert found["checks"][0]["worst"] <= 1 + 1e-12


def test_a_planted_fault_is_caught_with_its_check_named(run: Run, tmp_path: Path, seed: int) -> None:
    page = tmp_path / "page.html"
    result = run("audit", "--plant", "debit-skipped", "--method", "GridSynopsis", "--seed", seed, "-o", page, code=1)
    assert "Planted: answers are not debited" in result.stdout
    assert "VIOLATED" in result.stdout
    assert "Caught by spending." in result.stdout
    html = page.read_text(encoding="utf-8")
    assert "A fault was planted" in html
    assert "The planted fault was caught" in html


def test_a_fault_that_is_missed_is_said_so(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PLANTS, "lines-as-rows", replace(PLANTS["lines-as-rows"], check="spending"))
    result = run("audit", "--plant", "lines-as-rows", "--method", "GridSynopsis", "-o", tmp_path / "page.html")
    assert "MISSED" in result.stdout


def test_plants_are_listed(run: Run) -> None:
    result = run("audit", "--list-plants")
    assert all(name in result.stdout for name in PLANTS)
    assert {one["name"] for one in json.loads(run("audit", "--list-plants", "--json").stdout)} == set(PLANTS)


def test_unknown_names_are_one_line(refused: Run, tmp_path: Path) -> None:
    refused("audit", "--plant", "nothing", match="--plant: expected 'all' or one of")
    page = ["-o", tmp_path / "page.html"]
    refused("audit", "--check", "hope", *page, match="audit.check: expected one of")
    refused("audit", "--method", "nobody", *page, match="audit.method: expected one of")
    refused("audit", "--engine", "steam", *page, match="audit.engine: expected one of")
    refused("audit", "--seed", "-1", *page, match="--seed: expected a whole number")
    assert not list(tmp_path.iterdir())
