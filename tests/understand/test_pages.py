# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/understand print what they say they print, and name only limits that the package really has."""

import re

import pytest

from ._outputs import PAGES, with_outputs


@pytest.mark.parametrize("name", PAGES)
def test_blocks_print_what_the_page_shows(name: str) -> None:
    text = PAGES[name].read_text(encoding="utf-8")
    assert with_outputs(text) == text, "run python -m tests.understand._outputs"


def test_the_index_leads_to_every_page() -> None:
    index = PAGES["index.md"].read_text(encoding="utf-8")
    entries = {entry for block in re.findall(r"```\{toctree\}\n.*?\n\n(.*?)```", index, re.DOTALL) for entry in block.split()}
    assert {name.removesuffix(".md") for name in PAGES} - {"index"} <= entries
    assert all((PAGES["index.md"].parent / f"{entry}.md").exists() for entry in entries)
