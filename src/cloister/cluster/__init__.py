# SPDX-License-Identifier: Apache-2.0
"""Estimators in the manner of scikit-learn: check, open, plan, run, store."""

from cloister.cluster._base import PrivateClusterer, PrivateEstimator
from cloister.cluster._grid import GridKMeans, GridSynopsis
from cloister.cluster._pe_means import PEMeans
from cloister.cluster._source_target import SourceTargetKMedoids

__all__ = ["GridKMeans", "GridSynopsis", "PEMeans", "PrivateClusterer", "PrivateEstimator", "SourceTargetKMedoids"]
