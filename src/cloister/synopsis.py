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
from cloister.algorithms import COUNT_RULES, RESTARTS, KChoice, cluster_cells, compare_numbers, denoise_counts, nearest_cell
from cloister.domain import Box, FloatArray, Frame
from cloister.exceptions import CloisterError, ReleaseError
from cloister.files import write_whole
from cloister.privacy import GDP, Entropy, PureDP, Receipt
from cloister.release import Release, library_versions, refuse_odd_values

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["KChoice", "RangeCount", "Synopsis", "file_kind", "load_synopsis"]

FORMAT = "cloister.synopsis"
VERSION = 1
FILES = ("json", "parquet")
PARQUET = b"PAR1"
REPRESENTATIVES = ("center", "slope")
LARGEST_N_CLUSTERS = 1 << 20
LARGEST_COUNT = 1e100  # its square is finite


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
        count = validate.integer("Synopsis.kmeans.n_clusters", n_clusters, low=1, high=LARGEST_N_CLUSTERS)
        restarts = validate.integer("Synopsis.kmeans.n_init", n_init, low=1)
        generator = Entropy(random_state, where="Synopsis.kmeans.random_state").public_generator()
        points, weights = self._points(representatives), np.maximum(self.weights.ravel(), 0.0)
        centers = cluster_cells(points, weights, count, generator, restarts=restarts, half_widths=self._half_widths)
        owner = nearest_cell(points, centers)
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
        fitted to one and judged on the other, so that clusters made of noise do not pay. A further cluster lowers the loss even
        of rows without any clusters; so the elbow is the smallest number at which the held-out loss, relative to that of evenly
        spread mass, is as low as it gets. `best` is the elbow, but never more than the held-out loss supports.

        Parameters
        ----------
        n_clusters : iterable of int, default=range(1, 13)
            Numbers to compare.
        random_state : int, optional
            For restarts and for splitting the noise.
        """
        where = "Synopsis.choose_k.n_clusters"
        given = validate.items(where, n_clusters, rule="a series of integers", remedy="Pass range(1, 13).")
        numbers = sorted({validate.integer(where, count, low=1, high=LARGEST_N_CLUSTERS) for count in given})
        if not numbers:
            validate.refuse(where, "at least one number", numbers, remedy="Pass range(1, 13).")
        generator = Entropy(random_state, where="Synopsis.choose_k.random_state").public_generator()
        choice = compare_numbers(
            numbers,
            self.noisy_counts,
            sigma=self.sigma,
            n_rows=max(self.n_rows, 1.0),
            points=self._points("center"),
            half_widths=self._half_widths,
            counts=self._weighting,
            generator=generator,
        )
        return choice.scaled(float(self.frame.scale[0]) ** 2 if np.ptp(self.frame.scale) == 0 else float(self.n_features))

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
        return self.domain.clip(low + (index + generator.random(index.shape)) * widths)

    def marginal(self, columns: Sequence[int | str]) -> "Synopsis":
        """Return the synopsis of some of the columns, all others added up. Its noise is larger: that of all cells it adds."""
        rule, remedy = "a list of columns", "Pass names or positions, such as [0]."
        axes = [self._axis(column) for column in validate.items("Synopsis.marginal.columns", columns, rule=rule, remedy=remedy)]
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

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the synopsis to a ``.json`` or ``.parquet`` file. One that exists is refused, or replaced with `overwrite`."""
        kind = file_kind("Synopsis.save.path", Path(path).name)
        write_whole("Synopsis.save", path, self.to_bytes(kind), overwrite=overwrite)

    def to_bytes(self, kind: str = "json") -> bytes:
        """Return what a ``"json"`` or ``"parquet"`` file of the synopsis holds."""
        if kind == "json":
            return (json.dumps(self.to_dict(), allow_nan=False) + "\n").encode()
        import pyarrow as pa
        import pyarrow.parquet

        head = json.dumps({**self.to_dict(), "noisy_counts": None}, allow_nan=False)
        sink = pa.BufferOutputStream()
        pyarrow.parquet.write_table(self.to_arrow().replace_schema_metadata({FORMAT: head}), sink)
        return bytes(sink.getvalue())

    @classmethod
    def from_bytes(cls, content: bytes, *, name: str = "the file") -> "Synopsis":
        """Read what ``to_bytes`` wrote; `name` is for the error."""
        try:
            if content.startswith(PARQUET):
                return cls.from_dict(_read_parquet(content))
            return cls.from_dict(json.loads(content))
        except CloisterError:
            raise
        except (OSError, LookupError, RecursionError, TypeError, ValueError):
            pass
        raise ReleaseError(f"load_synopsis: {name} is not a synopsis. Pass the file that 'save' wrote.")

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
            refuse_odd_values({name: value for name, value in data.items() if name != "noisy_counts"})
            names, domain = data["feature_names"], data["domain"]
            synopsis = cls(
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
            if list(synopsis.cells) != list(data["cells"]):
                raise ValueError("cells")
            _refuse_misfit(synopsis)
            return synopsis
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, CloisterError) as error:
            problem = repr(error)
        raise ReleaseError(f"load_synopsis: the file is damaged ({problem}). Write it again from the fit.")

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
    cloister.exceptions.ReleaseError: load_synopsis: cannot read 'missing.json' (No such file or directory). Check the path.
    """
    return Synopsis.from_bytes(_read_bytes(Path(path)), name=repr(Path(path).name))


def _read_bytes(source: Path) -> bytes:
    try:
        return source.read_bytes()
    except OSError as error:
        reason = error.strerror
    except ValueError:  # a character that no name can hold
        reason = "not a file name"
    raise ReleaseError(f"load_synopsis: cannot read {source.name!r} ({reason}). Check the path.")


def file_kind(where: str, name: str) -> str:
    """Return the kind of file that a name asks for, or refuse it."""
    kind = name.lower().rpartition(".")[2]
    if kind not in FILES:
        validate.refuse(where, "a .json or .parquet file", name, remedy="Choose one of these endings.")
    return kind


def _read_parquet(content: bytes) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(pa.BufferReader(content))
    head = json.loads((table.schema.metadata or {}).get(FORMAT.encode(), b"{}"))
    return {**head, "noisy_counts": table.column("noisy_count").to_numpy()} if "cells" in head else head


def _refuse_misfit(synopsis: Synopsis) -> None:
    """Refuse numbers that do not belong together, and numbers that are none."""
    counts, n_features = synopsis.noisy_counts, synopsis.n_features
    if not counts.size or not n_features or not (np.abs(counts) <= LARGEST_COUNT).all():
        raise ValueError("noisy_counts")
    if synopsis.scaling not in ("bounds", "none") or synopsis.frame.n_features != n_features:
        raise ValueError("domain")
    if len(synopsis.columns) != n_features or len(set(synopsis.columns)) != n_features:
        raise ValueError("feature_names")
    if not (1 / LARGEST_COUNT <= synopsis.sigma <= LARGEST_COUNT):
        raise ValueError("sigma")
    if not (synopsis.total is None or 0 <= synopsis.total <= LARGEST_COUNT):
        raise ValueError("total")


def _query_box(box: Any, n_features: int) -> Box:
    pair = isinstance(box, tuple | list) or (isinstance(box, np.ndarray) and box.ndim > 0)
    if not pair or len(box) != 2:
        validate.refuse("Synopsis.count.box", "a pair (low, high) or a Box", box, remedy="Pass (low, high).")
    return Box(box[0], box[1]).spread(n_features)


def _join_same(first: Receipt, second: Receipt) -> Receipt:
    """One table asked twice: the events add up, and so does what they cost."""
    both = first.spent + second.spent
    guarantee = GDP(both.all_mu) if both.mu_squared else PureDP(both.epsilon_sum)
    return Receipt(guarantee=guarantee, neighbours=first.neighbours, events=first.events + second.events)


def _join_disjoint(first: Receipt, second: Receipt) -> Receipt:
    """Tables that share no person: the weaker of the two guarantees holds for everybody (parallel composition)."""
    if first.seeded != second.seeded:  # the stamp of the one would be lost, and its rows with it
        raise ReleaseError("Synopsis.merge: one of the two is seeded, for tests only. Merge synopses of one kind.")
    for receipt, other in ((first, second), (second, first)):
        if other.spent.fits(receipt.guarantee):
            return receipt
    raise ReleaseError(
        f"Synopsis.merge: neither {first.guarantee} nor {second.guarantee} covers both. Merge synopses of one guarantee."
    )
