# SPDX-License-Identifier: Apache-2.0
"""The hooks of pre-commit pass on the repository as it is, and notice what they are for."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = ROOT / ".pre-commit-config.yaml"
FAULTS = {
    "license-line": ("new.py", "import os\n"),
    "trailing-whitespace": ("spaces.md", "words \n"),
    "line-ends": ("ends.md", "words\r\n"),
    "last-line": ("last.md", "words"),
    "conflict-marks": ("marks.md", "<<<<<<< HEAD\n"),
    "debugger": ("stop.py", "# SPDX-License-Identifier: Apache-2.0\n\nbreakpoint()\n"),
    "private-key": ("new.pem", "-----BEGIN " + "PRIVATE KEY-----\n"),
    "left-overs": ("new.md.orig", "words\n"),
}

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")]


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def pre_commit(folder: Path, *words: str, skip: str = "") -> subprocess.CompletedProcess[str]:
    pytest.importorskip("pre_commit", reason="in the extra dev")
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": tools, "SKIP": skip, "PRE_COMMIT_HOME": str(folder / ".git" / "hooks-cache")}
    environment = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    command = [sys.executable, "-m", "pre_commit", "run", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "core.autocrlf", "false")
    shutil.copy(SETTINGS, tmp_path)
    return tmp_path


def test_hooks_pass_on_every_file(repository: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone: which files belong to the repository is not known")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, repository / name)
    git(repository, "add", "--all", "--force")
    done = pre_commit(repository, "--all-files", skip="mypy")  # a minute; `make types` runs it
    assert done.returncode == 0, done.stdout
    assert "Passed" in done.stdout


def test_every_hook_notices_its_fault_and_no_other_file(repository: Path) -> None:
    for name, content in FAULTS.values():
        (repository / name).write_bytes(content.encode())
    git(repository, "add", "--all", "--force")
    done = pre_commit(repository, "--all-files", skip="ruff-format,ruff-check,mypy")
    assert done.returncode == 1, done.stdout
    parts = re.split(r"^(?=.*\.{3,}(?:Passed|Failed|Skipped)$)", done.stdout, flags=re.MULTILINE)
    for hook, (name, _) in FAULTS.items():
        (said,) = [part for part in parts if f"- hook id: {hook}\n" in part]
        assert {other for other, _ in FAULTS.values() if other in said} == {name}, said
