# SPDX-License-Identifier: Apache-2.0
"""What a terminal and a notebook show of a release: clusters with noisy counts and centres, and the guarantee in words."""

from typing import TYPE_CHECKING

from cloister.card import HTML_COLUMNS, HTML_ROWS, Card
from cloister.privacy import Receipt
from cloister.release._geometry import rank_table
from cloister.release._profile import columns_of, described_columns
from cloister.release._words import column_words, error_words, hidden_words, rows_words
from cloister.text import count_of, number, share_text

if TYPE_CHECKING:
    from cloister.release._release import Release

__all__ = ["TEXT_COLUMNS", "guarantee_words", "release_card"]

TEXT_COLUMNS = 5  # on a line of a terminal; of more, those that tell the clusters apart best


def guarantee_words(receipt: Receipt) -> list[str]:
    """Return the guarantee in a sentence or two."""
    return receipt.promise()[:-1]


def release_card(release: "Release", most_columns: int = HTML_COLUMNS) -> Card:
    """Return the first clusters of a release in the columns that tell clusters apart best, in their own order."""
    picked = sorted(rank_table(release)[:most_columns])
    described = described_columns(release)
    labels = range(min(release.n_clusters, HTML_ROWS))
    chosen = release.free_centers is not None  # points of a public target, which have no error
    stable = () if release.stability is None else ("stability",)
    heads = (
        "cluster",
        "points served" if chosen else release.receipt.counted,
        *stable,
        *(described[index][0] for index in picked),
    )
    seen = release.stands_out
    rows = []
    for label, columns in zip(labels, columns_of(release, labels=labels, picked=picked), strict=True):
        count, error = float(release.cluster_counts[label]), float(release.count_errors[label])
        words = [number(one["value"]) if chosen else column_words(one, most_levels=2) for one in columns]
        counted = number(count) if chosen else rows_words(count, error, stands_out=bool(seen[label]))
        back = [] if release.stability is None else [share_text(float(release.stability[label]))]
        rows.append([str(label), counted, *back, *words])
    size = f"{count_of(release.n_clusters, 'cluster')} in {count_of(release.n_columns, 'column')}"
    hidden = hidden_words(int(seen.sum()), release.n_clusters)
    sentences = [] if chosen else [*filter(None, [hidden]), error_words(total=release.errors_are_total)]
    return Card(
        title=f"Release of {release.method}: {size}",
        heads=heads,
        rows=rows,
        n_rows=release.n_clusters,
        n_columns=release.n_columns,
        n_fixed=2 + len(stable),
        sentences=[*sentences, *guarantee_words(release.receipt)],
        nouns=("cluster", "column"),
        alert=release.receipt.alert,
    )
