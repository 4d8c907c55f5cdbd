# SPDX-License-Identifier: Apache-2.0
"""docs/cli.md says what the commands themselves say."""

import click
import pytest

from cloister.cli import main
from cloister.methods import METHODS
from cloister.methods import commands as methods

from ._reference import PAGE, commands, option_rows, render
from .conftest import Run

COMMANDS = dict(commands())


def test_the_page_has_every_command_and_option_in_its_own_words(run: Run) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert render(page) == page, "write the tables again: python -m tests.cli._reference"
    lines = page.splitlines()
    for name, command in COMMANDS.items():
        assert f"cloister {name} " in page
        assert [row for row in option_rows(command) if row not in lines] == []
        assert run(*name.split(), "--help").stdout.startswith(f"Usage: main {name} ")
    assert [name for name in main.commands if f"`{name}`" not in page] == []


def test_methods_are_those_of_the_table(run: Run) -> None:
    text, page = " ".join(run("fit", "--help").stdout.split()), PAGE.read_text(encoding="utf-8")
    for name, method in methods().items():
        assert f"{name} {method.summary}" in text
        assert f"| `{name}` | {method.summary} |" in page
    assert next(one.default for one in COMMANDS["fit"].params if one.name == "method") == "kmeans"
    assert next(one.default for one in COMMANDS["compare"].params if one.name == "delta") == METHODS["KMeans"].delta


@pytest.mark.parametrize("command", ["fit", "plan", "source-target", "synopsis fit"])
def test_deltas_that_depend_on_the_method_are_said(command: str) -> None:
    option = next(one for one in COMMANDS[command].params if one.name == "delta")
    assert isinstance(option, click.Option)
    assert not option.show_default
    said = {
        "plan": "Default: 1e-06, and 0 for grid, tree, grid-synopsis and source-target.",
        "source-target": "Default: 0.",
        "synopsis fit": "Default: 0 for a grid, 1e-06 for points.",
    }
    assert said.get(command, "Default: 1e-06, and 0 for grid and tree.") in str(option.help)
