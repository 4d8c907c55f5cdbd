# SPDX-License-Identifier: Apache-2.0
"""Damaged ledgers: refused, with their bytes as they were, or open with no more left than the honest one had.

Whoever rewrites the whole chain of digests can write any ledger; then the checkpoint, kept elsewhere, must find it.
"""

import hashlib
import json
import sqlite3
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.fuzz._documents import damage
from tests.fuzz._law import Outcome, attempt
from tests.fuzz._run import Target, scratch

from cloister import GDP, GridSynopsis, Ledger, PureDP
from cloister.columns import Relation
from cloister.exceptions import LedgerError
from cloister.rivals import LloydKMeans

ROWS = np.random.default_rng(0).uniform(size=(12, 2))
SLACK = 1e-9  # of what is left, for rounding
FIELDS = (
    *("v", "kind", "budget", "neighbours", "planned", "pure_epsilon", "account"),
    *("cost", "event", "scale", "sensitivity", "size", "when"),
)
COSTS = [{"kind": "pure", "epsilon": 1e9}, {"kind": "gdp", "mu": 1e-9}, {"kind": "zcdp", "rho": 1.0}, {"kind": "none"}]
VALUES = [*COSTS, *[10**400, [], "budget", "close", "reserve", "replace", "exponential"]]


def cases() -> st.SearchStrategy[Any]:
    """Draw a ledger and what is done to its bytes, or to its lines."""
    base = st.sampled_from(["gaussian", "pure", "open"])
    kinds = st.sampled_from(["byte", "byte", "cut", "double", "remove", "append"])
    raw = st.tuples(kinds, st.floats(0, 1), st.integers(0, 255))
    line_edits, byte_edits = (st.lists(edit.map(list), min_size=1, max_size=4) for edit in (_line_edits(), raw))
    lines = st.fixed_dictionaries({"of": base, "lines": line_edits, "rechain": st.booleans()})
    files = st.fixed_dictionaries({"of": base, "bytes": byte_edits})
    other = st.binary(max_size=120).map(lambda content: {"other": content.decode("latin-1")})
    return st.one_of(lines, lines, lines, files, files, other)


def _line_edits() -> st.SearchStrategy[Any]:
    values = st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.floats(), st.text(max_size=3), st.sampled_from(VALUES))
    field = st.tuples(st.sampled_from(FIELDS), values).map(list)
    line = st.integers(0, 10)
    return st.one_of(
        st.tuples(st.sampled_from(["set", "again"]), line, field),
        st.tuples(st.sampled_from(["delete", "double", "swap", "again", "again"]), line, st.none()),
        st.tuples(st.just("replace"), line, st.one_of(values, st.dictionaries(st.sampled_from(FIELDS), values, max_size=3))),
        st.tuples(st.sampled_from(["version", "digest"]), line, st.integers(-1, 12)),
    )


def law(case: dict[str, Any]) -> str:
    """Return how opening the damaged ledger ended."""
    honest = _honest().get(case.get("of", ""))
    path = scratch("ledgers") / "ledger.sqlite"
    for leftover in path.parent.glob("ledger.sqlite*"):
        leftover.unlink()
    rewritten = _write(case, path)
    before = path.read_bytes()
    found = attempt(lambda: _look(path))
    if found.error is not None:
        return _refused(found, path, before)
    left, left_pure = found.value
    if honest is not None and (left > honest["left"] + SLACK or left_pure > honest["left_pure"] + SLACK):
        assert rewritten, "a damaged ledger has more left than the honest one"
        known = attempt(lambda: Ledger.open(path, checkpoint=honest["checkpoint"]).close())
        assert known.error is not None, "a ledger that passes the checkpoint has more left than it had then"
    spent = attempt(lambda: _spend(path))
    if spent.error is not None:
        return f"opens; {_refused(spent, path, None)}"
    return "opens, spends"


def _refused(found: Outcome, path: Path, before: bytes | None) -> str:
    assert isinstance(found.error, LedgerError), "an error of another kind"
    assert before is None or path.read_bytes() == before, "a refused ledger was written to"
    assert [other.name for other in path.parent.glob("ledger.sqlite*")] == [path.name], "a journal is left behind"
    return found.label


def _look(path: Path) -> tuple[float, float]:
    with Ledger.open(path) as ledger:
        ledger.summary()
        assert len(ledger.lines) >= 1
        assert len(ledger.events) < len(ledger.lines)
        return ledger.left, ledger.left_pure


def _spend(path: Path) -> None:
    with Ledger.open(path) as ledger:
        cost = GDP(1e-6) if ledger.left > 1e-3 and not isinstance(ledger.budget, PureDP) else PureDP(1e-6)
        ledger.reserve(cost, purpose="fuzz", relation=Relation(ledger.neighbours)).close()


def _write(case: dict[str, Any], path: Path) -> bool:
    """Write the damaged file; return whether the chain was made whole again."""
    if "other" in case:
        path.write_bytes(case["other"].encode("latin-1"))
        return True
    content = _honest()[case["of"]]["content"]
    if "bytes" in case:
        path.write_bytes(damage(content, case["bytes"]))
        return False
    path.write_bytes(content)
    connection = sqlite3.connect(path, isolation_level=None)
    with connection:
        _edit_lines(connection, case["lines"], rechain=case["rechain"])
    connection.close()
    cut = any(kind == "delete" for kind, _, _ in case["lines"]) and any(kind == "version" for kind, _, _ in case["lines"])
    return bool(case["rechain"]) or cut  # the last lines and their counter: only a checkpoint can tell


def _edit_lines(connection: sqlite3.Connection, edits: list[list[Any]], *, rechain: bool) -> None:
    rows = [list(row) for row in connection.execute("SELECT id, line, digest FROM ledger ORDER BY id")]
    version = len(rows)
    for kind, at, value in edits:
        if kind == "version":
            version = value
        elif rows:
            _edit_rows(rows, kind, at % len(rows), value)
    if rechain:
        digest, version = "", len(rows)
        for number, row in enumerate(rows, start=1):
            digest = hashlib.sha256(f"{digest}\n{row[1]}".encode()).hexdigest()
            row[0], row[2] = number, digest
    for name in ("no_update", "no_delete", "no_replace"):
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("DELETE FROM ledger")
    for number, row in enumerate(rows, start=1):
        connection.execute("INSERT INTO ledger (id, line, digest) VALUES (?, ?, ?)", (number, row[1], row[2]))
    connection.execute(f"PRAGMA user_version = {version}")


def _edit_rows(rows: list[list[Any]], kind: str, at: int, value: Any) -> None:
    if kind in ("set", "again"):
        line = json.loads(rows[at][1])
        if isinstance(line, dict) and value is not None:
            line[value[0]] = value[1]
        if kind == "again":
            rows.append([0, "", ""])
        rows[at if kind == "set" else -1][1] = json.dumps(line)
    elif kind == "replace":
        rows[at][1] = json.dumps(value)
    elif kind == "delete":
        del rows[at]
    elif kind == "double":
        rows.insert(at, list(rows[at]))
    elif kind == "swap":
        rows[at], rows[-1] = rows[-1], rows[at]
    else:
        rows[at][2] = str(value)


@cache
def _honest() -> dict[str, dict[str, Any]]:
    """Make ledgers with a few debits: of Gaussian and of pure fits, and one whose fit was killed."""
    made, folder = {}, scratch("honest-ledgers")
    quick: dict[str, Any] = {"bounds": (0, 1), "epsilon": 0.3, "random_state": 0, "n_jobs": 1}
    for name, delta in (("gaussian", 1e-6), ("pure", 0.0), ("open", 1e-6)):
        with Ledger.create(folder / name, epsilon=1.0, delta=delta, name="fuzz") as ledger:
            LloydKMeans(2, n_rounds=1, delta=delta, ledger=ledger, **quick).fit(ROWS)
            if name == "pure":
                GridSynopsis(2, rule=2, ledger=ledger, **quick).fit(ROWS)
            if name == "open":
                ledger.reserve(GDP(0.05), purpose="killed", relation=Relation.ADD_REMOVE)
            made[name] = {"left": ledger.left, "left_pure": ledger.left_pure, "checkpoint": ledger.checkpoint}
        made[name]["content"] = (folder / name).read_bytes()
    return made


TARGET = Target("ledgers", cases, law, share=0.1)
