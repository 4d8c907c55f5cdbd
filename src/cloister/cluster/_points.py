# SPDX-License-Identifier: Apache-2.0
"""From the answers of a fit with many centres to weighted points."""

import numpy as np

from cloister.algorithms import Located, Refined
from cloister.cluster._kmeans_plan import KMeansPlan, choose_n_points, make_plan
from cloister.cluster._pictures import draw_placing
from cloister.cluster._plan import Outcome, Planner
from cloister.columns import Frame
from cloister.synopsis import Places, Points

SQUARES = 0.2  # part of the last round that tells how far the rows of each point scatter


def plan_points(n_rows: float, frame: Frame, max_clusters: int, n_points: int | None, *, planner: Planner) -> KMeansPlan:
    """Return the plan of a fit with as many centres as a synopsis has points; None: as many as rows and budget carry."""
    count = choose_n_points(n_rows, max_clusters, planner) if n_points is None else n_points
    return make_plan(n_rows, frame.n_features, count, planner=planner, squares=SQUARES)


def outcome_of_points(located: Located, refined: Refined, plan: KMeansPlan, frame: Frame, *, seed: int) -> Outcome:
    """Return all centres, each with the errors that the noise makes and with the scatter of its rows."""
    n_points, n_features = refined.centers.shape
    assert refined.scatter is not None
    return Outcome(
        centers=refined.centers,
        center_errors=np.repeat(np.minimum(refined.last.errors, 1.0)[:, None], n_features, axis=1),
        counts=refined.last.counts,
        count_errors=np.full(n_points, refined.last.count_sigma),
        n_rounds=len(refined.moves),
        scatter=refined.scatter,
        n_rows=plan.n_rows,
        seed=seed,
        decisions=draw_placing(located, refined, n_rows=plan.n_sampled, unit=frame.distance_unit),
    )


def points_of(outcome: Outcome, frame: Frame, *, max_clusters: int) -> Points:
    """Return the points of an outcome."""
    assert outcome.scatter is not None
    return Points(
        frame=frame,
        noisy_counts=outcome.counts,
        sigma=float(outcome.count_errors[0]),
        total=max(outcome.n_rows, 0.0),
        max_clusters=max_clusters,
        places=Places(
            unit_points=frame.clip_unit(outcome.centers),
            unit_errors=np.sqrt(np.mean(outcome.center_errors**2, axis=1)),
            unit_variances=outcome.scatter.variances,
            scatter_error=outcome.scatter.error,
        ),
    )
