# SPDX-License-Identifier: Apache-2.0
"""Estimators in the manner of scikit-learn: check, open, plan, run, store."""

from cloister.cluster._base import PrivateClusterer, PrivateEstimator
from cloister.cluster._compare import Comparison, Contender, compare
from cloister.cluster._coreset_kmeans import CoresetKMeans
from cloister.cluster._fast_lloyd import FastLloyd
from cloister.cluster._forecast import CenterError, Forecast, Noise, Step, plan
from cloister.cluster._grid import GridKMeans, GridSynopsis
from cloister.cluster._kmeans import KMeans
from cloister.cluster._kmeans_plan import KMeansPlan, make_plan
from cloister.cluster._lloyd import LloydKMeans
from cloister.cluster._pe_means import PEMeans
from cloister.cluster._source_target import SourceTargetKMedoids
from cloister.cluster._tree_kmeans import TreeKMeans

__all__ = [
    "CenterError",
    "Comparison",
    "Contender",
    "CoresetKMeans",
    "FastLloyd",
    "Forecast",
    "GridKMeans",
    "GridSynopsis",
    "KMeans",
    "KMeansPlan",
    "LloydKMeans",
    "Noise",
    "PEMeans",
    "PrivateClusterer",
    "PrivateEstimator",
    "SourceTargetKMedoids",
    "Step",
    "TreeKMeans",
    "compare",
    "make_plan",
    "plan",
]
