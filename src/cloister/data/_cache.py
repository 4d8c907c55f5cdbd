# SPDX-License-Identifier: Apache-2.0
"""Prepared blocks, kept from one fold to the next while they are few. Imported by the local backends and the vault."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy.typing as npt

Prepared = TypeVar("Prepared")


class BlockCache(Generic[Prepared]):
    """What a caller keeps of the blocks from one fold to the next. It belongs to the caller and goes with it.

    `prepare` is applied to every block first; all kernels of the caller take a block or what it makes of one.
    """

    def __init__(self, prepare: Callable[[npt.NDArray[Any]], Prepared]) -> None:
        self._prepare = prepare
        self._lock = Lock()
        self._kept: list[Prepared] = []
        self._free = 0  # numbers
        self._complete = False
        self._too_many = False

    @property
    def blocks(self) -> Sequence[Prepared] | None:
        """All blocks, if an earlier fold has kept them."""
        return self._kept if self._complete else None

    @contextmanager
    def filling(self, limit: int) -> Iterator[Callable[[npt.NDArray[Any]], Prepared]]:
        """Prepare and keep the blocks of one fold, all of them or none: none if they hold more than `limit` numbers."""
        self._kept, self._free = [], -1 if self._too_many else limit

        def prepare_and_keep(block: npt.NDArray[Any]) -> Prepared:
            prepared = self._prepare(block)
            with self._lock:  # kernels run on several threads
                self._free -= block.size
                if self._free >= 0:
                    self._kept.append(prepared)
                else:
                    self._kept.clear()
            return prepared

        yield prepare_and_keep  # an error leaves it incomplete: the next fold begins again
        self._complete, self._too_many = self._free >= 0, self._free < 0
