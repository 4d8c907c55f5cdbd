# SPDX-License-Identifier: Apache-2.0
"""Samples of neighbouring tables with the same coins for the rows that both have: how a replay compares them.

A real sample goes by positions, which shift where a row is inserted; its coins are secret and could as well have shifted along.
A replay lets them: a row gets its coin by what it holds and by how many equal rows came before it. Among all coins this is as
likely as any other assignment, and the rows that two tables share have the same coins in both.
"""

import hashlib
from collections import Counter
from typing import Any

import numpy as np

from cloister.data import ArrayRows, Block, Rows
from cloister.privacy import Coins

__all__ = ["all_rows", "sample_coupled", "shows_heads"]

WORD_BYTES = 8


def sample_coupled(source: Rows, coins: Coins) -> Rows:
    """Return a sample of made-up rows, whoever holds them: an equal row of another table has the same coin."""
    table = all_rows(source)
    seen: Counter[bytes] = Counter()
    kept = []
    for place, row in enumerate(np.ascontiguousarray(table)):
        content = row.tobytes()
        if shows_heads(coins, content, seen[content]):
            kept.append(place)
        seen[content] += 1
    return ArrayRows(table[kept], source.schema)


def all_rows(source: Rows) -> Block:
    """Return the rows themselves, with whatever columns are hidden; of tables that are made up."""
    table: Block = source.fold(_AllRows())
    return table


def shows_heads(coins: Coins, content: bytes, number: int) -> bool:
    """Return what the coin of the row with this number among equal ones shows."""
    word = hashlib.shake_256(b"cloister/coupled/" + coins.key + number.to_bytes(8, "little") + content).digest(WORD_BYTES)
    return bool(int.from_bytes(word, "little") < coins.share * 2.0 ** (8 * WORD_BYTES))


class _AllRows:
    """A kernel that returns the rows themselves; for tables that are made up."""

    def __call__(self, block: Any) -> Block:
        return np.array(block, dtype=np.float64)

    def merge(self, left: Block, right: Block) -> Block:
        """Join the rows of two blocks."""
        return np.concatenate([left, right])
