# SPDX-License-Identifier: Apache-2.0
"""A noisy histogram that was paid for once and answers for ever: clusters for any k, range counts, synthetic rows, marginals.

Everything here is post-processing of one answer, so no ledger is touched. Imports domain, privacy, algorithms and release;
imported by the estimators, the report and the command line.
"""

import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister import validate
from cloister.algorithms import COUNT_RULES, denoise_counts, weighted_kmeans
from cloister.domain import Box, FloatArray, Frame, IntArray, snap
from cloister.exceptions import CloisterError, ReleaseError
from cloister.privacy import GDP, Entropy, PureDP, Receipt
from cloister.questions import Nearest
from cloister.release import Release, library_versions

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["KChoice", "RangeCount", "Synopsis", "load_synopsis"]

FORMAT = "cloister.synopsis"
VERSION = 1
REPRESENTATIVES = ("center", "slope")
RESTARTS = 10


@dataclass(frozen=True)
class RangeCount:
    """A noisy number of rows in a box, with what makes it uncertain."""

    value: float
    noise_error: float  # standard deviation of the noise of the cells that were added
    edge_error: float  # standard deviation from cells the box cuts through, whose rows are taken to be spread evenly

    @property
    def standard_error(self) -> float:
        """Both together."""
        return math.hypot(self.noise_error, self.edge_error)

    def __str__(self) -> str:
        return f"{self.value:,.0f} ± {self.standard_error:,.0f}"


@dataclass(frozen=True, eq=False)
class KChoice:
    """What :meth:`Synopsis.choose_k` found."""

    n_clusters: tuple[int, ...]
    loss: FloatArray  # mean squared distance of the synopsis' mass to the centres
    held_out: FloatArray  # the same on a half of the noise the centres have not seen
    held_out_error: FloatArray
    elbow: int
    supported: int  # the largest k that lowers the held-out loss by more than its error
    best: int

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain data."""
        return {
            "n_clusters": list(self.n_clusters),
            "loss": self.loss.tolist(),
            "held_out": self.held_out.tolist(),
            "held_out_error": self.held_out_error.tolist(),
            "elbow": self.elbow,
            "supported": self.supported,
            "best": self.best,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Synopsis:
    """Noisy counts of a uniform grid over a box, and what can be read off them.

    Parameters
    ----------
    noisy_counts : array with one axis per column
        As released: whole numbers, some of them negative.
    domain : Box
        Public.
    scaling : {"none", "bounds"}
        How distances between cells are measured.
    sigma : float
        Standard deviation of the noise of each count.
    counts : {"clip", "nonnegative-total", "none"}
        How counts become weights for clustering, sampling and marginals. Range counts use the noisy counts as they are.
    receipt : Receipt
        Guarantee and events.
    total : float, optional
        The number of rows, if it is public or was asked for; else the noisy counts are added up.
    feature_names : tuple of str, optional
        Names of the columns.
    versions : dict
        Versions of the libraries.

    Notes
    -----
    **Privacy.** A synopsis may be published whole. All methods are post-processing: no further cost, however often they are
    used.

    Examples
    --------
    >>> from cloister import GridSynopsis
    >>> rows = [[0.2, 0.2]] * 300 + [[0.8, 0.7]] * 200
    >>> synopsis = GridSynopsis(n_clusters=2, epsilon=2.0, bounds=(0, 1), random_state=0).fit(rows).synopsis_
    >>> synopsis.count(([0, 0], [0.5, 0.5])).value > 200
    True
    """

    noisy_counts: FloatArray
    domain: Box
    scaling: str
    sigma: float
    counts: str
    receipt: Receipt
    total: float | None = None
    feature_names: tuple[str, ...] | None = None
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def cells(self) -> tuple[int, ...]:
        """Cells along each axis."""
        return self.noisy_counts.shape

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.noisy_counts.ndim

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, made up where they have none."""
        return self.feature_names or tuple(f"x{index}" for index in range(self.n_features))

    @property
    def n_rows(self) -> float:
        """The number of rows, as well as it is known."""
        return max(0.0, float(self.noisy_counts.sum())) if self.total is None else self.total

    @property
    def frame(self) -> Frame:
        """The map to the unit ball in which distances are measured."""
        return self.domain.frame(scaling=self.scaling)

    @property
    def edges(self) -> tuple[FloatArray, ...]:
        """Borders of the cells along each axis, in the units of the input."""
        low, high = np.atleast_1d(self.domain.low), np.atleast_1d(self.domain.high)
        return tuple(np.linspace(low[axis], high[axis], count + 1) for axis, count in enumerate(self.cells))

    @property
    def weights(self) -> FloatArray:
        """The counts after the rule `counts`; never negative unless it is ``"none"``."""
        return denoise_counts(self.noisy_counts, self.counts, total=self.n_rows)

    def kmeans(
        self,
        n_clusters: int,
        *,
        n_init: int = RESTARTS,
        representatives: str = "center",
        random_state: int | None = None,
    ) -> Release:
        """Cluster the cells, weighted by their counts.

        Parameters
        ----------
        n_clusters : int
            Number of centres; any, as often as you like.
        n_init : int, default=10
            Restarts, on public numbers.
        representatives : {"center", "slope"}, default="center"
            Where a cell's rows are taken to be: at its centre, or moved towards the fuller neighbour.
        random_state : int, optional
            For the restarts.

        Returns
        -------
        Release
            Centres with their errors; predicts, saves, and can be reported.
        """
        count = validate.integer("Synopsis.kmeans.n_clusters", n_clusters, low=1)
        validate.integer("Synopsis.kmeans.n_init", n_init, low=1)
        generator = Entropy(random_state, where="Synopsis.kmeans.random_state").public_generator()
        points, weights = self._points(representatives), np.maximum(self.weights.ravel(), 0.0)
        centers = _cluster(points, weights, count, generator=generator, restarts=n_init, half_widths=self._half_widths)
        owner = _owner(points, centers)
        sizes = np.bincount(owner, weights=weights, minlength=count).astype(np.float64)
        spread = np.stack(
            [np.bincount(owner, weights=column, minlength=count) for column in ((points - centers[owner]) ** 2).T], axis=1
        )
        errors = np.minimum(self.sigma * np.sqrt(spread) / np.maximum(sizes, self.sigma)[:, None], 1.0)
        frame = self.frame
        return Release(
            method="GridKMeans",
            parameters={
                "n_clusters": count,
                "cells": list(self.cells),
                "counts": self.counts,
                "representatives": representatives,
            },
            cluster_centers=frame.from_unit(centers),
            center_errors=errors * frame.scale,
            cluster_counts=sizes,
            count_errors=self.sigma * np.sqrt(np.maximum(np.bincount(owner, minlength=count), 1)),
            domain=self.domain,
            scaling=self.scaling,
            receipt=self.receipt,
            feature_names=self.feature_names,
            versions=self.versions or library_versions(),
        )

    def choose_k(self, n_clusters: Iterable[int] = range(1, 13), *, random_state: int | None = None) -> KChoice:
        """Compare numbers of clusters, by an elbow and by a criterion that knows the noise.

        The noisy counts are split into two halves with independent noise (what one half adds, the other subtracts): centres are
        fitted to one and judged on the other, so that clusters made of noise do not pay. `best` is the elbow of the held-out
        loss, but never more than the largest number of clusters the held-out loss supports.

        Parameters
        ----------
        n_clusters : iterable of int, default=range(1, 13)
            Numbers to compare.
        random_state : int, optional
            For restarts and for splitting the noise.
        """
        numbers = sorted({validate.integer("Synopsis.choose_k.n_clusters", count, low=1) for count in n_clusters})
        if not numbers:
            validate.refuse("Synopsis.choose_k.n_clusters", "at least one number", numbers, remedy="Pass range(1, 13).")
        generator = Entropy(random_state, where="Synopsis.choose_k.random_state").public_generator()
        points, weights = self._points("center"), np.maximum(self.weights.ravel(), 0.0)
        rows = max(self.n_rows, 1.0)
        loss, held_out, errors = [], [], []
        splits = [self._split(generator) for _ in range(3)]
        for count in numbers:
            centers = _cluster(points, weights, count, generator=generator, restarts=RESTARTS, half_widths=self._half_widths)
            loss.append(float(np.sum(weights * _squares(points, centers)) / max(weights.sum(), 1.0)))
            values = []
            for seen, unseen in splits:
                mine = np.maximum(denoise_counts(seen, self._weighting, total=rows).ravel(), 0.0)
                found = _cluster(points, mine, count, generator=generator, restarts=3, half_widths=self._half_widths)
                squares = _squares(points, found)
                values.append(float(np.sum(unseen.ravel() * squares) / rows))
                noise = self.sigma * math.sqrt(2 * float(np.sum(squares**2))) / rows
            held_out.append(float(np.mean(values)))
            errors.append(noise / math.sqrt(len(splits)))
        scale = float(self.frame.scale[0]) ** 2 if np.ptp(self.frame.scale) == 0 else float(self.n_features)
        return _choice(numbers, np.array(loss) * scale, np.array(held_out) * scale, np.array(errors) * scale)

    def count(self, box: Any) -> RangeCount:
        """Return the noisy number of rows in a box given as (low, high) or Box, in the units of the input.

        Cells that the box cuts through count with the part of them inside it.
        """
        query = box.spread(self.n_features) if isinstance(box, Box) else _query_box(box, self.n_features)
        share: FloatArray = np.ones(())
        for axis, edges in enumerate(self.edges):
            low, high = np.atleast_1d(query.low)[axis], np.atleast_1d(query.high)[axis]
            overlap = np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)
            share = np.multiply.outer(share, np.clip(overlap / np.diff(edges), 0.0, 1.0))
        value = float(np.sum(share * self.noisy_counts))
        cut = np.maximum(self.noisy_counts, 0.0) * share * (1 - share)
        return RangeCount(value, self.sigma * float(np.sqrt(np.sum(share**2))), float(np.sqrt(np.sum(cut))))

    def sample(self, n_rows: int, *, random_state: int | None = None) -> FloatArray:
        """Draw synthetic rows: a cell in proportion to its count, then a place in it."""
        size = validate.integer("Synopsis.sample.n_rows", n_rows, low=0)
        generator = Entropy(random_state, where="Synopsis.sample.random_state").public_generator()
        mass = np.maximum(self.weights.ravel(), 0.0)
        mass = mass if mass.sum() > 0 else np.ones_like(mass)
        chosen = generator.choice(len(mass), size=size, p=mass / mass.sum())
        index = np.stack(np.unravel_index(chosen, self.cells), axis=1)
        widths = np.array([edges[1] - edges[0] for edges in self.edges])
        low = np.atleast_1d(self.domain.low)
        return np.asarray(low + (index + generator.random(index.shape)) * widths)

    def marginal(self, columns: Sequence[int | str]) -> "Synopsis":
        """Return the synopsis of some of the columns, all others added up. Its noise is larger: that of all cells it adds."""
        axes = [self._axis(column) for column in columns]
        if not axes or len(set(axes)) != len(axes):
            validate.refuse("Synopsis.marginal.columns", "one or more columns, each once", columns, remedy="Name them once.")
        others = tuple(axis for axis in range(self.n_features) if axis not in axes)
        kept = sorted(axes)
        added = self.noisy_counts.sum(axis=others) if others else self.noisy_counts
        noisy = np.transpose(added, [kept.index(axis) for axis in axes])
        low, high = np.atleast_1d(self.domain.low), np.atleast_1d(self.domain.high)
        return replace(
            self,
            noisy_counts=np.ascontiguousarray(noisy),
            domain=Box(low[axes], high[axes]),
            sigma=self.sigma * math.sqrt(self.noisy_counts.size / noisy.size),
            feature_names=None if self.feature_names is None else tuple(self.feature_names[axis] for axis in axes),
        )

    def merge(self, other: "Synopsis", *, rows: str = "disjoint") -> "Synopsis":
        """Join two synopses on the same grid.

        Parameters
        ----------
        other : Synopsis
            On the same box with the same cells.
        rows : {"disjoint", "same"}, default="disjoint"
            Whether they are of tables that share no person (counts are added) or of one table asked twice (counts are
            averaged, the less noisy one weighing more).

        Returns
        -------
        Synopsis
            For disjoint tables its receipt is that of the weaker guarantee, which holds for the people of both. For one table
            asked twice it lists the events of both and states what they add up to.
        """
        validate.one_of("Synopsis.merge.rows", rows, ("disjoint", "same"))
        if self.receipt.neighbours != other.receipt.neighbours:
            validate.refuse(
                "Synopsis.merge.other", "the same neighbouring relation", other.receipt.neighbours, remedy="Fit anew."
            )
        if self.cells != other.cells or self.domain.to_dict() != other.domain.to_dict() or self.columns != other.columns:
            validate.refuse(
                "Synopsis.merge.other", "the same box, cells and columns", other.cells, remedy="Fit both on one grid."
            )
        if rows == "disjoint":
            total = None if self.total is None or other.total is None else self.total + other.total
            sigma, noisy = math.hypot(self.sigma, other.sigma), self.noisy_counts + other.noisy_counts
            return replace(
                self, noisy_counts=noisy, sigma=sigma, total=total, receipt=_join_disjoint(self.receipt, other.receipt)
            )
        mine, yours = self.sigma**-2, other.sigma**-2
        noisy = (mine * self.noisy_counts + yours * other.noisy_counts) / (mine + yours)
        joined = _join_same(self.receipt, other.receipt)
        return replace(self, noisy_counts=noisy, sigma=(mine + yours) ** -0.5, receipt=joined)

    def to_arrow(self) -> "pa.Table":
        """Return one row per cell: its borders in every column, the noisy count, and its weight after the rule `counts`."""
        import pyarrow as pa

        index = np.unravel_index(np.arange(self.noisy_counts.size), self.cells)
        data: dict[str, Any] = {}
        for axis, (name, edges) in enumerate(zip(self.columns, self.edges, strict=True)):
            data[f"{name}_low"], data[f"{name}_high"] = edges[index[axis]], edges[index[axis] + 1]
        data["noisy_count"] = self.noisy_counts.ravel()
        data["weight"] = self.weights.ravel()
        return pa.table(data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the synopsis to a ``.json`` or ``.parquet`` file; an existing one is replaced once the new one is complete."""
        target = Path(path)
        if target.suffix.lower() not in (".json", ".parquet"):
            validate.refuse(
                "Synopsis.save.path", "a .json or .parquet file", target.name, remedy="Choose one of these endings."
            )
        draft = target.with_name(f".{target.name}.draft")
        try:
            if target.suffix.lower() == ".json":
                draft.write_text(json.dumps(self.to_dict(), allow_nan=False) + "\n", encoding="utf-8")
            else:
                import pyarrow.parquet

                head = json.dumps({**self.to_dict(), "noisy_counts": None})
                pyarrow.parquet.write_table(self.to_arrow().replace_schema_metadata({FORMAT: head}), draft)
            draft.replace(target)
        except OSError as error:
            raise ReleaseError(
                f"Synopsis.save: cannot write {target.name!r} ({error.strerror}). Choose another place."
            ) from None

    def to_dict(self) -> dict[str, Any]:
        """Return the synopsis as plain data."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "feature_names": None if self.feature_names is None else list(self.feature_names),
            "domain": self.domain.to_dict(),
            "scaling": self.scaling,
            "cells": list(self.cells),
            "noisy_counts": self.noisy_counts.ravel().tolist(),
            "sigma": self.sigma,
            "counts": self.counts,
            "total": self.total,
            "receipt": self.receipt.to_dict(),
            "versions": self.versions,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Synopsis":
        """Read what ``to_dict`` wrote."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ReleaseError(
                "load_synopsis: expected a Cloister synopsis, got another file. Pass the file that 'save' wrote."
            )
        if data.get("version") != VERSION:
            raise ReleaseError(f"load_synopsis: expected version {VERSION}, got {data.get('version')!r}. Upgrade cloister.")
        try:
            names, domain = data["feature_names"], data["domain"]
            return cls(
                noisy_counts=np.array(data["noisy_counts"], dtype=np.float64).reshape(data["cells"]),
                domain=Box(domain["low"], domain["high"]),
                scaling=str(data["scaling"]),
                sigma=float(data["sigma"]),
                counts=validate.one_of("load_synopsis.counts", data["counts"], COUNT_RULES),
                receipt=Receipt.from_dict(data["receipt"]),
                total=None if data["total"] is None else float(data["total"]),
                feature_names=None if names is None else tuple(map(str, names)),
                versions=dict(data.get("versions", {})),
            )
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, CloisterError):
                raise
            raise ReleaseError(f"load_synopsis: the file is damaged ({type(error).__name__}). Write it again.") from None

    # -- helpers --------------------------------------------------------------------------------------------------------

    @property
    def _half_widths(self) -> FloatArray:
        widths = self.frame.half_widths
        assert widths is not None
        return widths

    @property
    def _weighting(self) -> str:
        return "nonnegative-total" if self.counts == "none" else self.counts

    def _axis(self, column: int | str) -> int:
        if isinstance(column, str):
            if column not in self.columns:
                validate.refuse(
                    "Synopsis.marginal.columns", f"names among {', '.join(self.columns)}", column, remedy="Check it."
                )
            return self.columns.index(column)
        return validate.integer("Synopsis.marginal.columns", column, low=0, high=self.n_features - 1)

    def _points(self, representatives: str) -> FloatArray:
        """Where each cell's rows are taken to be, in the unit ball's coordinates."""
        validate.one_of("Synopsis.kmeans.representatives", representatives, REPRESENTATIVES)
        axes = [
            (2 * np.arange(count) + 1) / count * half - half for half, count in zip(self._half_widths, self.cells, strict=True)
        ]
        mesh = list(np.meshgrid(*axes, indexing="ij"))
        if representatives == "slope":
            mesh = [place + shift for place, shift in zip(mesh, self._slopes(), strict=True)]
        return np.stack([part.ravel() for part in mesh], axis=1)

    def _slopes(self) -> list[FloatArray]:
        """How far the mean of a cell lies from its centre if the density is linear between neighbouring cells."""
        weights = np.maximum(self.weights, 0.0)
        shifts = []
        for axis, (half, count) in enumerate(zip(self._half_widths, self.cells, strict=True)):
            width = 2 * half / count
            if count == 1:
                shifts.append(np.zeros(self.cells))
                continue
            slope = np.gradient(weights, axis=axis)
            shifts.append(np.clip(slope / np.maximum(weights, self.sigma) / 12, -0.25, 0.25) * width)
        return shifts

    def _split(self, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Two versions of the counts with (for Gaussian noise exactly, else to second order) independent noise."""
        extra = self.sigma * generator.standard_normal(self.cells)
        return self.noisy_counts + extra, self.noisy_counts - extra


def load_synopsis(path: str | os.PathLike[str]) -> Synopsis:
    """Read a synopsis from a ``.json`` or ``.parquet`` file.

    Parameters
    ----------
    path : str or path
        What ``Synopsis.save`` wrote.

    Returns
    -------
    Synopsis
        Ready to be asked.

    Raises
    ------
    ReleaseError
        If the file cannot be read, is damaged, or is of another version.

    Notes
    -----
    **Privacy.** Reads public numbers; costs nothing.

    Examples
    --------
    >>> load_synopsis("missing.json")
    Traceback (most recent call last):
    ...
    cloister.exceptions.ReleaseError: load_synopsis: cannot read 'missing.json'. Check the path.
    """
    source = Path(path)
    try:
        if source.suffix.lower() == ".parquet":
            import pyarrow.parquet

            table = pyarrow.parquet.read_table(source)
            head = json.loads((table.schema.metadata or {}).get(FORMAT.encode(), b"{}"))
            if "cells" in head:
                head["noisy_counts"] = table.column("noisy_count").to_pylist()
            return Synopsis.from_dict(head)
        return Synopsis.from_dict(json.loads(source.read_text(encoding="utf-8")))
    except CloisterError:
        raise
    except (OSError, ValueError, KeyError) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise ReleaseError(f"load_synopsis: cannot read {source.name!r}. Check the path.") from None
        raise ReleaseError(f"load_synopsis: {source.name!r} is not a synopsis. Pass the file that 'save' wrote.") from None


def _cluster(
    points: FloatArray,
    weights: FloatArray,
    n_clusters: int,
    *,
    generator: np.random.Generator,
    restarts: int,
    half_widths: FloatArray,
) -> FloatArray:
    """Weighted k-means of the cells; where fewer cells than clusters have weight, further centres are spread in the box."""
    alive = weights > 0
    if np.count_nonzero(alive) > n_clusters:
        return weighted_kmeans(points[alive], weights[alive], n_clusters, generator=generator, restarts=restarts)
    spare = (2 * generator.random((n_clusters - np.count_nonzero(alive), points.shape[1])) - 1) * half_widths
    return np.vstack([points[alive], spare])


def _squares(points: FloatArray, centers: FloatArray) -> FloatArray:
    return np.asarray(np.sum((points - centers[_owner(points, centers)]) ** 2, axis=1))


def _owner(points: FloatArray, centers: FloatArray) -> IntArray:
    return Nearest(snap(centers))(snap(points))


def _choice(numbers: list[int], loss: FloatArray, held_out: FloatArray, errors: FloatArray) -> KChoice:
    supported = numbers[0]
    lowest = held_out[0]
    for count, value, error in zip(numbers[1:], held_out[1:], errors[1:], strict=True):
        if value < lowest - error:
            supported, lowest = count, value
    elbow = _elbow(numbers, np.maximum(held_out, loss.min() * 0.5 + 1e-300))
    return KChoice(tuple(numbers), loss, held_out, errors, elbow, supported, min(elbow, supported))


def _elbow(numbers: list[int], loss: FloatArray) -> int:
    """Return the number of clusters furthest below the straight line from first to last, on logarithmic axes."""
    if len(numbers) < 3:
        return numbers[int(np.argmin(loss))]
    x, y = np.log(numbers), np.log(np.maximum(loss, 1e-300))
    line = y[0] + (y[-1] - y[0]) * (x - x[0]) / (x[-1] - x[0])
    return numbers[int(np.argmax(line - y))]


def _query_box(box: Any, n_features: int) -> Box:
    if not hasattr(box, "__len__") or len(box) != 2:
        validate.refuse("Synopsis.count.box", "a pair (low, high) or a Box", box, remedy="Pass (low, high).")
    return Box(box[0], box[1]).spread(n_features)


def _join_same(first: Receipt, second: Receipt) -> Receipt:
    """One table asked twice: the events add up, and so does what they cost."""
    both = first.spent + second.spent
    guarantee = GDP(both.all_mu) if both.mu_squared else PureDP(both.epsilon_sum)
    return Receipt(guarantee=guarantee, neighbours=first.neighbours, events=first.events + second.events)


def _join_disjoint(first: Receipt, second: Receipt) -> Receipt:
    """Tables that share no person: the weaker of the two guarantees holds for everybody (parallel composition)."""
    for receipt, other in ((first, second), (second, first)):
        if other.spent.fits(receipt.guarantee):
            return receipt
    raise ReleaseError(
        f"Synopsis.merge: neither {first.guarantee} nor {second.guarantee} covers both. Merge synopses of one guarantee."
    )
