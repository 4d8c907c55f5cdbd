# SPDX-License-Identifier: Apache-2.0
"""The page of a synopsis: its grid as a picture, how many clusters it holds, their centres, and the receipt."""

from typing import Any

from cloister.release import Release
from cloister.report._format import number, with_error
from cloister.report._grids import bars, drawn_cells, elbow, heat_map
from cloister.report._html import about, count_of, header, page, receipt, strip_table, text
from cloister.report._summary import rank_columns, summary, synopsis_summary
from cloister.report._words import scaling_words
from cloister.synopsis import KChoice, Synopsis

__all__ = ["synopsis_html"]

PAIRED_COLUMNS = 4
STRIPPED_COLUMNS = 16
LARGEST_COMPARED = 1 << 14  # cells; comparing numbers of clusters on a larger grid takes long, so it waits to be asked for


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
    told, found = synopsis_summary(synopsis), summary(release)
    cells = " \u00d7 ".join(map(str, told["cells"])) if len(told["cells"]) <= 4 else f"{told['n_cells']:,}"
    title = f"A grid of {cells} cells in {count_of(told['n_features'], 'column')}"
    sections = [_top(told, title), _released(told), _grid(synopsis, release), _choice(choice), _centers(found)]
    return page(title, [*sections, receipt(told), about(told)])


def _top(told: dict[str, Any], title: str) -> str:
    rows, spread = with_error(told["n_rows"], told["n_rows_error"])
    facts = [
        ("Cells", f"{told['n_cells']:,}", f"{told['full']:.0%} above twice the noise"),
        ("Noise per cell", f"± {told['sigma']:.3g}", "rows, standard deviation"),
        ("Rows", rows, "public" if told["n_rows_error"] == 0 else f"± {spread}, noisy"),
    ]
    return header(told, title, facts)


def _released(told: dict[str, Any]) -> str:
    return (
        '<section id="released"><h2>What was released</h2>'
        f'<p class="lead">A noisy number of rows for each of {told["n_cells"]:,} cells. Clusters for any k, counts of ranges, '
        "marginals and synthetic rows are computed from these numbers, as often as one likes, without a further look at the "
        "rows.</p>"
        f"<p>Every cell was noised, the empty ones too: which cells are empty is as private as how full the others are. "
        f"{text(scaling_words(told['scaling']))} The bounds, the names of the columns and the number of cells along each "
        "column are taken as public.</p></section>"
    )


def _grid(synopsis: Synopsis, release: Release) -> str:
    centers = release.cluster_centers
    shown = f"Numbered: the {count_of(release.n_clusters, 'centre')} below." if release.n_clusters <= 30 else "Dots: centres."
    what = "The stronger the colour, the more rows; steps follow the square root of the count. What is not above zero is empty."
    merged = "" if drawn_cells(synopsis.cells) else " Neighbouring cells are drawn together, by their mean count."
    if synopsis.n_features == 1:
        picture = bars(synopsis, centers)
        words = f"Noisy rows in each cell, ± {synopsis.sigma:.3g}; those of zero and below are empty. Dashed: centres.{merged}"
        body = f"<figure>{picture}<figcaption>{text(words)}</figcaption></figure>"
    elif synopsis.n_features == 2:
        words = f"{what} {shown} A count has noise of ± {synopsis.sigma:.3g} rows (standard deviation).{merged}"
        caption = f"<figcaption><p>{text(words)}</p></figcaption>"
        body = f'<figure class="side"><div>{heat_map(synopsis, centers)}</div>{caption}</figure>'
    else:
        picked = sorted(rank_columns(release)[:PAIRED_COLUMNS])
        pairs = [(one, other) for place, one in enumerate(picked) for other in picked[place + 1 :]]
        all_of = "" if len(picked) == synopsis.n_features else f" Of {synopsis.n_features} columns, four are shown."
        words = (
            f"Two columns each, all others added up; so the noise is larger than that of a cell. {what} {shown}{all_of}{merged}"
        )
        figures = "".join(_pair(synopsis, release, pair) for pair in pairs)
        body = f'<p class="small">{text(words)}</p><div class="pair3">{figures}</div>'
    return f'<section id="grid"><h2>The noisy grid</h2>{body}</section>'


def _pair(synopsis: Synopsis, release: Release, pair: tuple[int, int]) -> str:
    flat = synopsis.marginal(pair)
    across, up = (text(name) for name in flat.columns)
    noise = f"± {flat.sigma:.3g} rows a cell"
    picture = heat_map(flat, release.cluster_centers[:, list(pair)], width=290.0)
    return f"<figure>{picture}<figcaption><b>{across}</b> and <b>{up}</b>, {noise}</figcaption></figure>"


def _choice(choice: KChoice | None) -> str:
    if choice is None:
        return ""
    told = choice.to_dict()
    return (
        '<section id="choice"><h2>How many clusters</h2>'
        f'<figure class="side">{elbow(told)}<figcaption><p>The mean squared distance to the nearest centre, by number of '
        "clusters, on a logarithmic axis. Line with rings: on the counts the centres were fitted to. Dots: on a half of the "
        "noise that the centres have not seen, with bars of 1.96 standard "
        "errors to each side; clusters made of noise do not help there. Dashed: what the same number of clusters achieves on "
        "rows spread evenly over the box.</p></figcaption></figure>"
        f"<p>Further clusters help no more than they would help evenly spread rows from <b>{choice.elbow}</b> on; the noise "
        f"supports up to <b>{choice.supported}</b>. Best of {choice.n_clusters[0]} to {choice.n_clusters[-1]}: "
        f"<b>{choice.best}</b>.</p></section>"
    )


def _centers(found: dict[str, Any]) -> str:
    picked = sorted(found["ranking"][:STRIPPED_COLUMNS])
    noisy = "is that of the noise in its cells; that of a centre says how far this noise moves it."
    return (
        f'<section id="clusters"><h2>{count_of(found["n_clusters"], "centre")}, with errors</h2>'
        f'<p class="small">Weighted k-means of the cells. The error of a count {noisy} A strip spans the bounds of its '
        "column, with a dot for the centre, a dark bar for 1.96 standard errors to each side, and faint ticks for the other "
        f"centres. Rows in all: {number(round(found['total_count']))}.</p>{strip_table(found, picked)}</section>"
    )
