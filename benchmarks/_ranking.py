# SPDX-License-Identifier: Apache-2.0
"""Which method is the best of a suite, in one figure each: the geometric mean over all that every method was measured on."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["TIMES", "Rank", "Ranking", "rank_methods", "ranking_svg"]

TIMES = " \u00d7"  # the unit of a ratio
COVERAGE = 0.5  # part of the cases that a method must have to be ranked with the others
WIDTH, LINE, NAMES, VALUES = 720.0, 30.0, 190.0, 92.0
SHORTEST = 3.0  # a bar, so that the best is seen


@dataclass(frozen=True)
class Rank:
    """A method, its figure (the less the better), and on how many cases it has the lowest."""

    method: str
    value: float
    wins: int

    @property
    def words(self) -> str:
        """The figure, with two decimals unless it is small."""
        return f"{self.value:.2f}" if self.value >= 0.1 else f"{self.value:.2g}"


@dataclass(frozen=True)
class Ranking:
    """Methods, the best first. `what` is the figure, `unit` stands behind it, `base` is where bars begin."""

    what: str
    ranks: Sequence[Rank]
    n_cases: int
    cases: str
    left_out: Sequence[str]
    unit: str = ""
    base: float | None = None

    @property
    def words(self) -> str:
        """What the picture shows, in a sentence or two."""
        words = (
            f"{self.what}: geometric mean over {self.n_cases} {self.cases} on which all of these were measured. Less is better."
        )
        others = ", ".join(self.left_out)
        return f"{words} Not ranked, as they were measured on fewer than half: {others}." if others else words

    @property
    def lengths(self) -> list[float]:
        """How long each method's bar is, on a logarithmic scale that begins where nothing is lost, or at the best."""
        values = [rank.value for rank in self.ranks]
        start = min(self.base or values[0] / 1.25, values[0])
        reach = math.log(max(values) / start) or 1.0
        return [max(SHORTEST, (WIDTH - NAMES - VALUES) * math.log(value / start) / reach) for value in values]

    @property
    def caption(self) -> str:
        """What stands below the picture."""
        if self.base is None:
            return self.words
        return f"{self.words} Bars begin at {self.base:g}{self.unit}, where nothing is lost; the scale is logarithmic."


def rank_methods(
    figures: Mapping[tuple[Hashable, str], float],
    *,
    what: str,
    cases: str = "data sets",
    unit: str = "",
    base: float | None = None,
) -> Ranking | None:
    """Rank methods by figures of cases and methods; None where there is nothing to compare."""
    every = list(dict.fromkeys(case for case, _ in figures))
    covered = {method: {case for case, one in figures if one == method} for method in dict.fromkeys(one for _, one in figures)}
    ranked = [method for method, known in covered.items() if len(known) >= COVERAGE * len(every)]
    common = [case for case in every if all(case in covered[method] for method in ranked)]
    if len(ranked) < 2 or not common or not all(figures[case, method] > 0 for case in common for method in ranked):
        return None
    lowest = {case: min(figures[case, method] for method in ranked) for case in common}
    ranks = [
        Rank(
            method,
            math.exp(math.fsum(math.log(figures[case, method]) for case in common) / len(common)),
            sum(figures[case, method] == lowest[case] for case in common),
        )
        for method in ranked
    ]
    left_out = [method for method in covered if method not in ranked]
    return Ranking(what, sorted(ranks, key=lambda rank: rank.value), len(common), cases, left_out, unit, base)


def ranking_svg(ranking: Ranking) -> str:
    """Draw a bar for each method."""
    height = LINE * len(ranking.ranks) + 8
    lines = []
    for index, (rank, length) in enumerate(zip(ranking.ranks, ranking.lengths, strict=True)):
        y = 4 + LINE * index
        kind = "full" if index == 0 else "pale"
        lines.append(
            f'<text class="{"first" if index == 0 else "method"}" x="{NAMES - 12:g}" y="{y + 20:g}" text-anchor="end">'
            f"{escape(rank.method)}</text>"
            f'<path class="{kind}" d="M{NAMES:g} {y + 5:g}h{length:.1f}v{LINE - 10:g}h-{length:.1f}z"/>'
            f'<text class="value" x="{NAMES + length + 8:.1f}" y="{y + 20:g}">{rank.words}{escape(ranking.unit)}</text>'
        )
    return (
        f'<svg class="ranking" viewBox="0 0 {WIDTH:g} {height:g}" role="img" aria-label="{escape(ranking.what)}">'
        f'<path class="spine" d="M{NAMES:g} 2v{height - 4:g}"/>{"".join(lines)}</svg>'
    )
