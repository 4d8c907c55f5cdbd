# SPDX-License-Identifier: Apache-2.0
"""Tables whose files are not their rows: Delta, Iceberg, Hudi, Paimon and DuckLake keep deleted and replaced rows in files.

What is a row of such a table, its own log says, which this package does not read. So no file of one is opened: a row that was
deleted would be counted, and one that was changed would be two rows. A table is known by the folder of its log, whose names the
formats prescribe. Imported by what finds files.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from pyarrow import fs

from cloister.exceptions import DataError

LOGS = {  # a folder of the table, a file in it, and the format whose log that is
    "_delta_log": ("*", "Delta"),
    ".hoodie": ("*", "Hudi"),
    "metadata": ("*.metadata.json*", "Iceberg"),
    "snapshot": ("snapshot-[0-9]*", "Paimon"),
}
DUCKLAKE = re.compile(r"ducklake-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-delete)?\.parquet")  # its log is a database
LIBRARIES = {"Delta": "deltalake", "Hudi": "hudi", "Iceberg": "pyiceberg", "Paimon": "pypaimon", "DuckLake": "duckdb"}
DENIED = ("denied", "forbidden", "authoriz", "403")


def refuse_tables(where: str, store: fs.FileSystem, folders: Iterable[str], names: Iterable[str]) -> None:
    """Refuse files with these names if one of the folders above them is a table, or they are named as those of one are."""
    logs = ((str(PurePosixPath(one) / log), *LOGS[log]) for one in sorted(folders) for log in LOGS)
    found = next((kind for folder, pattern, kind in logs if _holds(store, folder, pattern)), None)
    if found is None and any(map(DUCKLAKE.fullmatch, names)):
        found = "DuckLake"
    if found is not None:
        raise DataError(
            f"{where}: expected files with the rows of a table and no others, got files of a table in {found} format, whose "
            f"rows may have been deleted or replaced. Read it with a library of that format ({LIBRARIES[found]}) and pass the "
            "Arrow table or data frame, or export it to a folder of its own."
        )


def folders_above(paths: Iterable[str]) -> set[str]:
    """Return every folder that a path is in, however deep."""
    folders = {PurePosixPath(path).parent for path in paths}
    return {str(folder) for one in folders for folder in (one, *one.parents)}


def tables_listed(paths: Iterable[str]) -> set[str]:
    """Return the folders that may be tables, by the paths of all that is in a folder."""
    found = (path.parent for path in map(PurePosixPath, folders_above(paths)) if path.name in LOGS)
    return set(map(str, found))


def _holds(store: fs.FileSystem, folder: str, pattern: str) -> bool:
    """Whether there is such a folder with such a file. One that may not be looked into, no table can be known by."""
    try:
        if store.get_file_info(folder).type != fs.FileType.Directory:
            return False
        names = (info.base_name for info in store.get_file_info(fs.FileSelector(folder)))
        return any(fnmatchcase(name, pattern) for name in names)
    except OSError as error:
        if not isinstance(error, PermissionError) and not any(word in str(error).lower() for word in DENIED):
            raise
        return False
