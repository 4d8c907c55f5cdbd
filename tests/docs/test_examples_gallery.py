# SPDX-License-Identifier: Apache-2.0
"""The gallery: every example of docs/examples is a page of its own. The tests of the built site see what it draws."""

import ast
import re
from pathlib import Path

import pytest

from cloister.methods import METHODS

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
SCRIPTS = sorted(EXAMPLES.glob("plot_*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_is_a_page_that_comes_out_the_same_every_time(script: Path) -> None:
    """It has a title and cells, links that lead to pages, and gives every estimator and every generator a seed."""
    text = script.read_text(encoding="utf-8")
    tree = ast.parse(text)
    title, line, empty, *words = (ast.get_docstring(tree) or "").splitlines()
    assert re.fullmatch("=+", line), "a title is underlined"
    assert len(title) == len(line)
    assert not empty
    assert words
    assert "\n# %%\n" in text, "text cells"
    assert "plt.show()" not in text
    links = re.findall(r":doc:`/([^`]+)`", text)
    assert links
    assert [page for page in links if not (ROOT / "docs" / f"{page}.md").is_file()] == []
    for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
        name, given = ast.unparse(call.func), {word.arg for word in call.keywords}
        if name.rpartition(".")[2] in METHODS:
            assert {"random_state", None} & given, ast.unparse(call)
        if name.endswith("default_rng"):
            assert call.args, ast.unparse(call)
