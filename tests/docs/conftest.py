# SPDX-License-Identifier: Apache-2.0
"""The folder that ``make demo`` writes, with fewer patients."""

import shutil
from pathlib import Path

import pytest

from cloister import demo

N_PATIENTS = 2000


@pytest.fixture(scope="session")
def demo_output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``make demo`` writes, written once."""
    folder = tmp_path_factory.mktemp("demo") / "demo-output"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo.make_patients, "__defaults__", (N_PATIENTS,))
        demo.main([str(folder)])
    return folder


@pytest.fixture
def folder(demo_output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh copy, for a page to work in."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    return Path(shutil.copytree(demo_output, tmp_path / "demo-output"))
