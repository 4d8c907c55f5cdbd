# SPDX-License-Identifier: Apache-2.0
"""Imports go one way, algorithms cannot reach a row, and only one module makes generators."""

import ast

from tests.architecture._sources import MODULES, SOURCE, nodes, place, tree

LAYERS = {
    "columns": 0,
    "privacy": 1,
    "questions": 2,
    "data": 3,
    "vault": 4,
    "cluster": 5,
    "rivals": 6,
    "forecast": 7,
    "report": 7,
    "audit": 8,
    "cli": 9,
}
ANYONE = {
    "card",
    "engines",
    "exceptions",
    "files",
    "grids",
    "methods",
    "text",
    "validate",
    "_version",
}  # may be imported from everywhere
# Files beside the layers: the layers they may import.
BESIDE = {
    "nearest": {"columns", "questions"},
    "plotting": {"columns"},
    "schemas": {"columns"},
    "release": {"columns", "privacy", "data", "nearest", "algorithms", "plotting"},
    "synopsis": {"columns", "privacy", "questions", "algorithms", "plotting", "release"},
    "experimental": set(LAYERS) - {"audit"} | {"algorithms", "release"},
    "demo": set(LAYERS) - {"audit"} | {"algorithms", "release", "cluster", "cli"},
    "__main__": {"cli"},
    "__init__": set(LAYERS) - {"audit", "rivals"} | {"algorithms", "release", "schemas", "synopsis"},
}
PUBLIC = {"algorithms", "nearest", "plotting", "release", "synopsis"}  # arithmetic on public numbers, for `cluster` and above
OPTIONAL = {"pandas", "polars", "dask", "pyspark", "matplotlib"}
MAKES_RANDOMNESS = {
    "default_rng",
    "Generator",
    "PCG64",
    "RandomState",
    "SeedSequence",
    "seed",
    "Philox",
    "urandom",
    "SystemRandom",
}


def room_of(path):
    """Return the room of a file: its folder, or its own name at the top."""
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else path.stem


def imported(path):
    """Yield every module that a file imports, wherever the statement stands."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names) if node.module == "cloister" else [node.module]


def rooms_imported(path):
    own = {name.split(".")[1] for name in imported(path) if name.startswith("cloister.")}
    return {room for room in own if (SOURCE / room).exists() or (SOURCE / f"{room}.py").exists()} - ANYONE


def test_imports_go_one_way():
    for path in MODULES:
        check_imports(place(path), room_of(path), rooms_imported(path))


def check_imports(name, room, others):
    if room in ANYONE:
        assert not others, name
    elif room == "algorithms":
        assert others <= {"algorithms", "columns", "questions"}, f"{name} cannot reach a row"
    elif room == "rivals":
        assert others <= {"rivals", "algorithms", "cluster", "columns", "privacy", "questions"}, f"{name} cannot reach a row"
    elif room in BESIDE:
        assert others <= BESIDE[room] | {room}, name
    else:
        for other in others - {room} - PUBLIC:
            assert LAYERS[other] < LAYERS[room], f"{name} must not import {other}"
        if LAYERS[room] < LAYERS["cluster"]:
            assert not others & PUBLIC, name


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


def test_no_underscore_name_of_another_library_is_used():
    for path in MODULES:
        for name in imported(path):
            if not name.startswith(("cloister", "__future__")):
                assert not any(part.startswith("_") for part in name.split(".")), f"{path.name} imports {name}"
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith(("cloister", "__future__")):
                assert not [alias.name for alias in node.names if alias.name.startswith("_")], path.name


def test_files_of_a_folder_are_reached_through_the_folder():
    for path in MODULES:
        for name in imported(path):
            parts = name.split(".")
            if parts[0] == "cloister" and len(parts) > 2 and parts[2].startswith("_"):
                assert parts[1] == room_of(path), f"{path.name} reaches into {name}"


def test_optional_libraries_are_imported_where_they_are_used():
    for path in MODULES:
        top = tree(path).body
        for node in top:
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                assert not OPTIONAL & {name.split(".")[0] for name in names}, path.name


def test_only_the_vault_reads_rows_exactly():
    """Whoever checks the guarantee reads questions, privacy and vault: nobody else folds a question or calls `exact`.

    Replays of the audit draw samples of tables that it has made up.
    """
    for path in MODULES:
        if room_of(path) in ("vault", "data", "questions") or path.relative_to(SOURCE).as_posix() == "audit/_tables.py":
            continue
        called = {node.func.attr for node in nodes(path) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
        assert not {"fold", "exact"} & called, path.name
