# SPDX-License-Identifier: Apache-2.0
"""What a process knows of its fits: the ledger that pays where none is passed, and how many fits no ledger counted.

Nothing here depends on rows. Processes that are started afresh, as joblib's workers are, inherit nothing of it; forked ones
inherit the default ledger, which takes no debits there if it is in memory.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cloister.privacy._ledger import Ledger


class Process:
    """The default ledger of a process, and the number of its fits that no ledger counted."""

    def __init__(self) -> None:
        self.default: Ledger | None = None
        self._uncounted = 0
        self._fronts: set[str] = set()
        self._lock = threading.Lock()
        self._thread = threading.local()

    @property
    def paying(self) -> "Ledger | None":
        """The ledger of fits that have none of their own."""
        return None if self._is_apart else self.default

    def count_uncounted(self, front: str = "") -> int:
        """Count a fit that no ledger counts and return how many there were; 0 if it need not be added to others.

        `front` is the account of a scaler that no ledger counted either: the receipt of the first fit behind it states both.
        """
        if self._is_apart:
            return 0
        with self._lock:
            if front and front not in self._fronts:
                self._fronts.add(front)
                return 0
            self._uncounted += 1
            return self._uncounted

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Within it, fits of this thread are of public or made-up rows: no ledger counts them, and none has to."""
        before, self._thread.apart = self._is_apart, True
        try:
            yield
        finally:
            self._thread.apart = before

    @property
    def _is_apart(self) -> bool:
        return getattr(self._thread, "apart", False)


PROCESS = Process()
