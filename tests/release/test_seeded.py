# SPDX-License-Identifier: Apache-2.0
"""Seeded noise can be drawn again: what was fitted with a seed is not written unless that is allowed, and is marked in red.

The doors are all that write files: methods that save, reports, and commands, which refuse before anything is spent.
"""

import ast
import io
import json
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from click.testing import CliRunner, Result
from matplotlib import pyplot
from rich.console import Console

import cloister
from cloister import GridSynopsis, KMeans, Ledger, PointSynopsis, load_release, load_synopsis, write_report
from cloister.cli import main, print_release
from cloister.exceptions import ParameterError, ReleaseError
from cloister.report import report_html, synopsis_html

matplotlib.use("agg")
ROWS = np.random.default_rng(1).normal([[0.3, 0.3], [0.7, 0.6]], 0.05, (100, 2, 2)).reshape(-1, 2)
REMEDY = "Fit again without random_state (--seed), or pass allow_seeded=True (--allow-seeded) for tests and benchmarks."
REFUSAL = f": expected noise that nobody can draw again, got a seeded fit. {REMEDY}"
MARK = "SEEDED: the noise can be drawn again from the seed."
RED = "\x1b[1;31m"


@cache
def fitted(seed: int | None) -> dict[str, Any]:
    """Return a model of each kind of file."""
    common = {"epsilon": 4.0, "bounds": (0, 1), "random_state": seed, "n_jobs": 1}
    return {
        "kmeans": KMeans(2, n_init=1, **common).fit(ROWS),
        "grid": GridSynopsis(2, rule=4, **common).fit(ROWS),
        "points": PointSynopsis(max_clusters=3, **common).fit(ROWS),
    }


# -- Python ----------------------------------------------------------------------------------------------------------------

WRITERS: dict[str, Callable[..., None]] = {
    "Release.save": lambda models, path, **options: models["kmeans"].release_.save(path, **options),
    "Synopsis.save": lambda models, path, **options: models["grid"].synopsis_.save(path, **options),
    "Synopsis.save of points": lambda models, path, **options: models["points"].synopsis_.save(path, **options),
    "write_report": lambda models, path, **options: write_report(models["kmeans"], path, **options),
    "write_report of a synopsis": lambda models, path, **options: write_report(models["grid"].synopsis_, path, **options),
    "write_report of points": lambda models, path, **options: write_report(models["points"], path, **options),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_seeded_is_written_only_if_that_is_allowed(name: str, tmp_path: Path) -> None:
    write, path = WRITERS[name], tmp_path / "published.json"
    with pytest.raises(ReleaseError) as refusal:
        write(fitted(3), path)
    assert str(refusal.value) == name.partition(" of ")[0] + REFUSAL
    for word in (1, "no", None):
        with pytest.raises(ParameterError, match=r"allow_seeded: expected True or False"):
            write(fitted(3), path, allow_seeded=word)
    assert list(tmp_path.iterdir()) == []
    write(fitted(3), path, allow_seeded=True)
    assert path.stat().st_size > 0
    before = path.read_bytes()
    with pytest.raises(ReleaseError, match="got a seeded fit"):
        write(fitted(3), path, overwrite=True)
    assert path.read_bytes() == before
    write(fitted(None), path, overwrite=True)
    assert path.read_bytes() != before


def test_a_file_says_that_it_is_seeded_and_so_does_what_is_read_of_it(tmp_path: Path) -> None:
    models = fitted(3)
    models["kmeans"].release_.save(tmp_path / "release.json", allow_seeded=True)
    models["points"].synopsis_.save(tmp_path / "points.parquet", allow_seeded=True)
    assert json.loads((tmp_path / "release.json").read_text())["receipt"]["seeded"] is True
    assert pickle.loads(pickle.dumps(models["kmeans"])).privacy_receipt_.seeded
    assert json.loads(models["grid"].synopsis_.to_bytes())["receipt"]["seeded"] is True
    for again in (load_release(tmp_path / "release.json"), load_synopsis(tmp_path / "points.parquet")):
        assert again.receipt.seeded
        for write in (again.save, lambda path, one=again, **options: write_report(one, path, **options)):
            with pytest.raises(ReleaseError, match="got a seeded fit"):
                write(tmp_path / "again.json")
            write(tmp_path / "again.json", allow_seeded=True, overwrite=True)


def test_whatever_writes_a_file_asks_first() -> None:
    """A function of the package that writes a whole file must ask whether what it writes is seeded."""
    found = 0
    for path in Path(cloister.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for function in ast.walk(ast.parse(text)) if "write_whole" in text else ():
            if isinstance(function, ast.FunctionDef) and function.name != "write_whole":
                called = {getattr(node.func, "id", "") for node in ast.walk(function) if isinstance(node, ast.Call)}
                assert "write_whole" not in called or "refuse_seeded" in called, f"{path.name}: {function.name}"
                found += "write_whole" in called
    assert found == 3


# -- commands --------------------------------------------------------------------------------------------------------------

FIT = ("fit", "rows.csv", "-k", 1, "--epsilon", 1, "--bounds", "0,1", "--ledger", "budget.sqlite", "--seed", 3, "-q")
SYNOPSIS = ("synopsis", *FIT[:2], *FIT[4:], "--rule", 3)
TARGET = ("source-target", "target.csv", "--source", "rows.csv", "-k", 1, *FIT[4:6], *FIT[8:])
SPENDING: dict[str, tuple[Any, ...]] = {
    "fit --output": (*FIT, "--output", "out.json"),
    "fit --report": (*FIT, "--report", "out.html"),
    "synopsis fit --output": (*SYNOPSIS, "--output", "out.json"),
    "synopsis fit --report": (*SYNOPSIS, "--report", "out.html"),
    "source-target --output": (*TARGET, "--output", "out.json"),
    "source-target --indices": (*TARGET, "--indices", "out.csv"),
}
READING: dict[str, tuple[Any, ...]] = {
    "show --report": ("show", "release.json", "--report", "out.html"),
    "synopsis show --report": ("synopsis", "show", "grid.json", "--report", "out.html"),
    "synopsis cut --output": ("synopsis", "cut", "grid.json", "-k", 2, "--output", "out.json"),
    "synopsis choose-k --report": ("synopsis", "choose-k", "grid.json", "--range", "1:2", "--report", "out.html"),
    "synopsis sample --output": ("synopsis", "sample", "points.json", "-n", 3, "--output", "out.csv"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rows, a budget, and files that were written with a seed."""
    monkeypatch.chdir(tmp_path)
    for name, rows in (("rows.csv", ROWS), ("target.csv", ROWS[:20])):
        Path(name).write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in rows))
    Ledger.create("budget.sqlite", epsilon=8.0, delta=1e-3).close()
    models = fitted(3)
    models["kmeans"].release_.save("release.json", allow_seeded=True)
    for name in ("grid", "points"):
        models[name].synopsis_.save(f"{name}.json", allow_seeded=True)
    return tmp_path


def run(*words: Any, color: bool = False) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], color=color)


@pytest.mark.parametrize("name", [*SPENDING, *READING])
def test_a_command_refuses_before_it_spends_or_writes(name: str, folder: Path) -> None:
    command = {**SPENDING, **READING}[name]
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    refused = run(*command)
    option = next(word for word in reversed(name.split()) if word.startswith("--"))
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == f"Error: {option}{REFUSAL}\n"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    allowed = run(*command, "--allow-seeded")
    assert allowed.exit_code == 0, allowed.output
    assert any(path.stem == "out" for path in folder.iterdir())


@pytest.mark.parametrize("name", ["fit --output", "fit --report", "synopsis fit --output", "source-target --indices"])
def test_without_a_seed_nothing_need_be_allowed(name: str, folder: Path) -> None:
    command = SPENDING[name]
    place = command.index("--seed")
    done = run(*command[:place], *command[place + 2 :])
    assert done.exit_code == 0, done.output
    assert "SEEDED" not in done.output
    assert "Seeded run" not in "".join(path.read_text() for path in folder.glob("out.*"))


# -- in red ----------------------------------------------------------------------------------------------------------------

SHOWN: dict[str, tuple[Any, ...]] = {
    "choose-k": ("choose-k", "grid.json", "--range", "1:2"),
    "choose-k --json": ("choose-k", "grid.json", "--range", "1:2", "--json"),
    "density": ("density", "grid.json"),
    "query": ("query", "grid.json", "x0=0:0.5"),
    "tree": ("tree", "points.json"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_read_off_a_seeded_synopsis_is_marked_in_red(name: str, folder: Path) -> None:
    done = run("synopsis", *SHOWN[name], color=True)
    assert done.exit_code == 0, done.output
    assert "\x1b[31m" in done.stderr
    assert MARK in done.stderr
    assert MARK not in done.stdout


def on_terminal(show: Callable[[Console], None]) -> str:
    stream = io.StringIO()
    show(Console(file=stream, force_terminal=True, width=200, color_system="standard", highlight=False, markup=False))
    return stream.getvalue()


def test_a_terminal_a_banner_of_a_report_and_titles_of_pictures_show_it_in_red(folder: Path) -> None:
    from cloister.cli._print import print_events, print_synopsis

    for seed in (3, None):
        models = fitted(seed)
        shown = [on_terminal(lambda console, models=models: print_release(console, models["kmeans"].release_))]
        for name in ("grid", "points"):
            synopsis = models[name].synopsis_
            shown.append(on_terminal(lambda console, synopsis=synopsis: print_synopsis(console, synopsis)))
        assert [f"{RED}{MARK}" in words for words in shown] == [seed is not None] * 3
        lines = [{"account": "a", **event.to_line()} for event in models["kmeans"].privacy_receipt_.events]
        assert (f"{RED}seeded" in on_terminal(lambda console, lines=lines: print_events(console, lines))) == (seed is not None)
        for page in (report_html(models["kmeans"].release_), synopsis_html(models["grid"].synopsis_)):
            head = page.partition("<h1>")[0]
            assert ('<header><div class="alert seeded" role="alert"><p><b>Seeded run: not for publication.' in head) == bool(
                seed
            )
            assert ".seeded { border-color: #b3261e; background: #b3261e; color: #fff;" in page
        drawn = [models["kmeans"].release_.plot(kind) for kind in ("map", "profiles")]
        drawn += [models["points"].synopsis_.plot("tree"), models["grid"].synopsis_.plot("curve", n_clusters=range(1, 3))]
        for axes in drawn:
            assert axes.get_title(loc="right") == ("SEEDED: not for publication" if seed else "")
            assert axes.get_title() == ""
            pyplot.close(axes.figure)


def test_a_notebook_shows_it_in_red_below_the_title() -> None:
    for name, model in fitted(3).items():
        published = model.release_ if name == "kmeans" else model.synopsis_
        page = published._repr_html_()
        assert page.index("</p>") < page.index(f'<p style="color: #d32f2f"><strong>{MARK}') < page.index("<table>")
        assert repr(published).splitlines()[1].startswith(MARK)
        assert page in model._repr_html_()
    assert "color" not in fitted(None)["kmeans"].release_._repr_html_()
    assert "SEEDED" not in repr(fitted(None)["kmeans"].release_)
