# SPDX-License-Identifier: Apache-2.0
"""Synopses from files, of whatever they are made."""

import os
from pathlib import Path
from typing import Any

from cloister.exceptions import CloisterError, ReleaseError
from cloister.files import read_whole
from cloister.synopsis._files import FORMAT, VERSION, decode
from cloister.synopsis._synopsis import Synopsis
from cloister.synopsis._weighted import POINTS, WeightedPoints

__all__ = ["load_synopsis", "read_synopsis"]


def load_synopsis(path: str | os.PathLike[str]) -> Synopsis | WeightedPoints:
    """Read a synopsis from a ``.json`` or ``.parquet`` file.

    Parameters
    ----------
    path : str or path
        What ``save`` wrote.

    Returns
    -------
    Synopsis or WeightedPoints
        With all its methods: of a grid, or of weighted points.

    Raises
    ------
    ReleaseError
        If the file cannot be read, is damaged, or is of another version.

    Notes
    -----
    **Privacy.** Reads public numbers; costs nothing.

    Examples
    --------
    >>> load_synopsis("missing.json")
    Traceback (most recent call last):
    ...
    cloister.exceptions.ReleaseError: load_synopsis: cannot read 'missing.json' (No such file or directory). Check the path.
    """
    return read_synopsis(read_whole("load_synopsis", path), name=repr(Path(path).name))


def read_synopsis(content: bytes, *, name: str) -> Synopsis | WeightedPoints:
    """Read what a file holds; `name` is for the error."""
    try:
        return _read(decode(content))
    except CloisterError:
        raise
    except (OSError, LookupError, RecursionError, TypeError, ValueError):
        pass
    raise ReleaseError(f"load_synopsis: {name} is not a synopsis. Pass the file that 'save' wrote.")


def _read(data: Any) -> Synopsis | WeightedPoints:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ReleaseError("load_synopsis: expected a Cloister synopsis, got another file. Pass the file that 'save' wrote.")
    if data.get("version") != VERSION:
        raise ReleaseError(f"load_synopsis: expected version {VERSION}, got {data.get('version')!r}. Upgrade cloister.")
    return WeightedPoints.from_dict(data) if data.get("kind") == POINTS else Synopsis.from_dict(data)
