# SPDX-License-Identifier: Apache-2.0
"""The command ``cloister``: its subcommands, and the one line that every mistake ends in."""

import errno
import sys
from collections.abc import Callable
from typing import Any

import click

from cloister._version import __version__
from cloister.cli._audit import audit
from cloister.cli._fit import fit
from cloister.cli._forecast import compare, plan
from cloister.cli._ledger import ledger
from cloister.cli._release import predict, show
from cloister.cli._schema import schema
from cloister.cli._source_target import source_target
from cloister.cli._synopsis import synopsis
from cloister.exceptions import CloisterError

BAD_INPUT = 2
INTERRUPTED = 130


class OneLineGroup(click.Group):
    """A group that ends bad input with exit code 2 and one line on standard error, without a traceback."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run the command line."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a name that the terminal cannot show must not end in a traceback
                stream.reconfigure(errors="replace")
        run: Callable[..., Any] = super().main
        if not standalone_mode:
            return run(*args, standalone_mode=False, **extra)
        try:
            code = run(*args, standalone_mode=False, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            sys.exit(BAD_INPUT)
        except click.ClickException as error:
            _fail(error.format_message())
        except CloisterError as error:
            _fail(str(error))
        except click.Abort:
            _fail("stopped. What the ledger has debited stays debited.", code=INTERRUPTED)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            _fail(f"{error.strerror or error}{f': {error.filename!r}' if error.filename else ''}")
        sys.exit(code if isinstance(code, int) else 0)


@click.group(
    cls=OneLineGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with 'cloister fit --help'.",
)
@click.version_option(__version__, prog_name="cloister")
def main() -> None:
    """Cluster sensitive data and let only differentially private results out.

    \b
    What a fit could find, before any budget is spent:
      cloister plan --n-rows 50000 --features 6 -k 5 --epsilon 1
      cloister compare -k 5 --n-rows 50000 --features 6 --epsilon 1
    What the columns are, a budget, a fit, what it says, and what is left:
      cloister schema patients.parquet --output schema.json
      cloister ledger create budget.sqlite --epsilon 2 --delta 1e-6
      cloister fit patients.parquet -k 5 --epsilon 1 --bounds schema.json \\
          --ledger budget.sqlite --output release.json --report report.html
      cloister show release.json
      cloister ledger show budget.sqlite
    One noisy histogram, used again and again:
      cloister synopsis fit patients.parquet --epsilon 0.5 --bounds bounds.json --output synopsis.json
      cloister synopsis choose-k synopsis.json
    """  # noqa: D301


for command in (plan, compare, schema, fit, show, predict, synopsis, source_target, ledger, audit):
    main.add_command(command)


def _fail(message: str, *, code: int = BAD_INPUT) -> None:
    click.echo(f"Error: {' '.join(message.split())}", err=True)
    sys.exit(code)
