# SPDX-License-Identifier: Apache-2.0
"""What a release of source-target clustering says beside its centres: the public target, and the source as sanitised."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from cloister import validate
from cloister.columns import FloatArray

CHOSEN = "SourceTargetKMedoids"  # the method
LARGEST = 1e150  # its square is finite


@dataclass(frozen=True, kw_only=True, eq=False)
class TargetDetails:
    """The details of a release of source-target clustering, in the units of the input."""

    target: FloatArray  # public: those points that are drawn
    n_target: int  # all of them
    rows: tuple[int, ...]  # of the target: the points that were chosen
    source: FloatArray  # sanitised
    counts: FloatArray  # of its points
    served: int  # points of the target to which a sanitised one is nearest
    cost: float  # mean distance of a target point to its nearest centre
    cost_of_chosen: float  # without the source
    cost_alone: float  # had there been no source
    confidence: float
    error_bound: float | None

    @classmethod
    def read(cls, details: Mapping[str, Any], parameters: Mapping[str, Any], *, n_clusters: int, width: int) -> Self:
        """Read what a file says; numbers that do not belong together, and numbers that are none, raise."""

        def number(name: str) -> float:
            return validate.number(f"details.{name}", details[name], low=0.0, high=LARGEST)

        def points(name: str) -> FloatArray:
            return _finite(name, details[name]).reshape(len(details[name]), width)

        n_target = validate.integer("details.n_target", details["n_target"], low=1)
        rows = [validate.integer("details.medoid_indices", row, low=0, high=n_target - 1) for row in details["medoid_indices"]]
        source, target = points("sanitized_source"), points("target")
        counts = _finite("sanitized_counts", details["sanitized_counts"])
        if len(rows) != n_clusters or counts.shape != source.shape[:1] or not 1 <= len(target) <= n_target:
            raise ValueError("details")
        return cls(
            target=target,
            n_target=n_target,
            rows=tuple(rows),
            source=source,
            counts=counts,
            served=validate.integer("details.served_by_source", details["served_by_source"], low=0, high=n_target),
            cost=number("target_cost"),
            cost_of_chosen=number("cost_of_chosen"),
            cost_alone=number("cost_alone"),
            confidence=validate.number("parameters.confidence", parameters.get("confidence", 1.0), low=0.0, high=1.0),
            error_bound=None if details.get("error_bound") is None else number("error_bound"),
        )


def _finite(name: str, values: Any) -> FloatArray:
    array = np.array(values, dtype=np.float64)
    if not (np.abs(array) <= LARGEST).all():
        raise ValueError(name)
    return array
