# SPDX-License-Identifier: Apache-2.0
"""``cloister bench``: the benchmark, which sees rows and truth and therefore lives outside the package."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from cloister.exceptions import CloisterError

__all__ = ["bench"]

HOMES = ("cloister_bench", "benchmarks")  # installed beside the package, or the folder of the repository
REMEDY = "Run pip install 'cloister[bench]'."


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
    """Return the benchmark's own command."""
    repository = Path(__file__).resolve().parents[3]
    if (repository / "benchmarks" / "_cli.py").is_file() and str(repository) not in sys.path:
        sys.path.append(str(repository))
    missing: str | None = "the benchmark"
    for home in HOMES:
        try:
            command: click.Command = import_module(f"{home}._cli").bench
            return command
        except ModuleNotFoundError as error:
            if error.name not in (home, f"{home}._cli"):
                missing = error.name
                break
    raise CloisterError(f"bench: {missing} is not installed. {REMEDY}")
