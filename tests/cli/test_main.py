# SPDX-License-Identifier: Apache-2.0
"""The command as a process: exit codes, streams, help."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cloister import __version__

from .conftest import Run


def process(*arguments: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "cloister", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, env={**os.environ, **environment}, timeout=120)


def test_version(run: Run) -> None:
    assert run("--version").stdout.strip().endswith(__version__)


def test_wrong_commands_and_options_are_one_line(refused: Run) -> None:
    refused("fot", match="No such command 'fot'")
    refused("fit", "--no-such-option", match="No such option")
    refused("ledger", "burn", match="No such command 'burn'")


def test_no_command_is_help(run: Run) -> None:
    assert "Commands:" in run(code=2).stdout


def test_a_process_fits_and_pipes(table: Path) -> None:
    done = process("fit", table, "-k", 2, "--epsilon", 1, "--bounds", "age=0:120", "--output", "-", PYTHONWARNINGS="error")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["format"] == "cloister.release"
    assert b"2 centres" in done.stderr


@pytest.mark.slow
def test_a_process_that_cannot_show_a_letter_goes_on(release: Path) -> None:
    done = process("show", release, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert b"Guarantee" in done.stdout


def test_bad_input_ends_a_process_with_two(tmp_path: Path) -> None:
    done = process("fit", tmp_path / "none.csv", "-k", 2, "--epsilon", 1, "--bounds", "0,1")
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr == b"Error: fit: there is no file or folder 'none.csv'. Check the path.\n"
