# SPDX-License-Identifier: Apache-2.0
"""Processes that share a ledger: forked, told when to go on, and killed."""

import os
import signal
from collections.abc import Callable

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes of these tests are forked")


class Child:
    """A real process that does its work, says so, and waits until it is killed or let go on."""

    def __init__(self, work: Callable[["Child"], object]) -> None:
        (self._hear, self._told), (self._listen, self._tell) = os.pipe(), os.pipe()
        self.number = os.fork()
        if self.number == 0:
            os.close(self._hear)
            os.close(self._tell)
            try:
                self.say(str(work(self) or "done"))
            except Exception as error:
                self.say(f"{type(error).__name__}: {error}")
            finally:
                os._exit(0)
        os.close(self._told)
        os.close(self._listen)

    def say(self, words: str) -> None:
        os.write(self._told, words.encode())

    def wait(self) -> None:
        """In the child: say that it has come so far, and wait."""
        self.say("here")
        if not os.read(self._listen, 1):  # the test is over
            os._exit(0)

    def hear(self) -> str:
        return os.read(self._hear, 10_000).decode()

    def tell(self) -> None:
        os.write(self._tell, b"!")

    def end(self) -> str:
        """Return what it says last."""
        said = self.hear()
        os.waitpid(self.number, 0)
        return said

    def kill(self) -> None:
        os.kill(self.number, signal.SIGKILL)
        os.waitpid(self.number, 0)


def run_together(count: int, work: Callable[[], object]) -> list[str]:
    """Do some work in several processes that start at the same moment; return what each says of it."""

    def begin(child: Child) -> object:
        child.wait()
        return work()

    children = [Child(begin) for _ in range(count)]
    assert [child.hear() for child in children] == ["here"] * count
    for child in children:
        child.tell()
    return [child.end() for child in children]


def die(*args: object, **options: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dies(work: Callable[[], object]) -> bool:
    """Whether a process is killed in the middle of its work, or kills itself."""
    child = Child(lambda _: work())
    return os.WIFSIGNALED(os.waitpid(child.number, 0)[1])
