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
        self.blocks: Sequence[Prepared] | None = None  # all of them, if an earlier fold has kept them
        self._prepare = prepare
        self._too_many = False

    @contextmanager
    def filling(self, limit: int) -> Iterator[Callable[[npt.NDArray[Any]], Prepared]]:
        """Prepare and keep the blocks of one fold, all of them or none: none if they hold more than `limit` numbers."""
        kept, free, lock = list[Prepared](), -1 if self._too_many else limit, Lock()

        def prepare_and_keep(block: npt.NDArray[Any]) -> Prepared:
            nonlocal free
            prepared = self._prepare(block)
            with lock:  # kernels run on several threads
                free -= block.size
                if free >= 0:
                    kept.append(prepared)
                else:
                    kept.clear()
            return prepared

        yield prepare_and_keep  # after an error nothing is kept: the next fold begins again
        self._too_many = free < 0
        self.blocks = None if self._too_many else kept
