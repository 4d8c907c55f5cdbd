# SPDX-License-Identifier: Apache-2.0
"""What commands publish, and how: files that are tried before anything is spent, reports, and text or JSON on the terminal."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, fields
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, TypeAlias

import click

from cloister.cli._print import open_console, print_choice, print_json, print_release, print_remaining, print_synopsis
from cloister.exceptions import ParameterError
from cloister.files import open_draft

if TYPE_CHECKING:
    from rich.console import Console

    from cloister.privacy import Ledger, Receipt

Named: TypeAlias = Sequence[tuple[str, str | None]]  # options and their paths

STANDARD_OUTPUT = "-"


class Target:
    """One output: a file, a device, or standard output."""

    finish: Callable[[], None]  # lets a draft take its place now, so that nothing that fails later can lose what it holds

    def __init__(self, path: str, stream: IO[bytes]) -> None:
        self.path = path
        self.is_standard = path == STANDARD_OUTPUT
        self._stream = stream

    def write(self, content: str | bytes) -> None:
        """Write bytes as they are, and text as UTF-8."""
        self._stream.write(content.encode() if isinstance(content, str) else content)
        self._stream.flush()


@contextmanager
def open_target(option: str, path: str, *, force: bool) -> Iterator[Target]:
    """Make sure that `path` can be written, then write to a draft beside it, which takes its place when the block ends well."""
    if path == STANDARD_OUTPUT:
        sys.stdout.flush()
        yield Target(path, sys.stdout.buffer)
        return
    place = Path(path)
    if place.is_dir():
        raise ParameterError(f"{option}: expected a file, got the folder {str(place)!r}. Add a file name.")
    if not place.parent.is_dir():
        raise ParameterError(f"{option}: there is no folder {str(place.parent)!r}. Create it first.")
    if place.is_file() and not force:
        raise ParameterError(f"{option}: {str(place)!r} exists. Choose another name, or pass --force to replace it.")
    try:
        with open_draft(place) as stream:
            yield Target(path, stream)
        return
    except OSError as error:
        reason = error.strerror
    raise ParameterError(f"{option}: cannot write {str(place)!r} ({reason}). Choose another place.")


def refuse_same(read: Named, written: Named) -> None:
    """Refuse to write one file for two purposes, or over one that is read: options, and the paths that they were given."""
    seen: dict[str, str] = {}
    for option, path in [*((option, None if path == STANDARD_OUTPUT else path) for option, path in read), *written]:
        if path is None:
            continue
        key = None
        with suppress(ValueError):  # a null, or half a letter
            key = path if path == STANDARD_OUTPUT else os.path.realpath(path)
        if key is None:
            raise ParameterError(f"{option}: expected a name that a file can have, got {path!r}. Choose another name.")
        if key in seen:
            raise ParameterError(f"{option}: {path!r} is also given as {seen[key]}. Choose another file.")
        seen[key] = option


def refuse_ending(option: str, path: str | None, ends: Sequence[str], *, what: str, remedy: str = "") -> None:
    """Refuse a name that promises another kind of file; one without an ending promises nothing."""
    ending = "" if path is None or path == STANDARD_OUTPUT else os.path.splitext(path)[1].lower()
    if ending and ending not in ends:
        more = f", or {remedy}" if remedy else ""
        raise ParameterError(f"{option}: {what}, got {path!r}. Choose a name that ends in {ends[0]}{more}.")


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
    def read(cls, options: Mapping[str, Any], inputs: Named, product: "Product", *, seed: int | None = None) -> Self:
        """Return those among the options of a command; refuse what gets in each other's way, or in that of the inputs.

        `inputs` are options and paths, `product` is what the output will hold. `seed` is that of the fit to come, which is
        refused before it spends anything.
        """
        found = cls(**{field.name: options[field.name] for field in fields(cls) if field.name in options})
        found.refuse_seeded(seeded=seed is not None)
        if found.as_json and STANDARD_OUTPUT in found.paths.values():
            raise ParameterError("--json: standard output is taken by '-'. Write to a file instead.")
        refuse_same(inputs, [(f"--{name}", path) for name, path in found.paths.items()])
        refuse_ending("--output", found.output, product.ends, what=product.written)
        remedy = "print it to PDF from a browser" if (found.report or "").lower().endswith(".pdf") else ""
        refuse_ending("--report", found.report, (".html", ".htm"), what="the report is one HTML file", remedy=remedy)
        return found

    @property
    def paths(self) -> dict[str, str]:
        """What is written, and where."""
        named = {"output": self.output, "report": self.report, "indices": self.indices}
        return {name: path for name, path in named.items() if path is not None}

    def refuse_seeded(self, *, seeded: bool) -> None:
        """Refuse to write files of a seeded fit unless that is allowed."""
        from cloister.privacy import refuse_seeded

        for name in self.paths:
            refuse_seeded(f"--{name}", seeded=seeded, allow_seeded=self.allow_seeded)

    @contextmanager
    def open(self) -> Iterator[dict[str, Target]]:
        """Try and open what will be written, before anything is spent."""
        targets: dict[str, Target] = {}
        with ExitStack() as stack:
            for name, path in self.paths.items():
                own = stack.enter_context(ExitStack())
                targets[name] = own.enter_context(open_target(f"--{name}", path, force=self.force))
                targets[name].finish = own.close
            yield targets


@dataclass(frozen=True, kw_only=True)
class Product:
    """One kind of thing to publish."""

    name: str
    report: Callable[[Any], str]
    summary: Callable[[Any], dict[str, Any]]
    display: Callable[["Console", Any], None]
    encode: Callable[[Any, str], str | bytes] = lambda value, path: b""  # the value and the path
    receipt: Callable[[Any], "Receipt"] = attrgetter("receipt")
    written: str = ""  # says as what
    ends: tuple[str, ...] = ()  # how the name of its file may end, if it has an end


def publish_found(product: Product, value: Any, options: OutputOptions) -> None:
    """Write and print what cost nothing."""
    with options.open() as targets:
        publish(product, value, options, targets)


def publish(
    product: Product,
    value: Any,
    options: OutputOptions,
    targets: Mapping[str, Target],
    *,
    ledger: "Ledger | None" = None,
    paid: bool = False,
) -> None:
    """Write the file and the report, then print. What cannot be written any more but has been paid for is printed."""
    options.refuse_seeded(seeded=product.receipt(value).seeded)
    for name, target in targets.items():
        if name == "report":
            is_watched = on_terminal() and not options.quiet  # the page of a synopsis takes some seconds
            with open_console(error=True).status("Writing the report ...") if is_watched else nullcontext():
                content: str | bytes = product.report(value)
        elif name == "output":
            content = product.encode(value, target.path)
        else:  # the rows of the target that were chosen, as CSV
            content = "row\n" + "".join(f"{row}\n" for row in value.details["medoid_indices"])
        try:
            target.write(content)
        except OSError:
            if paid and name == "output" and not target.is_standard:
                click.echo(product.encode(value, STANDARD_OUTPUT), nl=False)
            raise
        target.finish()
    files = {
        product.name if name == "output" else name: path for name, path in options.paths.items() if path != STANDARD_OUTPUT
    }
    if options.as_json:
        print_json({**product.summary(value), **({"ledger": ledger and ledger.summary(), "files": files} if paid else {})})
        return
    takes_standard = STANDARD_OUTPUT in options.paths.values()
    if options.quiet or (takes_standard and not paid):
        return
    console = open_console(error=takes_standard)
    product.display(console, value)
    if ledger is not None:
        print_remaining(console, ledger)
    for name, path in files.items():
        console.print(f"The {name} {'are' if name == 'indices' else 'is'} in {path}", soft_wrap=True)
    if paid and options.output is None:
        kept = f"The {product.name} was not kept. Pass --output {product.name}.json to keep it"
        console.print(f"{kept}: what was spent stays spent.")


def read_published(kind: str, path: str) -> Any:
    """Read a release or a synopsis from a file, or from standard input for ``-``."""
    module = import_module(f"cloister.{kind}")  # not before it is needed
    if path == STANDARD_OUTPUT:
        return getattr(module, f"read_{kind}")(sys.stdin.buffer.read(), name="standard input")
    return getattr(module, f"load_{kind}")(path)


def on_terminal() -> bool:
    """Say whether somebody watches standard error."""
    return sys.stderr.isatty()


# -- the kinds ----------------------------------------------------------------------------------------------------------


def _of_report(name: str) -> Callable[..., Any]:
    """Return a function of ``cloister.report``, which is imported when it is called."""
    return lambda *values: getattr(import_module("cloister.report"), name)(*values)


RELEASE = Product(
    name="release",
    encode=lambda release, path: str(release.to_json()),
    report=_of_report("report_html"),
    summary=lambda release: {
        name: one for name, one in _of_report("summary")(release).items() if name not in ("map", "panels")
    },
    display=print_release,
    written="a release is written as JSON",
    ends=(".json",),
)
SYNOPSIS = Product(
    name="synopsis",
    encode=lambda synopsis, path: bytes(synopsis.to_bytes("parquet" if path.lower().endswith(".parquet") else "json")),
    report=_of_report("synopsis_html"),
    summary=_of_report("synopsis_summary"),
    display=print_synopsis,
    written="a synopsis is written as JSON or Parquet",
    ends=(".json", ".parquet"),
)
CHOICE = Product(  # is not written; its report and its receipt are those of the synopsis
    name="choice",
    report=_of_report("synopsis_html"),
    summary=lambda choice: dict(choice.to_dict()),
    display=print_choice,
)
