# SPDX-License-Identifier: Apache-2.0
"""The questions about rows: frozen public data, a kernel for one block, and its sensitivity. Imports domain and privacy."""

from cloister.privacy import Cost, Query, Step
from cloister.questions._ask import Answer, Ask, Spend
from cloister.questions._base import NearestQuestion, ProjectedQuestion, Question
from cloister.questions._bounded import BoundedCounts, BoundedSums
from cloister.questions._columns import CellStates, ColumnHistograms, ColumnIntervals, ColumnMagnitudes, NearestMissing
from cloister.questions._counts import DistanceHistogram, NearestCounts, RowCount
from cloister.questions._cubes import LARGEST_CUBE_GRID, CubeCounts
from cloister.questions._grid import LARGEST_GRID, GridCounts, check_grid
from cloister.questions._hash import DEEPEST_HASH, HashCounts, HashSums
from cloister.questions._moments import SecondMoments, spectral_edge, symmetric
from cloister.questions._neighbours import NeighbourDistance, NeighbourMeans
from cloister.questions._persons import RowsPerUnit
from cloister.questions._price import deviation, plan_query, price_question, sensitivities, step_of
from cloister.questions._profiles import ColumnBins, NearestHistograms
from cloister.questions._search import SEARCH_ENGINES, Nearest, choose_engine
from cloister.questions._split import SplitCounts
from cloister.questions._squares import NearestSquares
from cloister.questions._sums import NearestSums
from cloister.questions._swaps import LARGEST_CHOICE, SetCosts, SwapCosts
from cloister.questions._together import Together

__all__ = [
    "DEEPEST_HASH",
    "LARGEST_CHOICE",
    "LARGEST_CUBE_GRID",
    "LARGEST_GRID",
    "SEARCH_ENGINES",
    "Answer",
    "Ask",
    "BoundedCounts",
    "BoundedSums",
    "CellStates",
    "ColumnBins",
    "ColumnHistograms",
    "ColumnIntervals",
    "ColumnMagnitudes",
    "Cost",
    "CubeCounts",
    "DistanceHistogram",
    "GridCounts",
    "HashCounts",
    "HashSums",
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
    "SetCosts",
    "Spend",
    "SplitCounts",
    "Step",
    "SwapCosts",
    "Together",
    "check_grid",
    "choose_engine",
    "deviation",
    "plan_query",
    "price_question",
    "sensitivities",
    "spectral_edge",
    "step_of",
    "symmetric",
]
