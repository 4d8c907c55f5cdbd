# SPDX-License-Identifier: Apache-2.0
"""A synopsis of weighted points, for tables of any number of columns, and everything that can be read off it at no cost."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cloister import validate
from cloister.algorithms import RESTARTS, KChoice, NoisyPoints, compare_point_numbers
from cloister.columns import Domain, FloatArray, Frame, domain_from_dict
from cloister.exceptions import CloisterError, ReleaseError
from cloister.privacy import Entropy, Receipt, StepRecord
from cloister.questions import RowCount
from cloister.release import CellSummary, Release, read_steps, refuse_odd_values
from cloister.synopsis._card import points_card
from cloister.synopsis._common import LARGEST_N_CLUSTERS, CommonSynopsis, read_numbers
from cloister.synopsis._files import FORMAT, LARGEST_COUNT, VERSION, encode
from cloister.synopsis._point_cut import cut_points

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["POINTS", "WeightedPoints"]

POINTS = "points"  # the kind of synopsis, in files
ARRAYS = ("unit_points", "unit_errors", "unit_variances", "noisy_counts")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WeightedPoints(CommonSynopsis):
    """Points with noisy numbers of rows that stand for a table of any number of columns.

    Positions are in the coordinates in which distances are measured, the unit ball of `frame`; `points` and `spreads` are in
    the units of the input.

    Parameters
    ----------
    unit_points : array of shape (n_points, n_features)
        Where the rows of each point lie on average.
    unit_errors : array of shape (n_points,)
        Standard error of each coordinate of a point.
    unit_variances : array of shape (n_points, n_features)
        How far the rows of a point scatter around it.
    scatter_error : float
        Standard error that noise gives the mean squared distance of a row from its point.
    noisy_counts : array of shape (n_points,)
        As released: whole numbers, some of them negative.
    sigma : float
        Standard deviation of the noise of each count.
    domain : Domain
        Public.
    scaling : str
        How distances are measured; see :class:`Release`.
    receipt : Receipt
        Guarantee and events.
    total : float
        The number of rows, public or counted with noise.
    max_clusters : int
        How many clusters the points were made for; a hint, no limit.
    feature_names : tuple of str, optional
        Names of the columns.
    steps : tuple of StepRecord
        What was asked, for what purpose.
    versions : dict
        Versions of the libraries.
    column_cells : CellSummary, optional
        What part of each column was missing or outside its bounds, with noise.

    Notes
    -----
    **Privacy.** A synopsis may be published whole. All methods are post-processing: no further cost, however often they are
    used.

    Examples
    --------
    >>> from cloister import PointSynopsis
    >>> rows = [[0.2, 0.2]] * 900 + [[0.8, 0.7]] * 600
    >>> synopsis = PointSynopsis(epsilon=2.0, bounds=(0, 1), random_state=0).fit(rows).synopsis_
    >>> synopsis.choose_k(random_state=0).best, synopsis.cut(2, random_state=0).n_clusters
    (2, 2)
    """

    unit_points: FloatArray
    unit_errors: FloatArray
    unit_variances: FloatArray
    scatter_error: float
    noisy_counts: FloatArray
    sigma: float
    domain: Domain
    scaling: str
    receipt: Receipt
    total: float
    max_clusters: int
    feature_names: tuple[str, ...] | None = None
    steps: tuple[StepRecord, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    column_cells: CellSummary | None = None

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.unit_points)

    @property
    def n_features(self) -> int:
        """Number of coordinates of a point: columns, and of a category its levels."""
        return len(self.columns)

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return self.domain.n_columns

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the coordinates of a point, made up where columns have none."""
        return self.domain.published_names(self.feature_names)

    @property
    def table(self) -> Domain:
        """What the columns are."""
        return self.domain

    @property
    def n_rows(self) -> float:
        """The number of rows, or of persons where every person counts 1, as well as it is known."""
        return self.total

    @property
    def n_rows_error(self) -> float:
        """Its error: of the answer that counted the rows, or none if the number is public."""
        return math.hypot(*(one.standard_deviation for one in self.receipt.own_events if one.question_name == RowCount.name))

    @property
    def frame(self) -> Frame:
        """The map to the unit ball in which distances are measured."""
        return self.domain.frame(scaling=self.scaling, missing=None if self.column_cells is None else self.column_cells.places)

    @property
    def points(self) -> FloatArray:
        """The points in the units of the input."""
        return self.frame.from_unit(self.unit_points)

    @property
    def spreads(self) -> FloatArray:
        """Standard deviations of the rows around their point, by column, in the units of the input."""
        return self.frame.errors_from_unit(np.sqrt(self.unit_variances), self.unit_points)

    @property
    def weights(self) -> FloatArray:
        """The counts, moved to the nearest ones that are not negative and add up to the number of rows."""
        return self.noisy.weights

    @property
    def noisy(self) -> NoisyPoints:
        """The points as plain numbers, with their errors."""
        return NoisyPoints(
            points=self.unit_points,
            errors=self.unit_errors,
            counts=self.noisy_counts,
            count_errors=np.full(self.n_points, self.sigma),
            variances=self.unit_variances,
            n_rows=max(self.total, 1.0),
            scatter_error=self.scatter_error,
        )

    def cut(self, n_clusters: int, *, n_init: int = RESTARTS, random_state: int | None = None) -> Release:
        """Cluster the points, weighted by their counts.

        Parameters
        ----------
        n_clusters : int
            Number of centres; any, as often as you like. Beyond half the number of points they say little.
        n_init : int, default=10
            Restarts, on public numbers.
        random_state : int, optional
            For the restarts and the errors.

        Returns
        -------
        Release
            Centres with total errors and the stability of clusters; predicts, saves, and can be reported.
        """
        return cut_points(self, n_clusters, n_init=n_init, random_state=random_state)

    def choose_k(self, n_clusters: Iterable[int] | None = None, *, random_state: int | None = None) -> KChoice:
        """Compare numbers of clusters with what they achieve on rows without clusters.

        A further cluster lowers the loss of any rows, so losses are compared with those of rows that are spread evenly along
        the same principal axes. Centres are fitted to one half of the noise and judged on the other.

        Parameters
        ----------
        n_clusters : iterable of int, optional
            Numbers to compare; by default 1 to `max_clusters`.
        random_state : int, optional
            For restarts, for splitting the noise and for rows without clusters.

        Returns
        -------
        KChoice
            `best` is 1 where nothing speaks for clusters; `as_good` lists the numbers that stand out about as well.
        """
        numbers = read_numbers(
            "Synopsis.choose_k.n_clusters", range(1, self.max_clusters + 1) if n_clusters is None else n_clusters
        )
        generator = Entropy(random_state, where="Synopsis.choose_k.random_state").public_generator()
        return compare_point_numbers(numbers, self.noisy, generator=generator).scaled(self.frame.distance_unit**2)

    def sample(self, n_rows: int, *, random_state: int | None = None) -> FloatArray:
        """Draw synthetic rows: a point in proportion to its count, then a place around it, with the scatter of its rows.

        Returns
        -------
        array of shape (n_rows, n_features)
            In the units of the input and inside the domain, with the coordinates of centres: of a category one share for
            each level. :meth:`sample_table` draws levels, flags and dates instead.
        """
        size = validate.integer("Synopsis.sample.n_rows", n_rows, low=0)
        generator = Entropy(random_state, where="Synopsis.sample.random_state").public_generator()
        weights = self.weights
        chosen = generator.choice(self.n_points, size=size, p=weights / weights.sum())
        offsets = np.sqrt(self.unit_variances)[chosen] * generator.standard_normal((size, self.unit_points.shape[1]))
        return self.frame.from_unit(self.frame.clip_unit(self.unit_points[chosen] + offsets))

    def to_arrow(self) -> "pa.Table":
        """Return one row per point: its place and its spread in every column, the noisy count, and its weight."""
        import pyarrow as pa

        data: dict[str, Any] = {}
        for name, places, spreads in zip(self.columns, self.points.T, self.spreads.T, strict=True):
            data[name], data[f"{name}_spread"] = places, spreads
        data["noisy_count"], data["weight"] = self.noisy_counts, self.weights
        return pa.table(data)

    def to_bytes(self, kind: str = "json") -> bytes:
        """Return what a ``"json"`` or ``"parquet"`` file of the synopsis holds."""
        return encode(self.to_dict(), self.to_arrow, kind)

    def to_dict(self) -> dict[str, Any]:
        """Return the synopsis as plain data."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "kind": POINTS,
            "feature_names": None if self.feature_names is None else list(self.feature_names),
            "domain": self.domain.to_dict(),
            "scaling": self.scaling,
            **{name: getattr(self, name).tolist() for name in ARRAYS},
            "scatter_error": self.scatter_error,
            "sigma": self.sigma,
            "total": self.total,
            "max_clusters": self.max_clusters,
            "receipt": self.receipt.to_dict(),
            "steps": [step.to_dict() for step in self.steps],
            "versions": self.versions,
            "column_cells": None if self.column_cells is None else self.column_cells.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote."""
        try:
            refuse_odd_values(data)
            names, domain, cells = data["feature_names"], domain_from_dict(data["domain"]), data["column_cells"]
            arrays = {name: np.array(data[name], dtype=np.float64) for name in ARRAYS}
            if cells is not None:
                n_published = len(domain.published_names(None))
                cells = CellSummary.from_dict(cells, n_columns=domain.n_columns, n_published=n_published)
            found = cls(
                **arrays,
                scatter_error=float(data["scatter_error"]),
                sigma=float(data["sigma"]),
                domain=domain,
                scaling=str(data["scaling"]),
                receipt=Receipt.from_dict(data["receipt"]),
                total=float(data["total"]),
                max_clusters=validate.integer("load_synopsis.max_clusters", data["max_clusters"], low=1),
                feature_names=None if names is None else tuple(map(str, names)),
                steps=read_steps(data["steps"]),
                versions=dict(data["versions"]),
                column_cells=cells,
            )
            _refuse_misfit(found)
            return found
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, CloisterError) as error:
            problem = repr(error)
        raise ReleaseError(f"load_synopsis: the file is damaged ({problem}). Write it again from the fit.")

    def noisy_points(self, generator: np.random.Generator) -> NoisyPoints:
        return self.noisy

    def __repr__(self) -> str:
        return points_card(self).text()

    def _repr_html_(self) -> str:
        return points_card(self).html()


def _refuse_misfit(synopsis: WeightedPoints) -> None:
    """Refuse numbers that do not belong together, and numbers that are none."""
    shape = synopsis.unit_points.shape
    wanted = {"unit_points": shape, "unit_errors": shape[:1], "unit_variances": shape, "noisy_counts": shape[:1]}
    if len(shape) != 2 or 0 in shape or synopsis.frame.n_features != shape[1]:
        raise ValueError("unit_points")
    if synopsis.feature_names is not None and len(synopsis.feature_names) != synopsis.frame.n_raw:
        raise ValueError("feature_names")
    for name, expected in wanted.items():
        array = getattr(synopsis, name)
        if array.shape != expected or not (np.abs(array) <= LARGEST_COUNT).all():
            raise ValueError(name)
    if (np.abs(synopsis.unit_points) > 2.0).any() or (synopsis.unit_variances < 0).any() or (synopsis.unit_errors < 0).any():
        raise ValueError("unit_points")
    if not (1 / LARGEST_COUNT <= synopsis.sigma <= LARGEST_COUNT) or not 0 <= synopsis.total <= LARGEST_COUNT:
        raise ValueError("sigma")
    if not 0 <= synopsis.scatter_error <= LARGEST_COUNT:
        raise ValueError("scatter_error")
    if synopsis.max_clusters > LARGEST_N_CLUSTERS:
        raise ValueError("max_clusters")
