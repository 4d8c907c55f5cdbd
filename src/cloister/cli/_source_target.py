# SPDX-License-Identifier: Apache-2.0
"""``cloister source-target``: choose points of a public table, while a private one covers part of it already."""

from typing import TYPE_CHECKING, Any

import click

from cloister.cli._bounds import read_bounds
from cloister.cli._options import (
    EPSILON_HELP,
    RELEASE_OUTPUT,
    default_delta,
    option,
    output_options,
    private_options,
)
from cloister.cli._output import RELEASE, OutputOptions
from cloister.cli._print import print_text
from cloister.cli._private import domain_of, file_settings, open_table, shared_parameters, source_options, spend, split_names
from cloister.exceptions import ParameterError
from cloister.methods import METHODS

if TYPE_CHECKING:
    from cloister.privacy import Ledger

METHOD = METHODS["SourceTargetKMedoids"]


@click.command("source-target", short_help="Choose points of a public table beside a private one.")
@click.argument("target", metavar="TARGET")
@option("--source", metavar="SOURCE", help="The private table: a Parquet or CSV file, or a folder of them.")
@option("--plan", is_flag=True, help="Only say how noisy the answers will be and what that adds to the error. Reads no SOURCE.")
@option("-k", "--clusters", "n_clusters", type=int, required=True, help="Number of target points to choose.")
@option("--epsilon", type=float, help=EPSILON_HELP)
@option("--delta", type=float, help=f"Well below 1 over the number of source rows; 0 is pure. {default_delta([METHOD])}")
@option("--rho", type=float, help="Zero-concentrated privacy, instead of --epsilon and --delta.")
@option(
    "--method",
    words=["nna", "nas"],
    default="nna",
    help="Average the source rows nearest to each target point, each row once (nna), or its --neighbors nearest (nas).",
)
@option(
    "--calibration",
    words=["sharp", "paper"],
    default="sharp",
    help="Clipped offsets and exact noise, or the published sums and noise, which are larger.",
)
@option("--confidence", default=0.99, help="How sure nna must be that source rows are there.")
@option("--neighbors", "n_neighbors", default=150, help="Source rows in each average of nas.")
@option("--distance-share", default=0.0, help="Part of the budget of nas that buys a bound on the error.")
@option(
    "--coreset-radius",
    default=0.05,
    help="Target points within this part of the diameter share one average; 0: one for each point.",
)
@option("--max-representatives", default=4096, help="At most so many averages; the radius grows.")
@option(
    "--solver",
    words=["auto", "exact", "representatives"],
    default="auto",
    help="Choose among all target points, or among --max-representatives of them; auto: all up to 6,000.",
)
@option("--n-init", default=3, help="Starts of the solver.")
@option("--metric", default="euclidean", help="Distance to minimise, as scikit-learn names it.")
@private_options
@RELEASE_OUTPUT
@option("--indices", metavar="FILE", help="Write the rows of TARGET that were chosen as CSV; '-' is standard output.")
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
    from cloister.data import open_rows
    from cloister.privacy import ZCDP, as_guarantee

    epsilon, delta, rho = options["epsilon"], options["delta"], options["rho"]
    if (epsilon is None) == (rho is None):
        raise ParameterError("source-target: expected one of --epsilon and --rho. Pass --epsilon 3, for example.")
    if rho is not None and delta is not None:
        raise ParameterError("--delta: goes with --epsilon, not with --rho. Leave it out.")
    delta = METHOD.delta if delta is None else delta
    guarantee = as_guarantee("source-target", epsilon, delta) if rho is None else ZCDP(rho)
    if source is None and not plan:
        raise click.MissingParameter(param_type="option", param_hint="'--source'")
    if not plan:
        inputs = [("TARGET", target), ("--source", source), ("--ledger", options["ledger"])]
        output = OutputOptions.read(options, inputs, RELEASE, seed=options["random_state"])
    columns, settings = split_names(options["columns"]), {"n_jobs": options["n_jobs"], **file_settings(options)}
    if options["bounds"]:
        bounds = read_bounds(options["bounds"])
        bounds.refuse_declared("source-target")
        public = open_table(target, bounds, columns, where="TARGET", **settings)
    else:
        public = open_rows(target, columns, where="TARGET", **settings)
    domain = domain_of(public, bounds) if options["bounds"] else None
    own = {name: options[name] for name in METHOD.parameters}

    def model(ledger: "Ledger | None") -> Any:
        return METHOD.estimator(**shared_parameters(ledger, options), **own, guarantee=guarantee, bounds=domain)

    if plan:
        print_text(model(None).plan(public), as_json=options["as_json"])
        return
    rows = open_rows(str(source), public.feature_names, where="--source", **source_options(options))
    spend(RELEASE, output, options, lambda ledger: model(ledger).fit(public, source=rows).release_)
