# SPDX-License-Identifier: Apache-2.0
"""Reading ahead: a thread of its own fetches the next blocks while earlier ones are being searched."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["read_ahead"]

Item = TypeVar("Item")

END: Any = object()


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
