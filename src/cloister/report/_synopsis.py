# SPDX-License-Identifier: Apache-2.0
"""The page of a synopsis: every number of clusters to move through, its grid as a picture, the centres, and the receipt."""

from itertools import combinations
from typing import Any

from cloister.release import Release, error_words
from cloister.report._choice import ChoiceView, choice_view
from cloister.report._column_words import cell_words
from cloister.report._cuts import cuts_of, most_clusters
from cloister.report._explore import Exploration, explore, page_script
from cloister.report._grids import bars, drawn_cells, heat_map
from cloister.report._pages import Picture, Table, render_page
from cloister.report._strips import strip_tables
from cloister.report._summary import rank_columns, summary, synopsis_summary
from cloister.report._tables import cell_tables, shared_parts
from cloister.report._words import counted_words
from cloister.synopsis import KChoice, Synopsis, WeightedPoints, noise_words
from cloister.text import count_of, plain_text, share_text, with_error

__all__ = ["synopsis_html"]

PAIRED_COLUMNS = 4
STRIPPED_COLUMNS = 16
LISTED_COLUMNS = 6  # of a table of points
PAGE_SEED = 0  # for what a page computes of public numbers: the same page every time


def synopsis_html(
    synopsis: Synopsis | WeightedPoints,
    *,
    release: Release | None = None,
    choice: KChoice | None = None,
    random_state: int | None = None,
) -> str:
    """Return the report of a synopsis as the text of one HTML file.

    A slider moves the page through numbers of clusters: 1 to 30, of a large grid 1 to 12. All of them are computed here.

    Parameters
    ----------
    synopsis : Synopsis or WeightedPoints
        What was published.
    release : Release, optional
        Centres to draw, from ``synopsis.cut``. By default those of the number of clusters that `choice` finds best.
    choice : KChoice, optional
        From ``synopsis.choose_k``; by default the numbers on the slider are compared, if a grid is not too large.
    random_state : int, optional
        For what is computed here; by default a fixed one, so that a page can be made again.

    Notes
    -----
    **Privacy.** Post-processing of a synopsis; costs nothing.

    Examples
    --------
    >>> from cloister import GridSynopsis
    >>> model = GridSynopsis(2, epsilon=5.0, bounds=(0, 1), random_state=0).fit([[0.1, 0.1], [0.9, 0.8]] * 500)
    >>> synopsis_html(model.synopsis_, random_state=0).startswith("<!doctype html>")
    True
    """
    seed, most = PAGE_SEED if random_state is None else random_state, most_clusters(synopsis)
    if choice is None and most:
        choice = synopsis.choose_k(range(1, most + 1), random_state=seed)
    if release is None:
        release = synopsis.cut(1 if choice is None else choice.best, random_state=seed)
    about, found = synopsis_summary(synopsis), summary(release)
    picked = sorted(found["table_ranking"][:STRIPPED_COLUMNS])
    view, moved = _explored(synopsis, about, release, choice, most=most, seed=seed)
    script, digest = page_script()
    return render_page(
        "synopsis.html",
        title=_title(about),
        summary=about,
        found=found,
        facts=_facts(about),
        cell_words=cell_words(about["cells_of_columns"]),
        cells=cell_tables(about["cells_of_columns"]),
        grid=_grid(synopsis, release) if isinstance(synopsis, Synopsis) else None,
        points=_point_table(synopsis) if isinstance(synopsis, WeightedPoints) else None,
        choice=view,
        explore=moved,
        script=script,
        digest=digest,
        picture=lambda svg: Picture("", svg),
        errors=error_words(total=found["errors_are_total"]),
        strips=strip_tables(found, picked),
        n_left=found["n_columns"] - len(picked),
        shared=shared_parts(about),
    )


def _explored(
    synopsis: Synopsis | WeightedPoints,
    about: dict[str, Any],
    release: Release,
    choice: KChoice | None,
    *,
    most: int,
    seed: int,
) -> tuple[ChoiceView | None, Exploration | None]:
    """Return the curve of losses, and the cuts to move through; neither where a grid is too large."""
    if choice is None:
        return None, None
    if not most:
        return choice_view(choice.to_dict(), kind=about["kind"]), None
    cuts = cuts_of(synopsis, most, random_state=seed, known=release)
    chosen = next(count for count in (release.n_clusters, choice.best, 1) if count <= len(cuts.cuts))
    view = choice_view(choice.to_dict(), kind=about["kind"], at=chosen)
    return view, explore(cuts, about, chosen=chosen, curve=view.curve)


def _title(about: dict[str, Any]) -> str:
    columns = count_of(about["n_columns"], "column")
    if about["kind"] == "points":
        return f"A synopsis of {count_of(about['n_points'], 'point')} in {columns}"
    if about["adaptive"]:
        return f"An adaptive grid of {about['n_cells']:,} cells in {columns}"
    cells = " \u00d7 ".join(map(str, about["cells"])) if len(about["cells"]) <= 4 else f"{about['n_cells']:,}"
    return f"A grid of {cells} cells in {columns}"


def _facts(about: dict[str, Any]) -> list[tuple[str, str, str]]:
    rows, spread = with_error(about["n_rows"], about["n_rows_error"])
    unit, size = ("cell", "n_cells") if about["kind"] == "grid" else ("point", "n_points")
    counted = about["receipt"]["counted"]
    return [
        (f"{unit.capitalize()}s", f"{about[size]:,}", f"{share_text(about['full'])} above twice the noise"),
        (f"Noise per {unit}", f"± {about.get('noise', format(about['sigma'], '.3g'))}", f"{counted}, standard deviation"),
        (counted_words(about["receipt"]).capitalize(), rows, "public" if about["n_rows_error"] == 0 else f"± {spread}, noisy"),
    ]


def _point_table(synopsis: WeightedPoints) -> Table:
    """Return the points, the heaviest first, with the spread of their rows in the first columns."""
    columns = range(min(synopsis.n_features, LISTED_COLUMNS))
    points, spreads, weights = synopsis.points, synopsis.spreads, synopsis.weights
    heads = ["Noisy count", *(synopsis.columns[column] for column in columns)]
    rows = [
        [
            f"{synopsis.noisy_counts[one]:,.0f}",
            *(" ± ".join(with_error(float(points[one, column]), float(spreads[one, column]))) for column in columns),
        ]
        for one in sorted(range(synopsis.n_points), key=lambda one: -weights[one])
    ]
    return Table(heads, rows, numeric=range(len(heads)))


def _grid(synopsis: Synopsis, release: Release) -> dict[str, Any]:
    """Return the picture of one or two columns, or pictures of pairs, with words."""
    centers, counted = release.cluster_centers, release.receipt.counted
    marks = f"Numbered: the {count_of(release.n_clusters, 'centre')} below." if release.n_clusters <= 30 else "Dots: centres."
    what = (
        f"The stronger the colour, the more {counted}; steps follow the square root of the count. What is not above zero is "
        "empty."
    )
    merged = "" if drawn_cells(synopsis.cells) else " Neighbouring cells are drawn together, by their mean count."
    noise = f"± {noise_words(synopsis)}"
    merged += "" if synopsis.split is None else " Cells of several sizes: their rows are spread evenly over the finest of them."
    if synopsis.n_features == 1:
        words = f"Noisy number of {counted} in each cell, {noise}; those of zero and below are empty. Dashed: centres.{merged}"
        return {"picture": Picture("", bars(synopsis, centers)), "pairs": [], "words": words}
    if synopsis.n_features == 2:
        words = f"{what} {marks} A count has noise of {noise} {counted} (standard deviation).{merged}"
        return {"picture": Picture("", heat_map(synopsis, centers)), "pairs": [], "words": words}
    picked = sorted(rank_columns(release)[:PAIRED_COLUMNS])
    all_of = "" if len(picked) == synopsis.n_features else f" Of {synopsis.n_features} columns, four are drawn."
    words = f"Two columns each, all others added up; so the noise is larger than that of a cell. {what} {marks}{all_of}{merged}"
    return {"pairs": [_pair(synopsis, release, pair) for pair in combinations(picked, 2)], "words": words}


def _pair(synopsis: Synopsis, release: Release, pair: tuple[int, int]) -> Picture:
    flat = synopsis.marginal(pair)
    across, up = map(plain_text, flat.columns)
    drawn = heat_map(flat, release.cluster_centers[:, list(pair)], width=290.0)
    return Picture(f"{across} and {up}", drawn, f"± {flat.sigma:.3g} {release.receipt.counted} a cell")
