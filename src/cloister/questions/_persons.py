# SPDX-License-Identifier: Apache-2.0
"""The question about persons themselves: how many of them have how many rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, IntArray, PrivacyUnit
from cloister.questions._counts import Counts

__all__ = ["RowsPerUnit"]


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsPerUnit(Counts):
    """How many persons have how many rows, counted in bins.

    It sees two numbers of each row, and no other: its rank among the rows of its person, and how many rows that person has.

    Parameters
    ----------
    starts : tuple of int
        The smallest number of rows in each bin: 1, then increasing. The last bin is for all larger numbers.

    Notes
    -----
    **Privacy.** A person adds one to one bin, by the row of rank 0, whatever the number of their rows is. So a person moves
    the answer as far as a row moves any count: by 1 in l1 and l2, and by 2 and the root of 2 where one takes the place of
    another. That does not depend on how many rows are used, so that this may be asked before that number is known.

    Examples
    --------
    >>> question = RowsPerUnit(starts=(1, 2, 4))
    >>> question.exact(np.array([[0.0, 3.0], [1.0, 3.0], [2.0, 3.0], [0.0, 1.0], [0.0, 9.0]]))
    array([1, 1, 1])
    """

    starts: tuple[int, ...]
    name: ClassVar[str] = "rows_per_unit"
    raw: ClassVar[bool] = True
    reads_persons: ClassVar[bool] = True

    def __post_init__(self) -> None:
        starts = np.asarray(self.starts)
        if starts.ndim != 1 or not starts.size or starts[0] != 1 or (np.diff(starts) <= 0).any():
            remedy = "Pass the smallest number of rows of each bin."
            validate.refuse("RowsPerUnit.starts", "1, then increasing whole numbers", self.starts, remedy=remedy)

    @property
    def shape(self) -> tuple[int, ...]:
        """One count per bin."""
        return (len(self.starts),)

    def exact(self, rows: FloatArray) -> IntArray:
        """Count the persons of one block, each by the row of rank 0; rows are pairs of rank and number."""
        sizes = rows[rows[:, 0] == 0, 1]
        bins = np.clip(np.searchsorted(self.starts, sizes, side="right") - 1, 0, len(self.starts) - 1)
        return np.bincount(bins, minlength=len(self.starts))

    def person_factor(self, privacy_unit: PrivacyUnit) -> int:
        # A person is in one bin.
        return 1

    def person_steps(self, privacy_unit: PrivacyUnit) -> int:
        return 1
