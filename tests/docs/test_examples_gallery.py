# SPDX-License-Identifier: Apache-2.0
"""The gallery: every example of docs/examples is a script that runs by itself, without a warning, and draws."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cloister.methods import METHODS

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
SCRIPTS = sorted(EXAMPLES.glob("plot_*.py"))
RUN = """
import runpy, sys
runpy.run_path(sys.argv[1], run_name="__main__")
from matplotlib import pyplot
for number in pyplot.get_fignums():
    figure = pyplot.figure(number)
    figure.canvas.draw()
    print("DRAWN", number, sum(bool(axes.has_data() or axes.tables) for axes in figure.axes))
"""


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


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_runs_in_an_empty_folder_and_draws(script: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONWARNINGS", None)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    drawn = re.findall(r"^DRAWN \d+ (\d+)$", done.stdout, re.MULTILINE)
    assert drawn
    assert all(int(axes) > 0 for axes in drawn), "no picture is empty"
    assert not list(tmp_path.iterdir()), "an example leaves nothing behind"
