# SPDX-License-Identifier: Apache-2.0
"""Imports go one way, algorithms cannot reach a row, and only one module makes generators."""

import ast

from tests.architecture._sources import MODULES, OPTIONAL, SOURCE, nodes, place, tree

GUARANTEE = ("columns", "privacy", "questions", "data", "vault")  # each may import those before it
PUBLIC = {"algorithms", "nearest", "plotting", "release", "synopsis"}  # arithmetic on public numbers
FITS = {*GUARANTEE, *PUBLIC, "cluster"}
SHOWN = {*FITS, "rivals", "forecast", "report"}
ANYONE = {"card", "engines", "exceptions", "files", "grids", "methods", "text", "validate", "_version"}
MAY_IMPORT = {  # besides itself, and what anyone may
    **{room: set(GUARANTEE[:place]) for place, room in enumerate(GUARANTEE)},
    "algorithms": {"columns", "questions"},  # so they cannot reach a row
    "nearest": {"columns", "questions"},
    "plotting": {"columns"},
    "schemas": {"columns"},
    "release": {"columns", "privacy", "data", "nearest", "algorithms", "plotting"},
    "synopsis": {"columns", "privacy", "questions", "algorithms", "plotting", "release"},
    "cluster": FITS,
    "rivals": {"algorithms", "cluster", "columns", "privacy", "questions"},
    "forecast": FITS | {"rivals"},
    "report": FITS | {"rivals"},
    "audit": SHOWN,
    "cli": SHOWN | {"audit"},
    "demo": SHOWN | {"cli"},
    "__main__": {"cli"},
    "__init__": SHOWN - {"rivals"} | {"schemas"},
}
MAKERS = "default_rng Generator PCG64 Philox RandomState SeedSequence seed urandom SystemRandom"
MAKES_RANDOMNESS = frozenset(MAKERS.split())


def room_of(path):
    """Return the room of a file: its folder, or its own name at the top."""
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else path.stem


def imported(path, among=nodes):
    """Yield every module that a file imports, wherever the statement stands, or among these nodes."""
    for node in among(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names) if node.module == "cloister" else [node.module]


def rooms_imported(path):
    own = {name.split(".")[1] for name in imported(path) if name.startswith("cloister.")}
    return {room for room in own if (SOURCE / room).exists() or (SOURCE / f"{room}.py").exists()} - ANYONE


def test_imports_go_one_way():
    assert {room_of(path) for path in MODULES} == {*MAY_IMPORT, *ANYONE}, "rooms come and go in the table, too"
    for path in MODULES:
        room = room_of(path)
        assert rooms_imported(path) <= MAY_IMPORT.get(room, set()) | {room}, place(path)


def test_algorithms_use_numerical_libraries_and_nothing_else():
    allowed = {"numpy", "scipy", "sklearn", "cloister"}
    standard = {"math", "dataclasses", "collections", "typing", "itertools", "functools", "abc", "enum", "heapq", "warnings"}
    for path in (SOURCE / "algorithms").glob("*.py"):
        assert {name.split(".")[0] for name in imported(path)} <= allowed | standard, path.name


def test_only_entropy_makes_generators():
    for path in MODULES:
        if path.relative_to(SOURCE).parts in (("privacy", "_entropy.py"), ("demo.py",)):
            continue  # the demo makes up patients, not noise
        calls = [node for node in nodes(path) if isinstance(node, ast.Call)]
        for call in calls:
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            assert name not in MAKES_RANDOMNESS, f"{path.name} makes a source of randomness"
        assert not {"random", "secrets"} & {name.split(".")[0] for name in imported(path)}, path.name


def test_underscore_names_stay_where_they_are():
    """No such name of another library is used, and files of a folder are reached through the folder."""
    for path in MODULES:
        for name in imported(path):
            first, *parts = name.split(".")
            if first == "cloister":
                assert not parts[1:] or not parts[1].startswith("_") or parts[0] == room_of(path), f"{place(path)}: {name}"
            else:
                assert first == "__future__" or not any(part.startswith("_") for part in parts), f"{place(path)}: {name}"
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith(("cloister", "__future__")):
                assert not [alias.name for alias in node.names if alias.name.startswith("_")], place(path)


def test_optional_libraries_are_imported_where_they_are_used():
    for path in MODULES:
        at_the_top = imported(path, lambda path: tree(path).body)
        assert not OPTIONAL & {name.split(".")[0] for name in at_the_top}, path.name


def test_only_the_vault_reads_rows_exactly():
    """Whoever checks the guarantee reads questions, privacy and vault: nobody else folds a question or calls `exact`.

    Replays of the audit draw samples of tables that it has made up.
    """
    for path in MODULES:
        if room_of(path) in ("vault", "data", "questions") or path.relative_to(SOURCE).as_posix() == "audit/_tables.py":
            continue
        called = {node.func.attr for node in nodes(path) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
        assert not {"fold", "exact"} & called, path.name
