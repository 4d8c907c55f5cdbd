# SPDX-License-Identifier: Apache-2.0
"""A release whose total errors are computed when it is first read: they cost time, and a fit alone does not need them."""

import math
from dataclasses import dataclass, replace
from typing import Any

from cloister.cluster._kmeans_errors import Unjudged
from cloister.cluster._plan import Outcome
from cloister.columns import Frame
from cloister.release import Release

__all__ = ["Later", "ReleaseDraft"]


@dataclass(frozen=True, eq=False)
class ReleaseDraft:
    """A release with the errors of the noise, and what it takes to complete them. All of it public."""

    release: Release
    outcome: Outcome
    frame: Frame

    @property
    def details(self) -> dict[str, Any]:
        """What else the method publishes."""
        return self.release.details

    def complete(self) -> Release:
        """Return the release with total errors; the same every time."""
        unjudged: Unjudged | None = self.outcome.unjudged
        if unjudged is None:
            return self.release
        outcome, release = self.outcome, self.release
        total = unjudged.total(outcome.center_errors, outcome.counts, outcome.count_errors, frame=self.frame)
        error = math.hypot(release.details["loss_error"], total.loss * self.frame.distance_unit**2)
        return replace(
            release,
            center_errors=self.frame.errors_from_unit(total.centers, outcome.centers),
            count_errors=total.counts,
            center_noise=release.center_errors,
            count_noise=release.count_errors,
            stability=total.stability,
            details={**release.details, "loss_error": error},
        )


class Later:
    """An attribute that may be set to a draft, and is completed when it is first read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if self._name not in vars(instance):
            raise AttributeError(f"{type(instance).__name__!r} object has no attribute {self._name!r}")
        value = vars(instance)[self._name]
        if isinstance(value, ReleaseDraft):
            value = vars(instance)[self._name] = value.complete()
        return value

    def __set__(self, instance: object, value: Any) -> None:
        vars(instance)[self._name] = value
