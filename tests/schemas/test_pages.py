# SPDX-License-Identifier: Apache-2.0
"""The pages of the file formats say what schemas and code say."""

import re

import pytest

from cloister import json_schema
from cloister.privacy._ledger_store import APPLICATION_ID, SCHEMA

from ._pages import PAGES, SHOWN, with_tables

TEXTS = {name: path.read_text(encoding="utf-8") for name, path in PAGES.items()}
every_page = pytest.mark.parametrize("name", PAGES)


@every_page
def test_the_tables_are_those_of_the_schemas(name: str) -> None:
    assert TEXTS[name] == with_tables(name, TEXTS[name]), "run python -m tests.schemas._pages"


def test_every_part_of_every_schema_is_shown() -> None:
    shown = {part for text in TEXTS.values() for part in re.findall(r"<!-- fields: \w+ (\w+) -->", text)}
    assert {part for name in PAGES for part in json_schema(name)["$defs"]} - shown == {"domain"}  # one of three that are


@pytest.mark.parametrize("part", SHOWN)
def test_a_link_to_a_part_leads_to_its_table(part: str) -> None:
    page, _, anchor = SHOWN[part].partition(".md#")
    section = re.search(rf"^## {anchor}$.*?(?=^## |\Z)", TEXTS[page], re.MULTILINE | re.DOTALL | re.IGNORECASE)
    assert section is not None
    assert part == "domain" or f"<!-- fields: {page} {part} -->" in section[0]


def test_the_ledger_has_the_table_and_the_header_that_the_page_states() -> None:
    assert SCHEMA[0] in TEXTS["ledger"]
    assert f"| {APPLICATION_ID}, the letters" in TEXTS["ledger"]
