# SPDX-License-Identifier: Apache-2.0
"""The report in a real, headless Chromium: it opens offline, shows its content, and asks nobody for anything."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from .browser import FLAGS, NAMES, find_browser

pytestmark = pytest.mark.slow

LOGGED = (*FLAGS, "--enable-logging=stderr", "--v=0")


@pytest.fixture(scope="module")
def browser() -> str:
    found = find_browser()
    if found is None:
        pytest.fail(f"The report is tested in a real browser: install one of {', '.join(NAMES)}, or set CHROMIUM to its path.")
    return found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report made by the command line from a Parquet file, with a name that would like to be a script."""
    folder = tmp_path_factory.mktemp("report")
    generator = np.random.default_rng(0)
    rows = np.concatenate(
        [generator.normal([30, 60, 1], [3, 3, 0.1], (500, 3)), generator.normal([70, 90, 2], [3, 3, 0.1], (500, 3))]
    )
    columns = dict(zip(("age", "weight", "<script>console.error('ran')</script>"), rows.T, strict=True))
    pa.parquet.write_table(pa.table(columns), folder / "people.parquet")
    (folder / "bounds.csv").write_text("column,low,high\nage,0,120\nweight,20,200\n<script>console.error('ran')</script>,0,3\n")
    command = [sys.executable, "-m", "cloister", "fit", "people.parquet", "-k", "2", "--epsilon", "2"]
    command += ["--bounds", "bounds.csv", "--seed", "1", "--allow-seeded", "--report", "report.html", "--quiet"]
    subprocess.run(command, cwd=folder, check=True, timeout=120)
    return folder / "report.html"


def open_in(browser: str, report: Path, profile: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [browser, *LOGGED, f"--user-data-dir={profile}", *flags, report.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def test_the_content_is_there_and_the_console_is_silent(browser: str, report: Path, tmp_path: Path) -> None:
    done = open_in(browser, report, tmp_path / "profile", "--dump-dom")
    for words in (
        "2 clusters in 3 columns",
        "Profiles",
        "The privacy receipt",
        "What epsilon means",
        "How the centres were found",
        "Seeded run",
        "age",
        "Axis 1",
    ):
        assert words in done.stdout
    assert "CONSOLE" not in done.stderr
    assert "<script" not in done.stdout
    assert "&lt;script&gt;" in done.stdout
    assert set(re.findall(r"""(?:src|href)=["']?([^"' >]+)""", done.stdout)) == {"data:,"}


def test_nothing_is_requested_from_the_network(browser: str, report: Path, tmp_path: Path) -> None:
    control = tmp_path / "control.html"
    control.write_text('<script>console.error("ran")</script><img src="http://example.invalid/x.png">')
    done = open_in(browser, control, tmp_path / "first", "--dump-dom", f"--log-net-log={tmp_path / 'control.json'}")
    assert "CONSOLE" in done.stderr
    assert hosts_in(tmp_path / "control.json") == {"example.invalid"}
    open_in(browser, report, tmp_path / "second", "--dump-dom", f"--log-net-log={tmp_path / 'report.json'}")
    assert hosts_in(tmp_path / "report.json") == set()


def hosts_in(log: Path) -> set[str]:
    """Return the hosts that got a request, without those the browser itself calls home to."""
    found = re.findall(r'"(?:https?|wss?)://([^"/:\\ ]+)', log.read_text(encoding="utf-8", errors="replace"))
    return {host for host in found if not re.search(r"(^|\.)(google|googleapis|gvt1|gstatic|chromium)\.(com|org)$", host)}


@pytest.mark.parametrize(
    ("width", "flags"),
    [(1200, []), (1200, ["--blink-settings=preferredColorScheme=0"]), (500, [])],
    ids=["light", "dark", "phone"],
)
def test_it_can_be_seen(browser: str, report: Path, tmp_path: Path, width: int, flags: list[str]) -> None:
    picture = tmp_path / "report.png"
    open_in(browser, report, tmp_path / "profile", *flags, f"--window-size={width},1600", f"--screenshot={picture}")
    pixels = read_png(picture)
    assert pixels.shape[:2] == (1600, width)
    paper = pixels[5, 5].astype(int)
    assert (paper.sum() < 200) == bool(flags)
    different = np.abs(pixels.astype(int) - paper).sum(axis=2) > 60
    assert 0.01 < different.mean() < 0.6
    # Every fifth of the page has something on it, and the right edge has nothing: the page does not run over it.
    assert all(part.any() for part in np.array_split(different, 5))
    assert not different[:, -4:].any()


def read_png(path: Path) -> np.ndarray:
    import matplotlib.image

    return (matplotlib.image.imread(path)[:, :, :3] * 255).astype(np.uint8)
