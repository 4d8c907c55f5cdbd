# SPDX-License-Identifier: Apache-2.0
"""``cloister schema``: a draft of what the columns of a table are, from names and types alone. Reads no row, costs nothing."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from cloister.cli._bounds import HELP_KEY, UNKNOWN_TYPE
from cloister.cli._options import FORCE, file_options, option
from cloister.cli._output import STANDARD_OUTPUT, open_target, refuse_ending, refuse_same
from cloister.exceptions import DataError

if TYPE_CHECKING:
    from cloister.data import Column

HELP = [
    "A draft: fill in what is known without looking at the data; delete columns that are not wanted, identifiers above all.",
    'A number needs low and high. Write "private" for low to find both with noise, for a share of the budget.',
    "A category needs all its levels, a date low and high such as 2026-12-31, a flag nothing. A code is a category.",
    'Every column may have missing ("mean", "middle", "own", or a value to put in its place) and weight (1 is usual).',
]
NO_ENDS = {"low": None, "high": None}
DRAFTS: dict[str, dict[str, Any]] = {  # by what a column holds
    "bool": {"type": "flag"},
    "integer": {"type": "number", **NO_ENDS},
    "fraction": {"type": "number", **NO_ENDS},
    "text": {"type": "category", "levels": []},
    "time": {"type": "date", **NO_ENDS},
}
UNKNOWN_HELP = (
    'Text declares no types: in place of "?" write number (low, high), category (levels), flag, date (low, high) or '
    "cyclic (period)."
)


@click.command(short_help="Draft what the columns of a table are.")
@click.argument("data", metavar="DATA")
@option("-o", "--output", metavar="FILE", default="-", help="Where to write, .json or .toml; '-' is standard output, as JSON.")
@option(
    "--privacy-unit", metavar="COLUMN", help="Leave this column out: it says whose row it is, for 'fit --privacy-unit COLUMN'."
)
@file_options
@FORCE
def schema(data: str, output: str, *, privacy_unit: str | None, force: bool, **text: Any) -> None:
    """Write a draft to fill in that says what each column of DATA is, for --bounds.

    Only names and declared types are read, of a CSV file the first line: never a value. Nothing is spent. Names are published
    with a release, so check that the first line of a CSV file holds names.

    \b
    Examples:
      cloister schema patients.parquet --output schema.json
      cloister schema patients.csv --output schema.toml
      cloister schema visits.parquet --privacy-unit patient_id --output schema.json
      cloister fit patients.parquet -k 5 --epsilon 1 --bounds schema.json --output release.json
    """  # noqa: D301
    refuse_ending("--output", output, (".json", ".toml"), what="a schema is written as JSON or TOML")
    refuse_same([("DATA", data)], [("--output", output)])
    from cloister.data import describe_columns

    columns = describe_columns(data, where="schema", **text)
    if privacy_unit is not None and privacy_unit not in (column.name for column in columns):
        # No name of the table is quoted: the first line of a CSV file may be somebody's row.
        raise DataError(
            f"--privacy-unit: expected a column of the table, got {privacy_unit!r}. Check the name, or leave it out."
        )
    draft = draft_schema([column for column in columns if column.name != privacy_unit])
    with open_target("--output", output, force=force) as target:
        target.write(_toml_text(draft) if output.lower().endswith(".toml") else _json_text(draft))
    if output != STANDARD_OUTPUT:
        click.echo(f"The draft is in {output}. Fill it in with what is known without looking at the data.", err=True)


def draft_schema(columns: "Sequence[Column]") -> dict[str, dict[str, Any]]:
    """Return what types say of columns, with empty places for what only people know.

    Examples
    --------
    >>> from cloister.data import Column
    >>> draft_schema([Column("age", "text")])
    {'age': {'type': '?'}}
    """
    names = [column.name for column in columns]
    if twice := [name for name in names if names.count(name) > 1]:
        raise DataError(f"schema: column {twice[0]!r} occurs {names.count(twice[0])} times. Rename all but one of them.")
    return {column.name: {"type": UNKNOWN_TYPE} | DRAFTS.get(column.holds.value, {}) for column in columns}


def _help(draft: dict[str, dict[str, Any]]) -> list[str]:
    return [*HELP, *([UNKNOWN_HELP] if any(one["type"] == UNKNOWN_TYPE for one in draft.values()) else [])]


def _json_text(draft: dict[str, dict[str, Any]]) -> str:
    """Return a draft as JSON, one column a line."""
    words = "[\n  " + ",\n  ".join(map(_json, _help(draft))) + "\n ]"
    lines = [f" {_json(name)}: {_json(one)}" for name, one in draft.items()]
    first = [] if HELP_KEY in draft else [f" {_json(HELP_KEY)}: {words}"]  # a column may be called anything
    return "{\n" + ",\n".join([*first, *lines]) + "\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _toml_text(draft: dict[str, dict[str, Any]]) -> str:
    """Return a draft as TOML, one table for each column; what is to be filled in is an empty word, as TOML knows no null."""
    comments = "\n".join(f"# {line}" for line in _help(draft))
    tables = [
        "\n".join([f"[{_toml(name)}]", *(f"{key} = {_toml(value)}" for key, value in one.items())])
        for name, one in draft.items()
    ]
    return "\n\n".join([comments, *tables]) + "\n"


def _toml(value: Any) -> str:
    """Return a word or an empty place: basic strings of TOML are those of JSON, but for one character."""
    return "[]" if isinstance(value, list) else _json(value or "").replace("\x7f", "\\u007f")
