# SPDX-License-Identifier: Apache-2.0
"""The reference has every public name and every command; what it draws and lists is what the code has."""

import inspect
import re
from pathlib import Path

import cloister
from cloister import exceptions
from cloister.cli import main

DOCS = Path(__file__).parents[2] / "docs"
PYTHON = DOCS / "reference" / "python"
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in sorted(PYTHON.glob("*.md"))}
SUMMARY = re.compile(r"^\.\. autosummary::\n(?:   :\S.*\n)*\n((?:   \S+\n)+)", re.MULTILINE)


def listed() -> list[str]:
    """Return the names that the reference makes pages or entries of, as they are imported from the package."""
    names = [name for page in PAGES.values() for block in SUMMARY.findall(page) for name in block.split()]
    names += re.findall(r"^\.\. autoexception:: (\S+)$", PAGES["errors"], re.MULTILINE)
    return names + re.findall(r"^\.\. py:data:: cloister\.(\S+)$", PAGES["index"], re.MULTILINE)


def test_every_public_name_is_in_the_reference_once() -> None:
    names = listed()
    assert [name for name in cloister.__all__ if names.count(name) != 1] == []


def test_what_else_is_in_the_reference_exists_and_is_documented() -> None:
    for name in set(listed()) - set(cloister.__all__):
        home, _, last = name.rpartition(".")
        module = __import__(f"cloister.{home}" if home else "cloister.exceptions", fromlist=[last])
        assert last in module.__all__, name
        assert inspect.getdoc(getattr(module, last)), name


def test_the_tree_of_errors_is_that_of_the_code() -> None:
    tree = re.findall(r"^    (.*[A-Z]\w+ .*|CloisterError)$", inspect.getdoc(exceptions) or "", re.MULTILINE)
    assert len(tree) == len(exceptions.__all__)
    for line in tree:
        assert f"    {line}\n" in PAGES["errors"]
    assert set(exceptions.__all__) <= set(listed())


def test_every_group_of_commands_has_a_part_of_their_page_which_the_reference_has() -> None:
    titles = " ".join(re.findall(r"^#+ (.*)$", (DOCS / "cli.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert [name for name in main.commands if f"`{name}`" not in titles] == []
    assert re.search(r"^\.\./cli$", (DOCS / "reference" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
