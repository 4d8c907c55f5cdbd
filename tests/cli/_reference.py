# SPDX-License-Identifier: Apache-2.0
"""The tables of options in docs/cli.md, made from the commands themselves: ``python -m tests.cli._reference`` writes them.

A table stands between ``<!-- options: fit -->`` and ``<!-- end -->``. With ``<!-- options: show, besides those above -->`` it
leaves out options that an earlier table has in the same words.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from cloister.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
TABLE = re.compile(r"<!-- options: (?P<name>[a-z -]+?)(?P<rest>, besides those above)? -->\n.*?<!-- end -->", re.DOTALL)


def commands(group: click.Group = main, start: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield every command that does something itself, by its full name."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{start}{name} ")
        else:
            yield f"{start}{name}", command


def option_rows(command: click.Command) -> list[str]:
    """Return a line of a table for each option that the help of a command shows."""
    context = click.Context(command)
    records = [one.get_help_record(context) for one in command.params if isinstance(one, click.Option)]
    escaped = [(names.replace("|", r"\|"), meaning.replace("  [", " [")) for names, meaning in filter(None, records)]
    return [f"| `{names}` | {meaning} |" for names, meaning in escaped]


def render(page: str) -> str:
    """Return the page with all tables made anew."""
    named, above = dict(commands()), set[str]()

    def table(place: re.Match[str]) -> str:
        rows = [row for row in option_rows(named[place["name"]]) if not place["rest"] or row not in above]
        above.update(rows)
        return "\n".join([place[0].partition("\n")[0], "| option | meaning |", "|---|---|", *rows, "<!-- end -->"])

    return TABLE.sub(table, page)


if __name__ == "__main__":
    PAGE.write_text(render(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
