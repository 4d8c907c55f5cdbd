# SPDX-License-Identifier: Apache-2.0
"""``cloister predict``: label the rows of a file with the nearest centre of a release, batch by batch. Costs nothing."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from cloister.cli._options import FORCE, file_options
from cloister.cli._output import STANDARD_OUTPUT, open_target, refuse_same
from cloister.cli._show import read_release
from cloister.exceptions import ParameterError

if TYPE_CHECKING:
    from cloister.release import Release

__all__ = ["predict"]


KEEP = click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Write this column of NEW_DATA before the label, as it is: an identifier, for example. May be repeated.",
)


@click.command(short_help="Label the rows of a table by a release.")
@click.argument("release", metavar="RELEASE")
@click.argument("data", metavar="NEW_DATA")
@KEEP
@click.option(
    "-o", "--output", metavar="FILE", default=STANDARD_OUTPUT, show_default=True, help="Where to write; '-' is standard output."
)
@file_options
@FORCE
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but labels and errors.")
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
    refuse_same([("RELEASE", release if release != STANDARD_OUTPUT else None), ("NEW_DATA", data), ("--output", output)])
    _refuse_twice(keep)
    found = read_release(release)
    blocks = _label_blocks(found, data, keep, text)
    with open_target("--output", output, force=force) as target:
        assert target is not None
        for lines in blocks:
            target.write(lines.encode("utf-8", "replace"))  # JSON can write half a letter, UTF-8 cannot
    if not quiet and output != STANDARD_OUTPUT:
        click.echo(f"Labels are in {output}. They describe single rows and are not covered by the guarantee.", err=True)


def _refuse_twice(keep: tuple[str, ...]) -> None:
    for name in keep:
        if keep.count(name) > 1:
            raise ParameterError(f"--keep: column {name!r} is named twice. Keep one of them.")


def _label_blocks(release: "Release", data: str, keep: tuple[str, ...], text: dict[str, Any]) -> Iterator[str]:
    """Open the table at once; return lines of CSV, the header first, some rows at a time."""
    from cloister.data import kept_rows
    from cloister.release import open_for

    rows = open_for(release, data, where="predict", **text)
    kept = kept_rows(data, keep, where="--keep", **text) if keep else None
    name = "label"
    while name in keep:
        name += "_"

    def lines() -> Iterator[str]:
        yield _lines([(*keep, name)])
        for block in rows.blocks():
            labels = release.predict(block).tolist()
            yield "".join(f"{label}\n" for label in labels) if kept is None else _lines(_beside(kept, labels))

    return lines()


def _beside(kept: Iterator[tuple[str, ...]], labels: list[int]) -> Iterator[tuple[str, ...]]:
    return ((*row, str(label)) for label, row in zip(labels, kept, strict=False))


def _lines(rows: Iterable[tuple[str, ...]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()
