# SPDX-License-Identifier: Apache-2.0
"""Time of one piece of work, and how much memory it needed on top of what the process held before."""

import contextlib
import ctypes
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["timed"]

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return what the work returns, and its seconds, processor seconds and megabytes."""
    peak, start, cpu = _Peak(), time.perf_counter(), time.process_time()
    result = work()
    spent = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
    return result, {**spent, "memory_mb": peak.megabytes()}


class _Peak:
    """The rise of the process's peak since this object was made.

    On Linux what was freed is given back and the peak is reset first, so every job counts by itself; elsewhere a job counts
    only if it exceeds all before.
    """

    def __init__(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        with contextlib.suppress(OSError):
            RESET.write_text("5", encoding="ascii")
        self._before = _from_status("VmRSS:") or _peak()

    def megabytes(self) -> float:
        """Return the rise in megabytes."""
        return max(0.0, (_peak() - self._before) / 1e6)


def _peak() -> int:
    return _from_status("VmHWM:") or _lifetime_peak()


def _lifetime_peak() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _from_status(name: str) -> int:
    try:
        lines = STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(name)), 0)
