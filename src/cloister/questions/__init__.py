# SPDX-License-Identifier: Apache-2.0
"""The questions about rows: frozen public data, a kernel for one block, and its sensitivity. Imports columns and privacy."""

from cloister.privacy import Cost, Query, Step
from cloister.questions._ask import Answer, Ask, Spend, Together
from cloister.questions._base import (
    PROJECTION_STEP,
    NearestQuestion,
    ProjectedQuestion,
    Question,
    offsets_from,
    refuse_misfit,
)
from cloister.questions._columns import CellStates, ColumnHistograms, ColumnIntervals, ColumnMagnitudes
from cloister.questions._counts import Counts, DistanceHistogram, NearestCounts, RowCount, RowsPerUnit
from cloister.questions._grid import LARGEST_GRID, GridCounts, SplitCounts, check_grid
from cloister.questions._moments import SecondMoments, spectral_edge, symmetric
from cloister.questions._neighbours import NeighbourDistance, NeighbourMeans
from cloister.questions._price import deviation, plan_query, price_question, sensitivities, step_of
from cloister.questions._profiles import ColumnBins, NearestHistograms, NearestMissing
from cloister.questions._search import SEARCH_ENGINES, Nearest, choose_engine
from cloister.questions._squares import NearestSquares
from cloister.questions._sums import ClippedSums, NearestSums, whole_radius

__all__ = [
    "LARGEST_GRID",
    "PROJECTION_STEP",
    "SEARCH_ENGINES",
    "Answer",
    "Ask",
    "CellStates",
    "ClippedSums",
    "ColumnBins",
    "ColumnHistograms",
    "ColumnIntervals",
    "ColumnMagnitudes",
    "Cost",
    "Counts",
    "DistanceHistogram",
    "GridCounts",
    "Nearest",
    "NearestCounts",
    "NearestHistograms",
    "NearestMissing",
    "NearestQuestion",
    "NearestSquares",
    "NearestSums",
    "NeighbourDistance",
    "NeighbourMeans",
    "ProjectedQuestion",
    "Query",
    "Question",
    "RowCount",
    "RowsPerUnit",
    "SecondMoments",
    "Spend",
    "SplitCounts",
    "Step",
    "Together",
    "check_grid",
    "choose_engine",
    "deviation",
    "offsets_from",
    "plan_query",
    "price_question",
    "refuse_misfit",
    "sensitivities",
    "spectral_edge",
    "step_of",
    "symmetric",
    "whole_radius",
]
