# SPDX-License-Identifier: Apache-2.0
"""An error is raised outside of the handler of another one: ``from None`` hides the other from print, not from ``__context__``.

What another library raises may quote a value of a row. So a handler remembers the kind of the error, and the raise comes after.
"""

import ast

from tests.architecture._sources import MODULES, nodes, place, tree


def inside(nodes):
    """Yield all nodes that run where these do: not those of functions that are only defined there."""
    for node in nodes:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from inside(ast.iter_child_nodes(node))


def raised_in_handlers(tree):
    """Yield the lines that raise a new error, by themselves or by `refuse`, while another one is being handled."""
    for node in ast.walk(tree):
        handled = node.body if isinstance(node, ast.ExceptHandler) else node.finalbody if isinstance(node, ast.Try) else []
        for one in inside(handled):
            refusal = isinstance(one, ast.Call) and "refuse" in ast.unparse(one.func)
            if refusal or (isinstance(one, ast.Raise) and one.exc is not None):
                yield one.lineno


def test_no_error_is_raised_while_another_is_handled_or_names_it_as_its_cause():
    for path in MODULES:
        assert list(raised_in_handlers(tree(path))) == [], place(path)
        assert not [node for node in nodes(path) if getattr(node, "cause", None)], place(path)


def test_the_rule_sees_what_it_forbids():
    code = """
try:
    x
except ValueError:
    if y:
        raise A from None
    validate.refuse(where)
    def later(): raise B
    raise
finally:
    raise C
"""
    assert sorted(raised_in_handlers(ast.parse(code))) == [6, 7, 11]
