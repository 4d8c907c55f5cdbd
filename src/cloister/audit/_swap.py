# SPDX-License-Identifier: Apache-2.0
"""Swap a name of the package for another one while a block runs: how the audit records a fit and plants faults.

Everything is put back when the block ends. There is no switch in the vault itself that a user could leave on.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

__all__ = ["find", "swapped", "wrapped"]


def find(path: str) -> tuple[Any, str]:
    """Return the owner and the name of ``module:attribute`` or ``module:Class.attribute``."""
    module, _, inner = path.partition(":")
    *owners, name = inner.split(".")
    owner: Any = import_module(module)
    for one in owners:
        owner = getattr(owner, one)
    return owner, name


@contextmanager
def swapped(path: str, value: object) -> Iterator[None]:
    """Let `path` stand for `value` while the block runs."""
    owner, name = find(path)
    before = vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextmanager
def wrapped(*pairs: tuple[str, Callable[[Any], object]]) -> Iterator[None]:
    """Let every path stand for what its wrapper makes of the present value, while the block runs."""
    with ExitStack() as stack:
        for path, wrapper in pairs:
            owner, name = find(path)
            stack.enter_context(swapped(path, wrapper(vars(owner)[name])))
        yield
