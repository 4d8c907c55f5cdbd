# SPDX-License-Identifier: Apache-2.0
"""Columns and tables answer for themselves: outside their room nobody asks of which kind they are."""

import ast

from tests.architecture._sources import MODULES, SOURCE, nodes, place

import cloister.columns
from cloister.columns import KINDS, Declaration, Frame, Table


def below(base):
    return {base.__name__}.union(*map(below, base.__subclasses__()))


CLASSES = below(Declaration) | below(Table) | below(Frame) | below(cloister.columns._parts.Part)
WORDS = {*KINDS, "box", "ball", "columns"}  # by which files call kinds and tables
KEYS = {"type", "kind", "domain"}  # under which the words stand


def names_a_class(node):
    """Whether an expression names a class of the room; a table of Arrow is none."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    owned = [one for one in ast.walk(node) if isinstance(one, ast.Attribute) and ast.unparse(one.value) != "pa"]
    return bool((names | {one.attr for one in owned}) & CLASSES)


def holds_a_word(node):
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return any(isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value in WORDS for one in parts)


def reads_a_word(node):
    """Whether an expression is what files or declarations call a kind: one.kind, one["type"], one.get("type")."""
    if isinstance(node, ast.Attribute):
        return node.attr == "kind"
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value in KEYS
    is_get = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args
    return bool(is_get and isinstance(node.args[0], ast.Constant) and node.args[0].value in KEYS)


def asks(node):
    """Whether a node asks for a kind: by its class, by a pattern, by its word, or by a table of either."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
        return names_a_class(node.args[1])
    if isinstance(node, ast.MatchClass):
        return names_a_class(node.cls)
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        by_class = any(isinstance(one, ast.Name) and one.id in CLASSES for one in sides)
        return by_class or (any(map(holds_a_word, sides)) and any(map(reads_a_word, sides)))
    if isinstance(node, ast.Attribute):  # Number.kind
        return node.attr == "kind" and isinstance(node.value, ast.Name) and node.value.id in CLASSES
    if isinstance(node, ast.Dict):
        keys = [one for one in node.keys if one is not None]
        return len(keys) > 1 and all(isinstance(one, ast.Name) and one.id in CLASSES for one in keys)
    return False


def test_nobody_asks_of_which_kind_a_column_or_a_table_is():
    outside = [path for path in MODULES if path.relative_to(SOURCE).parts[0] != "columns"]
    found = [f"{place(path)}:{node.lineno}" for path in outside for node in nodes(path) if asks(node)]
    assert not found


def test_the_question_is_recognised_in_every_form():
    forms = (
        "isinstance(one, Number | Category)",
        "isinstance(domain, columns.Table)",
        "isinstance(domain, Table)",
        "type(one) is Date",
        "declared.kind == 'date'",
        "column['type'] != 'category'",
        "column.get('type', 'number') in ('number', 'date')",
        "kind = Number.kind",
        "{Number: 1, Date: 2}",
        "match one:\n    case Box(): pass",
    )
    for form in forms:
        assert any(map(asks, ast.walk(ast.parse(form)))), form
    assert not any(map(asks, ast.walk(ast.parse("isinstance(table, pa.Table) or dtype.kind == 'f' or Number(0, 1)"))))
