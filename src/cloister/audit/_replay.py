# SPDX-License-Identifier: Apache-2.0
"""Replay: fit a table, fit its neighbour with the recorded answers in place of noise, and compare every noise call.

Given the same noisy answers, a fit must ask its neighbour the same questions at the same noise, and the exact integers behind
every answer must lie within the sensitivity that the event states: in l2 for Gaussian noise, in l1 for Laplace noise, and
for a choice the largest move less the smallest. Warnings and the release must agree, too: they are functions of the answers.
On the way every event must have been paid, every draw must have the kind, scale and size of its event, and cleaning must
return one row of the unit ball for every row. Where a fit asks a sample, the rows that both tables have get the same coins in
both. So a replay is a proof about this pair of tables, these answers and these coins, and no estimate.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from cloister.audit._plants import Change, wrapped
from cloister.audit._tables import sample_coupled
from cloister.columns import FloatArray, IntArray
from cloister.data import Rows
from cloister.privacy import PROCESS, Coins, Event
from cloister.questions import Answer, Question, Spend
from cloister.vault import Vault

Fit: TypeAlias = Callable[[Any], Any]  # fits a fresh, seeded estimator to a table and returns it

CLEANING = tuple(f"cloister.columns._frame:{kind}.clean" for kind in ("Frame", "BallFrame", "ColumnFrame"))
SAMPLERS = {
    "rounded_gaussian": "cloister.privacy._mechanisms:rounded_gaussian",
    "discrete_laplace": "cloister.privacy._mechanisms:discrete_laplace",
    "exponential": "cloister.privacy._mechanisms:exponential_choice",
}
PUBLIC_OF_EVENT = ("mechanism", "question_name", "step", "size", "scale", "sensitivity", "unit", "relation")
PUBLISHED = ("release_", "synopsis_", "domain_")  # attributes of a fitted model
OF_THE_RUN = {"created", "when", "account", "versions"}  # differ between any two fits
DISTANCES: dict[str, Callable[[Any], float]] = {  # by the norm in which a mechanism states sensitivity
    "l1": lambda moves: float(sum(abs(one) for one in moves)),
    "l2": lambda moves: math.sqrt(sum(one * one for one in moves)),
    "span": lambda moves: float(max(moves) - min(moves)),
}
SLACK = 1e-12  # of floating-point addition


@dataclass(frozen=True, eq=False)
class Call:
    """One noise call: the question, the exact integers, the event that was paid, and the noisy answer."""

    question: Question
    exact: IntArray
    event: Event
    value: FloatArray


@dataclass
class Tape:
    """Everything that was recorded of one fit."""

    paid: list[Event] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    draws: list[tuple[str, float, int]] = field(default_factory=list)
    coins: list[Coins] = field(default_factory=list)  # of the samples, in the order in which they were drawn
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    error: str = ""
    model: Any = None
    worst: float = 0.0  # of a neighbour's fit: the largest distance over its sensitivity


@dataclass(frozen=True)
class Replay:
    """What a replay found; `worst` is the largest distance over its sensitivity."""

    calls: int
    worst: float
    violations: tuple[str, ...]


class _DivergedError(Exception):
    """The neighbour's fit has left the recorded path; there is nothing more to compare."""


def replay(fit: Fit, left: object, right: object) -> Replay:
    """Fit `left`, then its neighbour `right` with the answers of the first fit, and compare.

    Parameters
    ----------
    fit : callable
        Fits a fresh estimator with a fixed seed to the table it is given, and returns it.
    left, right : tables
        Neighbours, of any kind that the estimator reads.

    Returns
    -------
    Replay
        Every violation, in public numbers.

    Notes
    -----
    **Privacy.** For tables that are made up: exact integers are compared in memory. No exact number is part of the result but
    the ratio of the largest distance to its sensitivity.

    Examples
    --------
    >>> import numpy as np
    >>> from cloister import KMeans
    >>> rows = np.linspace(0, 1, 40).reshape(-1, 2)
    >>> found = replay(lambda table: KMeans(2, bounds=(0, 1), random_state=0, n_jobs=1).fit(table), rows, rows[1:])
    >>> found.violations, bool(found.worst <= 1)
    ((), True)
    """
    tape = record(fit, left)
    if tape.error or not tape.calls:
        return Replay(len(tape.calls), 0.0, (*tape.faults, f"the fit ended without a result ({tape.error or 'no question'})"))
    other = Tape()
    _run_fit(fit, right, other, _player(tape, other))
    return Replay(len(tape.calls), other.worst, (*tape.faults, *other.faults, *_compare(tape, other)))


def record(fit: Fit, table: object) -> Tape:
    """Fit a table and return every answer that left the vault, with the exact integers behind it."""
    tape = Tape()
    _run_fit(fit, table, tape, _recorder(tape))
    return tape


def _run_fit(fit: Fit, table: object, tape: Tape, vault: type[Vault]) -> None:
    """Fit a table with another vault; of an error only the type is kept."""
    with (
        np.errstate(divide="warn", over="warn", invalid="warn"),
        warnings.catch_warnings(record=True) as caught,
        wrapped(("cloister.cluster._base:Vault", lambda _: vault), *_watch_draws(tape), *_watch_cleaning(tape)),
        PROCESS.apart(),
    ):
        warnings.simplefilter("always")
        try:
            tape.model = fit(table)
        except Exception as error:  # whatever a fault raises is a finding
            tape.error = type(error).__name__
    tape.warnings = [f"{one.category.__name__}: {one.message}" for one in caught]


def _recorder(tape: Tape) -> type[Vault]:
    class Recorder(Vault):
        """Answers as the vault does and writes everything down."""

        def _pay(self, question: Question, cost: Spend) -> Event:
            event = super()._pay(question, cost)
            tape.paid.append(event)
            return event

        def _noisy(self, question: Question, exact: IntArray, event: Event) -> Answer:
            place, before = len(tape.calls), len(tape.draws)
            if place >= len(tape.paid):
                tape.faults.append(f"question {place + 1}, {question.name}: answered before it was paid")
            elif tape.paid[place] is not event:
                tape.faults.append(f"question {place + 1}, {question.name}: answered with the noise of another event")
            answer = super()._noisy(question, exact, event)
            drawn, paid = tape.draws[before:], (event.mechanism, event.scale, event.size)
            if drawn != [paid]:
                tape.faults.append(f"{question.name}: paid was (mechanism, scale, size) = {paid}, drawn was {drawn}")
            tape.calls.append(Call(question, np.array(exact), event, np.array(answer.value)))
            return answer

        def _draw(self, source: Rows, coins: Coins) -> Rows:
            tape.coins.append(coins)
            return sample_coupled(source, coins)

    return Recorder


def _player(tape: Tape, other: Tape) -> type[Vault]:
    class Player(Vault):
        """Answers with what was recorded, and compares."""

        def _noisy(self, question: Question, exact: IntArray, event: Event) -> Answer:
            place = len(other.calls)
            if place >= len(tape.calls):
                other.faults.append(f"the neighbour is asked more than {place} questions")
                raise _DivergedError
            call = tape.calls[place]
            other.calls.append(call)
            differs = _difference(call, question, event)
            if differs:
                other.faults.append(f"question {place + 1}, {call.event.question_name}: {differs}")
                raise _DivergedError
            moves = (call.exact.astype(object) - exact.astype(object)).ravel()  # Python integers do not overflow
            ratio = DISTANCES[event.noise.norm](moves) / event.sensitivity
            other.worst = max(other.worst, ratio)
            if ratio > 1 + SLACK:
                where = f"question {place + 1}, {event.question_name} ({event.mechanism})"
                other.faults.append(f"{where}: neighbours lie {ratio:.9g} times the sensitivity apart")
            return Answer(call.value.copy(), event)

        def _draw(self, source: Rows, coins: Coins) -> Rows:
            place = len(other.coins)
            if place >= len(tape.coins) or tape.coins[place].share != coins.share:
                other.faults.append(f"the neighbour's sample {place + 1} is of another part of the rows")
                raise _DivergedError
            other.coins.append(tape.coins[place])
            return sample_coupled(source, tape.coins[place])

    return Player


def _difference(call: Call, question: Question, event: Event) -> str:
    """Say how the neighbour's question or event differs from the recorded one; nothing where they agree."""
    if type(question) is not type(call.question):
        return f"the neighbour is asked {event.question_name}"
    for one in fields(question):
        own, recorded = (getattr(asked, one.name) for asked in (question, call.question))
        if not (np.array_equal(own, recorded) if np.ndarray in (type(own), type(recorded)) else own == recorded):
            return f"the neighbour's question differs in {one.name}"
    for name in PUBLIC_OF_EVENT:
        if getattr(event, name) != getattr(call.event, name):
            return f"the neighbour's event differs in {name}"
    return ""


def _compare(tape: Tape, other: Tape) -> Iterator[str]:
    """Compare how the two fits ended."""
    if other.error == _DivergedError.__name__:  # which is a fault of its own
        return
    if other.error:
        yield f"the neighbour's fit ends with {other.error}"
        return
    if len(other.calls) < len(tape.calls):
        yield f"the neighbour is asked {len(other.calls)} questions instead of {len(tape.calls)}"
    if tape.warnings != other.warnings:
        yield "the two fits warn differently"
    for name in PUBLISHED:
        one = getattr(tape.model, name, None)
        if one is not None and _without_run(one.to_dict()) != _without_run(getattr(other.model, name).to_dict()):
            yield f"the same answers lead to another {name}"


def _without_run(data: Any) -> Any:
    """Return plain data without what differs between any two fits."""
    if isinstance(data, dict):
        return {key: _without_run(value) for key, value in data.items() if key not in OF_THE_RUN}
    if isinstance(data, list | tuple):
        return [_without_run(value) for value in data]
    return data


def _watch_draws(tape: Tape) -> list[Change]:
    """Return what notes kind, scale and size of everything that is drawn."""

    def watch(kind: str, sampler: Any) -> object:
        def drawn(entropy: Any, scale: Any, what: Any) -> Any:
            tape.draws.append((kind, float(scale), what if isinstance(what, int) else int(np.size(what))))
            return sampler(entropy, scale, what)

        return drawn

    return [(path, partial(watch, kind)) for kind, path in SAMPLERS.items()]


def _watch_cleaning(tape: Tape) -> list[Change]:
    """Return what notes where cleaning does not return one row of the unit ball for each row."""

    def watch(clean: Any) -> object:
        def cleaned(frame: Any, block: Any) -> Any:
            rows = clean(frame, block)
            if np.shape(rows) != (len(block), frame.n_features):
                tape.faults.append("cleaning: not one row for each row")
            longest = float(np.max(np.einsum("ij,ij->i", rows, rows), initial=0.0))  # squared; exact on the grid
            if not longest <= 1:
                tape.faults.append(f"cleaning: a row of norm {longest**0.5:.12g} outside the unit ball")
            return rows

        return cleaned

    return [(path, watch) for path in CLEANING]
