# SPDX-License-Identifier: Apache-2.0
"""Guarantees, exact noise, events and the ledger. Imports the domain; knows nothing of rows."""

from cloister.privacy._account import Account
from cloister.privacy._accounting import Composition, Tally, left_of
from cloister.privacy._coins import SMALLEST_SHARE, Coins, CoinStream, check_share
from cloister.privacy._convert import as_guarantee, convert, guarantee_from_dict, names_of_guarantees
from cloister.privacy._entropy import Entropy
from cloister.privacy._events import Event, event_from_line, price
from cloister.privacy._guarantees import GDP, KINDS, ZCDP, ApproxDP, Cost, Guarantee, PureDP
from cloister.privacy._ledger import Ledger
from cloister.privacy._mechanisms import MECHANISMS, Mechanism
from cloister.privacy._process import PROCESS
from cloister.privacy._receipt import DISJOINT, SAME, LedgerBalance, Receipt, refuse_seeded
from cloister.privacy._samplers import Scale, discrete_laplace, exponential_choice, rounded_gaussian
from cloister.privacy._steps import FIGURES, Query, Step, StepRecord

__all__ = [
    "DISJOINT",
    "FIGURES",
    "GDP",
    "KINDS",
    "MECHANISMS",
    "PROCESS",
    "SAME",
    "SMALLEST_SHARE",
    "ZCDP",
    "Account",
    "ApproxDP",
    "CoinStream",
    "Coins",
    "Composition",
    "Cost",
    "Entropy",
    "Event",
    "Guarantee",
    "Ledger",
    "LedgerBalance",
    "Mechanism",
    "PureDP",
    "Query",
    "Receipt",
    "Scale",
    "Step",
    "StepRecord",
    "Tally",
    "as_guarantee",
    "check_share",
    "convert",
    "discrete_laplace",
    "event_from_line",
    "exponential_choice",
    "guarantee_from_dict",
    "left_of",
    "names_of_guarantees",
    "price",
    "refuse_seeded",
    "rounded_gaussian",
]
