# SPDX-License-Identifier: Apache-2.0
"""The corpus of every target, and some new cases of each. ``make fuzz`` draws a hundred thousand."""

import json
import zlib

import pytest
from hypothesis import strategies as st
from tests.fuzz._run import Tally, Target, draw, replay
from tests.fuzz._targets import TARGETS

NEW = 12  # cases of each target
MANY = 250


def told(tally: Tally) -> str:
    return "\n".join(f"{text}\n  {json.dumps(case)}" for case, text in tally.findings)


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_obeys_the_laws(name: str) -> None:
    tally = replay(TARGETS[name])
    assert not tally.findings, told(tally)
    assert tally.cases == len(TARGETS[name].corpus()) > 0


@pytest.mark.fast(f"{NEW}-*")
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("cases", [NEW, MANY])
def test_new_cases_obey_the_laws(name: str, cases: int, seed: int) -> None:
    tally = draw(TARGETS[name], cases=cases, seed=seed + zlib.crc32(name.encode()) + cases)
    assert not tally.findings, told(tally)
    assert tally.cases >= cases


def test_every_case_is_counted_and_every_finding_reported_once() -> None:
    def law(case: int) -> str:
        assert case < 90, "too large"
        if case > 80:
            raise ValueError("no error of ours")
        return "small" if case < 50 else "large"

    tally = draw(Target("numbers", lambda: st.integers(0, 100), law, 1.0), cases=120, seed=0)
    assert tally.cases >= 120
    assert {"small", "large"} <= set(tally.outcomes)
    assert sorted(case for case, _ in tally.findings) == [81, 90]
