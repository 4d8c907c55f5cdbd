# SPDX-License-Identifier: Apache-2.0
"""``cloister bench``: the benchmark, which sees rows and truth and therefore lives in the repository alone."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from cloister.exceptions import CloisterError

__all__ = ["bench"]

REPOSITORY = Path(__file__).resolve().parents[3]  # where the package is installed from it


@click.command(
    short_help="Run all methods on the same data; tables and plots.",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bench(arguments: tuple[str, ...]) -> Any:
    """Run every method on the same data under the same accounting, and set the figures beside the papers'."""
    return _load().main(list(arguments), prog_name="cloister bench", standalone_mode=False)


def _load() -> click.Command:
    """Return the benchmark's own command, from the repository."""
    if not (REPOSITORY / "benchmarks" / "_cli.py").is_file():
        raise CloisterError("bench: the benchmark is in the repository, not in the package. Clone it and run make bench there.")
    if str(REPOSITORY) not in sys.path:
        sys.path.append(str(REPOSITORY))
    try:
        command: click.Command = import_module("benchmarks._cli").bench
        return command
    except ModuleNotFoundError as error:
        missing = error.name
    raise CloisterError(f"bench: {missing} is not installed. Run pip install 'cloister[bench]'.")
