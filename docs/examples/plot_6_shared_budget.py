# SPDX-License-Identifier: Apache-2.0
"""
A budget shared by a team
=========================

Three people work on the same patients. Every answer costs privacy, whoever asks, so they share one ledger: it pays before an answer is computed, and
refuses what does not fit any more.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from cloister import GridSynopsis, KMeans, Ledger
from cloister.demo import make_patients
from cloister.exceptions import BudgetExceeded

plt.style.use("tableau-colorblind10")

# %%
# The owner of the table grants epsilon 2 once, in a file. The team opens it; a copy of it cannot be spent a second time. Gaussian fits add up like the sides of
# a right-angled triangle, pure ones by adding epsilons, so half an epsilon is set aside for pure ones.

patients = make_patients(5_000).to_pandas()
folder = tempfile.TemporaryDirectory()
ledger = Ledger.create(Path(folder.name) / "patients.sqlite", epsilon=2.0, delta=1e-6, pure_epsilon=0.5, name="patients 2026")
columns = {"age": (0, 110), "glucose": (40, 320)}
wide = columns | {"body_mass_index": (10, 60), "systolic_pressure": (70, 230)}

# %%
# What each of them would like to ask, in this order:

wishes = [
    ("Ada", "five groups", KMeans(5, epsilon=0.8, bounds=columns, ledger=ledger, random_state=1)),
    ("Ben", "a map of age and glucose", GridSynopsis(epsilon=0.3, bounds=columns, scaling="bounds", ledger=ledger, random_state=2)),
    ("Ada", "four columns", KMeans(5, epsilon=0.7, bounds=wide, ledger=ledger, random_state=3)),
    ("Cem", "how many groups", KMeans("auto", epsilon=0.8, bounds=columns, ledger=ledger, random_state=4)),
    ("Ben", "a second map", GridSynopsis(epsilon=0.3, bounds=columns, scaling="bounds", ledger=ledger, random_state=5)),
    ("Cem", "eight groups", KMeans(8, epsilon=0.5, bounds=wide, ledger=ledger, random_state=6)),
]
history = [("", "start", ledger.left, ledger.left_pure, "")]
for who, what, model in wishes:
    try:
        model.fit(patients)
    except BudgetExceeded as refusal:
        history.append((who, what, ledger.left, ledger.left_pure, str(refusal)))
    else:
        history.append((who, what, ledger.left, ledger.left_pure, ""))
for who, what, left, left_pure, refusal in history:
    print(f"{who:3} {what:25} left: {left:.2f}, of it set aside for pure: {left_pure:.2f}  {'REFUSED' if refusal else ''}")
print()
print("\n".join(entry[-1] for entry in history if entry[-1]))
