# SPDX-License-Identifier: Apache-2.0
"""Files a command writes: tried before anything is spent, replaced only once complete, ``-`` for standard output."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from cloister.exceptions import ParameterError
from cloister.files import open_draft

__all__ = ["STANDARD_OUTPUT", "Target", "open_target", "refuse_ending", "refuse_same"]

STANDARD_OUTPUT = "-"


class Target:
    """One output: a file, a device, or standard output."""

    def __init__(self, path: str, stream: IO[bytes]) -> None:
        self.path = path
        self._stream = stream

    @property
    def is_standard(self) -> bool:
        """Whether it is standard output."""
        return self.path == STANDARD_OUTPUT

    def write(self, content: str | bytes) -> None:
        """Write bytes as they are, and text as UTF-8."""
        self._stream.write(content.encode() if isinstance(content, str) else content)
        self._stream.flush()

    def finish(self) -> None:
        """Let the draft of a file take its place now, so that nothing that fails later can lose what it holds."""
        draft = Path(str(getattr(self._stream, "name", "")))
        if not self.is_standard and draft.suffix == ".draft" and draft.is_file():
            self._stream.close()
            draft.replace(self.path)


@contextlib.contextmanager
def open_target(option: str, path: str | None, *, force: bool) -> Iterator[Target | None]:
    """Make sure that `path` can be written, then write to a draft beside it, which takes its place when the block ends well."""
    if path is None:
        yield None
        return
    if path == STANDARD_OUTPUT:
        yield Target(path, _standard_output())
        return
    place = Path(path)
    _check(option, place, force=force)
    try:
        with open_draft(place) as stream:
            yield Target(path, stream)
        return
    except OSError as error:
        reason = error.strerror
    raise _unwritable(option, place, reason)


def refuse_same(named: Sequence[tuple[str, str | None]]) -> None:
    """Refuse to write one file for two purposes, or over an input: `named` holds options and their paths."""
    seen: dict[str, str] = {}
    for option, path in named:
        if path is None:
            continue
        key = path if path == STANDARD_OUTPUT else _real_path(option, path)
        if key in seen:
            raise ParameterError(f"{option}: {path!r} is also given as {seen[key]}. Choose another file.")
        seen[key] = option


def refuse_ending(option: str, path: str | None, ends: Sequence[str], *, what: str, remedy: str = "") -> None:
    """Refuse a name that promises another kind of file; one without an ending promises nothing."""
    ending = "" if path is None or path == STANDARD_OUTPUT else os.path.splitext(path)[1].lower()
    if ends and ending and ending not in ends:
        more = f", or {remedy}" if remedy else ""
        raise ParameterError(f"{option}: {what}, got {path!r}. Choose a name that ends in {ends[0]}{more}.")


def _real_path(option: str, path: str) -> str:
    with suppress(ValueError):  # a null, or half a letter
        return os.path.realpath(path)
    raise ParameterError(f"{option}: expected a name that a file can have, got {path!r}. Choose another name.")


def _check(option: str, place: Path, *, force: bool) -> None:
    if place.is_dir():
        raise ParameterError(f"{option}: expected a file, got the folder {str(place)!r}. Add a file name.")
    if not place.parent.is_dir():
        raise ParameterError(f"{option}: there is no folder {str(place.parent)!r}. Create it first.")
    if place.is_file() and not force:
        raise ParameterError(f"{option}: {str(place)!r} exists. Choose another name, or pass --force to replace it.")


def _unwritable(option: str, place: Path, reason: str | None) -> ParameterError:
    return ParameterError(f"{option}: cannot write {str(place)!r} ({reason}). Choose another place.")


def _standard_output() -> IO[bytes]:
    sys.stdout.flush()
    return sys.stdout.buffer
