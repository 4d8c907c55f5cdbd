# SPDX-License-Identifier: Apache-2.0
"""Threads that read and threads that compute: blocks in order, the next ones while earlier ones are in work."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from cloister import validate

Item = TypeVar("Item")
Result = TypeVar("Result")

READER = "cloister-reader"  # begins the names of threads that read
END: Any = object()


def read_ahead(items: Iterator[Item], depth: int) -> Iterator[Item]:
    """Yield the same items in the same order; at most `depth` of them have been fetched and are waiting.

    An error while fetching is raised where the item would have come. Closing the result waits for what is being fetched.
    """
    with ThreadPoolExecutor(1, thread_name_prefix=READER) as reader:
        try:
            waiting = deque(reader.submit(next, items, END) for _ in range(depth))
            while (item := waiting.popleft().result()) is not END:
                waiting.append(reader.submit(next, items, END))
                yield item
        finally:
            reader.shutdown(cancel_futures=True)


def map_in_order(work: Callable[[Item], Result], items: Iterator[Item], n_jobs: int) -> Iterator[Result]:
    """Yield ``work(item)`` for each item, in order; one more item than there are threads is in work or done."""
    if n_jobs == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > n_jobs:
                yield waiting.popleft().result()
        for future in waiting:
            yield future.result()


def count_jobs(where: str, n_jobs: object) -> int:
    """Return the number of threads: None means all processors this process may use."""
    available = int(joblib.cpu_count())
    if n_jobs is None:
        return available
    number = validate.integer(where, n_jobs, low=-available, remedy="Pass None for all processors, or how many to use.")
    if number == 0:
        validate.refuse(where, "a number of threads other than 0", 0, remedy="Pass None for all processors.")
    return number if number > 0 else max(1, available + 1 + number)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> Any:
    """Blocks run side by side, so each matrix product keeps to its own thread."""
    return _controller().limit(limits=1, user_api="blas")
