# SPDX-License-Identifier: Apache-2.0
"""Clusters of any shape in a synopsis: regions of cells that are denser than noise and chance explain."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister import validate
from cloister.algorithms import find_dense_cells
from cloister.card import Card
from cloister.columns import FloatArray, IntArray
from cloister.exceptions import without_sizes
from cloister.questions import GridCounts
from cloister.release import coordinates_of, open_for, rows_words
from cloister.text import count_of, number, with_error

if TYPE_CHECKING:
    from cloister.synopsis._synopsis import Synopsis

WHERE = "Synopsis.density_clusters"
LARGEST_DENSITY = 1e9
LARGEST_RADIUS = 1 << 10


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DensityClusters:
    """Clusters of any shape: connected cells of a synopsis that are denser than noise and chance explain.

    Parameters
    ----------
    cell_labels : array with one axis per column
        The cluster of each cell, the largest first; -1 for none.
    cluster_counts, count_errors : array of shape (n_clusters,)
        Noisy numbers of rows in the cells of each cluster, and the standard deviation of their noise.
    radius : tuple of int
        How many cells on either side a cell was judged together with, along each column.
    level : float
        What the mean count of these cells exceeds where a cell belongs to a cluster.
    threshold : float
        What it exceeds in at least one cell of each cluster.
    min_density, false_alarm : float
        As asked for.
    synopsis : Synopsis
        What they were found in.

    Notes
    -----
    **Privacy.** Post-processing of the synopsis: it may be published whole.

    Examples
    --------
    >>> from cloister import GridSynopsis
    >>> rows = [[0.2, 0.2]] * 300 + [[0.8, 0.7]] * 200
    >>> synopsis = GridSynopsis(epsilon=2.0, bounds=(0, 1), rule=12, random_state=0).fit(rows).synopsis_
    >>> synopsis.density_clusters().predict([[0.2, 0.2], [0.8, 0.7], [0.5, 0.05]]).tolist()
    [0, 1, -1]
    """

    cell_labels: IntArray
    cluster_counts: FloatArray
    count_errors: FloatArray
    radius: tuple[int, ...]
    level: float
    threshold: float
    min_density: float
    false_alarm: float
    synopsis: "Synopsis" = field(repr=False)

    @property
    def n_clusters(self) -> int:
        """Number of clusters; none where nothing stands out."""
        return len(self.cluster_counts)

    @property
    def n_cells(self) -> IntArray:
        """Number of cells of each cluster."""
        return np.bincount(self.cell_labels[self.cell_labels >= 0], minlength=self.n_clusters)

    @property
    def outside_count(self) -> float:
        """Noisy number of rows in the cells of no cluster."""
        return float(self.synopsis.histogram[self.cell_labels < 0].sum())

    @property
    def outside_error(self) -> float:
        """Standard deviation of its noise."""
        return float(self.synopsis.sigma * np.sqrt(np.count_nonzero(self.cell_labels < 0)))

    @property
    def extents(self) -> FloatArray:
        """From where to where each cluster reaches, of shape (n_clusters, n_columns, 2), in the units of the input."""
        from scipy.ndimage import find_objects

        edges = self.synopsis._index("density_clusters").edges
        boxes = find_objects(self.cell_labels + 1)
        found = [[ends[[cut.start, cut.stop]] for ends, cut in zip(edges, box, strict=True)] for box in boxes]
        return np.array(found).reshape(self.n_clusters, len(edges), 2)

    @without_sizes
    def predict(self, table: object) -> IntArray:
        """Return the cluster of the cell of each row; -1 for none.

        Parameters
        ----------
        table : whatever :func:`cloister.open_rows` opens
            With the columns of the synopsis, as for :meth:`cloister.Release.predict`. Rows outside the box lie in its nearest
            cell.

        Returns
        -------
        array of shape (n_rows,)
            Labels.

        Raises
        ------
        DataError
            If the table cannot be opened, or has not the columns of the synopsis.

        Notes
        -----
        **Privacy.** Labels describe the rows of `table` one by one and are not covered by the guarantee.
        """
        frame = self.synopsis.frame
        assert frame.half_widths is not None
        grid, labels = GridCounts(half_widths=frame.half_widths, cells=self.cell_labels.shape), self.cell_labels.ravel()
        rows = open_for(table, frame.domain, self.synopsis.feature_names, where="DensityClusters.predict")
        found = [labels[grid.cell_of(frame.clean(np.asarray(block, dtype=np.float64)))] for block in rows.blocks()]
        return np.concatenate([np.empty(0, dtype=np.int64), *found])

    def to_dict(self) -> dict[str, Any]:
        """Return the clusters as plain data."""
        extents, n_cells = self.extents.tolist(), self.n_cells.tolist()
        return {
            "columns": list(self.synopsis.columns),
            "cells": list(self.cell_labels.shape),
            "cell_labels": self.cell_labels.ravel().tolist(),
            "clusters": [
                {
                    "label": label,
                    "rows": float(self.cluster_counts[label]),
                    "rows_error": float(self.count_errors[label]),
                    "n_cells": n_cells[label],
                    "extent": extents[label],
                }
                for label in range(self.n_clusters)
            ],
            "outside": {"rows": self.outside_count, "rows_error": self.outside_error},
            "radius": list(self.radius),
            **{name: getattr(self, name) for name in ("level", "threshold", "min_density", "false_alarm")},
        }

    def card(self) -> Card:
        """Return what a terminal and a notebook show."""
        rows, noun, known = [], self.synopsis.receipt.counted, coordinates_of(self.synopsis.domain, self.synopsis.columns)
        for label, (extent, size) in enumerate(zip(self.extents.tolist(), self.n_cells.tolist(), strict=True)):
            counted = rows_words(float(self.cluster_counts[label]), float(self.count_errors[label]))
            ends = [" to ".join(map(one.text, pair)) for one, pair in zip(known, extent, strict=True)]
            rows.append([str(label), counted, f"{size:,}", *ends])
        found = count_of(self.n_clusters, "cluster") if self.n_clusters else "No cluster"
        value, error = with_error(self.outside_count, self.outside_error)
        return Card(
            title=f"{found} of dense cells in a grid of {count_of(self.cell_labels.size, 'cell')}",
            heads=("cluster", noun, "cells", *self.synopsis.columns),
            rows=rows,
            n_fixed=3,
            sentences=[self._explain(), f"In no cluster: {value} ± {error} {noun}.", *self.synopsis.receipt.promise()[:-1]],
            nouns=("cluster", "column"),
            alert=self.synopsis.receipt.alert,
        )

    def _explain(self) -> str:
        counted = self.synopsis.receipt.counted
        judged = "" if not any(self.radius) else ", on average with the cells around it"
        wanted = f"a cell of a cluster holds more than {number(float(f'{self.level:.3g}'))} {counted}{judged}"
        start = f"some cell of it more than {number(float(f'{self.threshold:.3g}'))}"
        if not self.n_clusters:
            return f"Nothing stands out of the noise: no cell holds more than {start.rpartition(' ')[2]} {counted}{judged}."
        return f"{wanted.capitalize()}, and {start}."

    def __repr__(self) -> str:
        return self.card().text()

    def _repr_html_(self) -> str:
        return self.card().html()


def cluster_by_density(synopsis: "Synopsis", *, min_density: float, false_alarm: float, radius: Any) -> DensityClusters:
    """Check the parameters, find the dense cells, and count their rows."""
    density = validate.number(f"{WHERE}.min_density", min_density, low=0.0, high=LARGEST_DENSITY)
    alarm = validate.number(f"{WHERE}.false_alarm", false_alarm, low=0.0, high=1.0, open_low=True, open_high=True)
    reach = None
    if not validate.is_word(radius, "auto"):
        remedy = 'Pass "auto" or a number of cells.'
        reach = validate.integer(f"{WHERE}.radius", radius, low=0, high=LARGEST_RADIUS, remedy=remedy)
    synopsis = synopsis.coarse()
    noisy, sigma = synopsis.histogram, synopsis.sigma
    found = find_dense_cells(noisy, sigma=sigma, n_rows=synopsis.n_rows, min_density=density, false_alarm=alarm, radius=reach)
    inside = found.labels >= 0
    counts = np.bincount(found.labels[inside], weights=noisy[inside], minlength=found.n_clusters).astype(np.float64)
    order = np.argsort(-counts, kind="stable")
    renamed = np.append(np.argsort(order, kind="stable"), -1)  # the last entry stands for no cluster
    labels = renamed[found.labels]
    sizes = np.bincount(labels[inside], minlength=found.n_clusters)
    return DensityClusters(
        cell_labels=labels,
        cluster_counts=counts[order],
        count_errors=sigma * np.sqrt(sizes),
        radius=found.radius,
        level=found.level,
        threshold=found.threshold,
        min_density=density,
        false_alarm=alarm,
        synopsis=synopsis,
    )
