# SPDX-License-Identifier: Apache-2.0
"""What commands publish, and how: as a file, as a report, and as text or JSON on the terminal."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self

import click

from cloister.cli._files import STANDARD_OUTPUT, Target, open_target, refuse_ending, refuse_same
from cloister.exceptions import ParameterError

if TYPE_CHECKING:
    from rich.console import Console

    from cloister.privacy import Ledger, Receipt

__all__ = ["CHOICE", "RELEASE", "SYNOPSIS", "OutputOptions", "Outputs", "Product", "open_outputs", "publish", "publish_found"]


REPORT_ENDS = (".html", ".htm")


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What a command writes and prints; none of it can change the guarantee."""

    output: str | None = None
    report: str | None = None
    indices: str | None = None
    force: bool = False
    allow_seeded: bool = False
    as_json: bool = False
    quiet: bool = False

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> Self:
        """Return those among the options of a command."""
        return cls(**{field.name: options[field.name] for field in fields(cls) if field.name in options})

    def check(
        self, inputs: Sequence[tuple[str, str | None]], *, output_ends: Sequence[str] = (), seed: int | None = None
    ) -> None:
        """Refuse outputs that get in each other's way, would replace one of the `inputs`, or are of a kind that is not written.

        `inputs` are options and paths, `output_ends` how the name of the output may end, if it has an end. `seed` is that of
        the fit to come, which is refused before it spends anything.
        """
        self.refuse_seeded(seeded=seed is not None)
        if self.as_json and STANDARD_OUTPUT in (self.output, self.report, self.indices):
            raise ParameterError("--json: standard output is taken by '-'. Write to a file instead.")
        read = [(name, None if path == STANDARD_OUTPUT else path) for name, path in inputs]
        refuse_same([*read, ("--output", self.output), ("--report", self.report), ("--indices", self.indices)])
        refuse_ending("--output", self.output, output_ends, what="a release is written as JSON")
        remedy = "print it to PDF from a browser" if (self.report or "").lower().endswith(".pdf") else ""
        refuse_ending("--report", self.report, REPORT_ENDS, what="the report is one HTML file", remedy=remedy)

    def refuse_seeded(self, *, seeded: bool) -> None:
        """Refuse to write files of a seeded fit unless that is allowed."""
        from cloister.privacy import refuse_seeded

        named = {"--output": self.output, "--report": self.report, "--indices": self.indices}
        for option in (name for name, path in named.items() if path is not None):
            refuse_seeded(option, seeded=seeded, allow_seeded=self.allow_seeded)


@dataclass(frozen=True)
class Outputs:
    """The files a command writes, tried and open."""

    options: OutputOptions
    output: Target | None
    report: Target | None
    indices: Target | None

    @property
    def standard(self) -> bool:
        """Whether one of them is standard output."""
        return any(target is not None and target.is_standard for target in (self.output, self.report, self.indices))

    @property
    def files(self) -> dict[str, str]:
        """The paths of the others."""
        named = {"output": self.output, "report": self.report, "indices": self.indices}
        return {name: target.path for name, target in named.items() if target is not None and not target.is_standard}


@dataclass(frozen=True, kw_only=True)
class Product:
    """One kind of thing to publish. Its functions import what they need when they run."""

    name: str
    encode: Callable[[Any, str], bytes]  # the value and the path
    report: Callable[[Any], str]
    summary: Callable[[Any], dict[str, Any]]
    display: Callable[["Console", Any], None]
    receipt: Callable[[Any], "Receipt"] = attrgetter("receipt")
    indices: Callable[[Any], str] | None = None  # of the rows that were chosen, if any were
    ends: tuple[str, ...] = ()  # how the name of its file may end; empty where that is checked elsewhere


@contextmanager
def open_outputs(options: OutputOptions) -> Iterator[Outputs]:
    """Try and open what will be written, before anything is spent."""
    with ExitStack() as stack:
        output = stack.enter_context(open_target("--output", options.output, force=options.force))
        report = stack.enter_context(open_target("--report", options.report, force=options.force))
        indices = stack.enter_context(open_target("--indices", options.indices, force=options.force))
        yield Outputs(options, output, report, indices)


def publish_found(product: Product, value: Any, options: OutputOptions) -> None:
    """Write and print what cost nothing."""
    with open_outputs(options) as outputs:
        publish(product, value, outputs)


def publish(
    product: Product,
    value: Any,
    outputs: Outputs,
    *,
    ledger: "Ledger | None" = None,
    more: Mapping[str, Any] | None = None,
    paid: bool = False,
) -> None:
    """Write the file and the report, then print. What cannot be written any more but has been paid for is printed."""
    outputs.options.refuse_seeded(seeded=product.receipt(value).seeded)
    if outputs.output is not None:
        try:
            outputs.output.write(product.encode(value, outputs.output.path))
        except OSError:
            if paid and not outputs.output.is_standard:
                click.echo(product.encode(value, STANDARD_OUTPUT), nl=False)
            raise
        outputs.output.finish()
    if outputs.report is not None:
        with _working("Writing the report", quiet=outputs.options.quiet):
            outputs.report.write(product.report(value))
        outputs.report.finish()
    if outputs.indices is not None and product.indices is not None:
        outputs.indices.write(product.indices(value))
        outputs.indices.finish()
    if outputs.options.as_json:
        from cloister.cli._print import print_json

        print_json({**product.summary(value), **(more or {})})
    elif not outputs.options.quiet:
        _print_summary(product, value, outputs, ledger=ledger, paid=paid)


def on_terminal() -> bool:
    """Say whether somebody watches standard error."""
    return sys.stderr.isatty()


@contextmanager
def _working(words: str, *, quiet: bool) -> Iterator[None]:
    """Say on a terminal what is being done: the page of a synopsis takes some seconds."""
    if quiet or not on_terminal():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{words} ..."):
        yield


def _print_summary(product: Product, value: Any, outputs: Outputs, *, ledger: "Ledger | None", paid: bool) -> None:
    from cloister.cli._print import open_console, print_remaining

    if outputs.standard and not paid:
        return
    console = open_console(error=outputs.standard)
    product.display(console, value)
    if ledger is not None:
        print_remaining(console, ledger)
    for name, path in outputs.files.items():
        be = "are" if name == "indices" else "is"
        console.print(f"The {product.name if name == 'output' else name} {be} in {path}", soft_wrap=True)
    if paid and outputs.output is None:
        console.print(
            f"The {product.name} was not kept. Pass --output {product.name}.json to keep it: what was spent stays spent."
        )


# -- the kinds ----------------------------------------------------------------------------------------------------------


def _release_report(release: Any) -> str:
    from cloister.report import report_html

    return report_html(release)


def _release_summary(release: Any) -> dict[str, Any]:
    from cloister.report import summary

    return {name: value for name, value in summary(release).items() if name not in ("map", "panels", "rounds")}


def _print_release(console: "Console", release: Any) -> None:
    from cloister.cli._print import print_medoids, print_release

    (print_release if release.free_centers is None else print_medoids)(console, release)


def _medoid_rows(release: Any) -> str:
    return "row\n" + "".join(f"{row}\n" for row in release.details["medoid_indices"])


def _synopsis_bytes(synopsis: Any, path: str) -> bytes:
    return bytes(synopsis.to_bytes("parquet" if path.lower().endswith(".parquet") else "json"))


def _synopsis_report(synopsis: Any) -> str:
    from cloister.report import synopsis_html

    return synopsis_html(synopsis)


def _synopsis_summary(synopsis: Any) -> dict[str, Any]:
    from cloister.report import synopsis_summary

    return synopsis_summary(synopsis)


def _print_synopsis(console: "Console", synopsis: Any) -> None:
    from cloister.cli._print_synopsis import print_synopsis

    print_synopsis(console, synopsis)


def _print_choice(console: "Console", choice: Any) -> None:
    from cloister.cli._print_synopsis import print_choice

    print_choice(console, choice)


RELEASE = Product(
    name="release",
    encode=lambda release, path: release.to_json().encode(),
    report=_release_report,
    summary=_release_summary,
    display=_print_release,
    indices=_medoid_rows,
    ends=(".json",),
)
SYNOPSIS = Product(
    name="synopsis", encode=_synopsis_bytes, report=_synopsis_report, summary=_synopsis_summary, display=_print_synopsis
)
CHOICE = Product(  # is not written; its report and its receipt are those of the synopsis
    name="choice",
    encode=lambda choice, path: b"",
    report=_synopsis_report,
    summary=lambda choice: dict(choice.to_dict()),
    display=_print_choice,
)
