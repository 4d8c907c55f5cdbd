# SPDX-License-Identifier: Apache-2.0
"""What a guarantee means, for whoever answers for the data: epsilon as a factor, chances before and after, the ledger.

Everything is computed from the receipt.
"""

import math
from typing import Any

from scipy.special import expit, logit, ndtr

from cloister.privacy import ApproxDP, Receipt
from cloister.report._format import chance_text
from cloister.report._pages import Table
from cloister.report._words import unit_of_protection

__all__ = ["SQUARES", "chance_table", "comparison_words", "factor_words", "ledger_summary", "ledger_table", "meaning_of"]

Meaning = dict[str, Any]

USUAL_DELTA = 1e-6  # at which a guarantee in other terms is converted to an epsilon
LARGEST_CHANCE = 1 - 1e-12
CHANCES = (0.01, 0.1, 0.5)
LARGEST_FACTOR = 7.0  # epsilon up to which the factor is written out
LARGEST_EXAMPLE = 4.0  # epsilon up to which a larger one is shown beside it
COMPARE = "Compare these chances, not the epsilons"
SQUARES = "Costs of fits with Gaussian noise add up by their squares, so the lines need not add up to the total."


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
    others = "every other row" if person is None else "the rows of everybody else"
    factor = (
        f"{start}{_sentence(unit_of_protection(neighbours, person))} changes the probability of any published result by a "
        f"factor of at most {size}, up or down.{rare}"
    )
    example = (
        f"So someone who knows {others} and considers it {_percent(before)} likely (odds of 1 to {1 / before - 1:.0f}) "
        f"that {_guess(neighbours, person)} will, after reading this page, consider it at most {_percent(most)} and at least "
        f"{_percent(least)} likely{', very rare results aside' if delta else ''}."
    )
    return [factor, example]


def _guess(neighbours: str, person: str | None) -> str:
    """Say what the factor holds for: of who is added or removed their presence, of who is replaced anything about them."""
    if neighbours == "replace":
        return (
            "the remaining row has a certain property" if person is None else f"the remaining {person} has a certain property"
        )
    return f"one particular {person or 'row'} is in the table"


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def chance_table(meaning: Meaning) -> Table:
    """Return chances before this page was read, and how far it can move them."""
    rows = [[_percent(one) for one in line] for line in meaning["chances"]]
    return Table(["Likely before", "At least after", "At most after"], rows, numeric=(0, 1, 2), kind="brief")


def comparison_words(meaning: Meaning) -> list[str]:
    """Say why epsilons with and without delta do not compare, with the figures of this receipt."""
    return _gaussian_words(meaning) if meaning["gaussian"] else _pure_words(meaning)


def _gaussian_words(meaning: Meaning) -> list[str]:
    spent, delta, guess = meaning["spent_epsilon"], meaning["delta"], meaning["best_guess"]
    noise = (
        "The noise is Gaussian. It has no largest factor: ordinary results change the odds far less than epsilon says, and "
        "only very rare ones change them more. All answers together reveal at most as much as one Gaussian answer with "
        f"mu = {meaning['mu']:.3g} (rho = {meaning['rho']:.3g} in zero-concentrated terms, epsilon = {spent:.4g} at delta = "
        f"{delta:.3g}), which lets a guess be right in up to {chance_text(guess)} of cases."
    )
    beside = (
        f"A pure fit (delta = 0) of the same epsilon may use its factor on every result: "
        f"{chance_text(meaning['pure_guess'])}. That is why a fit with delta can state a larger epsilon than a "
        "pure one and still show a smaller chance. "
        f"{COMPARE}: by this measure, this fit equals a pure one of epsilon = {meaning['equal_pure']:.2g}."
    )
    return [noise, beside]


def _pure_words(meaning: Meaning) -> list[str]:
    epsilon = meaning["epsilon"]
    noise = (
        "The noise is of the Laplace kind, with delta = 0: the factor holds for every result, and every result may use all of "
        f"it. A single answer with epsilon = {epsilon:.4g} would let a guess be right in up to "
        f"{chance_text(meaning['pure_guess'])} of cases; the answers of this fit together allow "
        f"{chance_text(meaning['best_guess'])}."
    )
    if epsilon > LARGEST_EXAMPLE:
        return [noise]
    larger = float(ndtr(ApproxDP(2 * epsilon, USUAL_DELTA).gaussian_budget().mu / 2))
    beside = (
        f"Gaussian noise uses its factor on rare results only: at epsilon = {2 * epsilon:.4g} and delta = {USUAL_DELTA:g} a "
        f"guess would be right in up to {chance_text(larger)} of cases. So a fit with delta can state a larger epsilon and "
        "reveal less. "
        f"{COMPARE}."
    )
    return [noise, beside]


def ledger_summary(receipt: Receipt) -> dict[str, Any] | None:
    """Return where the fit left the ledger that paid for it; None where it was paid from a budget of its own."""
    found = receipt.ledger
    if found is None:
        return None
    return {**found.to_dict(), "budget_text": str(found.budget), "left_text": found.left_words}


def ledger_table(found: dict[str, Any] | None) -> Table | None:
    """Return what :func:`ledger_summary` returned as a table."""
    if found is None:
        return None
    rows = [
        ["Total budget", found["budget_text"]],
        ["Spent by earlier fits", found["before"]],
        ["This fit", found["fit"]],
        ["Left when it ended", found["left_text"]],
    ]
    return Table([f"Ledger {found['name']}".strip(), "Amount"], rows, kind="brief")


def _percent(chance: float) -> str:
    value = 100 * chance
    if value == 0 or value == 100:
        return f"{value:g} %"
    text = f"{value:.2g}" if value < 99 else f"{value:.{min(8, max(0, math.ceil(-math.log10(max(100 - value, 1e-9))) + 1))}f}"
    return f"{text} %" if float(text) < 100 else "nearly 100 %"
