# SPDX-License-Identifier: Apache-2.0
"""The tables of fields in docs/reference, made from the schemas: ``python -m tests.schemas._pages`` writes them.

A page marks where a table stands, and which part of which schema it is of, by ``<!-- fields: release receipt -->``.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cloister import json_schema
from cloister.schemas import FORMATS

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGES = {name: FOLDER / f"{name}.md" for name in FORMATS}
MARK = re.compile(r"(<!-- fields: (\w+)(?: (\w+))? -->\n).*?(<!-- end of fields -->)", re.DOTALL)
# Where each part is shown: a page and the anchor of a heading.
SHOWN = {
    "balance": "release.md#receipt",
    "ball": "release.md#domain",
    "box": "release.md#domain",
    "cells": "release.md#cells",
    "column": "release.md#domain",
    "columns": "release.md#domain",
    "cost": "ledger.md#lines",
    "domain": "release.md#domain",
    "event": "release.md#events",
    "privacy_unit": "release.md#receipt",
    "guarantee": "release.md#guarantee",
    "profile": "release.md#profiles",
    "receipt": "release.md#receipt",
    "step": "release.md#steps",
    "warning": "release.md#warnings",
}
TYPES = {"string": "text", "boolean": "true or false", "null": "null", "array": "list", "object": "object"}
LISTS = {"number": "numbers", "integer": "integers", "string": "texts", "boolean": "true or false"}


def with_tables(name: str, text: str) -> str:
    """Return the text of a page with its tables as the schemas have them."""

    def table(found: re.Match[str]) -> str:
        schema = json_schema(found[2])
        part = schema["$defs"][found[3]] if found[3] else schema
        return f"{found[1]}\n{_Tables(schema, f'{name}.md').of(part)}\n{found[4]}"

    return MARK.sub(table, text)


@dataclass(frozen=True)
class _Tables:
    """Tables of the parts of a schema, for one page."""

    schema: dict[str, Any]
    page: str

    def of(self, part: dict[str, Any]) -> str:
        """Return the table of a part; of several kinds of one thing, one table of all of them."""
        if "oneOf" in part:
            return self._alternatives(part["oneOf"])
        lines = ["| field | what it holds | meaning |", "|---|---|---|"]
        lines += [f"| {' | '.join(self._cells(field, about, part))} |" for field, about in part["properties"].items()]
        return "\n".join(lines) + "\n"

    def _alternatives(self, parts: list[dict[str, Any]]) -> str:
        """Return one table of several kinds of one thing; what is the same in several is said once."""
        kinds: dict[tuple[str, ...], list[str]] = {}
        for part in parts:
            fields = part["properties"]
            kind = self._kind(fields.get("kind") or fields["type"])
            for field, about in fields.items():
                kinds.setdefault(self._cells(field, about, part), []).append(kind)
        lines = ["| field | of | what it holds | meaning |", "|---|---|---|---|"]
        for (field, holds, meaning), those in kinds.items():
            lines.append(f"| {field} | {'all' if len(those) == len(parts) else ', '.join(those)} | {holds} | {meaning} |")
        return "\n".join(lines) + "\n"

    def _cells(self, field: str, about: dict[str, Any], part: dict[str, Any]) -> tuple[str, ...]:
        optional = "" if field in part["required"] else "; optional"
        referred = self.schema["$defs"][about["$ref"].rpartition("/")[2]] if "$ref" in about else {}
        meaning = about.get("description", referred.get("description", ""))
        return f"`{field}`", self._kind(about) + optional, meaning

    def _kind(self, about: dict[str, Any]) -> str:
        """Say in words what a field holds."""
        if "const" in about:
            return f"`{_plain(about['const'])}`"
        if "enum" in about:
            return ", ".join(f"`{_plain(one)}`" for one in about["enum"])
        if "$ref" in about:
            part = about["$ref"].rpartition("/")[2]
            return f"[{part}]({SHOWN[part].removeprefix(self.page)})"
        if "anyOf" in about:
            return " or ".join(self._kind(one) for one in about["anyOf"])
        types = about["type"] if isinstance(about["type"], list) else [about["type"]]
        return " or ".join(self._list(about) if one == "array" else TYPES.get(one, one) for one in types)

    def _list(self, about: dict[str, Any]) -> str:
        items = about.get("items", {})
        if "$ref" in items:
            return f"list of {self._kind(items)}"
        if items.get("type") == "array":
            return "list of lists of numbers"
        types = items.get("type", [])
        words = [LISTS[one] for one in ([types] if isinstance(types, str) else types)]
        return "list of " + " or ".join(words) if words else "list"


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    for page, path in PAGES.items():
        path.write_text(with_tables(page, path.read_text(encoding="utf-8")), encoding="utf-8")
