# SPDX-License-Identifier: Apache-2.0
"""One job is one fit. Its key says what was measured and nothing about when, where or with which version."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["FACTS", "Choice", "Context", "Job", "Plan", "key_of"]

FACTS = ("kind", "data", "origin", "method", "epsilon", "repeat", "base_seed", "settings")  # what a result is named by


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to measure."""

    kind: str  # which protocol: suites that share one share its results
    data: str
    method: str
    epsilon: float | None
    repeat: int
    origin: str = "exact"  # how the rows come about
    base_seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The name of its result."""
        return key_of(self.facts())

    @property
    def seed(self) -> int:
        """The seed of the fit: the same for all methods, another one for each epsilon and repeat."""
        words = json.dumps([self.base_seed, self.kind, self.data, self.epsilon, self.repeat])
        return int.from_bytes(hashlib.blake2s(words.encode(), digest_size=4).digest(), "big")

    def facts(self) -> dict[str, Any]:
        """Return the job as plain data, the first half of its record."""
        return {**{name: getattr(self, name) for name in FACTS}, "settings": dict(self.settings)}


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a worker must know besides the job; it cannot change a result."""

    folder: str | None = None  # of the data files
    pythons: Mapping[str, str] = field(default_factory=dict)  # other interpreters, by library


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The options of a run; None leaves it to the suite and the profile."""

    profile: str = "quick"
    datasets: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    epsilons: tuple[float, ...] | None = None
    repeats: int | None = None
    seed: int = 0
    context: Context = field(default_factory=Context)


@dataclass(frozen=True)
class Plan:
    """What a suite is going to measure, and what it leaves out and why."""

    jobs: tuple[Job, ...]
    left_out: tuple[str, ...] = ()


def key_of(record: Mapping[str, Any]) -> str:
    """Return the key of a job or of a stored result."""
    return json.dumps([record[name] for name in FACTS], sort_keys=True)
