# SPDX-License-Identifier: Apache-2.0
"""Damaged releases and synopses: an error with a remedy, or something that still adds up, predicts, prints and reports."""

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from tests.fuzz._law import attempt
from tests.fuzz._run import Target, scratch

from cloister import GridKMeans, GridSynopsis, KMeans, PEMeans, Release, SourceTargetKMedoids, load_release, load_synopsis
from cloister.columns import Category, Date, Flag
from cloister.exceptions import ReleaseError

ROWS = np.random.default_rng(0).uniform(size=(12, 2))
QUICK: dict[str, Any] = {"epsilon": 2.0, "bounds": ([0, 0], [1, 2]), "random_state": 0, "n_jobs": 1, "n_init": 1}
SCRIPT = "<script>alert(1)</script>"
DEEP: Any = [[[[[[[[1]]]]]]]]
Documents: TypeAlias = Callable[[], dict[str, bytes]]  # by name
CHUNK = 7  # bytes that are moved or doubled at once


def damage(content: bytes, edits: list[list[Any]]) -> bytes:
    """Do what the edits say: to the document while it is one, to its bytes afterwards."""
    for kind, place, value in edits:
        if kind in ("set", "drop", "add"):
            content = _edit_document(content, kind, place, value)
        else:
            content = _edit_bytes(content, kind, place, value)
    return content


def _cases(documents: Documents) -> st.SearchStrategy[Any]:
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
    return st.tuples(st.sampled_from(sorted(documents())), edits).map(
        lambda drawn: {"of": drawn[0], "edits": [list(edit) for edit in drawn[1]]}
    )


def _edit_document(content: bytes, kind: str, place: int, value: Any) -> bytes:
    try:
        document = json.loads(content)
    except ValueError:  # a Parquet file
        return _edit_bytes(content, "byte", place / 400, 255)
    places = list(_places(document))
    if not places:
        return content
    holder, key = places[place % len(places)]
    if kind == "set":
        holder[key] = value
    elif kind == "drop":
        del holder[key]
    elif isinstance(holder, list):
        holder.append(value)
    else:
        holder["more"] = value
    return json.dumps(document).encode()


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every entry of a document, of the outer levels first."""
    level = [document]
    while level:
        below = []
        for holder in level:
            for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
                yield holder, key
                if isinstance(holder[key], dict | list):
                    below.append(holder[key])
        level = below


def _edit_bytes(content: bytes, kind: str, place: float, value: int) -> bytes:
    at = min(int(place * len(content)), max(len(content) - 1, 0))
    if kind == "byte":
        return content[:at] + bytes([value]) + content[at + 1 :]
    if kind == "cut":
        return content[:at]
    if kind == "double":
        return content[: at + CHUNK] + content[at:]
    if kind == "remove":
        return content[:at] + content[at + CHUNK :]
    return content + bytes([value]) * CHUNK


def _use_release(release: Release) -> str:
    from cloister.cli._print import print_release
    from cloister.report import report_html, summary

    assert release.receipt.spent.fits(release.receipt.guarantee)
    outcomes = [attempt(lambda: release.predict(np.resize(ROWS, (4, release.n_features)))), attempt(release.to_json)]
    if outcomes[1].error is None:
        again = attempt(lambda: Release.from_dict(json.loads(outcomes[1].value)))
        assert again.error is None, f"what was read cannot be written and read again: {again.error}"
    outcomes += [
        attempt(lambda: summary(release)),
        attempt(lambda: print_release(_console(), release)),
        attempt(lambda: report_html(release)),
    ]
    if outcomes[-1].error is None:
        assert SCRIPT.encode() not in outcomes[-1].value.encode(), "the report runs what a release says"
    return "; ".join(dict.fromkeys(one.label for one in outcomes))


def _use_synopsis(synopsis: Any) -> str:
    from cloister.report import synopsis_html

    assert synopsis.receipt.spent.fits(synopsis.receipt.guarantee)
    uses = [
        lambda: synopsis.cut(2, n_init=1, random_state=0),
        lambda: synopsis.choose_k([1, 2], random_state=0),
        lambda: synopsis.count((0.0, 0.5)),
        lambda: synopsis.sample(3, random_state=0),
        lambda: synopsis.marginal([0]),
        synopsis.to_arrow,
        lambda: synopsis.to_bytes("json"),
        lambda: synopsis.to_bytes("parquet"),
        lambda: synopsis_html(synopsis),
    ]
    outcomes = [attempt(use) for use in uses]
    assert outcomes[-1].error is not None or SCRIPT not in outcomes[-1].value, "the report runs what a synopsis says"
    return "; ".join(dict.fromkeys(one.label for one in outcomes))


def _console() -> Any:
    from cloister.cli._print import open_console

    with contextlib.redirect_stdout(io.StringIO()):
        console = open_console()
    console.file = io.StringIO()
    return console


@cache
def _releases() -> dict[str, bytes]:
    models = {
        "kmeans": KMeans(2, **QUICK).fit(ROWS),
        "pe-means": PEMeans(2, n_rounds=2, n_variations=4, **QUICK).fit(ROWS),
        "grid": GridKMeans(2, rule=3, **QUICK).fit(ROWS),
        "described": _described(),
        "medoids": SourceTargetKMedoids(2, epsilon=2.0, random_state=0, n_jobs=1, n_init=1).fit(ROWS, source=ROWS),
    }
    return {name: model.release_.to_json().encode() for name, model in models.items()}


def _described() -> KMeans:
    """Return a model whose clusters are described by columns of every kind."""
    columns = {"age": ROWS[:, 0], "ward": ["north", "south"] * (len(ROWS) // 2), "smoker": ROWS[:, 1] > 0.5}
    table = pa.table({**columns, "day": pa.array(range(18300, 18300 + len(ROWS)), pa.int32()).cast(pa.date32())})
    behind = {"ward": Category(["north", "south"]), "smoker": Flag(), "day": Date("2020-01-01", "2021-01-01")}
    return KMeans(2, **{**QUICK, "bounds": {"age": (0, 1)}}, describe=0.5, describe_columns=behind).fit(table)


@cache
def _synopses() -> dict[str, bytes]:
    quick = {name: value for name, value in QUICK.items() if name != "n_init"}
    fits = {
        "pure": GridSynopsis(2, rule=3, **quick),
        "gaussian": GridSynopsis(2, rule="rugnik", delta=1e-6, scaling="bounds", **quick),
    }
    made = {name: model.fit(ROWS).synopsis_ for name, model in fits.items()}
    return {name: one.to_bytes() for name, one in made.items()} | {"parquet": made["pure"].to_bytes("parquet")}


def _target(name: str, documents: Documents, load: Callable[[Path], Any], use: Callable[[Any], str], share: float) -> Target:
    """Return the target: a damaged document is refused, or can be used."""

    def law(case: dict[str, Any]) -> str:
        path = scratch("documents") / "document.json"
        path.write_bytes(damage(documents()[case["of"]], case["edits"]))
        found = attempt(lambda: load(path))
        assert found.error is None or isinstance(found.error, ReleaseError)
        return use(found.value) if found.error is None else found.label

    return Target(name, lambda: _cases(documents), law, share)


RELEASES = _target("releases", _releases, load_release, _use_release, share=0.12)
SYNOPSES = _target("synopses", _synopses, load_synopsis, _use_synopsis, share=0.08)
