# SPDX-License-Identifier: Apache-2.0
"""What to expect of a fit before any budget is spent: a forecast from public numbers, and a comparison on public rows."""

from cloister.forecast._compare import Comparison, Contender, compare
from cloister.forecast._forecast import CenterError, Forecast, plan
from cloister.forecast._setting import PersonForecast, RowLimit

__all__ = ["CenterError", "Comparison", "Contender", "Forecast", "PersonForecast", "RowLimit", "compare", "plan"]
