# SPDX-License-Identifier: Apache-2.0
"""The privacy receipt for readers who are no experts: as plain data, in sentences, and as tables of what was asked.

What is protected, what epsilon means, what is not covered. Everything is computed from the receipt.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from scipy.special import expit, logit, ndtr

from cloister.privacy import MECHANISMS, ApproxDP, Event, Receipt
from cloister.report._figures import guess_meter
from cloister.report._pages import Table
from cloister.text import chance_text, count_of, number, sentence, share_text, span_of

Fact = tuple[str, str, str]

REPLACE = "replace"
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


# -- plain data --------------------------------------------------------------------------------------------------------------


def receipt_summary(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as plain data, with what it means."""
    spent, meaning, unit, paid = receipt.spent, meaning_of(receipt), receipt.privacy_unit, receipt.ledger
    persons = None  # where one row is protected
    if unit is not None:
        persons = {"noun": unit.noun, "explanation": unit.explain(), "stated": unit.stated, **unit.to_dict()}
    # Where the fit left the ledger that paid for it; None where it was paid from a budget of its own.
    ledger = None if paid is None else {**paid.to_dict(), "budget_text": str(paid.budget), "left_text": paid.left_words}
    return {
        "guarantee": receipt.guarantee.to_dict(),
        "guarantee_text": str(receipt.guarantee),
        **{name: getattr(receipt, name) for name in ("neighbours", "protects", "counted")},
        "persons": persons,
        "spent": spent.describe(receipt.guarantee),
        "seeded": receipt.seeded,
        "account": receipt.account,
        "explanation": receipt.explain(),
        "promised": receipt.promise(),
        "dataset": receipt.dataset,
        "purpose": receipt.purpose,
        "ledger": ledger,
        "meaning": meaning,
        "best_guess": meaning["best_guess"],
        "groups": _group_events(receipt.events),
        "fits": len(receipt.fits),
        "events": [
            {**event.to_line(), "fit": index} for index, fit in enumerate(receipt.fits, start=1) for event in fit.events
        ],
    }


def share_of(part: Sequence[Event], whole: Sequence[Event]) -> float:
    """Return the share of some events in the cost of all of them."""
    own, all_of_it = (math.fsum(event.cost.weight for event in events) for events in (part, whole))
    return own / max(all_of_it, math.ulp(0.0))


def _group_events(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Put events of one kind together, in the order in which the kinds first occur; where they differ, say how far."""
    groups: dict[tuple[str, str, str], list[Event]] = {}
    for event in events:
        groups.setdefault((event.question_name, event.mechanism, event.relation), []).append(event)
    return [
        {
            "asked": asked,
            "mechanism": mechanism,
            "times": len(group),
            "smallest_size": min(event.size for event in group),
            "largest_size": max(event.size for event in group),
            "standard_deviation": min(event.standard_deviation for event in group),
            "largest_standard_deviation": max(event.standard_deviation for event in group),
            "sensitivity": min(event.sensitivity * event.unit for event in group),
            "largest_sensitivity": max(event.sensitivity * event.unit for event in group),
            "relation": relation,
            "share": share_of(group, events),
        }
        for (asked, mechanism, relation), group in groups.items()
    ]


def meaning_of(receipt: Receipt) -> dict[str, Any]:
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


# -- the page ----------------------------------------------------------------------------------------------------------------


def receipt_facts(receipt: Receipt) -> list[Fact]:
    """Return the guarantee, what is protected, and from what: the first facts in the head of a page."""
    strength, _, loss = str(receipt.guarantee).partition(", ")
    how = "replaced" if receipt.neighbours == REPLACE else "added or removed"
    protected, _, limit = receipt.protects.partition(", ")
    return [("Guarantee", strength, loss), ("Protects", protected, ", ".join(filter(None, [limit, how])))]


def receipt_parts(receipt: Receipt, found: dict[str, Any]) -> dict[str, Any]:
    """Return what the section on privacy says; `found` is the summary of the receipt."""
    ledger, paid = found["ledger"], None
    if ledger is not None:  # where the fit left the ledger that paid for it
        lines = ("Total budget", "Spent by earlier fits", "This fit", "Left when it ended")
        amounts = (ledger["budget_text"], ledger["before"], ledger["fit"], ledger["left_text"])
        paid = Table.of({f"Ledger {ledger['name']}".strip(): lines, "Amount": amounts}, kind="brief")
    answers, kinds = count_of(len(found["events"]), "noisy answer"), count_of(len(found["groups"]), "kind")
    shares = " Shares are of the cost of all fits together." if found["fits"] > 1 else ""
    spent = f"Spent: {found['spent']}, in {answers} to {kinds} of question, listed below.{shares}"
    return {
        "promised": [*found["promised"][:-1], spent],
        "counted_words": counted_words(receipt),
        "persons": _person_words(receipt),
        "not_covered": not_covered(receipt),
        "promise": _promise(receipt),
        "factor": factor_words(receipt),
        "chances": Table(
            ["Likely before", "At least after", "At most after"],
            [[_percent(one) for one in line] for line in found["meaning"]["chances"]],
            numeric=(0, 1, 2),
            kind="brief",
        ),
        "comparison": comparison_words(receipt),
        "ledger": paid,
        "n_fits": found["fits"],
        "meter": guess_meter(found["best_guess"]),
        "groups": _group_table(found),
        "events": _event_table(found),
        "unit_of_protection": _change_words(receipt),
    }


def question_words(name: str, *, counted: str = "rows") -> str:
    """Return a question in words; `counted` is what its counts are numbers of."""
    return QUESTIONS.get(name, name).replace("How many rows", f"How many {counted}")


def counted_words(receipt: Receipt) -> str:
    """Name what noisy counts are numbers of: rows, those rows of persons that are used, or persons."""
    unit = receipt.privacy_unit
    return "rows used" if unit is not None and not unit.is_weighted else receipt.counted


def _person_words(receipt: Receipt) -> str:
    """Say whose rows were used and what counts are numbers of; nothing where one row is protected."""
    unit = receipt.privacy_unit
    if unit is None:
        return ""
    column = f"The column {unit.name} says" if unit.name else "Ids said"
    numbers = (
        "Numbers are numbers of persons: somebody whose rows lie in several clusters counts in parts in each of them. In means "
        "and shares of rows, too, every person counts 1."
        if unit.is_weighted
        else "Numbers are numbers of the rows that were used."
    )
    unknown = (
        "Rows without an id count towards that limit."
        if unit.stated
        else "Rows without an id were left out, and how many there are is not published: they could all be one person's."
    )
    return (
        f"{column} whose row it is. The fit used at most {count_of(unit.max_rows or 0, 'row')} of each person. {unknown} No "
        f"id is part of this page or of the release behind it. {numbers}"
    )


def not_covered(receipt: Receipt) -> list[str]:
    """Say what the guarantee does not cover because of its unit."""
    unit = receipt.privacy_unit
    if unit is None:
        weaker = "and weakens with every further row of the same person"
        return [f"People with several rows: the guarantee is about one row, {weaker}."]
    weaker = "and weakens with every further one of the same person"
    lines = [
        f"Several ids of one person: the guarantee is about one {unit.noun}, {weaker}.",
        "Families and households: what several people share is protected less, the more of them are in the table.",
    ]
    more = (
        f"People with more than {count_of(unit.max_rows or 0, 'row')}: the limit was asserted, not checked. Each further row "
        "weakens the guarantee."
    )
    return [more, *lines] if unit.stated else lines


def _promise(receipt: Receipt) -> str:
    """Explain the guarantee by how often a guess is right."""
    secret = f"whether one particular {receipt.unit} was in the table"
    if receipt.neighbours == REPLACE:
        whole = "one row" if receipt.privacy_unit is None else f"all rows of one {receipt.unit}"
        secret = f"which of two versions of {whole} was in the table"
    return (
        f"Suppose someone who knows {_others(receipt)} wants to find out {secret}, and considers both "
        "equally likely before reading this page. Whatever they compute from it, their guess is right with a probability of at "
        f"most {chance_text(meaning_of(receipt)['best_guess'])}. Without this page it would be 50 %."
    )


def _others(receipt: Receipt) -> str:
    return "every other row" if receipt.privacy_unit is None else "the rows of everybody else"


def _change_words(receipt: Receipt) -> str:
    """Name what neighbouring tables differ in."""
    unit = "one row" if receipt.privacy_unit is None else f"one {receipt.unit} with all of their rows"
    return f"replacing {unit}" if receipt.neighbours == REPLACE else f"adding or removing {unit}"


def factor_words(receipt: Receipt) -> list[str]:
    """Say what epsilon is as a factor, and what follows for whoever guesses about one row, or about one person."""
    meaning = meaning_of(receipt)
    epsilon, delta = meaning["epsilon"], meaning["delta"]
    size = f"e^{epsilon:.4g}" + (f" = {math.exp(epsilon):.3g}" if epsilon <= LARGEST_FACTOR else ", more than a thousand")
    start = f"{receipt.guarantee} amounts to epsilon = {epsilon:.3g} at delta = {delta:.3g}. " if meaning["converted"] else ""
    rare = (
        f" Very rare results can exceed this factor; together they add at most delta = {delta:.3g} to any probability."
        if delta
        else ""
    )
    before, least, most = meaning["chances"][1]
    guess = f"one particular {receipt.unit} is in the table"
    if receipt.neighbours == REPLACE:  # of who is replaced, the factor holds for anything about them
        guess = f"the remaining {receipt.unit} has a certain property"
    factor = (
        f"{start}{sentence(_change_words(receipt))} changes the probability of any published result by a "
        f"factor of at most {size}, up or down.{rare}"
    )
    example = (
        f"So someone who knows {_others(receipt)} and considers it {_percent(before)} likely (odds of 1 to "
        f"{1 / before - 1:.0f}) that {guess} will, after reading this page, consider it at most {_percent(most)} and at least "
        f"{_percent(least)} likely{', very rare results aside' if delta else ''}."
    )
    return [factor, example]


def comparison_words(receipt: Receipt) -> list[str]:
    """Say why epsilons with and without delta do not compare, with the figures of this receipt."""
    meaning = meaning_of(receipt)
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


def _percent(chance: float) -> str:
    value = 100 * chance
    if value == 0 or value == 100:
        return f"{value:g} %"
    text = f"{value:.2g}" if value < 99 else f"{value:.{min(8, max(0, math.ceil(-math.log10(max(100 - value, 1e-9))) + 1))}f}"
    return f"{text} %" if float(text) < 100 else "nearly 100 %"


# -- tables -------------------------------------------------------------------------------------------------------------------


def _group_table(receipt: dict[str, Any]) -> Table:
    """Return the kinds of questions: how often, how noisy, and their share of the cost."""
    groups = receipt["groups"]

    def spans(low: str, high: str, show: Callable[[float], str] = "{:.4g}".format) -> list[str]:
        return [span_of(show(group[low]), show(group[high])) for group in groups]

    columns = {
        "Question": [question_words(group["asked"], counted=receipt["counted"]) for group in groups],
        "Times": [group["times"] for group in groups],
        "Numbers each": spans("smallest_size", "largest_size", number),
        "Noise": [MECHANISMS[group["mechanism"]].label for group in groups],
        "Standard deviation": spans("standard_deviation", "largest_standard_deviation"),
        "Sensitivity": spans("sensitivity", "largest_sensitivity"),
        "Share of the cost": [share_text(group["share"], 1) for group in groups],
    }
    return Table.of(
        columns, numeric=("Times", "Numbers each", "Standard deviation", "Sensitivity", "Share of the cost"), kind="asked"
    )


def _event_table(receipt: dict[str, Any]) -> Table:
    """Return every event, as the ledger records it; fits and steps where there are some."""
    lines = receipt["events"]
    columns = {
        "No.": range(1, len(lines) + 1),
        **({"Fit": [line["fit"] for line in lines]} if receipt["fits"] > 1 else {}),
        "Day": [line["when"] for line in lines],
        **({"Step": [line["step"] for line in lines]} if any(line["step"] for line in lines) else {}),
        "Question": [line["asked"] for line in lines],
        "Numbers": [number(line["size"]) for line in lines],
        "Mechanism": [line["event"] for line in lines],
        "Scale": [f"{line['scale']:.6g}" for line in lines],
        "Sensitivity": [f"{line['sensitivity']:.6g}" for line in lines],
    }
    return Table.of(columns, numeric=("No.", "Fit", "Numbers", "Scale", "Sensitivity"))
