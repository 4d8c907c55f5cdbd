# SPDX-License-Identifier: Apache-2.0
"""Results of a folder: one JSON line per job, written by one process at a time, whole or not at all.

A line is on the disk before the next job's is written. A kill can tear the last line only; it is cut off when the folder is
opened again, and its job is done anew. A second line for the same job replaces the first when read (failed jobs tried again).
"""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from ._errors import BenchError
from ._jobs import FACTS, key_of

__all__ = ["LOCK", "RESULTS", "RUNS", "Store", "read_results", "read_runs"]

RESULTS, RUNS, LOCK = "results.jsonl", "runs.jsonl", ".lock"
NEEDED = {*FACTS, "status"}


class Store:
    """The folder of a run, open for appending; a context manager that keeps others out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: IO[str] | None = None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = _take_lock(self.folder / LOCK)
        for name in (RESULTS, RUNS):
            cut_torn_line(self.folder / name)
        self._file = (self.folder / RESULTS).open("ab")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for file in (self._file, self._lock):
            if file is not None:
                file.close()
        self._file = self._lock = None

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one result; on the disk when this returns."""
        assert self._file is not None
        _write_line(self._file, record)

    def note_run(self, facts: Mapping[str, Any]) -> None:
        """Keep the options of a run, once a start."""
        with (self.folder / RUNS).open("ab") as file:
            _write_line(file, facts)


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Return the results of a folder, the newest for each job, in the order of their first lines."""
    found: dict[str, dict[str, Any]] = {}
    for record in _read_lines(folder / RESULTS):
        if record.keys() >= NEEDED:
            found[key_of(record)] = record
    return list(found.values())


def read_runs(folder: Path) -> list[dict[str, Any]]:
    """Return the options of the runs in a folder, start by start."""
    return _read_lines(folder / RUNS)


def cut_torn_line(path: Path) -> None:
    """Cut off what follows the last whole line."""
    if not path.exists():
        return
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    while end and _parse(content[content.rfind(b"\n", 0, end - 1) + 1 : end]) is None:
        end = content.rfind(b"\n", 0, end - 1) + 1
    if end < len(content):
        os.truncate(path, end)


def _write_line(file: IO[bytes], record: Mapping[str, Any]) -> None:
    file.write(json.dumps(record, allow_nan=False, default=float).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())


def _read_lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    lines = (_parse(line) for line in path.read_bytes().splitlines())
    return [line for line in lines if line is not None]


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _take_lock(path: Path) -> IO[str]:
    """Lock a file until it is closed or this process ends, however it ends."""
    file = path.open("a+", encoding="utf-8")
    try:
        _lock_file(file)
    except OSError:
        file.seek(0)
        owner = file.read().strip() or "unknown"
        file.close()
        raise BenchError(
            f"--output: another run (process {owner}) works in {str(path.parent)!r}. Wait for it, or choose another folder."
        ) from None
    with contextlib.suppress(OSError):  # for the message above only
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
    return file


def _lock_file(file: IO[str]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
