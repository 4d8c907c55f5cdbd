# SPDX-License-Identifier: Apache-2.0
"""The page of a synopsis: every number of clusters to move through, its grid as a picture, the centres, and the receipt."""

import math
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from cloister.columns import FloatArray
from cloister.release import Release, coordinates_of, error_words, rank_columns, rank_table
from cloister.report._cuts import cuts_of, most_clusters
from cloister.report._explore import explore, page_script
from cloister.report._figures import curve_of
from cloister.report._pages import Picture, Table
from cloister.report._plot import MAP_WIDTH, Axis, Plot, numbered_badges, plot_columns
from cloister.report._receipt import Fact, counted_words
from cloister.report._summary import synopsis_summary
from cloister.report._tables import document_page, strip_tables
from cloister.report._words import comparison_of_numbers
from cloister.synopsis import Grid, KChoice, Synopsis, noise_words, point_table
from cloister.text import count_of, number, plain_text, sentence, share_text, with_error

PAIRED_COLUMNS = 4
STRIPPED_COLUMNS = 16
STEPS = 7  # of a colour
LARGEST_DRAWN = 96  # cells along an axis; finer grids are drawn with neighbouring cells taken together
LABELLED = 30  # centres
BADGE = 11.0  # radius of a centre's circle: two digits fit
PAIR_WIDTH, BARS_WIDTH, BARS_HEIGHT = 320.0, 720.0, 250.0
PAGE_SEED = 0  # for what a page computes of public numbers: the same page every time


def synopsis_html(
    synopsis: Synopsis, *, release: Release | None = None, choice: KChoice | None = None, random_state: int | None = None
) -> str:
    """Return the report of a synopsis as the text of one HTML file.

    A slider moves the page through numbers of clusters: 1 to 30, of a large grid 1 to 12. All of them are computed here, by
    default with a fixed `random_state`, so that a page can be made again. Without a `choice` they are compared, if a grid is
    not too large; without a `release` the centres of the number that the choice finds best are drawn.
    """
    seed, most = PAGE_SEED if random_state is None else random_state, most_clusters(synopsis)
    if choice is None and most:
        choice = synopsis.choose_k(range(1, most + 1), random_state=seed)
    if release is None:
        release = synopsis.cut(1 if choice is None else choice.best, random_state=seed)
    about = synopsis_summary(synopsis)
    picked = sorted(rank_table(release)[:STRIPPED_COLUMNS])
    curve = moved = None
    if choice is not None:
        cuts = cuts_of(synopsis, most, random_state=seed, known=release) if most else None
        chosen = None if cuts is None else next(k for k in (release.n_clusters, choice.best, 1) if k <= len(cuts.cuts))
        curve = curve_of(choice.to_dict(), at=chosen)
        moved = None if cuts is None or chosen is None else explore(cuts, chosen=chosen, curve=curve)
    points = None if synopsis.grid is not None else point_table(synopsis, "Noisy count", synopsis.noisy_counts)
    script, digest = page_script()
    return document_page(
        "synopsis.html",
        synopsis,
        about,
        title=_title(about),
        facts=_facts(about, counted_words(synopsis.receipt)),
        n_centers=release.n_clusters,
        grid=None if synopsis.grid is None else _grid(synopsis, synopsis.grid, release),
        points=None if points is None else Table(*points, numeric=range(len(points[0]))),
        choice=[] if choice is None else comparison_of_numbers(choice.to_dict()),
        curve=curve,
        explore=moved,
        script=script,
        digest=digest,
        picture=Picture,
        errors=error_words(total=release.errors_are_total),
        total=number(round(float(release.cluster_counts.sum()))),
        strips=strip_tables(release, picked),
        n_columns=release.n_columns,
        n_drawn=len(picked),
    )


def _title(about: dict[str, Any]) -> str:
    columns = count_of(about["n_columns"], "column")
    if about["kind"] == "points":
        return f"A synopsis of {count_of(about['n_points'], 'point')} in {columns}"
    if about["adaptive"]:
        return f"An adaptive grid of {about['n_cells']:,} cells in {columns}"
    cells = " \u00d7 ".join(map(str, about["cells"])) if len(about["cells"]) <= 4 else f"{about['n_cells']:,}"
    return f"A grid of {cells} cells in {columns}"


def _facts(about: dict[str, Any], counted_in: str) -> list[Fact]:
    """Return size and noise; `counted_in` is what counts are numbers of."""
    rows, spread = with_error(about["n_rows"], about["n_rows_error"])
    unit, size = ("cell", "n_cells") if about["kind"] == "grid" else ("point", "n_points")
    counted = about["receipt"]["counted"]
    return [
        (f"{unit.capitalize()}s", f"{about[size]:,}", f"{share_text(about['full'])} above twice the noise"),
        (f"Noise per {unit}", f"± {about.get('noise', format(about['sigma'], '.3g'))}", f"{counted}, standard deviation"),
        (sentence(counted_in), rows, "public" if about["n_rows_error"] == 0 else f"± {spread}, noisy"),
    ]


# -- the grid ----------------------------------------------------------------------------------------------------------------


def _grid(synopsis: Synopsis, grid: Grid, release: Release) -> dict[str, Any]:
    """Return the picture of one or two columns, or pictures of pairs, and what there is to say about them."""
    centers, counted = release.cluster_centers, release.receipt.counted
    picked, pictures = sorted(rank_columns(release)[:PAIRED_COLUMNS]), []
    if synopsis.n_features <= 2:
        pictures = [_bars(synopsis, centers) if synopsis.n_features == 1 else _heat_map(synopsis, centers)]
    for pair in combinations(picked, 2) if not pictures else ():
        flat = synopsis.marginal(pair)
        title, caption = " and ".join(map(plain_text, flat.columns)), f"± {flat.sigma:.3g} {counted} a cell"
        pictures.append(replace(_heat_map(flat, centers[:, list(pair)], width=PAIR_WIDTH), title=title, caption=caption))
    return {
        "pictures": pictures,
        "noise": noise_words(synopsis),
        "labelled": release.n_clusters <= LABELLED,
        "merged": max(grid.cells) > LARGEST_DRAWN,
        "split": grid.split is not None,
        "n_paired": len(picked),
    }


def _heat_map(synopsis: Synopsis, centers: FloatArray, *, width: float = MAP_WIDTH) -> Picture:
    """Draw a synopsis of two columns, and centres with a label each; the first column runs to the right.

    Counts are drawn as released; what is not above zero is left empty. Seven steps of one hue, from near the paper to far
    from it, keep their order in grey, in the dark and on paper.
    """
    across, up = _axes(synopsis)
    # In proportion to the box where distances are in input units.
    ratio = (up.high - up.low) / (across.high - across.low) if synopsis.scaling == "none" else 0.8
    plot = plot_columns(across, up, width * min(max(ratio, 0.4), 0.9), width=width)
    counts, (xs, ys) = _coarse(synopsis)
    top = max(float(counts.max()), 1e-9)
    steps = np.where(counts > 0, np.ceil(STEPS * np.sqrt(np.maximum(counts, 0.0) / top)), 0).astype(int)
    cells = "".join(f'<path class="h{step}" d="{_outline(plot, steps == step, xs, ys)}"/>' for step in range(1, STEPS + 1))
    points = [plot.place(one) for one in centers.tolist()]
    badges = numbered_badges(points, plot.frame, name="Centre", most=LABELLED, radius=BADGE, dot=3.5)
    begins = [top * (step / STEPS) ** 2 for step in range(STEPS)]
    words = [f"{one:.2g}" if one < 10 else number(round(one)) for one in begins]
    legend = "".join(f'<span class="h{step}">{begin}</span>' for step, begin in enumerate(words, start=1))
    scale = f'<p class="scale counts" role="img" aria-label="Counts at which colours begin">{legend}</p>'
    return Picture(plot.svg(f"{cells}{badges}", f"Noisy counts of {across.name} and {up.name}", "heat") + scale)


def _outline(plot: Plot, chosen: Any, xs: FloatArray, ys: FloatArray) -> str:
    """Outline the chosen cells, runs along the second column in one piece."""
    path = ""
    for column, line in enumerate(chosen):
        padded = np.diff(np.concatenate([[0], line.astype(int), [0]]))
        for start, stop in zip(np.flatnonzero(padded == 1), np.flatnonzero(padded == -1), strict=True):
            path += plot.box((xs[column], ys[start]), (xs[column + 1], ys[stop]))
    return path


def _bars(synopsis: Synopsis, centers: FloatArray) -> Picture:
    """Draw a synopsis of one column as bars, with a dashed line for each centre."""
    counts, (edges,) = _coarse(synopsis)
    (across,), top = _axes(synopsis), max(float(counts.max()), 1e-9)
    plot = plot_columns(across, Axis("", 0.0, top, most=4), BARS_HEIGHT, width=BARS_WIDTH)
    body = "".join(
        plot.box((start, 0.0), (end, count))
        for start, end, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count > 0
    )
    places = [plot.place((float(center[0]), 0.0))[0] for center in centers]
    stems = "".join(f"M{x:.1f} {plot.frame.top:g}V{plot.frame.bottom:g}" for x in places)
    labels = "".join(
        f'<text class="name" x="{x:.1f}" y="{plot.frame.top - 2:g}" text-anchor="middle">{label}</text>'
        for label, x in enumerate(places[:LABELLED])
    )
    marks = f'<path class="pale" d="{body}"/><path class="stem" d="{stems}"/>{labels}'
    return Picture(plot.svg(marks, f"Noisy counts of {across.name}", "chart"))


def _axes(synopsis: Synopsis) -> list[Axis]:
    """Return an axis for each column, across its bounds."""
    known = coordinates_of(synopsis.domain, synopsis.columns)
    return [Axis(plain_text(one.name), one.low, one.high, one.unit_name if one.is_date else "") for one in known]


def _coarse(synopsis: Synopsis) -> tuple[FloatArray, list[FloatArray]]:
    """Take neighbouring cells together where there are too many to draw: their mean counts, and where these cells end."""
    assert synopsis.grid is not None
    counts, edges = synopsis.histogram, []
    for axis, size in enumerate(counts.shape):
        ends = np.array([*range(0, size, math.ceil(size / LARGEST_DRAWN)), size])
        shape = [-1 if one == axis else 1 for one in range(counts.ndim)]
        counts = np.add.reduceat(counts, ends[:-1], axis=axis) / np.diff(ends).reshape(shape)
        edges.append(synopsis.grid.edges[axis][ends])
    return counts, edges
