# SPDX-License-Identifier: Apache-2.0
"""The report's sentences: what was released, what is guaranteed, and what the guarantee means, for readers who are no experts.

Everything is computed from the receipt.
"""

import math
from collections.abc import Collection
from typing import Any

from scipy.special import expit, logit, ndtr

from cloister.privacy import ApproxDP, Receipt
from cloister.text import chance_text, count_of, share_text

__all__ = [
    "QUESTIONS",
    "axis_words",
    "chance_words",
    "comparison_words",
    "counted_words",
    "factor_words",
    "meaning_of",
    "not_covered",
    "person_of",
    "person_words",
    "promise",
    "protected_words",
    "question_words",
    "released_words",
    "scaling_words",
    "sentence",
    "unit_of_protection",
]

Meaning = dict[str, Any]

USUAL_DELTA = 1e-6  # at which a guarantee in other terms is converted to an epsilon
LARGEST_CHANCE = 1 - 1e-12
CHANCES = (0.01, 0.1, 0.5)
LARGEST_FACTOR = 7.0  # epsilon up to which the factor is written out
LARGEST_EXAMPLE = 4.0  # epsilon up to which a larger one is shown beside it
COMPARE = "Compare these chances, not the epsilons"
QUESTIONS = {
    "nearest_counts": "How many rows have each candidate as their nearest (votes)",
    "nearest_sums": "Sum of the rows nearest to each candidate",
    "bounded_counts": "How many rows have each centre as their nearest, and within the radius",
    "bounded_sums": "Sum of the offsets of those rows from their centre",
    "grid_counts": "How many rows lie in each cell of the grid",
    "split_counts": "How many rows lie in each part of the cells that were split",
    "distance_histogram": "How far rows lie from the nearest point",
    "row_count": "How many rows there are",
    "hash_counts": "How many rows lie in each cell that hyperplanes cut",
    "hash_sums": "Sum of the rows in each cell that hyperplanes cut",
    "cube_counts": "How many rows lie in each cube",
    "swap_costs": "Which swap of a centre for a candidate costs the rows least",
    "set_costs": "Which set of centres costs the rows least",
    "nearest_squares": "How far the rows nearest to each candidate spread, by column (sums of squared offsets)",
    "second_moments": "How the offsets of the rows from a centre vary together (second moments)",
    "neighbour_distance": "How far public points are from the rows nearest to them, on average",
    "neighbour_means": "Mean of the rows nearest to each public point",
    "cell_states": "How many values of each column are missing, or outside its bounds",
    "column_magnitudes": "How large the values of each column are",
    "column_intervals": "How many values of each column lie in each of many intervals",
    "nearest_histograms": "How the values of each column are distributed in each cluster (histograms)",
    "nearest_missing": "How many values of each column are missing in each cluster",
    "rows_per_unit": "How many persons have how many rows",
}

SHARES = {"category": "for a category the share of each level", "flag": "for a flag the share of yes"}


def question_words(name: str, *, counted: str = "rows") -> str:
    """Return a question in words; `counted` is what its counts are numbers of."""
    return QUESTIONS.get(name, name).replace("How many rows", f"How many {counted}")


def person_of(receipt: dict[str, Any]) -> str | None:
    """Return what a person is called, the column of ids if it has a name; None where one row is protected."""
    return None if receipt["persons"] is None else str(receipt["persons"]["noun"])


def counted_words(receipt: dict[str, Any]) -> str:
    """Name what noisy counts are numbers of: rows, those rows of persons that are used, or persons."""
    return "rows used" if receipt["persons"] and receipt["counted"] == "rows" else str(receipt["counted"])


def protected_words(receipt: dict[str, Any]) -> list[str]:
    """Return what is protected, and from what: the fact in the head of a page."""
    persons, how = receipt["persons"], "replaced" if receipt["neighbours"] == "replace" else "added or removed"
    if persons is None:
        return ["one row", how]
    return [f"one {persons['noun']}", f"with at most {count_of(persons['max_rows'], 'row')} each, {how}"]


def person_words(receipt: dict[str, Any]) -> str:
    """Say whose rows were used and what counts are numbers of; nothing where one row is protected."""
    persons = receipt["persons"]
    if persons is None:
        return ""
    column = f"The column {persons['name']} says" if persons["name"] else "Ids said"
    numbers = (
        "Numbers are numbers of persons: somebody whose rows lie in several clusters counts in parts in each of them. In means "
        "and shares of rows, too, every person counts 1."
        if receipt["counted"] == "persons"
        else "Numbers are numbers of the rows that were used."
    )
    unknown = (
        "Rows without an id count towards that limit."
        if persons["stated"]
        else "Rows without an id were left out, and how many there are is not published: they could all be one person's."
    )
    return (
        f"{column} whose row it is. The fit used at most {count_of(persons['max_rows'], 'row')} of each person. {unknown} No "
        f"id is part of this page or of the release behind it. {numbers}"
    )


def not_covered(receipt: dict[str, Any]) -> list[str]:
    """Say what the guarantee does not cover because of its unit."""
    persons = receipt["persons"]
    if persons is None:
        weaker = "and weakens with every further row of the same person"
        return [f"People with several rows: the guarantee is about one row, {weaker}."]
    noun, rows = persons["noun"], count_of(persons["max_rows"], "row")
    lines = [
        f"Several ids of one person: the guarantee is about one {noun}, and weakens with every further one of the same person.",
        "Families and households: what several people share is protected less, the more of them are in the table.",
    ]
    if persons["stated"]:
        more = f"People with more than {rows}: the limit was asserted, not checked. Each further row weakens the guarantee."
        return [more, *lines]
    return lines


def promise(receipt: dict[str, Any]) -> list[str]:
    """Explain the guarantee: its strength, its unit, and what it does not cover."""
    chance, person = receipt["best_guess"], person_of(receipt)
    secret = f"whether one particular {person or 'row'} was in the table"
    if receipt["neighbours"] == "replace":
        secret = f"which of two versions of {f'all rows of one {person}' if person else 'one row'} was in the table"
    guess = (
        f"Suppose someone who knows {_others(person)} wants to find out {secret}, and considers both "
        "equally likely before reading this page. Whatever they compute from it, their guess is right with a probability of at "
        f"most {chance_text(chance)}. Without this page it would be 50 %."
    )
    free = (
        "Every number got noise of its own, those of empty clusters and cells too, and each answer was debited in a ledger "
        "before it was computed. Everything on this page is computed from those noisy answers, so it may be copied, combined "
        "and published at no further cost."
    )
    return [guess, free]


def _others(person: str | None) -> str:
    return "every other row" if person is None else "the rows of everybody else"


def released_words(summary: dict[str, Any], *, counted: str = "rows") -> str:
    """Say what the centres of a release are, in words for the columns it has; `counted` is what counts are numbers of."""
    centres, kinds = count_of(summary["n_clusters"], "centre"), {one["type"] for one in summary["table"]}
    shares = [words for kind, words in SHARES.items() if kind in kinds]
    plain = [f"{kind}s" for kind in ("number", "date") if kind in kinds]
    parts = [f"{' and '.join(plain)} in their own units", *shares] if plain else shares
    units = f": {', '.join(parts)}" if shares else ", in the units of the input"
    each = ", each" if summary["n_clusters"] > 1 else ","
    return f"{centres} in {count_of(summary['n_columns'], 'column')}{units}{each} with a noisy number of {counted}."


def unit_of_protection(neighbours: str, person: str | None = None) -> str:
    """Name what neighbouring tables differ in; `person` is what a person is called, where these are protected."""
    unit = "one row" if person is None else f"one {person} with all of their rows"
    return f"replacing {unit}" if neighbours == "replace" else f"adding or removing {unit}"


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


# -- what epsilon means ------------------------------------------------------------------------------------------------------


def meaning_of(receipt: Receipt) -> Meaning:
    """Return the guarantee as a factor and as chances: plain numbers."""
    spent, guarantee = receipt.spent, receipt.guarantee
    converted = not guarantee.is_pure and not guarantee.stated_delta
    epsilon, delta = guarantee.nominal_epsilon(USUAL_DELTA), USUAL_DELTA if converted else guarantee.stated_delta
    guess = float(ndtr(spent.all_mu / 2))
    return {
        "epsilon": epsilon,
        "delta": delta,
        "spent_epsilon": spent.epsilon_at(delta) if spent.mu_squared else spent.epsilon_sum,
        "converted": converted,
        "gaussian": spent.mu_squared > 0,
        "mu": spent.all_mu,
        "rho": spent.rho,
        # Telling two neighbours apart is at most as easy as telling N(0, 1) from N(mu, 1): right with chance Phi(mu / 2).
        "best_guess": guess,
        "pure_guess": float(expit(epsilon)),
        "equal_pure": float(logit(min(guess, LARGEST_CHANCE))),
        "chances": [[chance, *(float(expit(logit(chance) + side * epsilon)) for side in (-1, 1))] for chance in CHANCES],
    }


def factor_words(meaning: Meaning, *, guarantee: str, neighbours: str, person: str | None = None) -> list[str]:
    """Say what epsilon is as a factor, and what follows for whoever guesses about one row, or about one person."""
    epsilon, delta = meaning["epsilon"], meaning["delta"]
    size = f"e^{epsilon:.4g}" + (f" = {math.exp(epsilon):.3g}" if epsilon <= LARGEST_FACTOR else ", more than a thousand")
    start = f"{guarantee} amounts to epsilon = {epsilon:.3g} at delta = {delta:.3g}. " if meaning["converted"] else ""
    rare = (
        f" Very rare results can exceed this factor; together they add at most delta = {delta:.3g} to any probability."
        if delta
        else ""
    )
    before, least, most = meaning["chances"][1]
    guess = f"one particular {person or 'row'} is in the table"
    if neighbours == "replace":  # of who is replaced, the factor holds for anything about them
        guess = f"the remaining {person or 'row'} has a certain property"
    factor = (
        f"{start}{sentence(unit_of_protection(neighbours, person))} changes the probability of any published result by a "
        f"factor of at most {size}, up or down.{rare}"
    )
    example = (
        f"So someone who knows {_others(person)} and considers it {_percent(before)} likely (odds of 1 to "
        f"{1 / before - 1:.0f}) that {guess} will, after reading this page, consider it at most {_percent(most)} and at least "
        f"{_percent(least)} likely{', very rare results aside' if delta else ''}."
    )
    return [factor, example]


def comparison_words(meaning: Meaning) -> list[str]:
    """Say why epsilons with and without delta do not compare, with the figures of this receipt."""
    epsilon, guess, pure = meaning["epsilon"], chance_text(meaning["best_guess"]), chance_text(meaning["pure_guess"])
    if meaning["gaussian"]:
        noise = (
            "The noise is Gaussian. It has no largest factor: ordinary results change the odds far less than epsilon says, "
            "and only very rare ones change them more. All answers together reveal at most as much as one Gaussian answer with "
            f"mu = {meaning['mu']:.3g} (rho = {meaning['rho']:.3g} in zero-concentrated terms, epsilon = "
            f"{meaning['spent_epsilon']:.4g} at delta = {meaning['delta']:.3g}), which lets a guess be right in up to {guess} "
            "of cases."
        )
        beside = (
            f"A pure fit (delta = 0) of the same epsilon may use its factor on every result: {pure}. That is why a fit with "
            f"delta can state a larger epsilon than a pure one and still show a smaller chance. {COMPARE}: by this measure, "
            f"this fit equals a pure one of epsilon = {meaning['equal_pure']:.2g}."
        )
        return [noise, beside]
    noise = (
        "The noise is of the Laplace kind, with delta = 0: the factor holds for every result, and every result may use all of "
        f"it. A single answer with epsilon = {epsilon:.4g} would let a guess be right in up to {pure} of cases; the answers of "
        f"this fit together allow {guess}."
    )
    if epsilon > LARGEST_EXAMPLE:
        return [noise]
    larger = float(ndtr(ApproxDP(2 * epsilon, USUAL_DELTA).gaussian_budget().mu / 2))
    beside = (
        f"Gaussian noise uses its factor on rare results only: at epsilon = {2 * epsilon:.4g} and delta = {USUAL_DELTA:g} a "
        f"guess would be right in up to {chance_text(larger)} of cases. So a fit with delta can state a larger epsilon and "
        f"reveal less. {COMPARE}."
    )
    return [noise, beside]


def chance_words(meaning: Meaning) -> list[list[str]]:
    """Return chances before a page was read, and how far it can move them: at least, and at most."""
    return [[_percent(one) for one in line] for line in meaning["chances"]]


def sentence(words: str) -> str:
    """Return words with a capital letter in front."""
    return words[:1].upper() + words[1:]


def _percent(chance: float) -> str:
    value = 100 * chance
    if value == 0 or value == 100:
        return f"{value:g} %"
    text = f"{value:.2g}" if value < 99 else f"{value:.{min(8, max(0, math.ceil(-math.log10(max(100 - value, 1e-9))) + 1))}f}"
    return f"{text} %" if float(text) < 100 else "nearly 100 %"
