# SPDX-License-Identifier: Apache-2.0
"""The page of a synopsis: its grid as a picture, how many clusters it holds, their centres, and the receipt."""

from itertools import combinations
from typing import Any

from cloister.release import Release
from cloister.report._column_words import cell_words
from cloister.report._format import count_of, plain_text, with_error
from cloister.report._grids import bars, drawn_cells, elbow, heat_map
from cloister.report._pages import Picture, render_page
from cloister.report._strips import strip_tables
from cloister.report._summary import rank_columns, summary, synopsis_summary
from cloister.report._tables import cell_tables, shared_parts
from cloister.synopsis import KChoice, Synopsis

__all__ = ["synopsis_html"]

PAIRED_COLUMNS = 4
STRIPPED_COLUMNS = 16
LARGEST_COMPARED = 1 << 14  # cells; comparing numbers of clusters on a larger grid takes long, so it is done on demand


def synopsis_html(
    synopsis: Synopsis, *, release: Release | None = None, choice: KChoice | None = None, random_state: int | None = None
) -> str:
    """Return the report of a synopsis as the text of one HTML file.

    Parameters
    ----------
    synopsis : Synopsis
        What was published.
    release : Release, optional
        Centres to draw, from ``synopsis.kmeans``. By default those of the number of clusters that `choice` finds best.
    choice : KChoice, optional
        From ``synopsis.choose_k``; by default 1 to 12 clusters are compared, if the grid is not too large.
    random_state : int, optional
        For what is computed here.

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
    if choice is None and synopsis.noisy_counts.size <= LARGEST_COMPARED:
        choice = synopsis.choose_k(random_state=random_state)
    if release is None:
        release = synopsis.kmeans(1 if choice is None else choice.best, random_state=random_state)
    about, found = synopsis_summary(synopsis), summary(release)
    cells = " \u00d7 ".join(map(str, about["cells"])) if len(about["cells"]) <= 4 else f"{about['n_cells']:,}"
    return render_page(
        "synopsis.html",
        title=f"A grid of {cells} cells in {count_of(about['n_features'], 'column')}",
        summary=about,
        found=found,
        facts=_facts(about),
        cell_words=cell_words(about["cells_of_columns"]),
        cells=cell_tables(about["cells_of_columns"]),
        grid=_grid(synopsis, release),
        choice=None if choice is None else choice.to_dict(),
        elbow=None if choice is None else Picture("", elbow(choice.to_dict())),
        strips=strip_tables(found, sorted(found["table_ranking"][:STRIPPED_COLUMNS])),
        shared=shared_parts(about),
    )


def _facts(about: dict[str, Any]) -> list[tuple[str, str, str]]:
    rows, spread = with_error(about["n_rows"], about["n_rows_error"])
    return [
        ("Cells", f"{about['n_cells']:,}", f"{about['full']:.0%} above twice the noise"),
        ("Noise per cell", f"± {about['sigma']:.3g}", "rows, standard deviation"),
        ("Rows", rows, "public" if about["n_rows_error"] == 0 else f"± {spread}, noisy"),
    ]


def _grid(synopsis: Synopsis, release: Release) -> dict[str, Any]:
    """Return the picture of one or two columns, or pictures of pairs, with words."""
    centers = release.cluster_centers
    marks = f"Numbered: the {count_of(release.n_clusters, 'centre')} below." if release.n_clusters <= 30 else "Dots: centres."
    what = "The stronger the colour, the more rows; steps follow the square root of the count. What is not above zero is empty."
    merged = "" if drawn_cells(synopsis.cells) else " Neighbouring cells are drawn together, by their mean count."
    noise = f"± {synopsis.sigma:.3g}"
    if synopsis.n_features == 1:
        words = f"Noisy rows in each cell, {noise}; those of zero and below are empty. Dashed: centres.{merged}"
        return {"picture": Picture("", bars(synopsis, centers)), "pairs": [], "words": words}
    if synopsis.n_features == 2:
        words = f"{what} {marks} A count has noise of {noise} rows (standard deviation).{merged}"
        return {"picture": Picture("", heat_map(synopsis, centers)), "pairs": [], "words": words}
    picked = sorted(rank_columns(release)[:PAIRED_COLUMNS])
    all_of = "" if len(picked) == synopsis.n_features else f" Of {synopsis.n_features} columns, four are drawn."
    words = f"Two columns each, all others added up; so the noise is larger than that of a cell. {what} {marks}{all_of}{merged}"
    return {"pairs": [_pair(synopsis, release, pair) for pair in combinations(picked, 2)], "words": words}


def _pair(synopsis: Synopsis, release: Release, pair: tuple[int, int]) -> Picture:
    flat = synopsis.marginal(pair)
    across, up = map(plain_text, flat.columns)
    drawn = heat_map(flat, release.cluster_centers[:, list(pair)], width=290.0)
    return Picture(f"{across} and {up}", drawn, f"± {flat.sigma:.3g} rows a cell")
