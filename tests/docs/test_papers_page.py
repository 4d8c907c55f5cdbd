# SPDX-License-Identifier: Apache-2.0
"""docs/papers.md is complete, and its files and names exist."""

import re
from pathlib import Path

from benchmarks.suites import SUITES

import cloister

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_every_paper_is_complete() -> None:
    named = [*(f"Algorithm {number}" for number in (1, 2, 3)), "Figure 1", "Figure 2", "Figures 3 and 4", "IV-C", "Table I"]
    named += ["Theorem III.1", "Theorem III.2", "Theorem 2", "Proposition 1", "Remark 1", "Table II", "Table III", "h(m)"]
    named += ["E[nu]", "Observation 4.1", "4.2", "5.1", "5.8", "5.3", "5.5", "5.10", "5.11", "5.12", "5.13", "Corollary B.1"]
    named += ["Delta_t(S)", "C.1", "C.2", "C.3", "C.4", "C.5", "C.6", "C.7", "AkM", "Figure 3, bottom"]
    assert [name for name in named if name not in PAGE] == []
    assert {line.count("|") for line in PAGE.splitlines() if line.startswith("| ")} == {5}, "four cells in a row"
    assert [name for name in SUITES if name not in ("speed", "scaling") and f"python -m benchmarks {name}`" not in PAGE] == []


def test_every_file_and_name_exists() -> None:
    files = re.findall(r"`((?:src|benchmarks)/[^`]*)`", PAGE)
    assert [file for file in files if not (ROOT / file).exists()] == []
    for name in re.findall(r"`cloister\.([a-z_]+)`", PAGE):
        assert name in cloister.__all__
    for name, parameter in re.findall(r"`([A-Z]\w+)\((\w+)=", PAGE):
        assert parameter in getattr(cloister, name)().get_params()
