# SPDX-License-Identifier: Apache-2.0
"""The one table of engines: who reads rows. ``open_rows``, ``--engine``, documentation and tests read it.

Imports nothing of the package, so that the command line starts at once; an engine is imported when it is first used.
"""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = ["DEFAULT_ENGINE", "ENGINES", "Engine"]


@dataclass(frozen=True, kw_only=True)
class Engine:
    """One engine.

    Its module offers ``open_collection(where, data, columns, *, n_jobs, ids)`` and
    ``open_files(where, files, *, scheduler, n_jobs)``; both return ``Rows``. Where rows are those of persons, ``ids`` is the
    column that says so, or the ids themselves.
    """

    name: str
    summary: str  # who reads the rows, in a few words
    module: str
    holds: Callable[[type], bool]  # whether a collection of this type is its own
    library: str | None = None  # what a cluster needs installed: pip install cloister[name]

    @property
    def is_installed(self) -> bool:
        """Whether it can be used."""
        return self.library is None or importlib.util.find_spec(self.library) is not None

    def load(self) -> Any:
        """Return its module."""
        return import_module(self.module)


_ALL = (
    Engine(
        name="dask",
        summary="workers of a Dask cluster",
        module="cloister.data._dask",
        library="distributed",
        holds=lambda kind: hasattr(kind, "__dask_graph__"),
    ),
    Engine(
        name="spark",
        summary="executors of Spark",
        module="cloister.data._spark",
        library="pyspark",
        holds=lambda kind: kind.__module__.partition(".")[0] == "pyspark",
    ),
    Engine(  # takes what no other does
        name="numpy",
        summary="this process",
        module="cloister.data._open",
        holds=lambda kind: True,
    ),
)
ENGINES: dict[str, Engine] = {engine.name: engine for engine in _ALL}
DEFAULT_ENGINE = "numpy"
