# SPDX-License-Identifier: Apache-2.0
"""Libraries that only slow tests need: imported when they are first used, so that every file can be read without them."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

T = TypeVar("T")
HAS_DASK = find_spec("dask") is not None


class Lazy:
    """A module that is imported when an attribute of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # who looks at a module from outside does not want it imported
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)


dask = Lazy("dask")
da = Lazy("dask.array")
dd = Lazy("dask.dataframe")


def synchronous() -> AbstractContextManager[Any]:
    """Have Dask, where it is installed, compute in this thread."""
    return dask.config.set(scheduler="synchronous") if HAS_DASK else nullcontext()


def without_missing(makers: Mapping[str, T]) -> dict[str, T]:
    """Return the makers of tables that can be made here; a test that loops over them is marked ``both_suites``."""
    return {name: make for name, make in makers.items() if HAS_DASK or not name.startswith("dask")}
