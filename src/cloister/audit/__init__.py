# SPDX-License-Identifier: Apache-2.0
"""The audit: attacks the installed version on this machine, with made-up rows. Imported by the command line and the tests only.

Replay compares neighbouring fits question by question, and persons does so where whole persons differ; attacks, samplers,
spending, kills and receipts test the noise, the sums, the ledger and what is stated. Faults can be planted to see that they are
caught.
"""

from cloister.audit._chance import FALSE_ALARM
from cloister.audit._declared import DECLARED, HOSTILE_CELLS
from cloister.audit._findings import CheckResult, Settings
from cloister.audit._guarantees import GUARANTEES, share_spent
from cloister.audit._methods import DOMAINS, METHODS
from cloister.audit._page import audit_html, verdict
from cloister.audit._persons import PERSON_ATTACKS, PersonCase, person_cases, person_neighbours, run_person_case
from cloister.audit._plants import PLANTS, Plant, planted
from cloister.audit._replay import Call, Replay, Tape, record, replay
from cloister.audit._replays import DeclaredCase, ReplayCase, declared_cases, engine_cases, replay_cases, run_case
from cloister.audit._run import CHECKS, AuditResult, PlantResult, run_audit, run_plants
from cloister.audit._tables import AUDIT_ENGINES, HOSTILE, PersonTable, installed

__all__ = [
    "AUDIT_ENGINES",
    "CHECKS",
    "DECLARED",
    "DOMAINS",
    "FALSE_ALARM",
    "GUARANTEES",
    "HOSTILE",
    "HOSTILE_CELLS",
    "METHODS",
    "PERSON_ATTACKS",
    "PLANTS",
    "AuditResult",
    "Call",
    "CheckResult",
    "DeclaredCase",
    "PersonCase",
    "PersonTable",
    "Plant",
    "PlantResult",
    "Replay",
    "ReplayCase",
    "Settings",
    "Tape",
    "audit_html",
    "declared_cases",
    "engine_cases",
    "installed",
    "person_cases",
    "person_neighbours",
    "planted",
    "record",
    "replay",
    "replay_cases",
    "run_audit",
    "run_case",
    "run_person_case",
    "run_plants",
    "share_spent",
    "verdict",
]
