# SPDX-License-Identifier: Apache-2.0
"""The options of the commands, each declared once and passed on under the name of the parameter that it sets.

Choices and defaults of methods and engines come from their tables.

Which method has which parameter of its own is said in the table of methods; a test finds a parameter without an option.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import click

from cloister.engines import DEFAULT_ENGINE, ENGINES
from cloister.exceptions import ParameterError
from cloister.methods import Method, commands

Decorator: TypeAlias = Callable[[Any], Any]

NONE = "none"  # on the command line, what is None in Python
EPSILON_HELP = "Privacy of this fit: smaller is more private, 0.1 to 10 is usual."
DELTA_HELP = "Well below 1 over the number of rows, or of persons; 0 is pure."


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
        """Read a word, a number, or one number per column."""
        with suppress(ValueError):
            numbers = [int(part) for part in value.split(",")]
            return numbers[0] if len(numbers) == 1 else numbers
        if "," in value or value.strip()[:1].isdigit():
            raise ParameterError(f"--rule: expected rugnik, eugkm, adaptive, N or N,N,..., got {value!r}. Pass whole numbers.")
        return value


WHOLE_OR_AUTO, SHARE_OR_AUTO = NumberOrWord(int, "auto"), NumberOrWord(float, "auto")


def option(*names: str, words: Iterable[str] = (), default: Any = None, **settings: Any) -> Decorator:
    """Return an option that shows its default if it has one, and takes one of `words` if there are any."""
    if allowed := list(words):
        settings["type"] = click.Choice(allowed)
    if default is not None:
        settings |= {"default": default, "show_default": True}
    return click.option(*names, **settings)


def together(*options: Decorator) -> Decorator:
    """Return a decorator that adds options in this order."""
    return lambda command: reduce(lambda made, one: one(made), reversed(options), command)


# -- single options -----------------------------------------------------------------------------------------------------

CLUSTERS = option("-k", "--clusters", "n_clusters", type=int, required=True, help="Number of clusters.")
COLUMNS = option("--columns", metavar="A,B,C", help="Columns to use. Default: those with bounds of their own, else all.")
DESCRIBE = option(
    "--describe",
    default=0.0,
    metavar="SHARE",
    help="Part of the budget, such as 0.1, that says what the clusters look like: histograms of every column in each.",
)
EPSILON = option("--epsilon", type=float, required=True, help=EPSILON_HELP)
ALLOW_SEEDED = option(
    "--allow-seeded",
    is_flag=True,
    help="Write files of a seeded fit, whose noise can be drawn again: for tests and benchmarks.",
)
FORCE = option("--force", is_flag=True, help="Replace files that exist.")
NEIGHBOURS = option(
    "--neighbours", words=["add-remove", "replace"], default="add-remove", help="Which tables count as neighbours."
)
JSON = option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
RELEASE_OUTPUT = option("-o", "--output", metavar="FILE", help="Write the release as JSON; '-' is standard output.")

# -- groups of options --------------------------------------------------------------------------------------------------

report_options = together(
    option("--report", metavar="FILE", help="Write the report as one HTML file; '-' is standard output."),
    FORCE,
    ALLOW_SEEDED,
    JSON,
)
file_options = together(  # what they are called is what `open_rows` takes
    option(
        "--delimiter",
        metavar="CHARACTER",
        help="What separates the columns of CSV files, such as ';' or tab. Default: a comma, in .tsv files a tab.",
    ),
    option("--decimal", words=".,", default=".", help="What stands before the decimals of numbers in CSV files."),
    option("--encoding", metavar="NAME", default="utf-8", help="Encoding of CSV and JSON-lines files, such as latin-1."),
    option(
        "--rows",
        words=["records", "lines"],
        default="records",
        help="What rows of CSV files are: records, which may hold line breaks in quotes, or lines, if nothing is quoted.",
    ),
)
unit_rows_options = together(
    option(
        "--max-rows-per-unit",
        type=WHOLE_OR_AUTO,
        default="auto",
        help="Rows of one person that are used, at most; auto finds it with noise, for 2 % of the budget.",
    ),
    option(
        "--weighting",
        words=["row", "person"],
        default="row",
        help="Whether every row that is used counts 1, or every person, in equal parts for each of their rows that are used.",
    ),
)
private_options = together(  # of every command that reads private rows and spends budget
    option(
        "--bounds",
        multiple=True,
        metavar="BOUNDS",
        help="What columns are and where rows may lie, known without looking at them. May be repeated.",
    ),
    COLUMNS,
    option(
        "--privacy-unit",
        metavar="COLUMN",
        help="Protect whoever this column names, with all of their rows, instead of single rows. It is never clustered by.",
    ),
    unit_rows_options,
    option(
        "--units-bounded",
        is_flag=True,
        help="Nobody has more than --max-rows-per-unit rows: it is known, so that nobody's rows are counted.",
    ),
    file_options,
    click.option(
        "--name", "dataset", default="", help="What the data set is called. Public: kept in ledger, release and report."
    ),
    click.option("--purpose", default="", help="What the fit is for. Public: kept in ledger, release and report."),
    option("--ledger", metavar="PATH", help="Take the budget from this ledger ('cloister ledger create')."),
    option(
        "--neighbours",
        words=["add-remove", "replace"],
        help="Which tables count as neighbours. Default: as in the ledger, else add-remove.",
    ),
    option(
        "--engine",
        words=sorted(ENGINES, key=lambda name: name != DEFAULT_ENGINE),
        default=DEFAULT_ENGINE,
        help="Who reads the rows: this process, or workers of a cluster that see the same files.",
    ),
    option("--scheduler", metavar="ADDRESS", help="Dask scheduler or Spark master. Default: this machine."),
    option(
        "--n-rows",
        type=int,
        help="Number of rows, with --privacy-unit of persons, if it is public. Otherwise 2 % of the budget estimates it.",
    ),
    option(
        "--seed",
        "random_state",
        type=int,
        help="Repeat a run exactly. For tests: files need --allow-seeded, and the result is marked as not for publication.",
    ),
)
guarantee_options = together(  # how rows are protected and measured, besides the delta
    EPSILON,
    private_options,
    option(
        "--scaling",
        words=["auto", "none", "bounds", "spread"],
        default="auto",
        help="Measure distances in input units (none), relative to the bounds, or to a spread of each column found with noise. "
        "auto: none for numbers of one width, spread where categories or flags stand beside numbers, else bounds.",
    ),
)
output_options = together(  # what is written and printed, besides the output itself
    report_options,
    option("--jobs", "n_jobs", type=int, help="Threads. Default: all processors."),
    option("-q", "--quiet", is_flag=True, help="No progress, no summary: only errors, and what '-' or --json ask for."),
)

# -- options of single methods ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MethodOption:
    """An option that sets a parameter of a method's own, what it takes and what it means."""

    parameter: str
    takes: Any  # a type of click
    meaning: str

    @property
    def word(self) -> str:
        """What the option is called without its dashes."""
        name = self.parameter if self.parameter == "n_init" else self.parameter.removeprefix("n_")
        return name.replace("_", "-")

    @property
    def owners(self) -> str:
        """The methods of ``cloister fit`` that have it."""
        return ", ".join(name for name, method in commands().items() if self.parameter in method.parameters)

    @property
    def option(self) -> Decorator:
        """The option itself, whose help names its owners."""
        names = f"--{self.word}/--no-{self.word}" if self.takes is click.BOOL else f"--{self.word}"
        meaning = f"{self.owners}: {self.meaning[0].lower()}{self.meaning[1:]}"
        return click.option(names, self.parameter, type=self.takes, default=None, help=meaning)

    def plain(self, value: Any) -> Any:
        """Return a value of the command line as the parameter takes it."""
        return None if value == NONE and isinstance(self.takes, NumberOrWord) else value


OPTIONS = (
    MethodOption("n_init", click.INT, "Starts of k-means on public numbers: they cost time, not budget."),
    MethodOption("n_rounds", WHOLE_OR_AUTO, "Votes, or rounds of Lloyd's iterations."),
    MethodOption("n_variations", WHOLE_OR_AUTO, "Variations of each centre at the start."),
    MethodOption("max_candidates", click.INT, "Largest number of candidates."),
    MethodOption(
        "projection",
        NumberOrWord(int, "auto", NONE),
        "Dimensions that rows are projected to at random before they are asked about; none never projects.",
    ),
    MethodOption("selection", click.Choice(["kmeans", "kmedians", "top-k"]), "How centres are chosen among the candidates."),
    MethodOption(
        "vote_rule",
        click.Choice(["cut", "nonnegative-total", "threshold"]),
        "Which noisy votes count: the largest, until they add up to the rows; all, lowered until they do; or those above "
        "--vote-threshold.",
    ),
    MethodOption("vote_threshold", click.FLOAT, "In standard deviations of the noise of a vote."),
    MethodOption(
        "first_candidates",
        click.Choice(["packing", "uniform"]),
        "Keep the first candidates apart from each other, or draw them uniformly.",
    ),
    MethodOption("adaptive", click.BOOL, "Halve the variations while noise hides the votes."),
    MethodOption("step", click.FLOAT, "Size of a variation, in radii of the domain."),
    MethodOption("levy_exponent", click.FLOAT, "Tails of the variations: smaller is heavier."),
    MethodOption("rule", Rule(), "Cells per axis: rugnik, eugkm, adaptive, a number, or N,N,..."),
    MethodOption("counts", click.Choice(["nonnegative-total", "clip", "none"]), "How noisy counts of cells become weights."),
    MethodOption("representatives", click.Choice(["center", "slope"]), "Where the rows of a cell are taken to be."),
    MethodOption("count_share", SHARE_OR_AUTO, "Part of each round's budget that goes to the counts."),
    MethodOption("alpha", click.FLOAT, "Radius beyond which rows are left out, from the second round on."),
    MethodOption("max_depth", WHOLE_OR_AUTO, "Levels of the hash tree."),
    MethodOption("min_rows_per_leaf", WHOLE_OR_AUTO, "Rows that a leaf should hold."),
    MethodOption("offset", click.FLOAT, "How far from the middle hyperplanes cut, in radii of the domain."),
    MethodOption("n_trees", click.INT, "Trees of cubes."),
    MethodOption("depth", click.INT, "Levels of a tree of cubes."),
    MethodOption("start", click.Choice(["random", "counts"]), "Where the local search starts."),
    MethodOption("n_swaps", WHOLE_OR_AUTO, "Steps of the local search."),
)


method_options = together(*(one.option for one in OPTIONS))


def own_parameters(method: Method, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a method's own that were given; refuse those of other methods."""
    given = [one for one in OPTIONS if options.get(one.parameter) is not None]
    for one in given:
        if one.parameter not in method.parameters:
            raise ParameterError(f"--{one.word}: is for {one.owners}, got --method {method.word}. Leave it out.")
    return {one.parameter: one.plain(options[one.parameter]) for one in given}


def variant_parameters(method: Method, words: Sequence[str]) -> dict[str, Any]:
    """Read parameters that are written beside a method's name, such as ``rounds=8``."""
    known = {one.word: one for one in OPTIONS if one.parameter in method.parameters}
    found = {}
    for part in words:
        name, sign, value = (word.strip() for word in part.partition("="))
        if not sign or name not in known:
            rule = f"{method.word}:NAME=VALUE with NAME one of {', '.join(known)}"
            raise ParameterError(f"--methods: expected {rule}, got {part!r}. For example pe-means:rounds=8.")
        one, wrong = known[name], ""
        try:
            found[one.parameter] = one.plain(one.takes.convert(value, None, None))
        except click.BadParameter as error:
            wrong = error.message
        if wrong:
            raise ParameterError(f"--{name}: {wrong} For example {name}={one.takes.name}.")
    return found


# -- words in help ------------------------------------------------------------------------------------------------------


def method_lines(methods: Iterable[Method]) -> str:
    """Return one line for each method, as the end of a help page."""
    named = {method.word: method.summary for method in methods}
    width = max(map(len, named))
    return "\b\nMethods:\n" + "\n".join(f"  {name:<{width}}  {summary}" for name, summary in named.items())


def default_delta(methods: Iterable[Method]) -> str:
    """Say in words what delta is where it is left out."""
    found = list(methods)
    usual = max({method.delta for method in found}, key=lambda delta: sum(method.delta == delta for method in found))
    exceptions = ""
    for delta in dict.fromkeys(method.delta for method in found if method.delta != usual):
        *names, last = (method.word for method in found if method.delta == delta)
        exceptions += f", and {delta:g} for " + (f"{', '.join(names)} and {last}" if names else last)
    return f"Default: {usual:g}{exceptions}."
