# SPDX-License-Identifier: Apache-2.0
"""What only POSIX has, such as ``fork``, is used where it exists: the package works where it does not, as on Windows.

Windows itself is tried by the workflow `test`. Here a process takes away from ``os`` and ``signal`` what Windows lacks before
Cloister is imported.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from tests.architecture._sources import MODULES, nodes, place

from cloister.audit import Settings, run_audit
from cloister.privacy import GDP, Ledger

ROOT = Path(__file__).parents[2]
POSIX = {"curses", "fcntl", "grp", "posix", "pty", "pwd", "resource", "spwd", "syslog", "termios", "tty"}
LACKING = {
    "os": (
        *("chown", "chroot", "fchmod", "fchown", "fork", "forkpty", "getegid", "geteuid", "getgid", "getloadavg", "getpgid"),
        *("getuid", "killpg", "lchown", "mkfifo", "nice", "posix_fallocate", "pread", "preadv", "pwrite", "pwritev"),
        *("sched_getaffinity", "sched_setaffinity", "sendfile", "setegid", "seteuid", "setsid", "setuid", "sync", "sysconf"),
        *("uname", "wait", "wait3", "wait4", "WIFSIGNALED"),
    ),
    "signal": ("SIGALRM", "SIGHUP", "SIGKILL", "SIGQUIT", "SIGUSR1", "SIGUSR2", "alarm", "setitimer", "sigwait"),
}
# Where one of them is used nevertheless, and what is done without it.
GUARDED = {
    ("audit/_kills.py", "fork"): "processes are spawned",
    ("data/_dask.py", "sysconf"): "the memory is taken as unknown",
    ("privacy/_lease.py", "fcntl"): "Windows locks with msvcrt",
}
TAKEN_AWAY = f"""
import multiprocessing.util, os, platform, signal, subprocess, tempfile
import joblib, numpy, pyarrow.dataset, scipy.stats, sklearn.cluster  # on POSIX these need them
platform.platform()
for module, names in ((os, {LACKING["os"]!r}), (signal, {LACKING["signal"]!r})):
    for name in names:
        if hasattr(module, name) and name != "uname":  # which threadpoolctl asks on POSIX, whenever it is called
            delattr(module, name)
"""
USE = """
import importlib, os, pkgutil, sys
assert not hasattr(os, "fork")
import numpy as np
import cloister
for found in pkgutil.walk_packages(cloister.__path__, "cloister."):
    if not found.name.endswith("__main__"):
        try:
            importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            assert error.name.split(".")[0] in {"dask", "distributed", "pyspark", "matplotlib"}, error
rows = np.random.default_rng(1).uniform(-1, 1, (300, 2))
with cloister.Ledger.create("budget.sqlite", epsilon=2.0, delta=1e-6) as ledger:
    model = cloister.KMeans(2, epsilon=1.0, delta=1e-6, bounds=(-1, 1), ledger=ledger, n_jobs=2).fit(rows)
model.release_.save("model.json")
cloister.write_report(cloister.load_release("model.json"), "model.html")
persons = cloister.KMeans(2, epsilon=1.0, bounds=(-1, 1), max_rows_per_unit=2).fit(rows, privacy_unit=np.arange(300) // 2)
print(model.cluster_centers_.shape, persons.privacy_receipt_.protects)
"""


@pytest.fixture
def like_windows(tmp_path: Path) -> dict[str, str]:
    """The environment of a process that lacks what Windows lacks."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text(TAKEN_AWAY, encoding="utf-8")
    path = [str(tmp_path / "hidden"), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONWARNINGS": "ignore"}


@pytest.mark.slow
def test_everything_imports_and_fits_without_what_windows_lacks(like_windows: dict[str, str], tmp_path: Path) -> None:
    strict = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning:cloister"]  # Windows reads files as cp1252
    done = subprocess.run(
        [sys.executable, *strict, "-c", USE], cwd=tmp_path, env=like_windows, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(2, 2)")
    assert "EncodingWarning" not in done.stderr


def test_what_only_posix_has_is_not_used_unguarded() -> None:
    for path in MODULES:
        for node in nodes(path):
            used = set(posix_only(node))
            assert {(place(path), name) for name in used} <= GUARDED.keys(), f"{place(path)}: {used} is not on Windows"


def posix_only(node: ast.AST) -> Iterator[str]:
    """Yield what a node of code uses that Windows lacks."""
    if isinstance(node, ast.Import):
        yield from POSIX & {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        yield from POSIX & {node.module or ""}
        yield from set(LACKING.get(node.module or "", ())) & {alias.name for alias in node.names}
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in LACKING.get(node.value.id, ()):
        yield node.attr


def test_text_is_read_and_written_with_a_stated_encoding() -> None:
    for path in MODULES:
        for call in [node for node in nodes(path) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]:
            if call.func.attr in ("read_text", "write_text"):
                assert "encoding" in {word.arg for word in call.keywords}, f"{path.name}:{call.lineno}"


def test_a_ledger_gets_its_name_with_no_file_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[IO[Any]] = []
    open_path, replace = Path.open, os.replace

    def remember(self: Path, *args: Any, **options: Any) -> IO[Any]:
        opened.append(open_path(self, *args, **options))
        return opened[-1]

    def replace_as_windows(source: Path, target: Path) -> None:
        if any(not stream.closed for stream in opened):
            raise PermissionError(13, "the file is used by another process")
        replace(source, target)

    def no_links(*args: object) -> None:
        raise OSError(1, "this file system has no links")

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(os, "replace", replace_as_windows)
    monkeypatch.setattr(Path, "open", remember)
    with Ledger.create(tmp_path / "budget.sqlite", GDP(1.0)) as ledger:
        assert ledger.left == 1.0
    assert opened
    assert [file.name for file in tmp_path.iterdir()] == ["budget.sqlite"]


@pytest.mark.slow
def test_without_fork_the_audit_of_kills_passes(
    like_windows: dict[str, str], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "fork", raising=False)
    monkeypatch.setenv("PYTHONPATH", like_windows["PYTHONPATH"])
    found = run_audit(Settings(quick=True, seed=seed, scale=0.4), checks=["kills"])
    assert found.passed, found.checks[0].violations
    trials = {name: part.cases for name, part in found.checks[0].parts.items() if name != "processes"}
    assert sum(trials.values()) == 7, trials
