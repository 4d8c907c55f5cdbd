# SPDX-License-Identifier: Apache-2.0
"""What files say of their columns without a row being read: names and types. For drafts of a schema."""

import os
from typing import Any

from cloister.data._columns import Column
from cloister.data._formats import text_options

__all__ = ["describe_columns"]


def describe_columns(path: str | os.PathLike[str], *, where: str = "describe_columns", **text: Any) -> list[Column]:
    """Return names and declared types of the columns of a file, or of the first of several; no row is read.

    Parameters
    ----------
    path : str or path
        As for :func:`cloister.open_rows`.
    where : str
        Whose name error messages carry.
    **text
        `delimiter`, `decimal`, `encoding` and `rows` of a CSV file.

    Notes
    -----
    **Privacy.** Names and types are taken as public. A CSV file declares no types, and its lines are not looked at for them.
    """
    from cloister.data._files import describe_files

    return describe_files(where, os.fspath(path), text=text_options(where, **text))
