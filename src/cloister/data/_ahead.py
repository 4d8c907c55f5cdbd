# SPDX-License-Identifier: Apache-2.0
"""Reading with threads of its own: the next blocks while earlier ones are being searched, or pieces side by side."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Lock
from typing import Any, TypeVar

__all__ = ["Progress", "read_ahead", "side_by_side"]

Item = TypeVar("Item")
Result = TypeVar("Result")

END: Any = object()
LOOK_SECONDS = 0.25


def read_ahead(items: Iterator[Item], depth: int) -> Iterator[Item]:
    """Yield the same items in the same order; at most `depth` of them have been fetched and are waiting.

    An error while fetching is raised where the item would have come. Closing the result waits for what is being fetched.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="cloister-reader") as reader:
        try:
            waiting = deque(reader.submit(next, items, END) for _ in range(depth))
            while (item := waiting.popleft().result()) is not END:
                waiting.append(reader.submit(next, items, END))
                yield item
        finally:
            reader.shutdown(cancel_futures=True)


class Progress:
    """How far threads that read side by side are, and whether they should stop."""

    def __init__(self, n_blocks: int) -> None:
        self._n_blocks = max(n_blocks, 1)
        self._lock = Lock()
        self._n_read = 0
        self.stopped = False

    @property
    def part(self) -> float:
        """The part of the pass that is done."""
        return min(self._n_read / self._n_blocks, 1.0)

    def step(self) -> None:
        """Count a block."""
        with self._lock:
            self._n_read += 1


def side_by_side(
    work: Callable[[int, Item], Result], items: Sequence[Item], progress: Progress, *, n_jobs: int, look: Callable[[], object]
) -> list[Result]:
    """Return what the work makes of each item and its number, on threads; the first error stops all.

    `look` is called from this thread now and then, and at the end.
    """
    with ThreadPoolExecutor(n_jobs, thread_name_prefix="cloister-reader") as pool:
        waiting = futures = [pool.submit(work, number, item) for number, item in enumerate(items)]
        try:
            while waiting:
                finished, left = wait(waiting, timeout=LOOK_SECONDS, return_when=FIRST_EXCEPTION)
                for future in finished:
                    future.result()
                look()
                waiting = list(left)
            return [future.result() for future in futures]
        finally:
            progress.stopped = True
            pool.shutdown(cancel_futures=True)
