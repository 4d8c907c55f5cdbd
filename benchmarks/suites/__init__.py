# SPDX-License-Identifier: Apache-2.0
"""The suites by name, and what measures each kind of job."""

from ._alternatives import Alternatives
from ._base import Measure, Suite
from ._choosers import measure_pair
from ._curves import Curves
from ._fit import measure_cost, measure_fit
from ._grids import Grids, measure_grid
from ._rounds import Rounds, measure_rounds
from ._scaling import Scaling
from ._source_target import SourceTarget
from ._speed import Speed, measure_speed
from ._table1 import Table1
from ._tuning import Tuning, measure_tuning
from ._votes import VoteSplitting, measure_votes

__all__ = ["KINDS", "SUITES", "Suite"]

SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        Table1(),
        Curves(),
        VoteSplitting(),
        Tuning(),
        Rounds(),
        Alternatives(),
        Grids(),
        SourceTarget(),
        Speed(),
        Scaling(),
    )
}
KINDS: dict[str, Measure] = {
    "fit": measure_fit,
    "grid": measure_grid,
    "rounds": measure_rounds,
    "scaling": measure_cost,
    "source-target": measure_pair,
    "speed": measure_speed,
    "tuning": measure_tuning,
    "votes": measure_votes,
}
