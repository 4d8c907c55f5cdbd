# SPDX-License-Identifier: Apache-2.0
"""The noise that leaves the vault against its exact distribution: bulk, tails, and independence.

The counts of a table without rows are noise and nothing else, so one question gives as many draws as it has points. Far tails
are too rare to wait for. There the sampler is run as it is, on random words that are uniform among those that make the whole
part of a deviate at least j; what comes out must follow the tail beyond j, whatever cuts it and wherever.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom, dlaplace, expon, halfnorm

from cloister.audit._attacks import ADD, NO_ROWS, open_vault
from cloister.audit._findings import FALSE_ALARM, Case, Check, CheckResult, Settings
from cloister.audit._plants import wrapped
from cloister.columns import FloatArray, IntArray
from cloister.privacy import GDP, Cost, Entropy, PureDP, Query
from cloister.questions import NearestCounts
from cloister.rivals import SetCosts

SHARE = 0.4  # of the false-alarm rate
N_TESTS = 1_000  # a bound on their number, which the rate is divided by
SIZE = 1 << 15  # draws an answer
QUESTION = NearestCounts(points=np.linspace(-1, 1, SIZE)[:, None])
FINE, WIDE = 64.0, 1e6  # scales at which rounding hides nothing, and at which ties are a ppm
SCALES = (0.4, 1.0, 7.3, FINE, WIDE)
BULK = (0.02, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 4.5)  # scales
PARTS = (0.9, 0.5, 0.2, 0.05, 0.01, 0.002)  # of a forced tail
N_COINS = 1 << 12  # rows of a table that is sampled, each nearest to a point of its own
COIN_SHARES = (0.1, 0.6, 0.25)  # the last one comes out of the sample before it
SEEN = GDP(1e4)  # noise that hides no row
WORD_BITS = 64


@dataclass(frozen=True)
class Law:
    """A distribution of integer noise, from its definition.

    A standard deviate of size x is at least `least` as an integer of scale s from x = (least - shift) / s on.
    """

    name: str
    cost: Callable[[float], Cost]  # of a count, whose noise has a scale of one over it
    shift: float
    deviate: Any  # the distribution of the size of a standard deviate, of scipy.stats
    tail: Callable[[int, float], float]  # the probability that an integer of a scale is at least so large; from 1 on
    levels: tuple[int, ...]  # whole parts that are forced


GAUSSIAN = Law(
    name="gaussian",
    cost=GDP,
    shift=0.5,
    deviate=halfnorm,
    tail=lambda least, scale: halfnorm.sf((least - 0.5) / scale),
    levels=(2, 3, 4, 5, 6, 7),
)
LAPLACE = Law(
    name="laplace",
    cost=PureDP,
    shift=0.0,
    deviate=expon,
    tail=lambda least, scale: 2 * dlaplace.sf(least - 1, 1 / scale),
    levels=(2, 6, 10, 14, 16, 18, 22, 26),
)


def _cases(settings: Settings, folder: Path) -> Iterator[Case]:
    def case(name: str, run: Callable[..., None], *given: Any) -> Case:
        return Case(name, name, lambda found: run(partial(_test, found), *given))

    yield case("exponential choice", _choice, settings.amount(2000, 5000), settings.seed + 3000)
    for number, law in enumerate((GAUSSIAN, LAPLACE)):
        seed = settings.seed + 1000 * number
        for index, scale in enumerate(SCALES):
            asks = settings.amount(128, 384) if law is GAUSSIAN and scale == FINE else settings.amount(2, 12)
            yield case(f"{law.name} of scale {scale:g}", _bulk, law, scale, asks, seed + index)
        for level in law.levels:
            yield case(f"{law.name} beyond {level} scales", _forced, law, level, settings.amount(1, 4), seed + 100 + level)
        yield case(f"{law.name}: independence", _independence, law, settings.amount(2, 8), seed + 200)
    yield case("coins of samples", _coins, settings.amount(4, 16), settings.seed + 4000)


SAMPLERS = Check(
    title="Samplers against exact probabilities: bulk, tails, independence",
    meaning="Noise as it leaves the vault is compared with its exact distribution: the bulk, the tails (also far ones, by "
    "random words that lead there), and independence between draws, answers, seeds and fits. The ratio compares logarithms: "
    "1 is as improbable as the alarm.",
    cases=_cases,
    false_alarms=SHARE,
)


def _test(found: CheckResult, hits: npt.NDArray[np.bool_], probability: float, message: str) -> None:
    """Compare how often something happened with its probability."""
    assert found.n_tests < N_TESTS
    chance = binomial_chance(int(np.count_nonzero(hits)), hits.size, probability)
    found.check_p_value(chance, FALSE_ALARM * SHARE / N_TESTS, message)


def binomial_chance(count: int, total: int, probability: float) -> float:
    """Return the chance of a count at least as unusual, on its side, among `total` tosses: twice the smaller tail."""
    upper, lower = binom.sf(count - 1, total, probability), binom.cdf(count, total, probability)
    return min(1.0, 2 * float(min(upper, lower)))


# -- one distribution ----------------------------------------------------------------------------------------------------


def _draws(law: Law, scale: float, asks: int, seed: int | None) -> tuple[IntArray, float]:
    """Return noise as it leaves the vault, and the scale that was paid: rounded up to what can be drawn."""
    cost = law.cost(1 / scale)
    vault = open_vault(NO_ROWS, cost, relation=ADD, entropy=Entropy(seed))
    answers = [vault.ask(QUESTION, cost) for _ in range(asks)]
    return np.concatenate([np.rint(one.value).astype(np.int64) for one in answers]), answers[0].event.scale


def _bulk(test: Callable[..., None], law: Law, scale: float, asks: int, seed: int) -> None:
    """Compare the distribution of absolute values with the law, and the signs with a fair coin."""
    draws, stated = _draws(law, scale, asks, seed)
    for part in BULK:
        least = max(1, round(part * stated))
        test(np.abs(draws) >= least, law.tail(least, stated), f"at least {least}")
    test(draws[draws != 0] > 0, 0.5, "signs")


def _forced(test: Callable[..., None], law: Law, level: int, asks: int, seed: int) -> None:
    """Draw with whole parts of at least `level` and compare with the tail beyond it."""

    def conditioned(wholes: Any) -> object:
        """Run the sampler's own table of whole parts on words that are uniform above its threshold for `level`."""

        def above(draws: Any, count: int, power: int) -> Any:
            return wholes(type(draws)(_WordsAbove(draws.entropy, words_below(level, power)), draws.bits), count, power)

        return above

    with wrapped(("cloister.privacy._samplers:_wholes", conditioned)):
        draws, stated = _draws(law, FINE, asks, seed)
    for part in PARTS:
        beyond = float(law.deviate.sf(level))
        least = math.ceil(law.deviate.isf(part * beyond) * stated + law.shift)
        cut = (least - law.shift) / stated
        test(np.abs(draws) >= least, float(law.deviate.sf(cut)) / beyond, f"beyond {cut:.2f}")


def words_below(whole: int, power: int) -> int:
    """Return floor(2**64 P(K < whole)) for a whole number K with weight exp(-k**power / power), from its definition."""
    with localcontext(Context(prec=80)) as context:
        weights = [context.exp(-Decimal(k**power) / power) for k in range(400 if power == 1 else 40)]
        return int(sum(weights[:whole]) / sum(weights) * (1 << WORD_BITS))


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


def _choice(test: Callable[..., None], asks: int, seed: int) -> None:
    """Compare choices among four costs with the exponential law."""
    sets = np.arange(4).reshape(4, 1, 1) / 4
    question, cost = SetCosts(sets=sets, cap=1.0), PureDP(4.0)
    vault = open_vault(np.zeros((1, 1)), cost, relation=ADD, entropy=Entropy(seed))
    answers = [vault.ask(question, cost) for _ in range(asks // 2 * 2)]
    costs = (sets.ravel() ** 2) / question.unit  # of one row at the first point
    chances = np.exp(-costs / answers[0].event.scale)
    chances /= chances.sum()
    chosen = np.array([answer.index[0] for answer in answers])
    for index, chance in enumerate(chances):
        test(chosen == index, float(chance), f"option {index + 1}")
    test(chosen[::2] == chosen[1::2], float(np.sum(chances**2)), "one after another")


# -- independence --------------------------------------------------------------------------------------------------------


def _independence(test: Callable[..., None], law: Law, asks: int, seed: int) -> None:
    """Compare draws beside each other, answers of one pass, answers one after another, seeds, and fits without a seed.

    Signs, and sizes beyond their median or not, must agree as often as those of independent draws do.
    """
    cost = law.cost(1 / WIDE)
    vault = open_vault(NO_ROWS, cost, relation=ADD, entropy=Entropy(seed))
    together = [vault.ask([QUESTION, QUESTION], [cost, cost]) for _ in range(asks)]
    first, second = (np.concatenate([answers[side].value for answers in together]) for side in (0, 1))
    (after, stated), (other, _) = (_draws(law, WIDE, asks, seed + turn) for turn in (0, 1))
    fresh, again = (_draws(law, WIDE, asks, None)[0] for _ in range(2))
    median = round(law.deviate.isf(0.5) * stated)
    large = law.tail(median, stated)
    for pair, one, two in (
        ("neighbouring draws", first[::2], first[1::2]),  # no draw is in two pairs, so the pairs are independent
        ("draws two apart", first.reshape(-1, 4)[:, :2].ravel(), first.reshape(-1, 4)[:, 2:].ravel()),
        ("answers of one pass", first, second),
        ("answers one after another", after[: len(after) // 2], after[len(after) // 2 :]),
        ("two seeds", after, other),
        ("two vaults without a seed", fresh, again),
    ):
        both = (one != 0) & (two != 0)
        test((one[both] > 0) == (two[both] > 0), 0.5, f"signs of {pair}")
        test((np.abs(one) >= median) == (np.abs(two) >= median), _agreement(large), f"sizes of {pair}")


def _agreement(chance: float) -> float:
    """Return how often two independent events of the same probability both happen or both do not."""
    return chance**2 + (1 - chance) ** 2


def _coins(test: Callable[..., None], vaults: int, seed: int) -> None:
    """See which rows samples hold: as many as stated, each by itself, and others in another vault."""
    seeded = [_kept_rows(seed + number) for number in range(2 * vaults)]
    fresh = [_kept_rows(None) for _ in range(2 * vaults)]
    for index, share in enumerate(COIN_SHARES):
        one, two, first, second = (
            np.concatenate([kept[index] for kept in some[side::2]]) for some in (seeded, fresh) for side in (0, 1)
        )
        test(one, share, f"share {share:g}: part of the rows")
        test(one[::2] == one[1::2], _agreement(share), f"share {share:g}: neighbouring rows")
        test(one == two, _agreement(share), f"share {share:g}: two seeds")
        test(first == second, _agreement(share), f"share {share:g}: two vaults without a seed")
    alike, (share, *_) = np.zeros((N_COINS, 1)), COIN_SHARES
    kept = sum(round(float(_sampled(alike, alike[:1], [share], seed + number)[0][0])) for number in range(vaults))
    test(np.arange(vaults * N_COINS) < kept, share, "equal rows")


def _kept_rows(seed: int | None) -> list[npt.NDArray[np.bool_]]:
    """Return for each share which rows of a table are in the sample: each is nearest to a point of its own."""
    points = np.linspace(-1, 1, N_COINS)[:, None]
    return [counts > 0.5 for counts in _sampled(points, points, COIN_SHARES, seed)]


def _sampled(rows: FloatArray, points: FloatArray, shares: Sequence[float], seed: int | None) -> list[FloatArray]:
    """Return how many rows of samples are nearest to each point."""
    vault, question = open_vault(rows, SEEN, relation=ADD, entropy=Entropy(seed)), NearestCounts(points=points)
    return [vault.ask(question, Query("coins", "counts", SEEN, 1.0, 0.0, share)).value for share in shares]
