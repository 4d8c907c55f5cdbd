# SPDX-License-Identifier: Apache-2.0
"""Options that set a method's own parameters, the same for ``fit``, ``plan`` and ``compare``.

Which method has which parameter is said in the table of methods; a test finds a parameter without an option.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import click

from cloister.exceptions import ParameterError
from cloister.methods import Method, commands

__all__ = ["OPTIONS", "MethodOption", "method_options", "own_parameters", "read_rule", "variant_parameters"]

NONE = "none"  # on the command line, what is None in Python


class NumberOrWord(click.ParamType):  # type: ignore[type-arg]
    """A number, or one of a few words."""

    def __init__(self, number: type[int] | type[float], *allowed: str) -> None:
        self._number, self._allowed = number, allowed
        self.name = "|".join(["INTEGER" if number is int else "FLOAT", *allowed])

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return what the help shows."""
        return self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a number or a word."""
        if not isinstance(value, str):
            return value
        if value.strip().lower() in self._allowed:
            return value.strip().lower()
        with suppress(ValueError):
            return self._number(value)
        kind = "whole number" if self._number is int else "number"
        raise click.BadParameter(f"{value!r} is no {kind}, nor {' or '.join(self._allowed)}.", ctx, param)


class Rule(click.ParamType):  # type: ignore[type-arg]
    """Cells per axis: a rule, a number, or one number per column."""

    name = "RULE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a rule."""
        return read_rule(value) if isinstance(value, str) else value


def read_rule(rule: str) -> str | int | list[int]:
    """Read a word, a number, or one number per column."""
    with suppress(ValueError):
        numbers = [int(part) for part in rule.split(",")]
        return numbers[0] if len(numbers) == 1 else numbers
    if "," in rule or rule.strip()[:1].isdigit():
        raise ParameterError(f"--rule: expected rugnik, eugkm, adaptive, N or N,N,..., got {rule!r}. Pass whole numbers.")
    return rule


@dataclass(frozen=True)
class MethodOption:
    """An option, the parameter it sets, what it takes and what it means."""

    option: str
    parameter: str
    takes: Any  # a type of click
    meaning: str

    @property
    def word(self) -> str:
        """What the option is called without its dashes."""
        return self.option.removeprefix("--")

    def plain(self, value: Any) -> Any:
        """Return a value of the command line as the parameter takes it."""
        return None if value == NONE and isinstance(self.takes, NumberOrWord) else value

    def read(self, value: str) -> Any:
        """Read a value that is written as text."""
        try:
            return self.plain(self.takes.convert(value, None, None))
        except click.BadParameter as error:
            wrong = error.message
        raise ParameterError(f"{self.option}: {wrong} For example {self.word}={self.takes.name}.")


WHOLE_OR_AUTO, SHARE_OR_AUTO = NumberOrWord(int, "auto"), NumberOrWord(float, "auto")
OPTIONS: tuple[MethodOption, ...] = (
    MethodOption("--n-init", "n_init", click.INT, "Starts of k-means on public numbers: they cost time, not budget."),
    MethodOption("--rounds", "n_rounds", WHOLE_OR_AUTO, "Votes, or rounds of Lloyd's iterations."),
    MethodOption("--variations", "n_variations", WHOLE_OR_AUTO, "Variations of each centre at the start."),
    MethodOption("--max-candidates", "max_candidates", click.INT, "Largest number of candidates."),
    MethodOption(
        "--projection",
        "projection",
        NumberOrWord(int, "auto", NONE),
        "Dimensions that rows are projected to at random before they are asked about; none never projects.",
    ),
    MethodOption(
        "--selection",
        "selection",
        click.Choice(["kmeans", "kmedians", "top-k"]),
        "How centres are chosen among the candidates.",
    ),
    MethodOption(
        "--vote-rule",
        "vote_rule",
        click.Choice(["cut", "nonnegative-total", "threshold"]),
        "Which noisy votes count: the largest, until they add up to the rows; all, lowered until they do; or those above "
        "--vote-threshold.",
    ),
    MethodOption("--vote-threshold", "vote_threshold", click.FLOAT, "In standard deviations of the noise of a vote."),
    MethodOption(
        "--first-candidates",
        "first_candidates",
        click.Choice(["packing", "uniform"]),
        "Keep the first candidates apart from each other, or draw them uniformly.",
    ),
    MethodOption("--adaptive", "adaptive", click.BOOL, "Halve the variations while noise hides the votes."),
    MethodOption("--step", "step", click.FLOAT, "Size of a variation, in radii of the domain."),
    MethodOption("--levy-exponent", "levy_exponent", click.FLOAT, "Tails of the variations: smaller is heavier."),
    MethodOption("--rule", "rule", Rule(), "Cells per axis: rugnik, eugkm, adaptive, a number, or N,N,..."),
    MethodOption(
        "--counts",
        "counts",
        click.Choice(["nonnegative-total", "clip", "none"]),
        "How noisy counts of cells become weights.",
    ),
    MethodOption(
        "--representatives",
        "representatives",
        click.Choice(["center", "slope"]),
        "Where the rows of a cell are taken to be.",
    ),
    MethodOption("--count-share", "count_share", SHARE_OR_AUTO, "Part of each round's budget that goes to the counts."),
    MethodOption("--alpha", "alpha", click.FLOAT, "Radius beyond which rows are left out, from the second round on."),
    MethodOption("--max-depth", "max_depth", WHOLE_OR_AUTO, "Levels of the hash tree."),
    MethodOption("--min-rows-per-leaf", "min_rows_per_leaf", WHOLE_OR_AUTO, "Rows that a leaf should hold."),
    MethodOption("--offset", "offset", click.FLOAT, "How far from the middle hyperplanes cut, in radii of the domain."),
    MethodOption("--trees", "n_trees", click.INT, "Trees of cubes."),
    MethodOption("--depth", "depth", click.INT, "Levels of a tree of cubes."),
    MethodOption("--start", "start", click.Choice(["random", "counts"]), "Where the local search starts."),
    MethodOption("--swaps", "n_swaps", WHOLE_OR_AUTO, "Steps of the local search."),
)


def method_options(command: Any) -> Any:
    """Add the options of single methods, each with the methods that have it."""
    for one in reversed(OPTIONS):
        help_text = f"{_owners(one)}: {one.meaning[0].lower()}{one.meaning[1:]}"
        names = f"{one.option}/--no-{one.word}" if one.takes is click.BOOL else one.option
        command = click.option(names, one.parameter, type=one.takes, default=None, help=help_text)(command)
    return command


def own_parameters(method: Method, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a method's own that were given; refuse those of other methods."""
    given = {one: options[one.parameter] for one in OPTIONS if options.get(one.parameter) is not None}
    for one in given:
        if one.parameter not in method.parameters:
            raise ParameterError(f"{one.option}: is for {_owners(one)}, got --method {method.word}. Leave it out.")
    return {one.parameter: one.plain(value) for one, value in given.items()}


def variant_parameters(method: Method, words: Iterable[str]) -> dict[str, Any]:
    """Read parameters that are written beside a method's name, such as ``rounds=8``."""
    known = {one.word: one for one in OPTIONS if one.parameter in method.parameters}
    found = {}
    for part in words:
        name, sign, value = part.partition("=")
        if not sign or name.strip() not in known:
            rule = f"{method.word}:NAME=VALUE with NAME one of {', '.join(known)}"
            raise ParameterError(f"--methods: expected {rule}, got {part!r}. For example pe-means:rounds=8.")
        found[known[name.strip()].parameter] = known[name.strip()].read(value.strip())
    return found


def _owners(one: MethodOption) -> str:
    return ", ".join(name for name, method in commands().items() if one.parameter in method.parameters)
