# SPDX-License-Identifier: Apache-2.0
"""``cloister show``: print a release, or write its report. Costs nothing."""

import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from cloister.cli._files import STANDARD_OUTPUT
from cloister.cli._product import RELEASE, OutputOptions, check_shown, open_outputs, publish
from cloister.exceptions import ReleaseError

if TYPE_CHECKING:
    from cloister.release import Release

__all__ = ["read_release", "show"]


@click.command(short_help="Print a release, or write its report.")
@click.argument("release", metavar="RELEASE")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON instead of a table.")
@click.option("--report", metavar="FILE", help="Write the report as one HTML file; '-' is standard output.")
@click.option("--force", is_flag=True, help="Replace a report that exists.")
def show(release: str, report: str | None, *, as_json: bool, force: bool) -> None:
    """Print what RELEASE says: centres with their errors, and the receipt. '-' reads standard input.

    \b
    Examples:
      cloister show release.json
      cloister show release.json --report report.html
      cloister show release.json --json | jq .clusters
    """  # noqa: D301
    shown = OutputOptions(report=report, force=force, json=as_json)
    check_shown(shown, [("RELEASE", release)])
    found = read_release(release)
    with open_outputs(shown) as outputs:
        publish(RELEASE, found, outputs)


def read_release(path: str) -> "Release":
    """Read a release from a file, or from standard input for ``-``."""
    from cloister.release import Release, load_release

    if path != STANDARD_OUTPUT:
        return load_release(path)
    data = None
    with suppress(RecursionError, ValueError):
        data = json.loads(sys.stdin.buffer.read())
    if data is not None:
        return Release.from_dict(data)
    raise ReleaseError("RELEASE: standard input is not JSON. Pass what 'cloister fit --output -' writes.")
