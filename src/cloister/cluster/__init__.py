# SPDX-License-Identifier: Apache-2.0
"""Estimators in the manner of scikit-learn: check, plan, ask, store."""

from cloister.cluster._base import PrivateEstimator, plan_fit
from cloister.cluster._clusterer import PrivateClusterer
from cloister.cluster._declare import estimator
from cloister.cluster._describe import read_share
from cloister.cluster._first import plan_first
from cloister.cluster._grid import GridKMeans, GridPlan, GridSynopsis
from cloister.cluster._kmeans import KMeans
from cloister.cluster._kmeans_grid import FewRowsPlan
from cloister.cluster._kmeans_plan import KMeansPlan, make_plan
from cloister.cluster._pe_means import PEMeans
from cloister.cluster._plan import Decision, Outcome, Plan, Planner, Request
from cloister.cluster._point_synopsis import PointSynopsis
from cloister.cluster._privacy_unit import center_variances, noise_of_center, pick_max_rows, unit_options
from cloister.cluster._progress import Progress
from cloister.cluster._scaler import PrivateScaler
from cloister.cluster._source_target import SourceTargetKMedoids

__all__ = [
    "Decision",
    "FewRowsPlan",
    "GridKMeans",
    "GridPlan",
    "GridSynopsis",
    "KMeans",
    "KMeansPlan",
    "Outcome",
    "PEMeans",
    "Plan",
    "Planner",
    "PointSynopsis",
    "PrivateClusterer",
    "PrivateEstimator",
    "PrivateScaler",
    "Progress",
    "Request",
    "SourceTargetKMedoids",
    "center_variances",
    "estimator",
    "make_plan",
    "noise_of_center",
    "pick_max_rows",
    "plan_first",
    "plan_fit",
    "read_share",
    "unit_options",
]
