# SPDX-License-Identifier: Apache-2.0
"""Where files are: on this machine, or in a store that pyarrow reaches (``s3://``, ``gs://``, ``abfs://``, ``hdfs://``).

A place is plain data, so that workers can open it themselves. Keys come from the environment of the process that opens it, as
pyarrow finds them; no message quotes an address, which may hold one. Imported by the readers of files.
"""

import glob
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import pyarrow as pa
from pyarrow import fs

from cloister.data._backend import explained
from cloister.data._formats import Dialect, Format, format_of
from cloister.data._table_formats import folders_above, refuse_tables, tables_listed
from cloister.exceptions import DataError

STORES = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")
SCHEMES = "s3://, gs://, abfs://, hdfs:// or file://"
READ_BUFFER = 1 << 20  # bytes of a file in a store that are fetched at a time
PATIENCE = "retry_limit_seconds=30"  # of the store of Google, which would otherwise try for a quarter of an hour


@dataclass(frozen=True)
class Place:
    """One file: its path, and for a file in a store an address in the same store."""

    path: str
    address: str | None = field(default=None, repr=False)  # may hold a key

    @property
    def name(self) -> str:
        """The name without folders."""
        return self.path.rstrip("/").rpartition("/")[2] if self.address is not None else Path(self.path).name

    @property
    def format(self) -> Format:
        """What is in the file, by its name."""
        found = format_of(self.name)
        assert found is not None, "checked when it was found"
        return found

    def absolute(self) -> "Place":
        """Return the same place for a process that stands elsewhere."""
        return self if self.address is not None else Place(str(Path(self.path).absolute()))

    def size(self) -> int:
        """Return the bytes of the file."""
        if self.address is None:
            return Path(self.path).stat().st_size
        with self.open_arrow() as stream:
            return int(stream.size())

    def open(self) -> BinaryIO:
        """Open the file for reading bytes."""
        if self.address is None:
            return Path(self.path).open("rb")
        return cast(BinaryIO, io.BufferedReader(self.open_arrow(), READ_BUFFER))

    def open_arrow(self) -> Any:
        """Open the file for Arrow, which seeks in it."""
        if self.address is None:
            return pa.OSFile(self.path, "rb")
        return _store(self.address)[0].open_input_file(self.path)


@dataclass(frozen=True)
class TextFile:
    """A file of lines: where it is, and how its text is written."""

    place: Place
    dialect: Dialect

    @property
    def name(self) -> str:
        """The name without folders."""
        return self.place.name

    def open(self) -> BinaryIO:
        """Open the text for reading bytes; one that is compressed can only be read from its beginning."""
        compression = self.place.format.compression
        if compression is None:
            return self.place.open()
        stream = pa.CompressedInputStream(self.place.open_arrow(), compression)
        return cast(BinaryIO, io.BufferedReader(stream, READ_BUFFER))


@dataclass(frozen=True)
class Found:
    """The files that a path means."""

    places: Sequence[Place]
    what: str  # "a file", "a folder" or "a pattern"


def find_places(where: str, path: str) -> Found:
    """Find the file that a path or an address means, or all those in a folder or of a pattern that can be opened."""
    scheme, mark, _ = path.partition("://")
    if not mark:
        return _find_here(where, path)
    scheme = scheme.lower()
    if scheme == "file":
        parts = urlsplit(path.replace("?", "%3F").replace("#", "%23"))  # both may stand in names and patterns
        if parts.netloc not in ("", "localhost"):
            raise DataError(f"{where}: expected file:/// and a path on this machine, got one with a host. Write three slashes.")
        return _find_here(where, url2pathname(parts.path))
    if scheme not in STORES:
        raise DataError(
            f"{where}: expected a path, or an address with {SCHEMES}, got one with {scheme[:20]!r}. Copy the file first."
        )
    remedy = "Check the address, the network and the credentials in the environment."
    return explained(  # errors of several libraries, which may quote the address
        lambda: _find_all(where, *_store(path), path),
        lambda error: f"{where}: the address with {scheme}:// cannot be opened ({type(error).__name__}). {remedy}",
    )


# -- on this machine -------------------------------------------------------------------------------------------------------


def _find_here(where: str, text: str) -> Found:
    files, what = _files_here(where, text)
    folders = {Path(text), *(file.parent for file in files)}
    real = {file.resolve().parent for file in files if file.is_symlink()} | {folder.resolve() for folder in folders}
    named = {Path(os.path.abspath(folder)) for folder in folders}  # where links stand, beside where they lead
    above = folders_above((folder / "any").as_posix() for folder in real | named)
    refuse_tables(where, fs.LocalFileSystem(), above, (file.name for file in files))
    return Found([Place(str(file)) for file in files], what)


def _files_here(where: str, text: str) -> tuple[list[Path], str]:
    path = Path(text)
    if path.is_dir():
        return sorted(_inside(path)), "a folder"
    if path.is_file():
        return [path], "a file"
    if not glob.has_magic(text):
        raise _absent(where, path.name)
    matches = [Path(match) for match in glob.glob(text, recursive=True)]
    return sorted(
        {file for match in matches for file in (_inside(match) if match.is_dir() else _readable([match]))}
    ), "a pattern"


def _inside(folder: Path) -> Iterator[Path]:
    return (file for file in _readable(folder.rglob("*")) if not _hidden(file.relative_to(folder).parts))


def _readable(files: "Iterator[Path] | list[Path]") -> Iterator[Path]:
    return (file for file in files if format_of(file.name) is not None and file.is_file())


def _hidden(parts: Sequence[str]) -> bool:
    return any(part.startswith((".", "_")) for part in parts)


def _absent(where: str, name: str) -> DataError:
    return DataError(f"{where}: there is no file or folder {name!r}. Check the path.")


# -- in a store ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def _store(address: str) -> tuple[fs.FileSystem, str]:
    """Return the file system of an address, and the path of the address in it."""
    address = address.replace(" ", "%20")
    if address.lower().startswith(("gs:", "gcs:")) and "retry_limit_seconds" not in address:
        address += ("&" if "?" in address else "?") + PATIENCE
    return cast(tuple[fs.FileSystem, str], fs.FileSystem.from_uri(address))


def _find_all(where: str, store: fs.FileSystem, path: str, address: str) -> Found:
    kind = fs.FileType.Unknown if "*" in path else store.get_file_info(path).type
    if kind == fs.FileType.NotFound:
        raise _absent(where, unquote(path.rstrip("/").rpartition("/")[2]))
    parts = path.strip("/").split("/")
    first = next((index for index, part in enumerate(parts) if "*" in part), len(parts))
    folder, pattern = "/" * path.startswith("/") + "/".join(parts[:first]), parts[first:]
    if kind == fs.FileType.File:
        found, above = Found([Place(path, address)], "a file"), folders_above([path])
    else:
        infos = store.get_file_info(fs.FileSelector(folder, allow_not_found=True, recursive=True))
        paths = [info.path for info in infos if info.type == fs.FileType.File]
        places = [Place(one, address) for one in sorted(paths) if _is_meant(one, folder, pattern)]
        found = Found(places, "a pattern" if pattern else "a folder")
        inside = folders_above(place.path for place in places) & tables_listed(paths)
        above = inside | folders_above([f"{folder.rstrip('/')}/any"])
    refuse_tables(where, store, above, (place.name for place in found.places))
    return found


def _is_meant(path: str, folder: str, pattern: Sequence[str]) -> bool:
    """Whether a path below a folder can be opened, and is one of the pattern or lies in a folder that is."""
    below = path.strip("/").removeprefix(folder.strip("/")).strip("/").split("/")
    if format_of(below[-1]) is None or _hidden(below):
        return False
    return not pattern or any(_matches(below[:end], pattern) for end in range(1, len(below) + 1))


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a path is one of a pattern; ``**`` stands for any folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[skipped:], pattern[1:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
