# SPDX-License-Identifier: Apache-2.0
"""The auditor's page names every file that the guarantee rests on, and none that is not there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "auditing.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`((?:src|tests)/\S+?\.py)`", PAGE)


def test_files_that_are_named_are_there() -> None:
    assert [name for name in NAMED if not (ROOT / name).is_file() or NAMED.count(name) > 1] == []


def test_the_questions_of_rivals_are_named() -> None:
    rooms = ROOT / "src" / "cloister" / "rivals"
    asking = {
        path.name
        for path in rooms.glob("*.py")
        if re.search(r"^class \w+\(.*(Question|Counts|Sums|Costs)", path.read_text(), re.M)
    }
    assert {f"src/cloister/rivals/{name}" for name in asking} == {name for name in NAMED if "cloister/rivals/" in name}


@pytest.mark.parametrize("folder", ["columns", "privacy", "questions", "data"])
def test_no_module_is_missing(folder: str) -> None:
    modules = {f"src/cloister/{folder}/{path.name}" for path in (ROOT / "src" / "cloister" / folder).glob("*.py")}
    assert modules - {f"src/cloister/{folder}/__init__.py"} == {name for name in NAMED if f"cloister/{folder}/" in name}


def test_the_vault_and_cleaning_are_named() -> None:
    assert {"src/cloister/vault.py", "src/cloister/cluster/_base.py", "src/cloister/cluster/_first.py"} <= set(NAMED)
    assert "`Frame.clean`" in PAGE
    assert "`ColumnFrame.clean`" in PAGE


def test_every_proof_is_reached() -> None:
    links = set(re.findall(r"\]\(([^)#]+)\)", PAGE))
    proofs = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs" / "proofs").rglob("*.md")}
    assert proofs <= links
