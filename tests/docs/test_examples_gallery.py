# SPDX-License-Identifier: Apache-2.0
"""The gallery: every example of docs/examples is a script that runs by itself, without a warning, and draws."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
SCRIPTS = sorted(EXAMPLES.glob("plot_*.py"))
TOPICS = {
    "blobs and noise levels": ("plot_1_noise_levels",),
    "patients with mixed columns": ("plot_2_patients",),
    "embeddings of text": ("plot_3_embeddings",),
    "a map of places": ("plot_4_map",),
    "one synopsis, every k": ("plot_5_every_k",),
    "a shared budget": ("plot_6_shared_budget",),
    "the attack": ("plot_7_attack",),
    "the papers' figures": ("plot_8_paper_grids", "plot_8_paper_pe_means", "plot_8_paper_source_target"),
}
RUN = """
import runpy, sys
runpy.run_path(sys.argv[1], run_name="__main__")
from matplotlib import pyplot
for number in pyplot.get_fignums():
    figure = pyplot.figure(number)
    figure.canvas.draw()
    print("DRAWN", number, sum(bool(axes.has_data() or axes.tables) for axes in figure.axes))
"""


def text_of(script: Path) -> str:
    return script.read_text(encoding="utf-8")


def calls_of(script: Path) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(text_of(script))) if isinstance(node, ast.Call)]


def name_of(call: ast.Call) -> str:
    return ast.unparse(call.func)


def test_every_topic_has_its_examples() -> None:
    assert sorted(name for names in TOPICS.values() for name in names) == [script.stem for script in SCRIPTS]
    assert text_of(EXAMPLES / "README.rst").startswith("Gallery\n=======\n")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_is_a_page(script: Path) -> None:
    text = text_of(script)
    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n")
    docstring = ast.get_docstring(ast.parse(text))
    assert docstring is not None
    title, line, empty, *words = docstring.splitlines()
    assert re.fullmatch("=+", line), "a title is underlined"
    assert len(title) == len(line)
    assert not empty
    assert words
    assert "\n# %%\n" in text, "text cells"
    assert "plt.show()" not in text


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_comes_out_the_same_every_time(script: Path) -> None:
    """Every estimator and every generator is given a seed."""
    estimators = {"KMeans", "cluster.KMeans", "PEMeans", "GridKMeans", "GridSynopsis", "PointSynopsis", "SourceTargetKMedoids"}
    for call in calls_of(script):
        given = {word.arg for word in call.keywords}
        if name_of(call) in estimators:
            assert "random_state" in given or None in given, ast.unparse(call)
        if name_of(call).endswith("default_rng"):
            assert call.args, ast.unparse(call)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_links_of_an_example_lead_to_pages(script: Path) -> None:
    found = re.findall(r":doc:`/([^`]+)`", text_of(script))
    assert found
    for page in found:
        assert (ROOT / "docs" / f"{page}.md").is_file(), page


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
