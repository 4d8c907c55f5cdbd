# SPDX-License-Identifier: Apache-2.0
"""What the estimators share that measure distances relative to bounds or spreads, and place missing values."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from cloister import validate
from cloister.cluster._base import PrivateEstimator
from cloister.cluster._declare import estimator
from cloister.cluster._first import BOUNDS_SHARE
from cloister.cluster._plan import Request
from cloister.columns import AnyDeclaration, Ball, Box, Category, ColumnDomain, Domain

__all__ = ["ScaledEstimator"]

SCALINGS = ("auto", "bounds", "none", "spread")
MISSING = ("mean", "middle")
LARGEST_BOUNDS_SHARE = 0.5
WIDTHS_DIFFER = 1 + 1e-12


@estimator
class ScaledEstimator(PrivateEstimator):
    """An estimator that can measure distances relative to the bounds or to the spread of columns.

    Parameters
    ----------
    scaling : {"auto", "none", "bounds", "spread"}, default="auto"
        Measure distances in the units of the input, with every column divided by the width of its bounds, or by a
        private spread (paid from `bounds_share`). ``"auto"``: by the bounds, if their widths differ or columns are
        declared.
    missing : {"mean", "middle"}, default="mean"
        Where a missing value is placed, in its own column alone, unless the column says so itself: at a private mean of
        the column, or in the middle of its bounds. Up to 3 % of the budget asks what part of each column is missing or
        outside its bounds, which is published, and for the means: less with many rows, nothing with too few.
        ``"middle"`` asks nothing.
    bounds_share : float, default=0.05
        Part of the budget that finds private bounds and spreads, where there are any to be found.
    """

    scaling: str = "auto"
    missing: str = "mean"
    bounds_share: float = BOUNDS_SHARE

    def _request(self) -> Request:
        validate.one_of(self._where("missing"), self.missing, MISSING)
        self._bounds_share()
        return super()._request()

    def _bounds_share(self) -> float:
        where = self._where("bounds_share")
        return validate.number(where, self.bounds_share, low=0.0, high=LARGEST_BOUNDS_SHARE, open_low=True)

    def _place_missing(self, domain: ColumnDomain) -> ColumnDomain:
        if isinstance(self.bounds, ColumnDomain):
            return domain
        entries = list(self.bounds.values()) if isinstance(self.bounds, Mapping) else self.bounds
        if not isinstance(entries, list | tuple) or len(entries) != domain.n_columns:
            entries = [None] * domain.n_columns
        columns = tuple(
            one if _says_missing(entry) else replace(one, missing=self.missing)
            for one, entry in zip(domain.columns, entries, strict=True)
        )
        return replace(domain, columns=columns)

    def _asks_cells(self, domain: Domain) -> bool:
        means = isinstance(domain, ColumnDomain) and any(one.missing == "mean" for one in domain.columns)
        return means or self.missing != "middle"

    def _scaling(self, domain: Domain) -> str:
        where = self._where("scaling")
        scaling = validate.one_of(where, self.scaling, SCALINGS)
        if isinstance(domain, Ball):
            if scaling == "spread":
                remedy = 'Pass bounds=(low, high), or scaling="none".'
                validate.refuse(where, "a box or declared columns for the spread of columns", "a ball", remedy=remedy)
            return "none" if scaling == "auto" else scaling
        if isinstance(domain, Box):
            widths = np.atleast_1d(domain.high - domain.low)
            return ("bounds" if widths.max() > widths.min() * WIDTHS_DIFFER else "none") if scaling == "auto" else scaling
        if scaling == "none" and any(isinstance(one, Category) for one in domain.columns):
            remedy = 'Pass scaling="bounds", "spread" or "auto".'
            validate.refuse(where, "distances relative to bounds or spread, as categories have no unit", scaling, remedy=remedy)
        return "bounds" if scaling == "auto" else scaling


def _says_missing(entry: object) -> bool:
    """Say whether an entry of `bounds` says itself where a missing value is placed."""
    return isinstance(entry, AnyDeclaration) or (isinstance(entry, Mapping) and "missing" in entry)
