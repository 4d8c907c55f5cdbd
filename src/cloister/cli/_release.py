# SPDX-License-Identifier: Apache-2.0
"""``cloister show`` and ``cloister predict``: print a release or write its report, and label rows by it. Both cost nothing."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from cloister.cli._options import FORCE, file_options, option, report_options
from cloister.cli._output import (
    RELEASE,
    STANDARD_OUTPUT,
    OutputOptions,
    open_target,
    publish_found,
    read_published,
    refuse_same,
)
from cloister.exceptions import ParameterError

if TYPE_CHECKING:
    from cloister.release import Release


@click.command(short_help="Print a release, or write its report.")
@click.argument("release", metavar="RELEASE")
@report_options
def show(release: str, **options: Any) -> None:
    """Print what RELEASE says: centres with their errors, and the receipt. '-' reads standard input.

    \b
    Examples:
      cloister show release.json
      cloister show release.json --report report.html
      cloister show release.json --json | jq .clusters
    """  # noqa: D301
    output = OutputOptions.read(options, [("RELEASE", release)], RELEASE)
    publish_found(RELEASE, read_published("release", release), output)


@click.command(short_help="Label the rows of a table by a release.")
@click.argument("release", metavar="RELEASE")
@click.argument("data", metavar="NEW_DATA")
@option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Write this column of NEW_DATA before the label, as it is: an identifier, for example. May be repeated.",
)
@option("-o", "--output", metavar="FILE", default="-", help="Where to write; '-' is standard output.")
@file_options
@FORCE
@option("-q", "--quiet", is_flag=True, help="Print nothing but labels and errors.")
def predict(release: str, data: str, output: str, *, keep: tuple[str, ...], force: bool, quiet: bool, **text: Any) -> None:
    """Write the label of the nearest centre for each row of NEW_DATA, in order, as CSV with the header 'label'.

    NEW_DATA is a file, a folder of files or a pattern, as for 'cloister fit', with the columns the release was fitted on;
    they are read as they were declared, and others are ignored. Labels, and columns that are kept, describe single rows: they
    are not covered by the guarantee of the release.

    \b
    Examples:
      cloister predict release.json new.parquet --output labels.csv
      cloister predict release.json new.parquet --keep patient_id --output labels.csv
      cloister predict release.json new.csv | sort | uniq -c
    """  # noqa: D301
    if output.lower().endswith((".parquet", ".pq")):
        raise ParameterError(f"--output: labels are written as CSV, got {output!r}. Choose a name that ends in .csv.")
    refuse_same([("RELEASE", release), ("NEW_DATA", data)], [("--output", output)])
    if twice := [name for name in keep if keep.count(name) > 1]:
        raise ParameterError(f"--keep: column {twice[0]!r} is named twice. Keep one of them.")
    blocks = _label_blocks(read_published("release", release), data, keep, text)
    with open_target("--output", output, force=force) as target:
        for lines in blocks:
            target.write(lines.encode("utf-8", "replace"))  # JSON can write half a letter, UTF-8 cannot
    if not quiet and output != STANDARD_OUTPUT:
        click.echo(f"Labels are in {output}. They describe single rows and are not covered by the guarantee.", err=True)


def _label_blocks(release: "Release", data: str, keep: tuple[str, ...], text: dict[str, Any]) -> Iterator[str]:
    """Open the table at once; return lines of CSV, the header first, some rows at a time."""
    from cloister.data import kept_rows
    from cloister.release import open_for

    rows = open_for(data, release.domain, release.feature_names, where="predict", **text)
    kept = kept_rows(data, keep, where="--keep", **text) if keep else None
    name = "label"
    while name in keep:
        name += "_"

    def lines() -> Iterator[str]:
        yield _lines([(*keep, name)])
        for block in rows.blocks():
            labels = release.predict(block).tolist()
            if kept is None:
                yield "".join(f"{label}\n" for label in labels)
            else:
                yield _lines((*row, str(label)) for label, row in zip(labels, kept, strict=False))

    return lines()


def _lines(rows: Iterable[tuple[str, ...]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()
