# SPDX-License-Identifier: Apache-2.0
"""The four privacy guarantees and the conversions between them that are true.

::

    PureDP ──> ApproxDP          epsilon-DP is (epsilon, delta)-DP for every delta
    PureDP ──> ZCDP              rho = epsilon^2 / 2                        (Bun and Steinke 2016, Proposition 1.4)
    PureDP ──> GDP               mu = 2 Phi^-1(e^eps / (1 + e^eps))         (the kink of the trade-off curve)
    GDP    ──> ZCDP              rho = mu^2 / 2                             (a GDP mechanism post-processes a Gaussian)
    GDP    ──> ApproxDP          the exact profile                          (Dong, Roth and Su 2022, Corollary 1)
    ZCDP   ──> ApproxDP          optimal over the orders                    (Canonne, Kamath and Steinke 2020)

Nothing leads back: no finite epsilon, rho or mu follows from a guarantee with delta > 0, and zCDP does not imply GDP. These
raise :class:`~cloister.exceptions.ConversionError`.
"""

from dataclasses import asdict, dataclass
from math import exp, expm1
from typing import Any, ClassVar, TypeAlias, TypeVar

from cloister import validate
from cloister.exceptions import ConversionError, ParameterError
from cloister.privacy._calibrate import gdp_delta, gdp_epsilon, largest_mu, largest_pure, pure_mu, zcdp_delta, zcdp_epsilon

__all__ = [
    "GDP",
    "ZCDP",
    "ApproxDP",
    "Guarantee",
    "PureDP",
    "as_guarantee",
    "convert",
    "gaussian_budget",
    "guarantee_from_dict",
    "pure_budget",
]

TINIEST, HUGEST = 1e-100, 1e100


@dataclass(frozen=True)
class PureDP:
    """epsilon-differential privacy.

    Parameters
    ----------
    epsilon : float
        Positive and finite.

    Examples
    --------
    >>> convert(PureDP(0.5), ZCDP)
    ZCDP(rho=0.125)
    """

    epsilon: float
    kind: ClassVar[str] = "pure"

    def __post_init__(self) -> None:
        _check(self, epsilon=validate.number("PureDP.epsilon", self.epsilon, low=0.0, open_low=True))

    def delta_at(self, epsilon: float) -> float:
        """Return a delta such that this implies (epsilon, delta)-DP: that of randomised response."""
        if epsilon >= self.epsilon:
            return 0.0
        # The hockey-stick divergence of order e^epsilon between the two answers of randomised response.
        return -expm1(epsilon - self.epsilon) / (1 + exp(-self.epsilon))

    def share(self, part: float) -> "PureDP":
        """Return the guarantee that takes `part` of this one: epsilons add up."""
        return PureDP(self.epsilon * float(part))

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:.4g} (pure)"


@dataclass(frozen=True)
class ApproxDP:
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

    def __post_init__(self) -> None:
        _check(
            self,
            epsilon=validate.number("ApproxDP.epsilon", self.epsilon, low=0.0, open_low=True),
            delta=validate.number("ApproxDP.delta", self.delta, low=0.0, high=1.0, open_high=True),
        )

    def delta_at(self, epsilon: float) -> float:
        """Return a delta such that this implies (epsilon, delta)-DP."""
        if epsilon >= self.epsilon:
            return self.delta
        return self.delta + (1 - self.delta) * PureDP(self.epsilon).delta_at(epsilon)

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:.4g}, delta = {self.delta:.3g}"


@dataclass(frozen=True)
class ZCDP:
    """rho-zero-concentrated differential privacy.

    Parameters
    ----------
    rho : float
        Positive and finite.

    Examples
    --------
    >>> round(convert(ZCDP(0.1), ApproxDP, delta=1e-6).epsilon, 3)
    2.142
    """

    rho: float
    kind: ClassVar[str] = "zcdp"

    def __post_init__(self) -> None:
        _check(self, rho=validate.number("ZCDP.rho", self.rho, low=0.0, open_low=True))

    def delta_at(self, epsilon: float) -> float:
        """Return a delta such that this implies (epsilon, delta)-DP."""
        return zcdp_delta(self.rho, epsilon)

    def __str__(self) -> str:
        return f"rho = {self.rho:.4g} (zCDP)"


@dataclass(frozen=True)
class GDP:
    """mu-Gaussian differential privacy: as hard to tell apart as N(0, 1) and N(mu, 1).

    Parameters
    ----------
    mu : float
        Positive and finite.

    Examples
    --------
    >>> convert(GDP(1.0), ZCDP)
    ZCDP(rho=0.5)
    """

    mu: float
    kind: ClassVar[str] = "gdp"

    def __post_init__(self) -> None:
        _check(self, mu=validate.number("GDP.mu", self.mu, low=0.0, open_low=True))

    def delta_at(self, epsilon: float) -> float:
        """Return the smallest delta such that this implies (epsilon, delta)-DP."""
        return gdp_delta(self.mu, epsilon)

    def share(self, part: float) -> "GDP":
        """Return the guarantee that takes `part` of this one: squares of mu add up."""
        return GDP(self.mu * float(part) ** 0.5)

    def __str__(self) -> str:
        return f"mu = {self.mu:.4g} (GDP)"


Guarantee: TypeAlias = PureDP | ApproxDP | ZCDP | GDP
Target = TypeVar("Target", PureDP, ApproxDP, ZCDP, GDP)
KINDS: dict[str, type[PureDP] | type[ApproxDP] | type[ZCDP] | type[GDP]] = {
    cls.kind: cls for cls in (PureDP, ApproxDP, ZCDP, GDP)
}


def convert(guarantee: Guarantee, target: type[Target], *, delta: float | None = None) -> Target:
    """Return the best guarantee of type `target` that `guarantee` implies.

    Parameters
    ----------
    guarantee : PureDP, ApproxDP, ZCDP or GDP
        What holds.
    target : type
        One of the four types.
    delta : float, optional
        Required when the target is ApproxDP and the guarantee is ZCDP or GDP.

    Returns
    -------
    PureDP, ApproxDP, ZCDP or GDP
        An instance of `target`.

    Raises
    ------
    ConversionError
        Where the implication is false.
    ParameterError
        Where `guarantee` or `target` is none of the four.

    Notes
    -----
    **Privacy.** Every conversion errs on the side of claiming less; the module's docstring names the theorem behind each.

    Examples
    --------
    >>> convert(PureDP(1.0), ApproxDP)
    ApproxDP(epsilon=1.0, delta=0.0)
    >>> convert(ZCDP(0.5), GDP)
    Traceback (most recent call last):
    ...
    cloister.exceptions.ConversionError: convert: ZCDP does not imply GDP. Keep the budget as ZCDP, or start from GDP.
    """
    kinds = tuple(KINDS.values())
    if not isinstance(guarantee, kinds):
        validate.refuse("convert.guarantee", "PureDP, ApproxDP, ZCDP or GDP", guarantee, remedy="Pass one of these.")
    if not any(target is kind for kind in kinds):
        validate.refuse("convert.target", "PureDP, ApproxDP, ZCDP or GDP", target, remedy="Pass one of these types.")
    if delta is not None:
        delta = validate.number("convert.delta", delta, low=0.0, high=1.0, open_high=True)
    if target is ApproxDP:
        return _to_approx(guarantee, delta)  # type: ignore[return-value]
    if isinstance(guarantee, ApproxDP) and guarantee.delta == 0.0:
        guarantee = PureDP(guarantee.epsilon)
    if isinstance(guarantee, target):
        return guarantee
    if isinstance(guarantee, PureDP) and target is ZCDP:
        return ZCDP(guarantee.epsilon**2 / 2)  # type: ignore[return-value]
    if isinstance(guarantee, PureDP) and target is GDP:
        return GDP(pure_mu(guarantee.epsilon))  # type: ignore[return-value]
    if isinstance(guarantee, GDP) and target is ZCDP:
        return ZCDP(guarantee.mu**2 / 2)  # type: ignore[return-value]
    held, wanted = type(guarantee).__name__, target.__name__
    raise ConversionError(f"convert: {held} does not imply {wanted}. Keep the budget as {held}, or start from {wanted}.")


def gaussian_budget(guarantee: Guarantee) -> GDP:
    """Return the largest GDP guarantee that implies `guarantee`: what Gaussian noise may spend.

    Raises
    ------
    ConversionError
        For pure differential privacy, which no Gaussian noise satisfies.

    Examples
    --------
    >>> round(gaussian_budget(ApproxDP(1.0, 1e-6)).mu, 4)
    0.2367
    """
    if isinstance(guarantee, GDP):
        return guarantee
    if isinstance(guarantee, ZCDP):
        return GDP((2 * guarantee.rho) ** 0.5)
    if isinstance(guarantee, ApproxDP) and guarantee.delta > 0:
        return GDP(largest_mu(guarantee.epsilon, guarantee.delta))
    raise ConversionError("gaussian_budget: Gaussian noise cannot give pure differential privacy. Pass delta > 0.")


def pure_budget(guarantee: Guarantee) -> PureDP:
    """Return the largest pure guarantee that implies `guarantee`: what a mechanism without delta may spend.

    Examples
    --------
    >>> pure_budget(ApproxDP(1.0, 1e-6))
    PureDP(epsilon=1.0)
    >>> pure_budget(ZCDP(0.5))
    PureDP(epsilon=1.0)
    """
    if isinstance(guarantee, PureDP):
        return guarantee
    if isinstance(guarantee, ZCDP):
        return PureDP((2 * guarantee.rho) ** 0.5)
    return PureDP(guarantee.epsilon if isinstance(guarantee, ApproxDP) else min(largest_pure(guarantee.mu), HUGEST))


def as_guarantee(owner: str, epsilon: object, delta: object, guarantee: object = None) -> Guarantee:
    """Read the parameter ``guarantee=``, or, where it is left out, its shortcuts ``epsilon=`` and ``delta=``."""
    if guarantee is not None:
        if not isinstance(guarantee, PureDP | ApproxDP | ZCDP | GDP):
            rule, remedy = "PureDP, ApproxDP, ZCDP or GDP", "Or pass epsilon= and delta=."
            validate.refuse(f"{owner}.guarantee", rule, guarantee, remedy=remedy)
        return guarantee
    remedy = "Typical values are 0.1 to 10; smaller is more private."
    checked = validate.number(f"{owner}.epsilon", epsilon, low=0.0, open_low=True, remedy=remedy)
    remedy = "Use a number well below one over the number of rows, such as 1e-6, or 0 for pure differential privacy."
    slack = validate.number(f"{owner}.delta", delta, low=0.0, high=1.0, open_high=True, remedy=remedy)
    return PureDP(checked) if slack == 0.0 else ApproxDP(checked, slack)


def to_dict(guarantee: Guarantee) -> dict[str, Any]:
    """Return a guarantee as plain data."""
    return {"kind": guarantee.kind, **asdict(guarantee)}


def guarantee_from_dict(data: dict[str, Any]) -> Guarantee:
    """Read what ``to_dict`` wrote; an unknown kind is refused."""
    values = dict(data)
    kind = values.pop("kind", None)
    if kind not in KINDS:
        raise ParameterError(f"guarantee: expected kind to be one of {sorted(KINDS)}, got {kind!r}. Was this file edited?")
    return KINDS[kind](**values)


def _to_approx(guarantee: Guarantee, delta: float | None) -> ApproxDP:
    if isinstance(guarantee, PureDP):
        return ApproxDP(guarantee.epsilon, delta or 0.0)
    if isinstance(guarantee, ApproxDP):
        if delta is not None and delta < guarantee.delta:
            raise ConversionError(f"convert: delta can grow but not shrink below {guarantee.delta:g}. Pass a larger delta.")
        return ApproxDP(guarantee.epsilon, guarantee.delta if delta is None else delta)
    if not delta:
        raise ConversionError(f"convert: {type(guarantee).__name__} implies no epsilon at delta 0. Pass delta > 0.")
    epsilon = gdp_epsilon(guarantee.mu, delta) if isinstance(guarantee, GDP) else zcdp_epsilon(guarantee.rho, delta)
    return ApproxDP(max(epsilon, TINIEST), delta)


def _check(instance: Guarantee, **values: float) -> None:
    for name, value in values.items():
        if value and not TINIEST <= value <= HUGEST:  # squares would vanish or overflow, and with them the cost
            where = f"{type(instance).__name__}.{name}"
            validate.refuse(where, f"a number from {TINIEST:g} to {HUGEST:g}", value, remedy="Pass a number of a usual size.")
        object.__setattr__(instance, name, value)
