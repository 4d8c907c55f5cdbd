# SPDX-License-Identifier: Apache-2.0
"""``cloister predict``: label the rows of a file with the nearest centre of a release, batch by batch. Costs nothing."""

from typing import TYPE_CHECKING, Any

import click

from cloister.cli._files import STANDARD_OUTPUT, open_target, refuse_same
from cloister.cli._options import FORCE, file_options
from cloister.cli._show import read_release
from cloister.exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from cloister.data import LocalRows
    from cloister.release import Release

__all__ = ["predict"]


@click.command(short_help="Label the rows of a table by a release.")
@click.argument("release", metavar="RELEASE")
@click.argument("data", metavar="NEW_DATA")
@click.option(
    "-o", "--output", metavar="FILE", default=STANDARD_OUTPUT, show_default=True, help="Where to write; '-' is standard output."
)
@file_options
@FORCE
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but labels and errors.")
def predict(release: str, data: str, output: str, *, force: bool, quiet: bool, **text: Any) -> None:
    """Write the label of the nearest centre for each row of NEW_DATA, in order, as CSV with the header 'label'.

    NEW_DATA is a Parquet or CSV file, or a folder of them, with the columns the release was fitted on; others are ignored.
    Labels describe single rows: they are not covered by the guarantee of the release.

    \b
    Examples:
      cloister predict release.json new.parquet --output labels.csv
      cloister predict release.json new.csv | sort | uniq -c
    """  # noqa: D301
    if output.lower().endswith((".parquet", ".pq")):
        raise ParameterError(f"--output: labels are written as CSV, got {output!r}. Choose a name that ends in .csv.")
    refuse_same([("RELEASE", release if release != STANDARD_OUTPUT else None), ("NEW_DATA", data), ("--output", output)])
    found = read_release(release)
    rows = _open(found, data, text)
    with open_target("--output", output, force=force) as target:
        assert target is not None
        target.write("label\n")
        for block in rows.blocks():
            if len(block):
                target.write("\n".join(map(str, found.predict(block).tolist())) + "\n")
    if not quiet and output != STANDARD_OUTPUT:
        click.echo(f"Labels are in {output}. They describe single rows and are not covered by the guarantee.", err=True)


def _open(release: "Release", data: str, text: dict[str, Any]) -> "LocalRows":
    from cloister.data import LocalRows, open_rows

    rows = open_rows(data, release.feature_names, where="predict", **text)
    if rows.n_features != release.n_features:
        raise DataError(
            f"predict: expected {release.n_features} columns, as in the release, got {rows.n_features}. Pass the same columns."
        )
    assert isinstance(rows, LocalRows)
    return rows
