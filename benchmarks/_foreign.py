# SPDX-License-Identifier: Apache-2.0
"""Other libraries, each in an interpreter of its own, so that the versions they need and ours cannot collide.

A library has a worker, a script in ``foreign/`` that its interpreter runs once for each fit (protocol: ``foreign/_serve.py``).
Interpreters are named by ``--python NAME=PATH`` or by ``CLOISTER_RIVALS``; ``python -m benchmarks.rivals_env`` makes them.
"""

import importlib.util
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from zipfile import BadZipFile

import numpy as np

from ._arrays import Array
from ._errors import BenchError

__all__ = ["LIBRARIES", "VARIABLE", "ForeignKMeans", "Library", "named_pythons", "read_pythons"]

HERE = Path(__file__).resolve().parent / "foreign"
VARIABLE = "CLOISTER_RIVALS"
MISSING = 69  # exit code of a worker whose library cannot be imported
SAID = 3  # last lines of a worker's error output that are quoted


@dataclass(frozen=True, kw_only=True)
class Library:
    """Another library: its worker and what pip needs to install it."""

    name: str
    worker: Path
    requirements: tuple[str, ...]
    pythons: tuple[tuple[int, int], tuple[int, int]]  # oldest and newest Python that it works with

    def lack(self, python: str | None = None) -> str | None:
        """Say why an interpreter, or this one, cannot run it; None if it can."""
        if python is None and importlib.util.find_spec(self.name) is None:
            return f"{self.name} is not installed here: {self.remedy}"
        done = subprocess.run([python or sys.executable, "-W", "ignore", str(self.worker), "check"], capture_output=True)
        if not done.returncode:
            return None
        where = f"in {python}" if python else "here"
        return f"{self.name} does not work {where} ({_last_words(done.stderr, 1)}): {self.remedy}"

    @property
    def remedy(self) -> str:
        """What to do where it is missing."""
        return (
            f"make an interpreter for it, python -m benchmarks.rivals_env DIR, and pass --python {self.name}=PATH "
            f"or set {VARIABLE}"
        )


LIBRARIES = {
    library.name: library
    for library in (
        Library(
            name="diffprivlib",
            worker=HERE / "kmeans_diffprivlib.py",
            requirements=("diffprivlib==0.6.6", "scikit-learn==1.6.1"),
            pythons=((3, 9), (3, 13)),
        ),
        Library(name="dpmm", worker=HERE / "mst_dpmm.py", requirements=("dpmm==0.1.9",), pythons=((3, 10), (3, 11))),
    )
}


class ForeignKMeans:
    """Fits in another process; `seconds_` is what the fit took there without start-up, `versions_` what ran there."""

    def __init__(self, library: Library, python: str | None = None, **numbers: float | None) -> None:
        self._library, self._python = library, python or sys.executable
        self._command = [self._python, "-W", "ignore", str(library.worker), json.dumps(numbers)]

    def fit(self, rows: Array) -> Self:
        """Send the rows, receive the centres."""
        packed = io.BytesIO()
        np.save(packed, rows)
        try:
            done = subprocess.run(self._command, input=packed.getvalue(), capture_output=True)
        except OSError as error:
            raise BenchError(f"{self._library.name}: {self._python} cannot be run: {error}. Check the path.") from None
        if done.returncode == MISSING:
            raise BenchError(f"{self._library.name}: {_last_words(done.stderr, 1)}; {self._library.remedy}.")
        if done.returncode:
            raise BenchError(
                f"{self._library.name}: {self._python} ended with code {done.returncode}: {_last_words(done.stderr, SAID)}"
            )
        try:
            with np.load(io.BytesIO(done.stdout)) as found:
                self.cluster_centers_, self.seconds_ = found["centers"], float(found["seconds"])
                self.versions_: dict[str, str] = json.loads(str(found["versions"]))
        except (BadZipFile, EOFError, KeyError, ValueError):
            start = done.stdout[:40]
            raise BenchError(
                f"{self._library.name}: expected centres from {self._library.worker.name}, got {start!r}."
            ) from None
        return self


def read_pythons(words: Iterable[str], *, owner: str) -> dict[str, str]:
    """Return interpreters by library, from ``NAME=PATH``."""
    found = {}
    for word in words:
        name, _, path = word.partition("=")
        if name not in LIBRARIES or not Path(path).is_file():
            known = " or ".join(f"{library}=PATH" for library in LIBRARIES)
            raise BenchError(
                f"{owner}: expected {known} with the path of a Python that has it, got {word!r}. "
                "'python -m benchmarks.rivals_env DIR' makes them."
            )
        found[name] = path
    return found


def named_pythons(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the interpreters that the environment names, ``NAME=PATH,NAME=PATH``."""
    words = (word.strip() for word in environment.get(VARIABLE, "").split(","))
    return read_pythons([word for word in words if word], owner=VARIABLE)


def _last_words(stderr: bytes, lines: int) -> str:
    said = stderr.decode(errors="replace").strip().splitlines()
    return " / ".join(line.strip() for line in said[-lines:]) or "no word"
