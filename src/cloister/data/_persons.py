# SPDX-License-Identifier: Apache-2.0
"""Blocks of rows of which we know whose they are: which rows are used, and what each of them weighs. Imported by the vault.

The last two columns of such a block are the rank of each row among the rows of its person, and how many of these there are.
"""

from dataclasses import dataclass, replace

import numpy as np

from cloister.columns import PrivacyUnit
from cloister.data._backend import Block

__all__ = ["LARGEST_AUTO", "N_PERSON_COLUMNS", "Cells", "Persons", "cells_of"]

N_PERSON_COLUMNS = 2  # rank and number
LARGEST_AUTO = 100  # rows of a person that are looked at while nobody has said how many are used


@dataclass(frozen=True)
class Persons:
    """Persons whose rows are chosen and counted. Plain data, so that a backend can send it to where the rows are."""

    privacy_unit: PrivacyUnit
    limit: int  # rows of a person that come in blocks; as many as are used, or more

    @classmethod
    def of(cls, privacy_unit: PrivacyUnit | None) -> "Persons | None":
        """Return the persons, if there are any whose rows are to be counted."""
        if privacy_unit is None or privacy_unit.stated:
            return None
        return cls(privacy_unit, LARGEST_AUTO if privacy_unit.max_rows is None else privacy_unit.max_rows)

    def limited(self, max_rows: int) -> "Persons":
        """Return the same persons with so many rows used."""
        return replace(self, privacy_unit=self.privacy_unit.limited(max_rows))


@dataclass(frozen=True, eq=False)
class Cells:
    """The rows of a block that are used: their features, and which of them have which weight, in integer steps."""

    features: Block
    parts: list[tuple[int, slice]] | None  # None: every row counts one


def cells_of(block: Block, persons: Persons | None) -> Cells:
    """Return the rows of a block that are used; where they have weights, those of equal weight stand together."""
    if persons is None:
        return Cells(block, None)
    max_rows = persons.privacy_unit.max_rows
    assert max_rows is not None, "persons are counted before rows are used"
    if max_rows < persons.limit:
        block = block[block[:, -2] < max_rows]
    features = block[:, :-N_PERSON_COLUMNS]
    if not persons.privacy_unit.is_weighted:
        return Cells(features, None)
    if not len(block):
        return Cells(features, [(1, slice(0, 0))])
    sizes = np.minimum(block[:, -1], max_rows).astype(np.int64)
    order = np.argsort(sizes, kind="stable")
    found, starts = np.unique(sizes[order], return_index=True)
    ends = [*starts[1:].tolist(), len(sizes)]
    spans = zip(found.tolist(), starts.tolist(), ends, strict=True)
    parts = [(persons.privacy_unit.weight(size), slice(start, end)) for size, start, end in spans]
    return Cells(features[order], parts)
