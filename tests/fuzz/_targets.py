# SPDX-License-Identifier: Apache-2.0
"""All targets, by name, and a piece of work on one of them."""

from tests.fuzz import _documents, _ledgers, _parameters
from tests.fuzz._run import Tally, Target, draw, replay

TARGETS: dict[str, Target] = {
    target.name: target for target in (_parameters.TARGET, _documents.RELEASES, _documents.SYNOPSES, _ledgers.TARGET)
}


def work(name: str, cases: int, seed: int) -> tuple[str, Tally]:
    """Play the corpus of a target, or draw cases of it; in a process of its own."""
    return name, draw(TARGETS[name], cases=cases, seed=seed) if cases else replay(TARGETS[name])
