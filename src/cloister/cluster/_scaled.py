# SPDX-License-Identifier: Apache-2.0
"""What the estimators share that measure distances relative to bounds or spreads, and place missing values."""

from abc import abstractmethod
from typing import Any, Self

from cloister import validate
from cloister.cluster._base import PrivateEstimator, PrivateFit
from cloister.cluster._declare import estimator
from cloister.cluster._first import TableSpec
from cloister.cluster._plan import Request
from cloister.columns import Box, Table, as_columns, as_domain
from cloister.data import Rows
from cloister.exceptions import without_sizes
from cloister.synopsis import Points, Synopsis

SCALINGS = ("auto", "bounds", "none", "spread")
MISSING = ("mean", "middle")
LARGEST_BOUNDS_SHARE = 0.5


@estimator
class ScaledEstimator(PrivateEstimator):
    """An estimator that can measure distances relative to the bounds or to the spread of columns.

    Parameters
    ----------
    scaling : {"auto", "none", "bounds", "spread"}, default="auto"
        Measure distances in the units of the input, with every column divided by the width of its bounds, or by a
        private spread (paid from `bounds_share`). ``"auto"``: by the bounds, if their widths differ or columns are
        declared; where categories or flags stand beside numbers, by spreads, and three small fits, each on 3 to 10 % of
        the budget, choose how much levels weigh beside numbers. Weights that columns declare are multiplied by that.
    missing : {"mean", "middle"}, default="mean"
        Where a missing value is placed, in its own column alone, unless the column says so itself: at a private mean of
        the column, or in the middle of its bounds. Up to 3 % of the budget asks what part of each column is missing or
        outside its bounds, which is published, and for the means: less with many rows, nothing with too few.
        ``"middle"`` asks nothing.
    bounds_share : "auto" or float, default="auto"
        Part of the budget that finds private bounds and spreads, where there are any to be found. ``"auto"``: from 2 to
        20 %, the more the fewer the rows and the more columns.
    """

    scaling: str = "auto"
    missing: str = "mean"
    bounds_share: Any = "auto"

    @without_sizes
    def fit(self, X: object, y: object = None, *, privacy_unit: object = None, **unknown: object) -> Self:
        """Fit to the rows under the guarantee.

        Parameters
        ----------
        X : whatever :func:`cloister.open_rows` opens, or what it returns
            The private rows: an array, a data frame, files, a Dask or Spark collection.
        y : None
            Ignored.
        privacy_unit : array-like of shape (n_rows,), optional
            Whose row each is, for tables in memory that have no column of ids: a person is protected with all of their rows.

        Returns
        -------
        self
            Fitted.

        Raises
        ------
        ParameterError, DataError, BudgetExceeded
            Before anything is spent.
        BoundsError
            Where private bounds of a column are not distinguishable from noise. Only the search for them is spent.
        """
        with self._with_ids(privacy_unit, unknown):
            rows = self._open(X)
            self._store(self._fit_privately(X, rows))
        self._label(X, rows)
        return self

    @abstractmethod
    def _store(self, fit: PrivateFit) -> None:
        """Keep what may be published of a fit."""

    def _synopsis(self, points: Points, fit: PrivateFit) -> Synopsis:
        """Return the document around the points of a fit."""
        return Synopsis.around(points, column_cells=fit.cells, **self._about(fit))

    def _label(self, X: object, rows: Rows) -> None:
        """Say of each row to which cluster it belongs, where a method has clusters."""

    def _request(self) -> Request:
        validate.one_of(self._where("missing"), self.missing, MISSING)
        self._bounds_share()
        return super()._request()

    def _bounds_share(self) -> float | None:
        where = self._where("bounds_share")
        if validate.is_word(self.bounds_share, "auto"):
            return None
        return validate.number(where, self.bounds_share, low=0.0, high=LARGEST_BOUNDS_SHARE, open_low=True)

    def _domain(self, n_features: int, scaled: Box | None = None) -> Table:
        bounds = scaled if self.bounds is None else self.bounds
        return as_domain(self._where("bounds"), bounds, n_features, missing=self.missing)

    def _asks_cells(self, domain: Table) -> bool:
        means = domain.is_declared and any(one.missing == "mean" for one in domain.columns)
        return means or self.missing != "middle"

    def _weighs_levels(self, setting: TableSpec) -> bool:
        return self.scaling == "auto" and setting.scaling == "spread"

    def _scaled(self, domain: Table) -> tuple[Table, str]:
        where = self._where("scaling")
        scaling = domain.choose_scaling(where, validate.one_of(where, self.scaling, SCALINGS))
        return (as_columns(domain, missing=self.missing) if scaling == "spread" else domain), scaling
