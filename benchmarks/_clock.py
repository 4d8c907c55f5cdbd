# SPDX-License-Identifier: Apache-2.0
"""Time and memory of one piece of work."""

import time
from collections.abc import Callable
from typing import Any

from ._memory import Peak

__all__ = ["timed"]


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return what the work returns, and its seconds, processor seconds and megabytes."""
    peak, start, cpu = Peak(), time.perf_counter(), time.process_time()
    result = work()
    spent = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
    return result, {**spent, "memory_mb": peak.megabytes()}
