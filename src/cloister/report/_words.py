# SPDX-License-Identifier: Apache-2.0
"""The report's sentences: what was released and what is guaranteed, for readers who are no experts."""

from collections.abc import Collection
from typing import Any

from cloister.report._format import chance_text, count_of, share_text

__all__ = ["QUESTIONS", "axis_words", "promise", "released_words", "scaling_words", "unit_of_protection"]

QUESTIONS = {
    "nearest_counts": "How many rows have each candidate as their nearest (votes)",
    "nearest_sums": "Sum of the rows nearest to each candidate",
    "bounded_counts": "How many rows have each centre as their nearest, and within the radius",
    "bounded_sums": "Sum of the offsets of those rows from their centre",
    "grid_counts": "How many rows lie in each cell of the grid",
    "distance_histogram": "How far rows lie from the nearest point",
    "row_count": "How many rows there are",
    "hash_counts": "How many rows lie in each cell that hyperplanes cut",
    "hash_sums": "Sum of the rows in each cell that hyperplanes cut",
    "cube_counts": "How many rows lie in each cube",
    "swap_costs": "Which swap of a centre for a candidate costs the rows least",
    "set_costs": "Which set of centres costs the rows least",
    "nearest_squares": "How far the rows nearest to each candidate spread, by column (sums of squared offsets)",
    "second_moments": "How the offsets of the rows from a centre vary together (second moments)",
    "neighbour_means": "Mean of the rows nearest to each public point",
    "cell_states": "How many values of each column are missing, or outside its bounds",
    "column_magnitudes": "How large the values of each column are",
    "column_intervals": "How many values of each column lie in each of many intervals",
    "nearest_histograms": "How the values of each column are distributed in each cluster (histograms)",
    "nearest_missing": "How many values of each column are missing in each cluster",
}

SHARES = {"category": "for a category the share of each level", "flag": "for a flag the share of yes"}


def _secret(neighbours: str) -> str:
    """Say what an observer would like to know."""
    if neighbours == "replace":
        return "which of two versions of one row was in the table"
    return "whether one particular row was in the table"


def promise(receipt: dict[str, Any]) -> list[str]:
    """Explain the guarantee: its strength, its unit, and what it does not cover."""
    chance = receipt["best_guess"]
    guess = (
        f"Suppose someone who knows every other row wants to find out {_secret(receipt['neighbours'])}, and considers both "
        "equally likely before reading this page. Whatever they compute from it, their guess is right with a probability of at "
        f"most {chance_text(chance)}. Without this page it would be 50 %."
    )
    free = (
        "Every number got noise of its own, those of empty groups too, and each answer was debited in a ledger before it was "
        "computed. Everything on this page is computed from those noisy answers, so it may be copied, combined and published "
        "at no further cost."
    )
    return [guess, free]


def released_words(summary: dict[str, Any]) -> str:
    """Say what the centres of a release are, in words for the columns it has."""
    centres, kinds = count_of(summary["n_clusters"], "centre"), {one["type"] for one in summary["table"]}
    shares = [words for kind, words in SHARES.items() if kind in kinds]
    plain = [f"{kind}s" for kind in ("number", "date") if kind in kinds]
    parts = [f"{' and '.join(plain)} in their own units", *shares] if plain else shares
    told = f": {', '.join(parts)}" if shares else ", in the units of the input"
    each = ", each with a noisy number of rows" if summary["n_clusters"] > 1 else ", with a noisy number of rows"
    return f"{centres} in {count_of(summary['n_columns'], 'column')}{told}{each}."


def unit_of_protection(neighbours: str) -> str:
    """Name the unit of protection."""
    return "replacing one row" if neighbours == "replace" else "adding or removing one row"


def scaling_words(scaling: str, kinds: Collection[str] = ()) -> str:
    """Say how distances were measured; `kinds` are those of the columns."""
    levels = " Two levels of a category lie as far apart as the two ends of a number." if "category" in kinds else ""
    if scaling == "bounds":
        return f"Distances were measured with every column divided by half the width of its bounds.{levels}"
    if scaling == "spread":
        apart = " Two levels of a category lie two units apart." if "category" in kinds else ""
        return f"Distances were measured with numbers and dates divided by their spread, which was found with noise.{apart}"
    return "Distances were measured in the units of the input."


def axis_words(share: float, loadings: list[list[Any]], *, spread: str = "spread between centres") -> str:
    """Describe a principal axis by its columns, largest first."""
    if not loadings or share <= 0:
        return "no spread"
    parts = [f"{name} {'up' if weight > 0 else 'down'}" for name, weight in loadings]
    return f"{', '.join(parts)} ({share_text(share)} of the {spread})"
