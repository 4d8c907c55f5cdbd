# SPDX-License-Identifier: Apache-2.0
"""The audit: attacks the installed version on this machine, with made-up rows. Imported by the command line and the tests only.

Replay compares neighbouring fits question by question, and persons does so where whole persons differ; attacks, samplers,
spending, kills and receipts test the noise, the sums, the ledger and what is stated. Faults can be planted to see that they are
caught.
"""

from cloister.audit._findings import FALSE_ALARM, CheckResult, Settings
from cloister.audit._methods import DECLARED, GUARANTEES, METHODS
from cloister.audit._plants import PLANTS, Plant, planted
from cloister.audit._replay import Call, Replay, Tape, record, replay
from cloister.audit._run import CHECKS, AuditResult, PlantResult, audit_html, run_audit, run_plants
from cloister.audit._spending import share_spent
from cloister.audit._tables import AUDIT_ENGINES, PersonTable, installed, person_neighbours

__all__ = [
    "AUDIT_ENGINES",
    "CHECKS",
    "DECLARED",
    "FALSE_ALARM",
    "GUARANTEES",
    "METHODS",
    "PLANTS",
    "AuditResult",
    "Call",
    "CheckResult",
    "PersonTable",
    "Plant",
    "PlantResult",
    "Replay",
    "Settings",
    "Tape",
    "audit_html",
    "installed",
    "person_neighbours",
    "planted",
    "record",
    "replay",
    "run_audit",
    "run_plants",
    "share_spent",
]
