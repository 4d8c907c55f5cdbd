# SPDX-License-Identifier: Apache-2.0
"""``cloister show``: print a release, or write its report. Costs nothing."""

import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from cloister.cli._options import ALLOW_SEEDED, FORCE, JSON, REPORT
from cloister.cli._output import RELEASE, STANDARD_OUTPUT, OutputOptions, publish_found
from cloister.exceptions import ReleaseError

if TYPE_CHECKING:
    from cloister.release import Release

__all__ = ["read_release", "show"]


@click.command(short_help="Print a release, or write its report.")
@click.argument("release", metavar="RELEASE")
@JSON
@REPORT
@FORCE
@ALLOW_SEEDED
def show(release: str, **options: Any) -> None:
    """Print what RELEASE says: centres with their errors, and the receipt. '-' reads standard input.

    \b
    Examples:
      cloister show release.json
      cloister show release.json --report report.html
      cloister show release.json --json | jq .clusters
    """  # noqa: D301
    output = OutputOptions.read(options)
    output.check([("RELEASE", release)])
    publish_found(RELEASE, read_release(release), output)


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
