# SPDX-License-Identifier: Apache-2.0
"""``cloister source-target``: choose points of a public table, while a private one covers part of it already."""

from typing import TYPE_CHECKING, Any

import click

from cloister.cli._bounds import read_bounds
from cloister.cli._options import EPSILON_HELP, RELEASE_OUTPUT, default_delta, delta_option, output_options, private_options
from cloister.cli._private import domain_of, file_settings, open_table, shared_parameters, source_options, spend, split_names
from cloister.cli._product import RELEASE, OutputOptions
from cloister.exceptions import ParameterError
from cloister.methods import METHODS

if TYPE_CHECKING:
    from cloister.data import Rows
    from cloister.privacy import Guarantee

__all__ = ["source_target"]

METHOD = METHODS["SourceTargetKMedoids"]


@click.command("source-target", short_help="Choose points of a public table beside a private one.")
@click.argument("target", metavar="TARGET")
@click.option("--source", metavar="SOURCE", help="The private table: a Parquet or CSV file, or a folder of them.")
@click.option(
    "--plan", is_flag=True, help="Only say how noisy the answers will be and what that adds to the error. Reads no SOURCE."
)
@click.option("-k", "--clusters", type=int, required=True, help="Number of target points to choose.")
@click.option("--epsilon", type=float, help=EPSILON_HELP)
@delta_option(f"Well below 1 over the number of source rows; 0 is pure. {default_delta([METHOD])}", default=None)
@click.option("--rho", type=float, help="Zero-concentrated privacy, instead of --epsilon and --delta.")
@click.option(
    "--method",
    type=click.Choice(["nna", "nas"]),
    default="nna",
    show_default=True,
    help="Average the source rows nearest to each target point, each row once (nna), or its --neighbors nearest (nas).",
)
@click.option(
    "--calibration",
    type=click.Choice(["sharp", "paper"]),
    default="sharp",
    show_default=True,
    help="Clipped offsets and exact noise, or the published sums and noise, which are larger.",
)
@click.option(
    "--confidence", type=float, default=0.99, show_default=True, help="How sure nna must be that source rows are there."
)
@click.option("--neighbors", type=int, default=150, show_default=True, help="Source rows in each average of nas.")
@click.option(
    "--distance-share",
    type=float,
    default=0.0,
    show_default=True,
    help="Part of the budget of nas that buys a bound on the error.",
)
@click.option(
    "--coreset-radius",
    type=float,
    default=0.05,
    show_default=True,
    help="Target points within this part of the diameter share one average; 0: one for each point.",
)
@click.option(
    "--max-representatives", type=int, default=4096, show_default=True, help="At most so many averages; the radius grows."
)
@click.option(
    "--solver",
    type=click.Choice(["auto", "exact", "representatives"]),
    default="auto",
    show_default=True,
    help="Choose among all target points, or among --max-representatives of them; auto: all up to 6,000.",
)
@click.option("--n-init", type=int, default=3, show_default=True, help="Starts of the solver.")
@click.option("--metric", default="euclidean", show_default=True, help="Distance to minimise, as scikit-learn names it.")
@private_options
@RELEASE_OUTPUT
@click.option("--indices", metavar="FILE", help="Write the rows of TARGET that were chosen as CSV; '-' is standard output.")
@output_options
def source_target(target: str, source: str | None, *, plan: bool, **options: Any) -> None:
    """Choose k rows of TARGET that, beside the rows of SOURCE, leave no row of TARGET far from its nearest.

    Only SOURCE is private. TARGET is public: its rows are printed, written to the release and drawn in the report.
    Both are Parquet or CSV files, or folders of them, with the same numeric columns; SOURCE may have more. Everything
    is checked before any budget is spent.

    BOUNDS say where rows of SOURCE may lie, as for 'cloister fit'. Left out, they are a ball around TARGET.

    \b
    Examples:
      cloister source-target streets.csv -k 10 --epsilon 3 --plan
      cloister source-target streets.csv --source volunteers.parquet -k 10 --epsilon 3
      cloister source-target streets.csv --source volunteers.parquet -k 10 --rho 1 --columns x,y \\
          --ledger budget.sqlite --output release.json --report report.html --indices medoids.csv
    """  # noqa: D301
    guarantee = _guarantee(options)
    if plan:
        _print_plan(target, guarantee, options)
        return
    if source is None:
        raise click.MissingParameter(param_type="option", param_hint="'--source'")
    output = OutputOptions.read(options)
    inputs = [("TARGET", target), ("--source", source), ("--ledger", options["ledger"])]
    output.check(inputs, output_ends=RELEASE.ends, seed=options["seed"])
    public, domain = _open_target(target, options)
    from cloister.data import open_rows

    rows = open_rows(source, public.feature_names, where="--source", **source_options(options))

    def run(ledger: Any) -> Any:
        model = METHOD.estimator(**shared_parameters(ledger, options), **_own_parameters(guarantee, domain, options))
        return model.fit(public, source=rows).release_

    spend(RELEASE, output, options, run)


def _print_plan(target: str, guarantee: "Guarantee", options: dict[str, Any]) -> None:
    """Print what public numbers say of the fit."""
    from cloister.cli._print import print_text

    public, domain = _open_target(target, options)
    model = METHOD.estimator(**shared_parameters(None, options), **_own_parameters(guarantee, domain, options))
    print_text(model.plan(public), as_json=options["as_json"])


def _own_parameters(guarantee: "Guarantee", domain: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that only this estimator takes, and its guarantee and bounds."""
    names = ("method", "calibration", "confidence", "distance_share", "coreset_radius", "max_representatives", "solver")
    own = {name: options[name] for name in (*names, "n_init", "metric")}
    return {"guarantee": guarantee, "bounds": domain, "n_neighbors": options["neighbors"], **own}


def _guarantee(options: dict[str, Any]) -> "Guarantee":
    from cloister.privacy import ZCDP, as_guarantee

    if (options["epsilon"] is None) == (options["rho"] is None):
        raise ParameterError("source-target: expected one of --epsilon and --rho. Pass --epsilon 3, for example.")
    if options["rho"] is None:
        return as_guarantee("source-target", options["epsilon"], METHOD.delta if options["delta"] is None else options["delta"])
    if options["delta"] is not None:
        raise ParameterError("--delta: goes with --epsilon, not with --rho. Leave it out.")
    return ZCDP(options["rho"])


def _open_target(target: str, options: dict[str, Any]) -> tuple["Rows", Any]:
    """Open the public table; return it and the domain, None where no bounds were given."""
    from cloister.data import open_rows

    columns, settings = split_names(options["columns"]), {"n_jobs": options["jobs"], **file_settings(options)}
    if not options["bounds"]:
        return open_rows(target, columns, where="TARGET", **settings), None
    bounds = read_bounds(options["bounds"])
    bounds.refuse_declared("source-target")
    public = open_table(target, bounds, columns, where="TARGET", **settings)
    return public, domain_of(public, bounds, "none")["bounds"]
