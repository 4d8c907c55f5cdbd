# SPDX-License-Identifier: Apache-2.0
"""Files that are read and written whole: a written file is complete or it is not there. Anybody may import this."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from cloister.exceptions import ReleaseError

__all__ = ["open_draft", "read_whole", "write_whole"]


def write_whole(where: str, path: str | os.PathLike[str], content: str | bytes, *, overwrite: bool = False) -> None:
    """Write a file in one go; one that exists is refused, or replaced once the new one is complete. A device is written to.

    `where` names who wanted to write in the ReleaseError of a file that may not be replaced, or cannot be written.
    """
    target = Path(path)
    try:
        if overwrite or not target.is_file():
            with open_draft(target) as stream:
                stream.write(content.encode() if isinstance(content, str) else content)
            return
    except OSError as error:
        reason = error.strerror or "unknown reason"
    except ValueError:  # a character that no name can hold
        reason = "not a file name"
    else:
        raise ReleaseError(f"{where}: {target.name!r} exists. Pass overwrite=True to replace it, or choose another name.")
    raise ReleaseError(f"{where}: cannot write {target.name!r} ({reason}). Choose another place.")


def read_whole(where: str, path: str | os.PathLike[str]) -> bytes:
    """Return what a file holds, or refuse it by name; `where` names who wanted to read."""
    source = Path(path)
    try:
        return source.read_bytes()
    except OSError as error:
        reason = error.strerror
    except ValueError:  # a character that no name can hold
        reason = "not a file name"
    raise ReleaseError(f"{where}: cannot read {source.name!r} ({reason}). Check the path.")


@contextmanager
def open_draft(target: Path) -> Iterator[IO[bytes]]:
    """Open a draft beside a file, which takes its place if the block ends well, and is gone otherwise; open a device itself."""
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield stream
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    opened = draft.open("xb")
    try:
        with opened as stream:
            yield stream
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
