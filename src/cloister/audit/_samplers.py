# SPDX-License-Identifier: Apache-2.0
"""The noise that leaves the vault against its exact distribution: bulk, tails, and independence.

The counts of a table without rows are noise and nothing else, so one question gives as many draws as it has points. Far tails
are too rare to wait for. There the sampler is run as it is, on random words that are uniform among those that make the whole
part of a deviate at least j; what comes out must follow the tail beyond j, whatever cuts it and wherever.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cloister.audit._chance import FALSE_ALARM, binomial_chance, gaussian_tail, laplace_tail, words_below
from cloister.audit._findings import CheckResult, Findings, Settings, Step
from cloister.audit._plants import wrapped
from cloister.audit._vault import open_vault
from cloister.columns import IntArray, Relation
from cloister.privacy import GDP, Cost, Entropy, PureDP, Query
from cloister.questions import NearestCounts
from cloister.rivals import SetCosts

__all__ = ["N_CASES", "check_samplers"]

TITLE = "Samplers against exact probabilities: bulk, tails, independence"
SHARE = 0.4  # of the false-alarm rate
N_TESTS = 1_000  # a bound on their number, which the rate is divided by
SIZE = 1 << 15  # draws an answer
QUESTION = NearestCounts(points=np.linspace(-1, 1, SIZE)[:, None])
NO_ROWS = np.empty((0, 1))
ADD = Relation.ADD_REMOVE
FINE = 64.0  # a scale at which rounding hides nothing
SCALES = (0.4, 1.0, 7.3, FINE, 1e6)
TAILS = (4.0, 4.5)  # standard deviations
LEVELS = {"gaussian": (2, 3, 4, 5, 6, 7), "laplace": (2, 6, 10, 14, 16, 18, 22, 26)}  # whole parts that are forced
PARTS = (0.9, 0.5, 0.2, 0.05, 0.01, 0.002)  # of a forced tail
N_CASES = 2 * (len(SCALES) + 1) + sum(map(len, LEVELS.values())) + 3
N_COINS = 1 << 12  # rows of a table that is sampled, each nearest to a point of its own
COIN_SHARES = (0.1, 0.6, 0.25)  # the last one comes out of the sample before it
SEEN = GDP(1e4)  # noise that hides no row
WORD_BITS = 64


class Gaussian:
    """Rounded Gaussian noise, from its definition."""

    name = "gaussian"

    def cost(self, scale: float) -> Cost:
        """Return the cost at which a count gets noise of this scale."""
        return GDP(1 / scale)

    def tail(self, least: int, scale: float) -> float:
        """Return the probability of an integer of size at least `least`."""
        return gaussian_tail(least, scale)

    def beyond(self, point: float) -> float:
        """Return the probability of a standard deviate of size at least `point`."""
        return math.erfc(point / math.sqrt(2))

    def threshold(self, least: int, scale: float) -> float:
        """Return the size from which on a deviate becomes an integer of size at least `least`."""
        return (least - 0.5) / scale

    def quantile(self, level: int, part: float, scale: float) -> int:
        """Return an integer beyond which about `part` of the tail beyond `level` lies."""
        goal, low, high = part * self.beyond(level), float(level), float(level + 4)
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self.beyond(middle) > goal else (low, middle)
        return math.ceil(high * scale + 0.5)

    def median(self, scale: float) -> int:
        """Return about the median of the sizes."""
        return round(0.6745 * scale)


class Laplace:
    """Discrete Laplace noise, from its definition."""

    name = "laplace"

    def cost(self, scale: float) -> Cost:
        """Return the cost at which a count gets noise of this scale."""
        return PureDP(1 / scale)

    def tail(self, least: int, scale: float) -> float:
        """Return the probability of an integer of size at least `least`."""
        return laplace_tail(least, scale)

    def beyond(self, point: float) -> float:
        """Return the probability of a standard deviate of size at least `point`."""
        return math.exp(-point)

    def threshold(self, least: int, scale: float) -> float:
        """Return the size from which on a deviate becomes an integer of size at least `least`."""
        return least / scale

    def quantile(self, level: int, part: float, scale: float) -> int:
        """Return an integer beyond which about `part` of the tail beyond `level` lies."""
        return math.ceil((level - math.log(part)) * scale)

    def median(self, scale: float) -> int:
        """Return about the median of the sizes."""
        return round(math.log(2) * scale)


Law: TypeAlias = Gaussian | Laplace
LAWS: tuple[Law, ...] = (Gaussian(), Laplace())


def check_samplers(settings: Settings, step: Step) -> CheckResult:
    """Compare draws with probabilities."""
    found = Findings("samplers", TITLE, step, settings.first)
    tests = _Tests(found, FALSE_ALARM * SHARE / N_TESTS)
    found.begin("exponential choice", part="exponential choice")
    _choice(tests, settings.amount(2000, 5000), settings.seed + 3000)
    for number, law in enumerate(LAWS):
        seed = settings.seed + 1000 * number
        for index, scale in enumerate(SCALES):
            found.begin(f"{law.name} of scale {scale:g}", part=f"{law.name} of scale {scale:g}")
            _bulk(tests, law, _draws(law, scale, settings.amount(2, 12), seed + index), scale)
        for level in LEVELS[law.name]:
            found.begin(f"{law.name} beyond {level} scales", part=f"{law.name} beyond {level} scales")
            _forced(tests, law, level, settings.amount(1, 4), seed + 100 + level)
        found.begin(f"{law.name}: independence", part=f"{law.name}: independence")
        _independence(tests, law, settings.amount(2, 8), seed + 200)
    found.begin("gaussian tails", part="gaussian tails")
    _tails(tests, settings.amount(128, 384), settings.seed + 2000)
    found.begin("coins of samples", part="coins of samples")
    _coins(tests, settings.amount(4, 16), settings.seed + 4000)
    assert tests.number <= N_TESTS
    found.notes.append(f"{tests.number} exact binomial tests; false alarms: {FALSE_ALARM * SHARE:.1g}")
    return found.result()


@dataclass
class _Tests:
    """Counts tests and passes each of them on."""

    found: Findings
    level: float
    number: int = 0

    def test(self, hits: npt.NDArray[np.bool_], probability: float, message: str) -> None:
        """Compare how often something happened with its probability."""
        self.number += 1
        count = int(np.count_nonzero(hits))
        self.found.check_p_value(binomial_chance(count, hits.size, probability), self.level, message)


def _draws(law: Law, scale: float, asks: int, seed: int | None) -> IntArray:
    """Return noise as it leaves the vault."""
    cost = law.cost(scale)
    vault = open_vault(NO_ROWS, cost, relation=ADD, entropy=Entropy(seed))
    answers = [vault.ask(QUESTION, cost) for _ in range(asks)]
    return np.concatenate([np.rint(answer.value).astype(np.int64) for answer in answers])


def _stated(law: Law, scale: float) -> float:
    """Return the scale of the event that the vault pays at this scale: rounded up to what can be drawn."""
    cost = law.cost(scale)
    return open_vault(NO_ROWS, cost, relation=ADD, entropy=Entropy(0))._price(QUESTION, cost).scale


def _bulk(tests: _Tests, law: Law, draws: IntArray, scale: float) -> None:
    """Compare the distribution of absolute values with the law, and the signs with a fair coin."""
    stated = _stated(law, scale)
    for part in (0.02, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0):
        least = max(1, round(part * stated))
        tests.test(np.abs(draws) >= least, law.tail(least, stated), f"{law.name} of scale {scale:g}: at least {least}")
    moved = draws[draws != 0]
    tests.test(moved > 0, 0.5, f"{law.name} of scale {scale:g}: signs")


def _tails(tests: _Tests, asks: int, seed: int) -> None:
    """Compare the tails of the Gaussian, as often as they come."""
    law = Gaussian()
    stated = _stated(law, FINE)
    draws = np.abs(_draws(law, FINE, asks, seed))
    for sigmas in TAILS:
        least = math.ceil(sigmas * stated)
        tests.test(draws >= least, law.tail(least, stated), f"gaussian: beyond {sigmas:g} standard deviations")


def _forced(tests: _Tests, law: Law, level: int, asks: int, seed: int) -> None:
    """Draw with whole parts of at least `level` and compare with the tail beyond it."""
    stated = _stated(law, FINE)
    with _whole_parts_of_at_least(level):
        draws = np.abs(_draws(law, FINE, asks, seed))
    for part in PARTS:
        least = law.quantile(level, part, stated)
        cut = law.threshold(least, stated)
        tests.test(draws >= least, law.beyond(cut) / law.beyond(level), f"{law.name}: beyond {cut:.2f} scales, given {level}")


@contextmanager
def _whole_parts_of_at_least(level: int) -> Iterator[None]:
    """Run the sampler's own table of whole parts on words that are uniform above its threshold for `level`."""

    def wrapper(wholes: Any) -> object:
        def conditioned(draws: Any, count: int, power: int) -> Any:
            above = _WordsAbove(draws.entropy, words_below(level, power))
            return wholes(type(draws)(above, draws.bits), count, power)

        return conditioned

    with wrapped(("cloister.privacy._samplers:_wholes", wrapper)):
        yield


@dataclass
class _WordsAbove:
    """Uniform words among those above a threshold."""

    entropy: Entropy
    threshold: int

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        width = (1 << WORD_BITS) - 1 - self.threshold
        shift = np.uint64(WORD_BITS - width.bit_length())
        kept = np.empty(0, dtype=np.uint64)
        while len(kept) < count:
            words = self.entropy.words(2 * count + 16) >> shift
            kept = np.concatenate([kept, words[words < np.uint64(width)]])
        return kept[:count] + np.uint64(self.threshold + 1)


def _independence(tests: _Tests, law: Law, asks: int, seed: int) -> None:
    """Compare draws beside each other, answers of one pass, answers one after another, seeds, and fits without a seed."""
    cost, scale = law.cost(1e6), 1e6
    vault = open_vault(NO_ROWS, cost, relation=ADD, entropy=Entropy(seed))
    together = [vault.ask([QUESTION, QUESTION], [cost, cost]) for _ in range(asks)]
    first, second = (np.concatenate([answers[side].value for answers in together]) for side in (0, 1))
    after, other = _draws(law, scale, asks, seed), _draws(law, scale, asks, seed + 1)
    fresh, again = _draws(law, scale, asks, None), _draws(law, scale, asks, None)
    for pair, one, two in (
        ("neighbouring draws", first[::2], first[1::2]),  # no draw is in two pairs, so the pairs are independent
        ("draws two apart", first.reshape(-1, 4)[:, :2].ravel(), first.reshape(-1, 4)[:, 2:].ravel()),
        ("answers of one pass", first, second),
        ("answers one after another", after[: len(after) // 2], after[len(after) // 2 :]),
        ("two seeds", after, other),
        ("two vaults without a seed", fresh, again),
    ):
        _compare_pairs(tests, law, one, two, pair)


def _compare_pairs(tests: _Tests, law: Law, one: npt.NDArray[Any], two: npt.NDArray[Any], pair: str) -> None:
    """Test that signs and sizes agree as often as those of independent draws do; at this scale ties are a ppm."""
    both = (one != 0) & (two != 0)
    tests.test((one[both] > 0) == (two[both] > 0), 0.5, f"{law.name}: signs of {pair}")
    # Beyond its median or not: pairs of equal side among independent draws.
    stated = _stated(law, 1e6)
    least = law.median(stated)
    large = law.tail(least, stated)
    agree = large**2 + (1 - large) ** 2
    tests.test((np.abs(one) >= least) == (np.abs(two) >= least), agree, f"{law.name}: sizes of {pair}")


def _coins(tests: _Tests, vaults: int, seed: int) -> None:
    """See which rows samples hold: as many as stated, each by itself, and others in another vault."""
    seeded = [_shown(seed + number) for number in range(2 * vaults)]
    fresh = [_shown(None) for _ in range(2 * vaults)]
    for index, share in enumerate(COIN_SHARES):
        one, two = (np.concatenate([shown[index] for shown in seeded[side::2]]) for side in (0, 1))
        first, second = (np.concatenate([shown[index] for shown in fresh[side::2]]) for side in (0, 1))
        agree = share**2 + (1 - share) ** 2
        tests.test(one, share, f"coins of share {share:g}: part of the rows")
        tests.test(one[::2] == one[1::2], agree, f"coins of share {share:g}: neighbouring rows")
        tests.test(one == two, agree, f"coins of share {share:g}: two seeds")
        tests.test(first == second, agree, f"coins of share {share:g}: two vaults without a seed")
    alike = np.concatenate([np.repeat([True, False], _counted_alike(seed + number)) for number in range(vaults)])
    tests.test(alike, COIN_SHARES[1], "coins of equal rows")


def _asking(share: float) -> Query:
    return Query("coins", "counts", SEEN, 1.0, 0.0, share)


def _shown(seed: int | None) -> list[npt.NDArray[np.bool_]]:
    """Return for each share which rows of a table are in the sample."""
    points = np.linspace(-1, 1, N_COINS)[:, None]
    vault = open_vault(points, SEEN, relation=ADD, entropy=Entropy(seed))
    return [vault.ask(NearestCounts(points=points), _asking(share)).value > 0.5 for share in COIN_SHARES]


def _counted_alike(seed: int) -> tuple[int, int]:
    """Return how many of equal rows are in a sample and how many are not."""
    vault = open_vault(np.zeros((N_COINS, 1)), SEEN, relation=ADD, entropy=Entropy(seed))
    count = round(float(vault.ask(NearestCounts(points=np.zeros((1, 1))), _asking(COIN_SHARES[1])).value[0]))
    return count, N_COINS - count


def _choice(tests: _Tests, asks: int, seed: int) -> None:
    """Compare choices among four costs with the exponential law."""
    sets = np.arange(4).reshape(4, 1, 1) / 4
    question = SetCosts(sets=sets, cap=1.0)
    cost = PureDP(4.0)
    vault = open_vault(np.zeros((1, 1)), cost, relation=ADD, entropy=Entropy(seed))
    answers = [vault.ask(question, cost) for _ in range(asks)]
    costs = (sets.ravel() ** 2) / question.unit  # of one row at the first point
    weights = np.exp(-costs / answers[0].event.scale)
    chosen = np.array([answer.index[0] for answer in answers])
    for index, weight in enumerate(weights):
        tests.test(chosen == index, float(weight / weights.sum()), f"exponential choice: option {index + 1}")
    even = chosen[: len(chosen) // 2 * 2]
    tests.test(even[::2] == even[1::2], float(np.sum((weights / weights.sum()) ** 2)), "exponential choice: one after another")
