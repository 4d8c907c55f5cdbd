# SPDX-License-Identifier: Apache-2.0
"""Columns, tables, guarantees and mechanisms answer for themselves: outside their room nobody asks of which kind they are."""

import ast

from tests.architecture._sources import MODULES, SOURCE, nodes, place

import cloister.columns
from cloister import privacy
from cloister.columns import KINDS, Declaration, Frame, Table


def below(base):
    return {base.__name__}.union(*map(below, base.__subclasses__()))


CLASSES = below(Declaration) | below(Table) | below(Frame) | below(cloister.columns._parts.Part)
WORDS = {*KINDS, "box", "ball", "columns"}  # by which files call kinds and tables
KEYS = {"type", "kind", "domain"}  # under which the words stand
GUARANTEES = {kind.__name__ for kind in privacy.KINDS.values()}


def names_a_class(node, classes):
    """Whether an expression names one of the classes; a table of Arrow is none."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    owned = [one for one in ast.walk(node) if isinstance(one, ast.Attribute) and ast.unparse(one.value) != "pa"]
    return bool((names | {one.attr for one in owned}) & classes)


def asks_by_class(node, classes):
    """Whether a node asks for one of the classes: by a check, or by a pattern."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
        return names_a_class(node.args[1], classes)
    return isinstance(node, ast.MatchClass) and names_a_class(node.cls, classes)


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
    if asks_by_class(node, CLASSES):
        return True
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


def asks_for_a_guarantee(node):
    """Whether a node asks for the type of a guarantee, or compares with the name of a mechanism."""
    compared = [part for side in ast.iter_child_nodes(node) for part in ast.walk(side)] if isinstance(node, ast.Compare) else []
    by_name = any(isinstance(one, ast.Constant) and one.value in privacy.MECHANISMS for one in compared)
    return by_name or asks_by_class(node, GUARANTEES)


def found_outside(room, asked):
    outside = [path for path in MODULES if path.relative_to(SOURCE).parts[0] != room]
    return [f"{place(path)}:{node.lineno}" for path in outside for node in nodes(path) if asked(node)]


def test_nobody_asks_of_which_kind_a_column_or_a_table_is():
    assert not found_outside("columns", asks)


def test_nobody_asks_which_guarantee_or_mechanism_it_is():
    assert not found_outside("privacy", asks_for_a_guarantee)


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
    for form in ("isinstance(x, (int, PureDP))", "isinstance(x, ZCDP | None)", "event.mechanism == 'exponential'"):
        assert any(map(asks_for_a_guarantee, ast.walk(ast.parse(form)))), form
    assert not any(map(asks, ast.walk(ast.parse("isinstance(table, pa.Table) or dtype.kind == 'f' or Number(0, 1)"))))
