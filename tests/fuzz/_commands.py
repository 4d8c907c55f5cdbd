# SPDX-License-Identifier: Apache-2.0
"""Hostile command lines: exit code 0, or 2 and one line of error; no traceback, no planted value, nothing lost."""

import shlex
import shutil
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from click.testing import CliRunner
from hypothesis import strategies as st
from tests.fuzz._law import NUMBER_CANARY, TEXT_CANARY, no_warnings, refuse_quotes
from tests.fuzz._run import Target, scratch

from cloister import GridSynopsis, KMeans, Ledger
from cloister.cli import main

QUICK: dict[str, Any] = {"epsilon": 2.0, "bounds": (0, 100), "random_state": 0, "n_jobs": 1}
FIT = "-k 2 --epsilon 1 --bounds 0,100 --columns a,b --jobs 1 --seed 0 --allow-seeded"
COMMANDS = {
    "fit": f"fit {{table}} {FIT} --method lloyd --ledger {{ledger}} --output {{out}}/release.json",
    "grid": f"fit {{table}} {FIT} --method grid --report {{out}}/report.html -q",
    "plan": "plan --n-rows 1000 --features 2 -k 3 --epsilon 1 --delta 1e-6 --json",
    "show": "show {release} --report {out}/report.html --allow-seeded",
    "predict": "predict {release} {table} --output {out}/labels.csv",
    "synopsis fit": f"synopsis fit {{table}} {FIT} --rule 3 --output {{out}}/synopsis.json",
    "synopsis cut": "synopsis cut {synopsis} -k 2 --seed 0 --allow-seeded --output {out}/release.json",
    "synopsis choose-k": "synopsis choose-k {synopsis} --range 1:3 --seed 0 --json",
    "synopsis query": "synopsis query {synopsis} a=0:50,b=0:50 a=10:20",
    "synopsis sample": "synopsis sample {synopsis} -n 5 --seed 0 --allow-seeded --output {out}/rows.csv",
    "synopsis show": "synopsis show {synopsis} --json",
    "source-target": "source-target {public} --source {table} -k 2 --epsilon 1 --columns a,b --jobs 1 --indices {out}/rows.csv",
    "ledger create": "ledger create {out}/budget.sqlite --epsilon 1 --delta 1e-6 --name fuzz",
    "ledger show": "ledger show {ledger} --events",
    "ledger verify": "ledger verify {ledger}",
}
WORDS = [  # of options, of places, and whatever else
    *shlex.split(
        "- -- -1 0 1 2 1.5 nan inf -inf 1e400 1e-400 x 0,1 1,0 0,0 a,b,c a=0:1 a=1:0 a=0:1,a=0:2 =0:1 a=: a a,a , note"
    ),
    *shlex.split("zz 1:3 3:1 0:0 1:99999 rugnik 4,4 0,4 %s * ~ [ replace dask: kmeans é🙂 /dev/null /dev/full /"),
    *shlex.split("{table} {ledger} {release} {synopsis} {public} {out} {out}/new {missing} {damaged} {empty} {folder} {text}"),
    *("", "10" * 200, "{table}\n", "\x00", "\ud800"),
]
PLACES = ("/dev/null", "/dev/full", "/")
OPTIONS = shlex.split(
    "--json --force -q --quiet --help --version --bounds --columns --ledger --neighbours --n-rows --seed --allow-seeded "
    "--report --output -o --delta --epsilon --rho -k --jobs --rule --range --method --scaling --events --indices --scheduler "
    "--confidence --neighbors --checkpoint --name --unknown -x"
)


def cases() -> st.SearchStrategy[Any]:
    """Draw a command that works and what is done to its words."""
    words = st.one_of(
        st.sampled_from(WORDS), st.sampled_from(WORDS), st.text(max_size=4), st.integers(-3, 12).map(str), st.floats().map(str)
    )
    edits = st.one_of(
        st.tuples(st.sampled_from(["set", "set", "set", "add"]), st.integers(0, 20), words),
        st.tuples(st.sampled_from(["drop", "double"]), st.integers(0, 20), st.none()),
        st.tuples(st.just("add"), st.integers(0, 20), st.sampled_from(OPTIONS)),
    )
    return st.fixed_dictionaries({"command": st.sampled_from(sorted(COMMANDS)), "edits": st.lists(edits.map(list), max_size=3)})


def law(case: dict[str, Any]) -> str:
    """Return how the command ended."""
    head = len(case["command"].split()) if case["command"] != "grid" else 1
    words = COMMANDS[case["command"]].split()
    words = words[:head] + _damage(words[head:], case["edits"])
    files = _files()
    arguments = [_expand(word, files) for word in words]
    if _is_too_much(arguments) or any(_is_elsewhere(word, files["out"].parent) for word in arguments):
        return "not run"
    shutil.rmtree(files["out"])
    files["out"].mkdir()
    before = {name: path.read_bytes() for name, path in files.items() if path.is_file()}
    with no_warnings(), chdir(files["out"]):  # where a file of any name may be written
        result = CliRunner(catch_exceptions=True).invoke(main, arguments, input=b"")
    assert result.exception is None or isinstance(result.exception, SystemExit), f"{result.exception!r}"
    assert result.exit_code in (0, 2), f"exit code {result.exit_code}: {result.output[:300]}"
    written = {name for name, content in before.items() if files[name].read_bytes() != content}
    if result.exit_code == 0:
        forced = {name for name, path in files.items() if "--force" in arguments and str(path) in arguments}
        assert written <= {"ledger", *forced}, f"a file was replaced: {written}"
        return f"{case['command']}: ends well"
    help_shown = not result.stderr and "Usage:" in result.stdout
    one_line = result.stderr.startswith("Error: ") and result.stderr.count("\n") == 1
    assert help_shown or one_line, f"more or less than one line: {result.stderr[:300]!r}"
    assert not written, f"a command that failed wrote to {written}"
    refuse_quotes(result.stderr, result.stdout)
    return f"{case['command']}: {' '.join(result.stderr.split()[:4])[:60]}"


def _damage(words: list[str], edits: list[list[Any]]) -> list[str]:
    words = list(words)
    for kind, at, value in edits:
        place = at % max(len(words), 1)
        if kind == "add":
            words.insert(place, value)
        elif words:
            words[place : place + 1] = {"set": [value], "drop": [], "double": 2 * words[place : place + 1]}[kind]
    return words


def _expand(word: str, files: dict[str, Path]) -> str:
    word = word.replace("\x00", "")  # which no shell can pass
    for name, path in files.items():
        word = word.replace(f"{{{name}}}", str(path))
    return word


def _is_too_much(arguments: list[str]) -> bool:
    """Whether a command would work for a long time, read standard input for ever, or start another program."""
    large = [word for word in arguments if word.isascii() and word.isdecimal() and 100 < int(word) < 10**9]
    return bool(arguments and arguments[0] in ("audit", "compare")) or len(large) > arguments.count("1000")


def _is_elsewhere(word: str, folder: Path) -> bool:
    """Whether a word might be a place outside the folder of these tests."""
    rest = word.replace(str(folder), "", 1)
    return ".." in rest or (rest == word and "/" in word and word not in PLACES)


@cache
def _files() -> dict[str, Path]:
    """Make one file of every kind, with a planted row in the private table."""
    folder = scratch("commands")
    kinds = {"csv": ("table", "public", "empty", "text"), "json": ("release", "synopsis", "damaged"), "sqlite": ("ledger",)}
    files = {name: folder / f"{name}.{kind}" for kind, names in kinds.items() for name in names}
    rows = np.random.default_rng(0).uniform(0, 60, size=(12, 2)).round(3)
    _write_table(files["table"], [*rows.tolist(), [NUMBER_CANARY, NUMBER_CANARY]], note=TEXT_CANARY)
    _write_table(files["public"], rows.tolist(), note="x")
    named = pa.table({"a": rows[:, 0], "b": rows[:, 1]})
    KMeans(2, n_init=1, **QUICK).fit(named).release_.save(files["release"], allow_seeded=True)
    GridSynopsis(2, rule=3, **QUICK).fit(named).synopsis_.save(files["synopsis"], allow_seeded=True)
    Ledger.create(files["ledger"], epsilon=1e6, delta=0.1).close()
    files["damaged"].write_bytes(files["release"].read_bytes()[:-40])
    files["empty"].write_bytes(b"")
    files["text"].write_text("a,b\nx,y\nz,w\n")
    for name in ("out", "folder"):
        (folder / name).mkdir()
    files |= {"out": folder / "out", "folder": folder / "folder", "missing": folder / "missing.csv"}
    return files


def _write_table(path: Path, rows: list[list[float]], *, note: str) -> None:
    path.write_text("a,b,note\n" + "".join(f"{first},{second},{note}\n" for first, second in rows))


TARGET = Target("commands", cases, law, share=0.1)
