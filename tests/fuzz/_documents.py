# SPDX-License-Identifier: Apache-2.0
"""Damaged releases and synopses: an error with a remedy, or something that still adds up, predicts, prints and reports."""

import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from tests.fuzz._law import attempt
from tests.fuzz._run import Target, scratch
from tests.release.test_damage import GRIDS, LOST, PRODUCTS, damaged, made, places, use

from cloister import Release, load_release, load_synopsis
from cloister.exceptions import ReleaseError

SCRIPT = "<script>alert(1)</script>"
DEEP: Any = [[[[[[[[1]]]]]]]]
CHUNK = 7  # bytes that are moved or doubled at once


def damage(content: bytes, edits: list[list[Any]]) -> bytes:
    """Do what the edits say: to the document while it is one, to its bytes afterwards."""
    for kind, place, value in edits:
        if kind in ("set", "drop", "add"):
            content = _edit_document(content, kind, place, value)
        else:
            content = _edit_bytes(content, kind, place, value)
    return content


def _cases(documents: Iterable[str]) -> st.SearchStrategy[Any]:
    """Draw a document and what is done to it."""
    leaves = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 5),
        st.floats(),
        st.sampled_from(
            [10**30, 10**400, 1e308, -1e308, 5e-324, 1e-150, "", "x", "NaN", "none", "bounds", SCRIPT, DEEP, "\ud800", "\x00"]
        ),
        st.text(max_size=4),
    )
    values = st.one_of(
        leaves, st.lists(leaves, max_size=3), st.dictionaries(st.sampled_from(["kind", "v", "low", "x"]), leaves, max_size=2)
    )
    place = st.integers(0, 400)
    document = st.tuples(st.sampled_from(["set", "set", "drop", "add"]), place, values)
    raw = st.tuples(st.sampled_from(["byte", "cut", "double", "remove", "append"]), st.floats(0, 1), st.integers(0, 255))
    edits = st.one_of(*3 * [st.lists(document, min_size=1, max_size=3)], st.lists(raw, min_size=1, max_size=3))
    return st.tuples(st.sampled_from(sorted(documents)), edits).map(
        lambda drawn: {"of": drawn[0], "edits": [list(edit) for edit in drawn[1]]}
    )


def _edit_document(content: bytes, kind: str, place: int, value: Any) -> bytes:
    try:
        document = json.loads(content)
    except ValueError:  # a Parquet file
        return _edit_bytes(content, "byte", place / 400, 255)
    ways = sorted(places(document), key=len) if isinstance(document, dict | list) else []  # of the outer levels first
    if not ways:
        return content
    at = ways[place % len(ways)]
    if kind == "add":  # beside it: of a list, in its place
        at = (*at[:-1], "more") if isinstance(at[-1], str) else at
    return json.dumps(damaged(document, at, LOST if kind == "drop" else value)).encode()


def _edit_bytes(content: bytes, kind: str, place: float, value: int) -> bytes:
    at = min(int(place * len(content)), max(len(content) - 1, 0))
    return {
        "byte": content[:at] + bytes([value]) + content[at + 1 :],
        "cut": content[:at],
        "double": content[: at + CHUNK] + content[at:],
        "remove": content[:at] + content[at + CHUNK :],
        "append": content + bytes([value]) * CHUNK,
    }[kind]


@cache
def _document(name: str) -> bytes:
    product, _, kind = name.partition(" as ")
    found = made(product)
    return found.to_json().encode() if isinstance(found, Release) else found.to_bytes(kind or "json")


def _target(name: str, products: Iterable[str], load: Callable[[Path], Any], share: float) -> Target:
    """Return the target: a damaged document is refused, or can be used."""

    def law(case: dict[str, Any]) -> str:
        path, report = (scratch("documents") / name for name in ("document.json", "report.html"))
        path.write_bytes(damage(_document(case["of"]), case["edits"]))
        found = attempt(lambda: load(path))
        if found.error is not None:
            assert isinstance(found.error, ReleaseError)
            return found.label
        assert found.value.receipt.spent.fits(found.value.receipt.guarantee)
        used = attempt(lambda: use(found.value, report))
        assert not report.exists() or SCRIPT not in report.read_text(encoding="utf-8"), "the report runs what a document says"
        return used.label

    return Target(name, lambda: _cases(products), law, share)


RELEASES = _target("releases", sorted({*PRODUCTS} - {*GRIDS}), load_release, share=0.12)
SYNOPSES = _target("synopses", [*GRIDS, "grid as parquet", "points as parquet"], load_synopsis, share=0.08)
