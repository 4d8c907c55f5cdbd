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
    run("audit", *given, shows=["spending", "passed", f"No violation found. Seed {seed}; false alarms at most 1e-06."])
    html = page.read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert all(words in html for words in ("No violation found", "GridSynopsis, pure"))
    assert not any(words in html.replace("http-equiv", "") for words in ("<script", "http", "older"))
    found = json.loads(run("audit", *given, "--json").stdout)
    assert (found["passed"], found["seed"], found["checks"][0]["name"]) == (True, seed, "spending")
    assert found["checks"][0]["worst"] <= 1 + 1e-12


def test_a_planted_fault_is_caught_with_its_check_named(run: Run, tmp_path: Path, seed: int) -> None:
    page = tmp_path / "page.html"
    shown = "Planted: answers are not debited", "VIOLATED", "Caught by spending."
    run("audit", "--plant", "debit-skipped", "--method", "GridSynopsis", "--seed", seed, "-o", page, code=1, shows=shown)
    html = page.read_text(encoding="utf-8")
    assert "A fault was planted" in html
    assert "The planted fault was caught" in html


def test_a_fault_that_is_missed_is_said_so(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PLANTS, "lines-as-rows", replace(PLANTS["lines-as-rows"], check="spending"))
    run("audit", "--plant", "lines-as-rows", "--method", "GridSynopsis", "-o", tmp_path / "page.html", shows=["MISSED"])


def test_plants_are_listed(run: Run) -> None:
    run("audit", "--list-plants", shows=PLANTS)
    assert {one["name"] for one in json.loads(run("audit", "--list-plants", "--json").stdout)} == set(PLANTS)


def test_unknown_names_are_one_line(refused: Run, tmp_path: Path) -> None:
    refused("audit", "--plant", "nothing", match="--plant: expected 'all' or one of")
    page = ["-o", tmp_path / "page.html"]
    refused("audit", "--check", "hope", *page, match="audit.check: expected one of")
    refused("audit", "--seed", "-1", *page, match="-1 is not in the range")
    assert not list(tmp_path.iterdir())
