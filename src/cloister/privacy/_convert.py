# SPDX-License-Identifier: Apache-2.0
"""The conversions between guarantees that are true, and how a guarantee is read from parameters and files.

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

from collections.abc import Callable
from typing import Any, TypeVar

from cloister import validate
from cloister.exceptions import ConversionError, ParameterError
from cloister.privacy._calibrate import pure_mu
from cloister.privacy._guarantees import GDP, KINDS, TINIEST, ZCDP, ApproxDP, Guarantee, PureDP

Target = TypeVar("Target", bound=Guarantee)
# All guarantees convert to ApproxDP, by their `epsilon_at`. These are the other implications, by the strength of what holds.
IMPLIED: dict[tuple[type[Guarantee], type[Guarantee]], Callable[[float], Guarantee]] = {
    (PureDP, ZCDP): lambda epsilon: ZCDP(epsilon**2 / 2),
    (PureDP, GDP): lambda epsilon: GDP(pure_mu(epsilon)),
    (GDP, ZCDP): lambda mu: ZCDP(mu**2 / 2),
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
    names = names_of_guarantees()
    if not isinstance(guarantee, Guarantee):
        validate.refuse("convert.guarantee", names, guarantee, remedy="Pass one of these.")
    if not any(target is kind for kind in KINDS.values()):
        validate.refuse("convert.target", names, target, remedy="Pass one of these types.")
    if delta is not None:
        delta = validate.number("convert.delta", delta, low=0.0, high=1.0, open_high=True)
    if target is ApproxDP:
        held_at = guarantee.stated_delta if delta is None else delta
        return ApproxDP(max(guarantee.epsilon_at(held_at), TINIEST), held_at)  # type: ignore[return-value]
    held = guarantee.pure_budget() if guarantee.is_pure else guarantee
    if isinstance(held, target):
        return held
    implied = IMPLIED.get((type(held), target))
    if implied is None:
        old, new = type(held).__name__, target.__name__
        raise ConversionError(f"convert: {old} does not imply {new}. Keep the budget as {old}, or start from {new}.")
    return implied(held.strength)  # type: ignore[return-value]


def as_guarantee(owner: str, epsilon: object, delta: object, guarantee: object = None) -> Guarantee:
    """Read the parameter ``guarantee=``, or, where it is left out, its shortcuts ``epsilon=`` and ``delta=``."""
    if guarantee is not None:
        if not isinstance(guarantee, Guarantee):
            validate.refuse(f"{owner}.guarantee", names_of_guarantees(), guarantee, remedy="Or pass epsilon= and delta=.")
        return guarantee
    remedy = "Typical values are 0.1 to 10; smaller is more private."
    checked = validate.number(f"{owner}.epsilon", epsilon, low=0.0, open_low=True, remedy=remedy)
    remedy = "Use a number well below one over the number of rows, such as 1e-6, or 0 for pure differential privacy."
    slack = validate.number(f"{owner}.delta", delta, low=0.0, high=1.0, open_high=True, remedy=remedy)
    return PureDP(checked) if slack == 0.0 else ApproxDP(checked, slack)


def names_of_guarantees() -> str:
    """Return the names of the guarantees, for messages."""
    *others, last = (kind.__name__ for kind in KINDS.values())
    return f"{', '.join(others)} or {last}"


def guarantee_from_dict(data: dict[str, Any]) -> Guarantee:
    """Read what ``to_dict`` wrote; an unknown kind is refused."""
    values = dict(data)
    kind = values.pop("kind", None)
    if kind not in KINDS:
        raise ParameterError(f"guarantee: expected kind to be one of {sorted(KINDS)}, got {kind!r}. Was this file edited?")
    return KINDS[kind](**values)
