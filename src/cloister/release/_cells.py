# SPDX-License-Identifier: Apache-2.0
"""What a release says of single cells: what part of each column was missing or outside its bounds, and where it was placed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cloister.columns import FloatArray, Table

ARRAYS = ("places", "missing", "outside")


@dataclass(frozen=True, kw_only=True, eq=False)
class CellSummary:
    """Noisy parts of the rows, by column, and the public points at which missing values were placed.

    Parameters
    ----------
    places : array of shape (n_published,), optional
        Where missing values were placed by default, in the coordinates of the centres; None: at the middle of each column.
    missing, outside : array of shape (n_columns,), optional
        Noisy part of the rows whose value was missing, and that lay outside the bounds or was no level; from 0 to 1. None
        where it was not asked, because there are too few rows to tell.
    error : float
        Standard error of each of these parts.

    Notes
    -----
    **Privacy.** Post-processing of noisy answers that the receipt lists.

    Examples
    --------
    >>> CellSummary(missing=[0.15, 0.0], outside=[0.0, 0.01], error=0.002).to_dict()["missing"]
    [0.15, 0.0]
    """

    places: FloatArray | None = None
    missing: FloatArray | None = None
    outside: FloatArray | None = None
    error: float = 0.0

    def __post_init__(self) -> None:
        for name, value in self._known().items():
            object.__setattr__(self, name, np.array(value, dtype=np.float64))

    def _known(self) -> dict[str, FloatArray]:
        return {name: array for name in ARRAYS if (array := getattr(self, name)) is not None}

    def of_columns(self, columns: Sequence[int]) -> "CellSummary":
        """Return the summary of some columns, of a table all of whose columns are numbers."""
        parts: dict[str, Any] = {name: array[list(columns)] for name, array in self._known().items()}
        return replace(self, **parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        plain = {name: array.tolist() for name, array in self._known().items()}
        return {**dict.fromkeys(ARRAYS), **plain, "error": self.error}

    @classmethod
    def from_dict(cls, data: dict[str, Any], domain: Table) -> "CellSummary":
        """Read what ``to_dict`` wrote, and check that it fits the columns of a domain."""
        n_columns, n_published = domain.n_columns, len(domain.published_names(None))
        found = cls(**{name: data[name] for name in ARRAYS}, error=float(data.get("error", 0.0)))
        for name, array in found._known().items():
            if array.shape != (n_published if name == "places" else n_columns,) or not np.isfinite(array).all():
                raise ValueError("cells")
        return found
