# SPDX-License-Identifier: Apache-2.0
"""What a terminal and a notebook show of a release: clusters with noisy counts and centres, and the guarantee in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cloister.card import HTML_COLUMNS, HTML_ROWS, Card
from cloister.release._cautions import card_words
from cloister.release._geometry import distance_words, rank_table
from cloister.release._profile import columns_of, described_columns
from cloister.release._words import column_words, error_words, rows_words
from cloister.text import count_of, number, share_text

if TYPE_CHECKING:
    from cloister.release._release import Release

TEXT_COLUMNS = 5  # on a line of a terminal; of more, those that tell the clusters apart best


def cluster_table(
    release: "Release", picked: Sequence[int], *, n_clusters: int | None = None, most_levels: int = 3, between: str = ", "
) -> tuple[list[str], list[list[str]]]:
    """Return heads and lines of a table of clusters: label, number of rows, stability where it is known, and some columns.

    The first clusters, or all of them. Chosen points of a public target have the points they serve, and no errors.
    """
    chosen, seen, stability = release.free_centers is not None, release.stands_out.tolist(), release.stability
    names, labels = [one[0] for one in described_columns(release)], range(n_clusters or release.n_clusters)
    heads = ["cluster", "points served" if chosen else release.receipt.counted, *([] if stability is None else ["stability"])]
    rows = []
    for label, columns in enumerate(columns_of(release, labels=labels, picked=picked)):
        count, error = float(release.cluster_counts[label]), float(release.count_errors[label])
        words = [number(one["value"]) if chosen else column_words(one, most_levels, between=between) for one in columns]
        counted = number(count) if chosen else rows_words(count, error, stands_out=seen[label])
        back = [] if stability is None else [share_text(float(stability[label]))]
        rows.append([str(label), counted, *back, *words])
    return [*heads, *(names[index] for index in picked)], rows


def release_card(release: "Release", most_columns: int = HTML_COLUMNS) -> Card:
    """Return the first clusters of a release in the columns that tell clusters apart best, in their own order."""
    picked = sorted(rank_table(release)[:most_columns])
    heads, rows = cluster_table(release, picked, n_clusters=min(release.n_clusters, HTML_ROWS), most_levels=2)
    size = f"{count_of(release.n_clusters, 'cluster')} in {count_of(release.n_columns, 'column')}"
    shares = distance_words(release)
    sentences = [*card_words(release.warnings), *filter(None, [shares]), error_words(total=release.errors_are_total)]
    return Card(
        title=f"Release of {release.method}: {size}",
        heads=heads,
        rows=rows,
        n_rows=release.n_clusters,
        n_columns=release.n_columns,
        n_fixed=len(heads) - len(picked),
        sentences=[*(sentences if release.free_centers is None else []), *release.receipt.promise()[:-1]],
        nouns=("cluster", "column"),
        alert=release.receipt.alert,
    )
