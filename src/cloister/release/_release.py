# SPDX-License-Identifier: Apache-2.0
"""What may be published: centres, noisy counts, the guarantee and every event, as one JSON file that predicts again.

A release holds public numbers only: no row, no exact count, no path. Imports columns, privacy and, to label rows, data;
imported by the estimators, the report and the command line.
"""

import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from cloister.algorithms import stands_out
from cloister.columns import FloatArray, Frame, IntArray, Table, domain_from_dict
from cloister.exceptions import CloisterError, ReleaseError, without_sizes
from cloister.files import read_whole, write_whole
from cloister.nearest import nearest_center, nearest_point
from cloister.privacy import Event, Receipt, StepRecord, refuse_seeded
from cloister.release._card import TEXT_COLUMNS, release_card
from cloister.release._cautions import Caution, release_cautions
from cloister.release._cells import CellSummary
from cloister.release._distributions import Estimate, Profiles
from cloister.release._geometry import distance_shares
from cloister.release._open import open_for
from cloister.release._plot import plot_release
from cloister.release._profile import described_columns, profile_of, to_frame
from cloister.release._source_target import CHOSEN, TargetDetails

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VERSION = 1  # of all documents
LARGEST_NUMBER = 1e150  # its square is finite
LARGEST_JSON = 1e300  # that a file may hold
ROUNDING = 1e-9  # of centres on the border of the domain
DEEPEST = 50  # lists within lists of a file
Document = TypeVar("Document")
ARRAYS = ("cluster_centers", "center_errors", "cluster_counts", "count_errors", "center_noise", "count_noise", "stability")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Release:
    """Everything a private fit may publish.

    Parameters
    ----------
    method : str
        Name of the estimator.
    parameters : dict
        Its public parameters.
    cluster_centers : array of shape (n_clusters, n_features)
        In the units of the input, inside the domain. Of declared columns: numbers in their own units, dates in days since
        1970-01-01, the share of yes of a flag, and one share for each level of a category.
    center_errors : array of shape (n_clusters, n_features)
        Standard error of each coordinate against k-means without noise on the same rows, in the units of the input: the noise,
        the secret sample of large tables and the choice among solutions. Where `center_noise` is None: of the noise alone.
    cluster_counts : array of shape (n_clusters,)
        Noisy numbers of rows, or of persons where every person counts 1 (``receipt.counted``); they can be negative.
    count_errors : array of shape (n_clusters,)
        Their standard error; what it covers is the same.
    center_noise, count_noise : array, optional
        Standard error that the noise alone makes, where the errors above tell more.
    stability : array of shape (n_clusters,), optional
        How often each cluster comes back when what was released is drawn again, from 0 to 1; 0 of one that does not stand out.
    domain : Ball, Box or Table
        Public.
    scaling : str
        How distances were measured: in the units of the input (``"none"``), with every column scaled by its bounds, or by its
        spread.
    receipt : Receipt
        Guarantee and events.
    feature_names : tuple of str, optional
        Names of the columns of the table.
    cells : CellSummary, optional
        What part of each column was missing or outside its bounds, with noise, and where missing values were placed.
    profiles : Profiles, optional
        What the clusters look like: noisy histograms of every column in each of them, where the fit was asked to describe them.
    steps : tuple of StepRecord
        What was asked for what purpose, and what was decided then, in order; their events are those that carry their names.
    details : dict
        What else the method publishes.
    versions : dict
        Versions of the libraries.
    created : str
        The day, in UTC, on which the fit began; that of the receipt by default. Not the time: it
        would tell how long the fit took.

    Notes
    -----
    **Privacy.** Post-processing of the noisy answers listed in the receipt: publishing it, whole or in part, costs nothing
    more.

    Examples
    --------
    >>> from cloister import PEMeans
    >>> model = PEMeans(n_clusters=2, epsilon=5.0, bounds=(0, 1), random_state=0).fit([[0.1, 0.1], [0.9, 0.8]] * 500)
    >>> model.release_.predict([[0.0, 0.0], [1.0, 1.0]]).tolist() == model.predict([[0.0, 0.0], [1.0, 1.0]]).tolist()
    True
    """

    method: str
    parameters: dict[str, Any]
    cluster_centers: FloatArray
    center_errors: FloatArray
    cluster_counts: FloatArray
    count_errors: FloatArray
    domain: Table
    scaling: str
    receipt: Receipt
    feature_names: tuple[str, ...] | None = None
    cells: CellSummary | None = None
    center_noise: FloatArray | None = None
    count_noise: FloatArray | None = None
    stability: FloatArray | None = None
    profiles: Profiles | None = None
    steps: tuple[StepRecord, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    created: str = ""

    def __post_init__(self) -> None:
        if not self.created:
            object.__setattr__(self, "created", self.receipt.day)
        if self.profiles is not None:
            object.__setattr__(self, "profiles", self._with_centers(self.profiles))

    @property
    def n_clusters(self) -> int:
        """Number of centres."""
        return len(self.cluster_centers)

    @property
    def n_features(self) -> int:
        """Number of coordinates of a centre: columns, and of a category its levels."""
        return int(self.cluster_centers.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return self.domain.n_columns

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the coordinates of a centre, made up where columns have none: ``age``, ``sex=f``, ``sex=m``."""
        return self.domain.published_names(self.feature_names)

    @property
    def errors_are_total(self) -> bool:
        """Whether the errors tell more than the noise: also the choice among solutions. See docs/errors.md."""
        return self.center_noise is not None

    @property
    def stands_out(self) -> npt.NDArray[np.bool_]:
        """Which clusters have more rows than noise alone would show; with clusters of noise only, all are False in 97.5 %.

        A row that `predict` assigns to one of the others has a label without a meaning.
        """
        noise = self.count_errors if self.count_noise is None else self.count_noise
        return stands_out(self.cluster_counts, noise)

    @cached_property
    def warnings(self) -> tuple[Caution, ...]:
        """What to know before believing it, each with its remedy: columns misread or cut off, clusters made of noise.

        Post-processing of the noisy answers and of public numbers; only what the noise leaves little doubt about.
        """
        return release_cautions(self)

    @property
    def n_rows(self) -> float:
        """The number of rows, or of persons where these are counted: public, or a noisy answer; else the sum of the counts."""
        return self._row_count("n_rows", float(self.cluster_counts.sum()))

    @property
    def n_rows_error(self) -> float:
        """Its standard error: 0 if it is public. Errors of counts that only move rows between clusters are no part of it."""
        noise = self.count_errors if self.count_noise is None else self.count_noise
        return self._row_count("n_rows_error", float(np.linalg.norm(noise)))

    def _row_count(self, name: str, otherwise: float) -> float:
        both = [self.details.get(one) for one in ("n_rows", "n_rows_error")]
        known = all(isinstance(one, int | float) and 0 <= one <= LARGEST_NUMBER for one in both)
        return float(self.details[name]) if known else otherwise

    @property
    def frame(self) -> Frame:
        """The map to the unit ball in which distances were measured."""
        return self.domain.frame(scaling=self.scaling, missing=None if self.cells is None else self.cells.places)

    @property
    def distance_shares(self) -> dict[str, float]:
        """Which part of the squared distances between centres each column of the table makes: what clusters differ in."""
        return dict(zip((one[0] for one in described_columns(self)), distance_shares(self).tolist(), strict=True))

    @cached_property
    def source_target(self) -> TargetDetails | None:
        """What source-target clustering says beside its centres. None for other methods."""
        if self.method != CHOSEN and "sanitized_source" not in self.details:
            return None
        return TargetDetails.read(self.details, self.parameters, n_clusters=self.n_clusters, width=self.n_features)

    @property
    def free_centers(self) -> FloatArray | None:
        """The sanitised source of source-target clustering: centres besides the chosen ones. None for other methods."""
        return None if self.source_target is None else self.source_target.source

    def _with_centers(self, profiles: Profiles) -> Profiles:
        """Return the profiles with the centres as the means of the columns that clusters were found by.

        Not of a logarithmic scale, where centres are geometric means, nor where centres are chosen points.
        """
        known = {name: (one, cut) for name, one, cut in described_columns(self) if not one.has_levels and not one.is_log}
        found = []
        for one in profiles:
            declared, cut = known.get(one.name, (None, slice(0)))
            if declared is None or declared.kind != one.kind or not one.clustered or self.free_centers is not None:
                found.append(replace(one, centers=None))
                continue
            found.append(
                replace(one, centers=Estimate(*declared.on_axis(self.cluster_centers[:, cut], self.center_errors[:, cut])))
            )
        return Profiles(columns=tuple(found))

    def events_of(self, step: StepRecord | str) -> tuple[Event, ...]:
        """Return the noisy answers of a step, given as its record or its name."""
        name = step if isinstance(step, str) else step.name
        return tuple(event for event in self.receipt.events if event.step == name)

    def profile(self) -> list[dict[str, Any]]:
        """Return one entry per cluster, in the columns' own words and as plain data.

        Returns
        -------
        list of dict
            `label`, `rows` and `rows_error` (a noisy count and its standard error), `stands_out` (whether that is more than
            noise), `stability` (how often the cluster comes back, or None) and `columns`: of a number `value` and `error` (on a
            log scale a geometric mean, and also the `factor` of one standard error); of a date `value`, such as
            ``"2024-05-17"``, and `error_days`; of a flag `share` (of yes) and `error`; of a
            category `shares`, a pair of share and error for each level. Where missing values are a level of their own,
            `missing` is the pair of their share and its error. Where the fit was asked to describe the clusters, also
            `distributions`: of every column that was described, of a number or a date `mean`, `spread` (the standard
            deviation), `quartiles` and `difference` (of the mean from that of all rows, in standard deviations of all rows), of
            levels `shares` and `differences` (of shares), with the errors that the noise makes; None where a cluster does not
            stand out of the noise. Spreads and errors of dates are in days.

        Notes
        -----
        **Privacy.** Post-processing of the release; costs nothing.

        Examples
        --------
        >>> from cloister import PEMeans
        >>> model = PEMeans(n_clusters=1, epsilon=5.0, bounds=(0, 1), random_state=0).fit([[0.1], [0.9]] * 500)
        >>> sorted(model.release_.profile()[0]["columns"]["x0"])
        ['error', 'type', 'value']
        """
        return profile_of(self)

    def to_frame(self, library: str = "pandas") -> Any:
        """Return the profile as a data frame with one line per cluster.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Whose frame; it must be installed.

        Returns
        -------
        DataFrame
            Columns `label`, `rows`, `rows_error`, `stands_out`, `stability` where it is known, and for each coordinate its
            value and its standard error: ``age``, ``age_error``, ``sex=f``, ``sex=f_error``. Dates are dates; their error is
            in days. A name that is taken gets an underscore. Where the fit was asked to describe the clusters, also the
            standard deviation of numbers and dates in each of them, ``age_spread`` and ``age_spread_error``, and columns that
            were only described, as centres are.

        Notes
        -----
        **Privacy.** Post-processing of the release; costs nothing.

        Examples
        --------
        >>> from cloister import PEMeans
        >>> model = PEMeans(n_clusters=1, epsilon=5.0, bounds=(0, 1), random_state=0).fit([[0.1], [0.9]] * 500)
        >>> list(model.release_.to_frame().columns)
        ['label', 'rows', 'rows_error', 'stands_out', 'x0', 'x0_error']
        """
        return to_frame(self, library)

    def __repr__(self) -> str:
        return release_card(self, TEXT_COLUMNS).text()

    def _repr_html_(self) -> str:
        return release_card(self).html()

    def plot(self, kind: str = "map", ax: Any = None, *, columns: Sequence[int | str] | None = None) -> "Axes":
        """Draw the clusters with matplotlib, which ``pip install 'cloister[plot]'`` installs.

        Parameters
        ----------
        kind : {"map", "profiles", "curve"}, default="map"
            Centres in a plane, as large as their noisy counts and with error bars: two columns are the axes themselves; of more
            it is the plane in which the centres differ most. Or a heat map of clusters and columns, coloured by how each
            cluster differs from the mean of all rows. Or, where ``n_clusters="auto"`` chose the number of clusters, the
            held-out loss that spoke for it.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure.
        columns : sequence of str or int, optional
            Columns to draw: one or two of a map, any of a heat map. By default all, of more than 40 those that tell the
            clusters apart best.

        Returns
        -------
        matplotlib.axes.Axes
            Nothing is shown or saved: ``ax.figure.savefig("clusters.png")``.

        Raises
        ------
        ParameterError
            If matplotlib is not installed, or something else than these is asked for.

        Notes
        -----
        **Privacy.** Post-processing of the release; costs nothing.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from cloister import PEMeans
        >>> model = PEMeans(n_clusters=2, epsilon=5.0, bounds=(0, 1), random_state=0).fit([[0.1, 0.1], [0.9, 0.8]] * 500)
        >>> ax = model.release_.plot()
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('x0', 'x1')
        """
        return plot_release(self, kind, columns, ax)

    @without_sizes
    def predict(self, table: object) -> IntArray:
        """Return the index of the nearest centre for each row.

        A row with missing values is compared by its other columns, unless it was declared where missing values lie.

        Parameters
        ----------
        table : whatever :func:`cloister.open_rows` opens
            The original table, as a data frame, an Arrow table or a path: the columns of the release are taken by their names
            and read as they were declared, others are ignored. Or an array with one number per column of the release, as
            readers deliver it: of a category the position of its level, of a flag 1 or 0, of a date the days since 1970-01-01.

        Returns
        -------
        array of shape (n_rows,)
            For source-target clustering, -1 where a point of the sanitised source is nearer than every chosen one.

        Raises
        ------
        DataError
            If the table cannot be opened, or has not the columns of the release.

        Notes
        -----
        **Privacy.** Labels describe the rows of `table` one by one and are not covered by the guarantee.

        A label of a cluster that does not stand out of the noise (`stands_out`) says nothing about its row.
        """
        rows = open_for(table, self.domain, self.feature_names)
        return np.concatenate([np.empty(0, dtype=np.int64), *map(self._label, rows.blocks())])

    def _label(self, block: npt.NDArray[Any]) -> IntArray:
        array = np.asarray(block, dtype=np.float64)
        finite = np.isfinite(array).all(axis=1, keepdims=True)
        if self.free_centers is None:
            by_cell = self.cells is not None or self.domain.is_declared
            placed = array if by_cell else np.where(finite, array, self.frame.center)
            return nearest_center(self.frame, self.cluster_centers, placed)
        whole = np.clip(np.where(finite, array, self.frame.center), -LARGEST_NUMBER, LARGEST_NUMBER)
        metric = str(self.parameters.get("metric", "euclidean"))
        chosen = nearest_point(whole, self.cluster_centers, metric)
        return np.where(nearest_point(whole, self.free_centers, metric).distances < chosen.distances, -1, chosen.indices)

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain data."""
        return {
            "format": "cloister.release",
            "version": VERSION,
            "created": self.created,
            "method": self.method,
            "parameters": self.parameters,
            "feature_names": None if self.feature_names is None else list(self.feature_names),
            "domain": self.domain.to_dict(),
            "scaling": self.scaling,
            **{name: None if (array := getattr(self, name)) is None else array.tolist() for name in ARRAYS},
            "stands_out": self.stands_out.tolist(),
            "warnings": [one.to_dict() for one in self.warnings],
            "cells": None if self.cells is None else self.cells.to_dict(),
            **({} if self.profiles is None else {"profiles": self.profiles.to_dict()}),
            "receipt": self.receipt.to_dict(),
            "steps": [step.to_dict() for step in self.steps],
            "details": self.details,
            "versions": self.versions,
        }

    def to_json(self) -> str:
        """Return the release as JSON text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False, allow_seeded: bool = False) -> None:
        """Write the release to a file. One that exists is refused, or replaced whole if `overwrite` is set.

        A release with seeded noise is refused unless `allow_seeded` is set: it is for tests and benchmarks.
        """
        refuse_seeded("Release.save", seeded=self.receipt.seeded, allow_seeded=allow_seeded)
        write_whole("Release.save", path, self.to_json(), overwrite=overwrite)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Release":
        """Read what ``to_dict`` wrote."""
        return rebuild("release", data, cls._read, writer="fit")

    @classmethod
    def _read(cls, data: dict[str, Any]) -> "Release":
        domain, cells, profiles = domain_from_dict(data["domain"]), data["cells"], data.get("profiles")
        arrays: dict[str, Any] = {name: np.array(data[name], dtype=np.float64) for name in ARRAYS if data[name] is not None}
        release = cls(
            **arrays,
            parameters=dict(data["parameters"]),
            cells=None if cells is None else CellSummary.from_dict(cells, domain),
            profiles=None if profiles is None else Profiles.from_dict(profiles),
            details=dict(data["details"]),
            created=str(data["created"]),
            domain=domain,
            **read_shared(data),
        )
        _refuse_misfit(release)
        return release


def rebuild(noun: str, data: Any, read: Callable[[dict[str, Any]], Document], *, writer: str) -> Document:
    """Return what `read` makes of the plain data of a file; other files, other versions and damage are refused."""
    where = f"load_{noun}"
    if not isinstance(data, dict) or data.get("format") != f"cloister.{noun}":
        raise ReleaseError(f"{where}: expected a Cloister {noun}, got another file. Pass the file that '{writer}' wrote.")
    if data.get("version") != VERSION:
        raise ReleaseError(f"{where}: expected version {VERSION}, got {data.get('version')!r}. Upgrade cloister to read it.")
    try:
        _refuse_odd_values({name: value for name, value in data.items() if name != "noisy_counts"})  # which may be an array
        return read(data)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, CloisterError) as error:
        problem = repr(error)
    raise ReleaseError(f"{where}: the file is damaged ({problem}). Write it again from the fit.")


def read_shared(data: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that all documents have."""
    names = data["feature_names"]
    return {
        "method": str(data["method"]),
        "scaling": str(data["scaling"]),
        "receipt": Receipt.from_dict(data["receipt"]),
        "feature_names": None if names is None else tuple(map(str, names)),
        "steps": _read_steps(data["steps"]),
        "versions": dict(data["versions"]),
    }


def _read_steps(data: Any) -> tuple[StepRecord, ...]:
    """Read records of steps: numbers by name, and a picture that the report draws as far as it fits."""
    steps: dict[str, StepRecord] = {}
    for one in data:
        name, figures, picture = str(one["name"]), one["figures"], one["picture"]
        numbers = isinstance(figures, dict) and all(isinstance(value, int | float) for value in figures.values())
        if not numbers or not isinstance(picture, dict) or name in steps:
            raise ValueError("steps")
        plain = {figure: float(value) for figure, value in figures.items()}
        steps[name] = StepRecord(name=name, purpose=str(one["purpose"]), figures=plain, picture=picture)
    return tuple(steps.values())


def _refuse_odd_values(data: Any, depth: int = DEEPEST) -> None:
    """Refuse what JSON cannot hold, or no float: such a file could be read, but neither written again nor drawn."""
    if isinstance(data, dict | list):
        if not depth:
            raise ValueError("lists within lists")
        for one in data.values() if isinstance(data, dict) else data:
            _refuse_odd_values(one, depth - 1)
    elif isinstance(data, int | float) and not abs(data) <= LARGEST_JSON:
        raise ValueError("a number that is none")


def _refuse_misfit(release: Release) -> None:
    """Refuse numbers that do not belong together, and numbers that are none."""
    shape = release.cluster_centers.shape
    if len(shape) != 2 or 0 in shape or release.scaling not in ("bounds", "none", "spread"):
        raise ValueError("centres")
    if len(release.frame.center) != shape[1] or len(release.columns) != shape[1]:
        raise ValueError("columns")
    if release.feature_names is not None and len(release.feature_names) != release.n_columns:
        raise ValueError("columns")
    for name in ARRAYS:
        array, expected = getattr(release, name), shape if name.startswith(("cluster_ce", "center")) else shape[:1]
        least = -LARGEST_NUMBER if name.startswith("cluster") else 0.0
        if array is not None and (array.shape != expected or not ((least <= array) & (array <= LARGEST_NUMBER)).all()):
            raise ValueError(name)
    if release.profiles is not None and release.profiles.columns[0].n_clusters != release.n_clusters:
        raise ValueError("profiles")
    if release.free_centers is None:
        moved = np.abs(release.domain.clip(release.cluster_centers) - release.cluster_centers)
        if (moved > ROUNDING * np.maximum(release.frame.scale, np.abs(release.cluster_centers))).any():
            raise ValueError("centres outside the domain")
        return
    nearest_point(release.cluster_centers[:1], release.cluster_centers, str(release.parameters.get("metric", "euclidean")))


def load_release(path: str | os.PathLike[str]) -> Release:
    """Read a release from a JSON file.

    Parameters
    ----------
    path : str or path
        What ``Release.save`` or ``cloister fit --output`` wrote.

    Returns
    -------
    Release
        With ``predict``.

    Raises
    ------
    ReleaseError
        If the file cannot be read, is damaged, or is of another version.

    Notes
    -----
    **Privacy.** Reads public numbers; costs nothing.

    Examples
    --------
    >>> load_release("missing.json")
    Traceback (most recent call last):
    ...
    cloister.exceptions.ReleaseError: load_release: cannot read 'missing.json' (No such file or directory). Check the path.
    """
    return read_release(read_whole("load_release", path), name=repr(Path(path).name))


def read_release(content: bytes, *, name: str) -> Release:
    """Read a release from JSON text; errors call it by `name`."""
    try:
        data = json.loads(content.decode())
    except (RecursionError, ValueError):
        pass
    else:
        return Release.from_dict(data)
    raise ReleaseError(f"load_release: {name} is not JSON. Pass what 'fit' wrote.")


def library_versions() -> dict[str, str]:
    """Return the versions that determine a fit."""
    import scipy
    import sklearn

    from cloister._version import __version__

    return {
        "cloister": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "scikit-learn": sklearn.__version__,
        "scipy": scipy.__version__,
    }
