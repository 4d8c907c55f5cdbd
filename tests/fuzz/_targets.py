# SPDX-License-Identifier: Apache-2.0
"""All targets, by name, and a piece of work on one of them."""

from tests.fuzz import _commands, _csv, _documents, _ledgers, _parameters, _parquet, _tables
from tests.fuzz._run import Tally, Target, draw, replay

ALL = (
    _parameters.TARGET,
    _tables.TARGET,
    _csv.TARGET,
    _parquet.TARGET,
    _documents.RELEASES,
    _documents.SYNOPSES,
    _ledgers.TARGET,
    _commands.TARGET,
)
TARGETS: dict[str, Target] = {target.name: target for target in ALL}


def work(task: tuple[str, int, int]) -> tuple[str, Tally]:
    """Play the corpus of a target, or draw so many cases of it from a seed; in a process of its own."""
    name, cases, seed = task
    return name, draw(TARGETS[name], cases=cases, seed=seed) if cases else replay(TARGETS[name])
