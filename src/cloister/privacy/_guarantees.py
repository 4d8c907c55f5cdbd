# SPDX-License-Identifier: Apache-2.0
"""The four privacy guarantees: what each allows, what it leaves for noise to spend, and how spending is stated in its terms.

Whoever plans, pays or reports asks a guarantee through the attributes of :class:`Guarantee` and never which of the four it is.
Two of them, GDP and PureDP, are also what an answer costs (`Cost`): Gaussian noise is paid in mu, whose squares add up, and
noise without delta in epsilon, which adds up itself. ``_convert`` holds the implications between the four.
"""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from math import exp, expm1, inf
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from cloister import validate
from cloister.exceptions import ConversionError
from cloister.privacy._calibrate import gdp_delta, gdp_epsilon, largest_mu, largest_pure, zcdp_delta, zcdp_epsilon

if TYPE_CHECKING:
    from cloister.privacy._accounting import Composition, Tally

TINIEST, HUGEST = 1e-100, 1e100
LARGEST_EXPONENT = 100.0  # beyond it, factors of e^epsilon promise nothing anyway
TOLERANCE = 1e-12  # relative, of floating-point addition: three orders of magnitude below the slack that calibration leaves


@dataclass(frozen=True)
class Guarantee(ABC):
    """A privacy guarantee: one of :class:`PureDP`, :class:`ApproxDP`, :class:`ZCDP` and :class:`GDP`."""

    kind: ClassVar[str]  # its name in files
    parameter: ClassVar[str]  # which of its numbers says how strong it is: epsilon, rho or mu

    @property
    def strength(self) -> float:
        """Its epsilon, rho or mu: smaller is more private."""
        return float(getattr(self, self.parameter))

    def with_strength(self, value: float) -> Self:
        """Return the same guarantee with another epsilon, rho or mu."""
        return replace(self, **{self.parameter: value})

    def for_each_of(self, n_rows: int) -> "Guarantee":
        """Return what each of so many rows must be promised so that all of them together are promised this: group privacy."""
        return self.with_strength(self.strength / n_rows)

    @property
    def is_pure(self) -> bool:
        """Whether it allows no delta at all: no Gaussian noise satisfies it."""
        return False

    @property
    def stated_delta(self) -> float:
        """The delta that is part of it; 0 where none is."""
        return 0.0

    @abstractmethod
    def delta_at(self, epsilon: float) -> float:
        """Return a delta such that this implies (epsilon, delta)-DP."""

    @abstractmethod
    def epsilon_at(self, delta: float) -> float:
        """Return an epsilon such that this implies (epsilon, delta)-DP."""

    def nominal_epsilon(self, delta: float) -> float:
        """Return the epsilon it states or, where it states none, the one at `delta`: to read it, not to account with it."""
        return self.epsilon_at(delta)

    @abstractmethod
    def gaussian_budget(self) -> "GDP":
        """Return the largest GDP guarantee that implies this one: what Gaussian noise may spend."""

    @abstractmethod
    def pure_budget(self) -> "PureDP":
        """Return the largest pure guarantee that implies this one: what noise without delta may spend."""

    def noise_budget(self) -> "Cost":
        """Return what a fit spends: a pure budget where the guarantee is pure, a Gaussian one elsewhere."""
        return self.pure_budget() if self.is_pure else self.gaussian_budget()

    @abstractmethod
    def spent(self, tally: "Tally", composition: "Composition") -> float:
        """Return the epsilon (at its delta), rho or mu of what was spent."""

    def allows(self, tally: "Tally", composition: "Composition") -> bool:
        """Whether what was spent satisfies the guarantee."""
        return self.spent(tally, composition) <= self.strength * (1 + TOLERANCE)

    def describe(self, tally: "Tally", composition: "Composition") -> str:
        """Say what was spent in the terms of this guarantee."""
        return f"{self.parameter} {self.spent(tally, composition):.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain data."""
        return {"kind": self.kind, **asdict(self)}

    def __post_init__(self) -> None:
        where = f"{type(self).__name__}.{self.parameter}"
        self._set(self.parameter, validate.number(where, getattr(self, self.parameter), low=0.0, open_low=True))

    def _set(self, name: str, value: float) -> None:
        if value and not TINIEST <= value <= HUGEST:  # squares would vanish or overflow, and with them the cost
            where, rule = f"{type(self).__name__}.{name}", f"a number from {TINIEST:g} to {HUGEST:g}"
            validate.refuse(where, rule, value, remedy="Pass a number of a usual size.")
        object.__setattr__(self, name, value)


@dataclass(frozen=True)
class PureDP(Guarantee):
    """epsilon-differential privacy.

    Parameters
    ----------
    epsilon : float
        Positive and finite.

    Examples
    --------
    >>> PureDP(0.5).share(0.5)
    PureDP(epsilon=0.25)
    """

    epsilon: float
    kind: ClassVar[str] = "pure"
    parameter: ClassVar[str] = "epsilon"
    is_gaussian: ClassVar[bool] = False
    mechanism: ClassVar[str] = "discrete_laplace"  # of the noise that is paid with it

    @property
    def is_pure(self) -> bool:
        return True

    @property
    def weight(self) -> float:
        """What adds up when costs compose: epsilon."""
        return self.epsilon

    def share(self, part: float) -> "PureDP":
        """Return the cost that takes `part` of this one: epsilons add up."""
        return PureDP(self.epsilon * float(part))

    def share_for_noise(self, ratio: float) -> float:
        """Return the share at which the noise is 1 / `ratio` times that of the whole: the scale is inverse to the share."""
        return ratio

    def deviation(self, *, l1: float, l2: float) -> float:
        """Return the standard deviation of the noise for these sensitivities, before it is made discrete."""
        return float(2.0**0.5 * l1 / self.epsilon)

    def delta_at(self, epsilon: float) -> float:
        """Return a delta such that this implies (epsilon, delta)-DP: that of randomised response."""
        if epsilon >= self.epsilon:
            return 0.0
        # The hockey-stick divergence of order e^epsilon between the two answers of randomised response.
        return -expm1(epsilon - self.epsilon) / (1 + exp(-self.epsilon))

    def epsilon_at(self, delta: float) -> float:
        return self.epsilon

    def gaussian_budget(self) -> "GDP":
        raise _no_gaussian_noise()

    def pure_budget(self) -> "PureDP":
        return self

    def spent(self, tally: "Tally", composition: "Composition") -> float:
        return inf if tally.mu_squared else tally.epsilon_sum

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:.4g} (pure)"


@dataclass(frozen=True)
class ApproxDP(Guarantee):
    """(epsilon, delta)-differential privacy.

    Parameters
    ----------
    epsilon : float
        Positive and finite.
    delta : float
        At least 0 and below 1; 0 is pure differential privacy.

    Examples
    --------
    >>> ApproxDP(1.0, 1e-6)
    ApproxDP(epsilon=1.0, delta=1e-06)
    """

    epsilon: float
    delta: float
    kind: ClassVar[str] = "approx"
    parameter: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("delta", validate.number("ApproxDP.delta", self.delta, low=0.0, high=1.0, open_high=True))

    @property
    def is_pure(self) -> bool:
        return self.delta == 0.0

    @property
    def stated_delta(self) -> float:
        return self.delta

    def delta_at(self, epsilon: float) -> float:
        if epsilon >= self.epsilon:
            return self.delta
        return self.delta + (1 - self.delta) * PureDP(self.epsilon).delta_at(epsilon)

    def epsilon_at(self, delta: float) -> float:
        if delta < self.delta:
            raise ConversionError(f"convert: delta can grow but not shrink below {self.delta:g}. Pass a larger delta.")
        return self.epsilon

    def nominal_epsilon(self, delta: float) -> float:
        return self.epsilon

    def for_each_of(self, n_rows: int) -> "ApproxDP":
        # The delta of a group of n is delta (e^(n epsilon) - 1) / (e^epsilon - 1).
        epsilon = self.epsilon / n_rows
        part = expm1(min(epsilon, LARGEST_EXPONENT)) / expm1(min(self.epsilon, LARGEST_EXPONENT))
        return ApproxDP(epsilon, self.delta * part)

    def gaussian_budget(self) -> "GDP":
        """Return the largest GDP guarantee that implies this one, by the exact profile."""
        if self.is_pure:
            raise _no_gaussian_noise()
        return GDP(largest_mu(self.epsilon, self.delta))

    def pure_budget(self) -> "PureDP":
        return PureDP(self.epsilon)

    def spent(self, tally: "Tally", composition: "Composition") -> float:
        if self.is_pure:
            return self.pure_budget().spent(tally, composition)
        return tally.epsilon_at(self.delta, composition=composition)

    def allows(self, tally: "Tally", composition: "Composition") -> bool:
        """Whether what was spent satisfies the guarantee: as a pure one, or at its epsilon with no more than its delta."""
        if self.pure_budget().allows(tally, composition):
            return True
        return self.delta > 0 and tally.delta_at(self.epsilon, composition=composition) <= self.delta

    def describe(self, tally: "Tally", composition: "Composition") -> str:
        words = super().describe(tally, composition)
        return words if self.is_pure else f"{words} at delta {self.delta:.3g}"

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:.4g}, delta = {self.delta:.3g}"


@dataclass(frozen=True)
class ZCDP(Guarantee):
    """rho-zero-concentrated differential privacy.

    Parameters
    ----------
    rho : float
        Positive and finite.

    Examples
    --------
    >>> round(ZCDP(0.1).epsilon_at(1e-6), 3)
    2.142
    """

    rho: float
    kind: ClassVar[str] = "zcdp"
    parameter: ClassVar[str] = "rho"

    def delta_at(self, epsilon: float) -> float:
        return zcdp_delta(self.rho, epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Return an epsilon such that this implies (epsilon, delta)-DP, the best over all orders."""
        return zcdp_epsilon(self.rho, _positive(self, delta))

    def for_each_of(self, n_rows: int) -> "ZCDP":
        # The rho of a group of n is n^2 times that of a row.
        return self.with_strength(self.strength / n_rows**2)

    def gaussian_budget(self) -> "GDP":
        return GDP((2 * self.rho) ** 0.5)

    def pure_budget(self) -> "PureDP":
        return PureDP((2 * self.rho) ** 0.5)

    def spent(self, tally: "Tally", composition: "Composition") -> float:
        return tally.rho

    def __str__(self) -> str:
        return f"rho = {self.rho:.4g} (zCDP)"


@dataclass(frozen=True)
class GDP(Guarantee):
    """mu-Gaussian differential privacy: as hard to tell apart as N(0, 1) and N(mu, 1).

    Parameters
    ----------
    mu : float
        Positive and finite.

    Examples
    --------
    >>> GDP(1.0).share(0.25)
    GDP(mu=0.5)
    """

    mu: float
    kind: ClassVar[str] = "gdp"
    parameter: ClassVar[str] = "mu"
    is_gaussian: ClassVar[bool] = True
    mechanism: ClassVar[str] = "rounded_gaussian"  # of the noise that is paid with it

    @property
    def weight(self) -> float:
        """What adds up when costs compose: the square of mu."""
        return self.mu**2

    def share(self, part: float) -> "GDP":
        """Return the cost that takes `part` of this one: squares of mu add up."""
        return GDP(self.mu * float(part) ** 0.5)

    def share_for_noise(self, ratio: float) -> float:
        """Return the share at which the noise is 1 / `ratio` times that of the whole: it falls with the root of the share."""
        return ratio**2

    def deviation(self, *, l1: float, l2: float) -> float:
        """Return the standard deviation of the noise for these sensitivities, before it is made discrete."""
        return l2 / self.mu

    def delta_at(self, epsilon: float) -> float:
        """Return the smallest delta such that this implies (epsilon, delta)-DP."""
        return gdp_delta(self.mu, epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Return the smallest epsilon, rounded up, such that this implies (epsilon, delta)-DP."""
        return gdp_epsilon(self.mu, _positive(self, delta))

    def gaussian_budget(self) -> "GDP":
        return self

    def pure_budget(self) -> "PureDP":
        """Return the largest pure guarantee whose trade-off curve lies above that of the Gaussian."""
        return PureDP(min(largest_pure(self.mu), HUGEST))

    def spent(self, tally: "Tally", composition: "Composition") -> float:
        return tally.all_mu

    def __str__(self) -> str:
        return f"mu = {self.mu:.4g} (GDP)"


Cost: TypeAlias = GDP | PureDP  # what one answer, or one fit, pays
KINDS: dict[str, type[Guarantee]] = {cls.kind: cls for cls in (PureDP, ApproxDP, ZCDP, GDP)}


def _positive(guarantee: Guarantee, delta: float) -> float:
    if not delta:
        raise ConversionError(f"convert: {type(guarantee).__name__} implies no epsilon at delta 0. Pass delta > 0.")
    return delta


def _no_gaussian_noise() -> ConversionError:
    return ConversionError("gaussian_budget: Gaussian noise cannot give pure differential privacy. Pass delta > 0.")
