# SPDX-License-Identifier: Apache-2.0
"""The sdist and the wheel hold the package and nothing else; the wheel works in a fresh environment outside the repository."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from email.parser import Parser
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version

import cloister

ROOT = Path(__file__).parents[2]
SOURCES = {
    path.relative_to(ROOT / "src").as_posix()
    for path in (ROOT / "src" / "cloister").rglob("*")
    if path.is_file() and path.suffix != ".pyc"
}
IGNORED = shutil.ignore_patterns("__pycache__", "*.egg-info", "measured", "papers")
FIT = """
import numpy as np
import cloister
assert "installed" in cloister.__file__, cloister.__file__
rows = np.random.default_rng(0).uniform(-1, 1, (500, 2))
model = cloister.KMeans(3, epsilon=1.0, bounds=(-1, 1)).fit(rows)
model.release_.save("model.json")
cloister.write_report(cloister.load_release("model.json"), "model.html")
print(model.cluster_centers_.shape)
"""

pytestmark = pytest.mark.slow


def run(*command: str | Path, folder: Path) -> str:
    """Run a command that knows nothing of the repository, and return what it printed."""
    quiet = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONWARNINGS", "VIRTUAL_ENV")}
    done = subprocess.run([*map(str, command)], cwd=folder, env=quiet, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``python -m build`` makes of a copy of the repository."""
    pytest.importorskip("build", reason="in the extra dev")
    folder = tmp_path_factory.mktemp("repository")
    for name in ("pyproject.toml", "README.md", "LICENSE", "Makefile", "CITATION.cff", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder)
    for name in ("src", "tests", "benchmarks", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=IGNORED)
    # The tools of this environment, so that nothing is fetched, where they are new enough.
    isolation = [] if Version(version("setuptools")) < Version("77") else ["--no-isolation"]
    run(sys.executable, "-m", "build", *isolation, folder=folder)
    return folder / "dist"


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (found,) = dist.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; other packages are borrowed from this one, which does not lend its own Cloister."""
    folder = tmp_path_factory.mktemp("outside") / "installed"
    venv.create(folder, with_pip=False)
    here = {"base": str(folder), "platbase": str(folder)}
    scheme = "nt" if os.name == "nt" else "posix_prefix"
    site = Path(sysconfig.get_path("purelib", scheme, vars=here))
    borrowed = [place for place in sys.path if Path(place).name in ("site-packages", "dist-packages")]
    (site / "borrowed.pth").write_text("\n".join(borrowed) + "\n", encoding="utf-8")
    python = Path(sysconfig.get_path("scripts", scheme, vars=here)) / Path(sys.executable).name
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, folder=folder.parent)
    return python


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    assert {name for name in names if ".dist-info/" not in name} == SOURCES
    assert {"cloister/py.typed", "cloister/report/templates/release.html"} <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert re.fullmatch(r"cloister-[\d.a-z]+-py3-none-any\.whl", wheel.name)


def test_the_sdist_can_be_built_and_holds_no_tests(dist: Path) -> None:
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", *(f"src/{name}" for name in SOURCES)} <= names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "docs/"))]


def test_the_metadata_says_what_pyproject_says(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        found = Parser().parsestr(archive.read(name).decode())
    assert found["Version"] == cloister.__version__
    assert found["License-Expression"] == "Apache-2.0"
    assert found["Description-Content-Type"] == "text/markdown"
    assert {one.partition(",")[0] for one in found.get_all("Project-URL", [])} >= {"Source", "Documentation", "Changelog"}


def test_the_index_can_show_the_readme(dist: Path) -> None:
    pytest.importorskip("twine", reason="in the extra dev")
    said = run(sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()), folder=dist)
    assert said.count("PASSED") == 2


def test_a_fit_outside_the_repository(installed: Path, tmp_path: Path) -> None:
    assert run(installed, "-W", "error", "-c", FIT, folder=tmp_path) == "(3, 2)\n"
    assert (tmp_path / "model.html").stat().st_size > 10_000


def test_the_command_outside_the_repository(installed: Path, tmp_path: Path) -> None:
    assert cloister.__version__ in run(installed.with_name("cloister" + installed.suffix), "--version", folder=tmp_path)
    assert cloister.__version__ in run(installed, "-m", "cloister", "--version", folder=tmp_path)


def test_the_demo_outside_the_repository(installed: Path, tmp_path: Path) -> None:
    assert "What may be published" in run(installed, "-m", "cloister.demo", "out", folder=tmp_path)
    assert {"patients.parquet", "release.json", "report.html", "budget.sqlite"} <= {
        one.name for one in (tmp_path / "out").iterdir()
    }
