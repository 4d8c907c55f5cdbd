# SPDX-License-Identifier: Apache-2.0
"""The noise mechanisms: what an event of each costs, how noisy it is, and how it is drawn.

- ``rounded_gaussian``: adding ``round(N(0, sigma^2))`` to integers whose l2 distance between neighbours is at most l2 is
  (l2/sigma)-GDP;
- ``discrete_laplace``: noise with P(y) proportional to exp(-|y|/scale) on integers at l1 distance at most l1 is
  (l1/scale)-DP;
- ``exponential``: one index, chosen with probability proportional to exp(-cost/scale) among integer costs whose moves between
  neighbours span at most s (the largest move less the smallest), is (s/scale)-DP. Nothing else of the costs is released.

Files hold a mechanism by its name; :data:`MECHANISMS` finds it.
"""

import math
from abc import ABC, abstractmethod
from typing import ClassVar

from scipy.special import ndtri

from cloister.columns import IntArray
from cloister.exceptions import LedgerError
from cloister.privacy._entropy import Entropy
from cloister.privacy._guarantees import GDP, Cost, PureDP
from cloister.privacy._samplers import Scale, discrete_laplace, exponential_choice, rounded_gaussian

SMALLEST_DEVIATION = 1e-9  # in steps: never quite zero, so that one may divide by it
GUMBEL_DEVIATION = math.pi / math.sqrt(6)


class Mechanism(ABC):
    """One kind of noise. A scale is in integer steps: sigma of the Gaussian, b of the Laplace, divisor of the costs."""

    name: ClassVar[str]  # in files
    label: ClassVar[str]  # in reports
    norm: ClassVar[str]  # in which sensitivity is stated: "l1", "l2", or "span", the largest move less the smallest

    @abstractmethod
    def cost(self, ratio: float) -> Cost:
        """Return what an event costs whose sensitivity is `ratio` times its scale."""

    @abstractmethod
    def scale(self, cost: Cost, sensitivity: float) -> Scale:
        """Return the scale at which an event of this sensitivity costs no more than `cost`."""

    @abstractmethod
    def deviation(self, scale: float) -> float:
        """Return the standard deviation of the noise, in integer steps."""

    def draw(self, entropy: Entropy, scale: Scale, size: int) -> IntArray:
        """Draw the noise: `size` independent integers."""
        raise _misused("draw: a choice adds no noise to numbers")

    def choose(self, entropy: Entropy, scale: Scale, costs: IntArray) -> int:
        """Draw the index that is released, the better the lower its cost."""
        raise _misused("choose: this event was paid for noise")

    def quantile(self, scale: float, confidence: float) -> float:
        """Return what the noise on one number stays below with probability `confidence`, in integer steps."""
        raise _misused("quantile: a choice adds no noise to numbers")

    def laplace_epsilon(self, scale: float) -> float:
        """Return the epsilon of the Laplace mechanism that is as noisy on numbers of sensitivity 1."""
        return math.sqrt(2.0) / self.deviation(scale)


class RoundedGaussian(Mechanism):
    """A Gaussian number, rounded to an integer, is added to every number."""

    name: ClassVar[str] = "rounded_gaussian"
    label: ClassVar[str] = "Gaussian, rounded to whole steps"
    norm: ClassVar[str] = "l2"

    def cost(self, ratio: float) -> Cost:
        return GDP(ratio)

    def scale(self, cost: Cost, sensitivity: float) -> Scale:
        return Scale.at_least(sensitivity / cost.gaussian_budget().mu)

    def deviation(self, scale: float) -> float:
        """Return sigma, the deviation before rounding."""
        return scale

    def draw(self, entropy: Entropy, scale: Scale, size: int) -> IntArray:
        return rounded_gaussian(entropy, scale, size)

    def quantile(self, scale: float, confidence: float) -> float:
        """Return the quantile of the Gaussian."""
        return float(scale * ndtri(confidence))


class PureMechanism(Mechanism):
    """Noise without delta: its cost is an epsilon."""

    def cost(self, ratio: float) -> Cost:
        return PureDP(ratio)

    def scale(self, cost: Cost, sensitivity: float) -> Scale:
        """Return b, or the divisor of the costs; of a Gaussian cost the pure part is spent."""
        return Scale.at_least(sensitivity / cost.pure_budget().epsilon)


class DiscreteLaplace(PureMechanism):
    """An integer from the two-sided geometric law is added to every number."""

    name: ClassVar[str] = "discrete_laplace"
    label: ClassVar[str] = "Discrete Laplace"
    norm: ClassVar[str] = "l1"

    def deviation(self, scale: float) -> float:
        ratio = math.exp(-1 / scale)  # of the probabilities of neighbouring integers
        gap = 1 - ratio or 1 / scale  # of scales so large that doubles do not tell the ratio from one
        return max(math.sqrt(2 * ratio) / gap, SMALLEST_DEVIATION)

    def draw(self, entropy: Entropy, scale: Scale, size: int) -> IntArray:
        return discrete_laplace(entropy, scale, size)

    def quantile(self, scale: float, confidence: float) -> float:
        """Return the quantile of the continuous law."""
        return scale * math.log(1 / (2 * (1 - confidence)))

    def laplace_epsilon(self, scale: float) -> float:
        return 1 / scale


class ExponentialChoice(PureMechanism):
    """One index is released, chosen with probability proportional to exp(-cost/scale)."""

    name: ClassVar[str] = "exponential"
    label: ClassVar[str] = "Exponential mechanism: one is chosen, the better the likelier"
    norm: ClassVar[str] = "span"

    def deviation(self, scale: float) -> float:
        """Return the deviation of Gumbel noise: the choice is made as if every cost got it and the smallest won."""
        return GUMBEL_DEVIATION * scale

    def choose(self, entropy: Entropy, scale: Scale, costs: IntArray) -> int:
        return exponential_choice(entropy, scale, costs)


def _misused(what: str) -> LedgerError:
    return LedgerError(f"Event.{what}. This is a fault of the method; please report it.")


EXPONENTIAL = ExponentialChoice()
MECHANISMS: dict[str, Mechanism] = {one.name: one for one in (RoundedGaussian(), DiscreteLaplace(), EXPONENTIAL)}
