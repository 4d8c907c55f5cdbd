# SPDX-License-Identifier: Apache-2.0
"""Swap names of the package while a block runs: how the audit records a fit, and how it plants the faults that it must catch.

Everything is put back when the block ends. There is no switch in the vault itself that a user could leave on. More faults, each
caught by a test, are planted in a copy of the code by ``make mutants``.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Any, TypeAlias

import numpy as np

from cloister.columns import snap
from cloister.privacy import DISJOINT, Entropy, Tally

Change: TypeAlias = tuple[str, Callable[[Any], object]]  # "module:Class.attribute", and what is made of what stands there


@contextmanager
def wrapped(*changes: Change) -> Iterator[None]:
    """Let every path stand for what its wrapper makes of the present value, while the block runs."""
    with ExitStack() as stack:
        for path, wrapper in changes:
            module, _, inner = path.partition(":")
            outer, _, name = inner.rpartition(".")
            owner = resolve_name(f"{module}:{outer}")
            before = vars(owner)[name]
            stack.callback(setattr, owner, name, before)
            setattr(owner, name, wrapper(before))
        yield


def swapped(path: str, value: object) -> Any:
    """Let `path` stand for `value` while a block runs."""
    return wrapped((path, lambda _: value))


@dataclass(frozen=True)
class Plant:
    """A fault: what it does, the check that must catch it, what it changes, and what it makes of what stands there."""

    name: str
    description: str
    check: str
    path: str
    fault: Callable[[Any], object]


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Plant the fault of this name while the block runs; nothing for an empty name."""
    with wrapped(*([(PLANTS[name].path, PLANTS[name].fault)] if name else [])):
        yield


def _no_noise_where_empty(noisy: Any) -> object:
    def planted_noisy(vault: Any, question: Any, exact: Any, event: Any) -> Any:
        answer = noisy(vault, question, exact, event)
        if not question.selects:
            answer.value[exact == 0] = 0.0
        return answer

    return planted_noisy


def _one_seed(noisy: Any) -> object:
    def planted_noisy(vault: Any, *asked: Any) -> Any:
        vault._entropy = Entropy(0)
        return noisy(vault, *asked)

    return planted_noisy


def _unclipped(clean: Any) -> object:
    def planted_clean(frame: Any, block: Any) -> Any:
        rows = np.asarray(block, dtype=np.float64)
        rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, frame.center)
        return snap(np.clip((rows - frame.center) / frame.scale, -100, 100))

    return planted_clean


_ALL = (
    Plant(
        "noise-halved",
        "noise drawn at half its stated scale",
        "attacks",
        "cloister.privacy:Event.draw",
        lambda draw: lambda event, entropy: draw(replace(event, scale=event.scale / 2), entropy),
    ),
    Plant(
        "noise-shared",
        "one draw for all numbers of an answer",
        "attacks",
        "cloister.privacy:Event.draw",
        lambda draw: lambda event, entropy: np.repeat(draw(replace(event, size=1), entropy), event.size),
    ),
    Plant("empty-cells", "cells without rows get no noise", "samplers", "cloister.vault:Vault._noisy", _no_noise_where_empty),
    Plant("one-seed", "every answer is drawn from the same seed", "samplers", "cloister.vault:Vault._noisy", _one_seed),
    Plant("unclipped", "rows outside the domain are not pulled into it", "replay", "cloister.columns:Frame.clean", _unclipped),
    Plant(
        "persons-unbounded",
        "all rows of a person are used",
        "persons",
        "cloister.data:Bounding.draw",
        lambda draw: classmethod(lambda cls, entropy, limit: draw.__func__(cls, entropy, 1_000_000)),
    ),
    Plant(
        "debit-skipped",
        "answers are not debited",
        "spending",
        "cloister.privacy:Account.debit",
        lambda debit: lambda account, event: event,
    ),
    Plant(
        "lines-as-rows",
        "every line of a quoted text is a row",
        "files",
        "cloister.data._csv:Grammar",
        lambda grammar: lambda **given: grammar(**{**given, "joins": False}),
    ),
    Plant(
        "settled-is-free",
        "the ledger forgets what a killed process spent",
        "kills",
        "cloister.privacy._ledger_state:AccountState.counts_as",
        lambda counts_as: lambda account, composition: Tally() if account.settled else counts_as(account, composition),
    ),
    Plant(
        "merge-of-one",
        "a merge states what one table's people spent",
        "receipts",
        "cloister.privacy._receipt:_together",
        lambda together: lambda parts, joined: parts[0] if joined == DISJOINT else together(parts, joined),
    ),
)
PLANTS: dict[str, Plant] = {one.name: one for one in _ALL}
