# SPDX-License-Identifier: Apache-2.0
"""``cloister fit``: cluster a file under a guarantee, then print and write what may be published."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cloister.cli._bounds import Bounds, read_bounds
from cloister.cli._files import STANDARD_OUTPUT, Target, open_target, refuse_same
from cloister.exceptions import LedgerError, ParameterError

if TYPE_CHECKING:
    from cloister.data import Rows
    from cloister.privacy import Ledger
    from cloister.release import Release

__all__ = ["fit"]

METHODS = ("pe-means",)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """How a command tells what it did; none of it can change the guarantee."""

    json: bool
    quiet: bool


@click.command(short_help="Cluster a table under a privacy guarantee.")
@click.argument("data", metavar="DATA")
@click.option("-k", "--clusters", type=int, required=True, help="Number of clusters.")
@click.option("--epsilon", type=float, required=True, help="Privacy of this fit: smaller is more private, 0.1 to 10 is usual.")
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Well below one over the number of rows; 0 is pure.")
@click.option("--bounds", multiple=True, metavar="BOUNDS", help="Where rows may lie; see above. May be repeated.")
@click.option("--columns", metavar="A,B,C", help="Columns to use. Default: those with bounds of their own, else all.")
@click.option("--ledger", "ledger_path", metavar="PATH", help="Take the budget from this ledger ('cloister ledger create').")
@click.option("--method", type=click.Choice(METHODS), default=METHODS[0], show_default=True, help="How to cluster.")
@click.option(
    "--neighbours",
    type=click.Choice(["add-remove", "replace"]),
    help="Which tables count as neighbours. Default: as in the ledger, else add-remove.",
)
@click.option("--n-rows", type=int, help="Number of rows, if it is public. Otherwise 2 % of the budget estimates it.")
@click.option(
    "--scaling",
    type=click.Choice(["auto", "none", "bounds"]),
    default="auto",
    show_default=True,
    help="Measure distances in input units (none) or relative to the bounds; auto: bounds, if their widths differ.",
)
@click.option("--seed", type=int, help="Repeat a run exactly. For tests: the result is stamped as not for publication.")
@click.option("-o", "--output", metavar="FILE", help="Write the release as JSON; '-' is standard output.")
@click.option("--report", metavar="FILE", help="Write the report as one HTML file; '-' is standard output.")
@click.option("--force", is_flag=True, help="Replace files that exist. Without it they are kept, and nothing is spent.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON instead of a table.")
@click.option("--jobs", type=int, help="Threads. Default: all processors.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, no summary: only errors, and what '-' or --json ask for.")
def fit(
    data: str,
    bounds: tuple[str, ...],
    columns: str | None,
    ledger_path: str | None,
    output: str | None,
    report: str | None,
    *,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Cluster the rows of DATA and print what may be published.

    DATA is a Parquet or CSV file, or a folder of them, read in batches. Everything is checked before any budget is spent.

    \b
    BOUNDS must be known without looking at the data. They are one of
      0,1                          the same interval for all columns
      age=0:120,bmi=10:60          one column each, joined by commas, semicolons or spaces, or repeated
      bounds.json                  a file: {"age": [0, 120], "bmi": [10, 60]}
      bounds.csv                   a file with the header column,low,high
    A pair and named columns may be combined; the pair is then for the other columns.

    \b
    Examples:
      cloister fit points.csv -k 8 --epsilon 1 --bounds 0,1
      cloister fit patients.parquet -k 5 --epsilon 0.5 --bounds age=0:120 --bounds "glucose=40:320" \\
          --ledger budget.sqlite --output release.json --report report.html
      cloister fit patients.parquet -k 5 --epsilon 1 --bounds bounds.json --output - | cloister show -
    """  # noqa: D301
    if as_json and STANDARD_OUTPUT in (output, report):
        raise ParameterError("--json: standard output is taken by '-'. Write the release or the report to a file.")
    refuse_same([("DATA", data), ("--ledger", ledger_path), ("--output", output), ("--report", report)])
    shown = Shown(json=as_json, quiet=quiet)
    told = read_bounds(bounds)
    rows = _open(data, told, _split(columns), options["jobs"])
    with ExitStack() as stack:
        targets = [stack.enter_context(open_target("--output", output, force=force))]
        targets.append(stack.enter_context(open_target("--report", report, force=force)))
        ledger = None if ledger_path is None else stack.enter_context(_open_ledger(ledger_path))
        release = _run(rows, told, ledger, options, progress=sys.stderr.isatty() and not quiet)
        _write(release, targets)
        files = {"release": output, "report": report}
        _tell(
            release, ledger, shown, {name: path for name, path in files.items() if path not in (None, STANDARD_OUTPUT)}, targets
        )


def _split(columns: str | None) -> list[str] | None:
    if columns is None:
        return None
    names = [name.strip() for name in columns.split(",")]
    if not all(names):
        raise ParameterError(f"--columns: expected names joined by commas, got {columns!r}. Pass --columns age,bmi.")
    return names


def _open(data: str, bounds: Bounds, columns: list[str] | None, jobs: int | None) -> "Rows":
    """Open the table with the columns that are asked for, and make sure that bounds and columns know each other."""
    from cloister.data import open_rows

    if columns is None and bounds.named and bounds.default is None:
        columns = list(bounds.named)
    if columns is not None:
        bounds.pairs(columns)
        extra = [name for name in bounds.named if name not in columns]
        if extra:
            open_rows(data, [*columns, *extra], n_jobs=jobs, where="fit")  # names a column that is not in the table
    rows = open_rows(data, columns, n_jobs=jobs, where="fit")
    if columns is None:
        bounds.refuse_unknown(rows.feature_names or ())
    return rows


def _open_ledger(path: str) -> "Ledger":
    from cloister.privacy import Ledger

    if not Path(path).exists():
        raise LedgerError(f"--ledger: there is no file {path!r}. Create it with 'cloister ledger create'.")
    return Ledger.open(path)


def _run(rows: "Rows", bounds: Bounds, ledger: "Ledger | None", options: dict[str, Any], *, progress: bool) -> "Release":
    from cloister.cluster import PEMeans
    from cloister.domain import Box

    pairs = bounds.pairs(rows.feature_names or ())
    widths = [high - low for low, high in pairs]
    scaling = options["scaling"]
    if scaling == "auto":
        scaling = "bounds" if max(widths) > min(widths) * (1 + 1e-12) else "none"
    model = PEMeans(
        n_clusters=options["clusters"],
        epsilon=options["epsilon"],
        delta=options["delta"],
        bounds=Box([low for low, _ in pairs], [high for _, high in pairs]),
        scaling=scaling,
        neighbours=options["neighbours"] or (ledger.neighbours if ledger is not None else "add-remove"),
        n_rows=options["n_rows"],
        ledger=ledger,
        random_state=options["seed"],
        n_jobs=options["jobs"],
        progress=progress,
    )
    release: Release = model.fit(rows).release_
    return release


def _write(release: "Release", targets: Sequence[Target | None]) -> None:
    """Write release and report; a release that cannot be written any more is printed, because it has been paid for."""
    from cloister.report import report_html

    output, report = targets
    if output is not None:
        try:
            output.write(release.to_json())
        except OSError:
            if not output.is_standard:
                click.echo(release.to_json(), nl=False)
            raise
    if report is not None:
        report.write(report_html(release))


def _tell(
    release: "Release", ledger: "Ledger | None", shown: Shown, files: dict[str, str | None], targets: Sequence[Target | None]
) -> None:
    from cloister.cli._print import open_console, print_json, print_left, print_release
    from cloister.report import summary

    if shown.json:
        told = {name: value for name, value in summary(release).items() if name != "rounds"}
        print_json({**told, "ledger": None if ledger is None else ledger.summary(), "files": files})
        return
    if shown.quiet:
        return
    console = open_console(error=any(target is not None and target.is_standard for target in targets))
    print_release(console, release)
    if ledger is not None:
        print_left(console, ledger)
    for name, path in files.items():
        console.print(f"The {name} is in {path}", soft_wrap=True)
    if targets[0] is None:
        console.print("The release was not kept. Pass --output release.json to keep it: what was spent stays spent.")
