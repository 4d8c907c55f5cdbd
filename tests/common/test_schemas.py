# SPDX-License-Identifier: Apache-2.0
"""What every method publishes satisfies the schema of its file, and the schema names every field of it."""

import numpy as np
import pytest
from tests.schemas.checker import check

from cloister import Ledger

from ._cases import CASES, GUARANTEES, RELATIONS, domains_of, every_method

SETTINGS = ("plain", "persons", "persons that count 1", "bounds of every form", "private bounds", "described")


def check_published(model, case, ledger):
    """Check the file of a fit, those that follow from it, and the lines of the ledger that paid for it."""
    published = case.published(model)
    check("synopsis" if case.kind == "synopsis" else "release", published.to_dict())
    if case.kind == "synopsis":
        check("release", published.cut(2, n_init=1).to_dict())
    for line in ledger.lines:
        check("ledger", line)


@every_method
def test_a_file_satisfies_its_schema(case, rows):
    ledger = Ledger(epsilon=5.0, delta=1e-6)
    check_published(case.fit(rows, ledger=ledger), case, ledger)


def fits(case, rows, setting, **parameters):
    """Fit a method to the rows in a setting, as often as it has forms."""
    if setting.startswith("persons"):
        weighting = "person" if setting.endswith("1") else "row"
        model = case.make(max_rows_per_unit=3, weighting=weighting, **parameters)
        return [case.fit_to(model, rows, ids=np.arange(len(rows)) // 3)]
    if setting == "bounds of every form":
        return [case.fit(rows, **{**parameters, "bounds": bounds}) for bounds in domains_of(case.method).values()]
    if setting == "private bounds" and case.kind != "source-target":
        return [case.fit(np.tile(rows, (50, 1)), **{**parameters, "bounds": "private"})]  # fewer rows are not found
    if setting == "described" and case.has_centers:
        return [case.fit(rows, describe=0.2, **parameters)]
    return [case.fit(rows, **parameters)]


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_so_does_that_of_every_variant_guarantee_and_setting(case, setting, rows):
    place = CASES.index(case) + SETTINGS.index(setting)  # every case meets every setting, and all of them every guarantee
    promised, relation = list(GUARANTEES.values())[place % 4], RELATIONS[place // 4 % 2]
    unit = "person" if setting.startswith("persons") else "row"
    ledger = Ledger(promised.with_strength(promised.strength * 50), neighbours=relation, unit=unit)
    for model in fits(case, rows, setting, guarantee=promised, neighbours=relation, ledger=ledger):
        check_published(model, case, ledger)
