# SPDX-License-Identifier: Apache-2.0
"""
A budget shared by a team
=========================

Three people work on the same patients. Every answer costs privacy, whoever asks, so they share one ledger: it pays before an
answer is computed, and refuses what does not fit any more.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from cloister import GridSynopsis, KMeans, Ledger
from cloister.demo import make_patients
from cloister.exceptions import BudgetExceeded

plt.style.use("tableau-colorblind10")

# %%
# The owner of the table grants a budget once, in a file that everybody on the team opens. No copy of it can be spent a second
# time.

patients = make_patients(5_000).to_pandas()
folder = tempfile.TemporaryDirectory()
ledger = Ledger.create(Path(folder.name) / "patients.sqlite", epsilon=1.5, delta=1e-6, name="patients, 2026")
print(ledger)

# %%
# What the team would like to know, in this order:

two = {"age": (0, 110), "glucose": (40, 320)}
four = two | {"body_mass_index": (10, 60), "systolic_pressure": (70, 230)}
wishes = [
    KMeans(5, epsilon=0.7, bounds=two, ledger=ledger, purpose="Ada: five groups", random_state=1),
    GridSynopsis(epsilon=0.6, delta=1e-6, bounds=two, scaling="bounds", ledger=ledger, purpose="Ben: a map", random_state=2),
    KMeans("auto", epsilon=0.8, bounds=four, ledger=ledger, purpose="Cem: how many groups", random_state=3),
    KMeans(8, epsilon=0.8, bounds=four, ledger=ledger, purpose="Ada: eight groups", random_state=4),
    KMeans(8, epsilon=0.72, bounds=four, ledger=ledger, purpose="Ada: the same, smaller", random_state=5),
    GridSynopsis(
        epsilon=0.3, delta=1e-6, bounds=two, scaling="bounds", ledger=ledger, purpose="Ben: a second map", random_state=6
    ),
]
balances = [("granted", ledger.left, False)]
for model in wishes:
    try:
        model.fit(patients)
        balances.append((model.purpose, ledger.left, False))
    except BudgetExceeded as refusal:
        balances.append((model.purpose, ledger.left, True))
        print(refusal)

# %%
# The balance is what one more fit may cost at most. It falls by less than the sum of the epsilons: Gaussian noise adds up by
# squares, like the sides of a right-angled triangle. Refused fits read no row and cost nothing. After the fifth wish the budget
# is nearly empty, and whoever comes next is refused, whatever it is for.

figure, axis = plt.subplots(figsize=(5.6, 3.9), layout="constrained")
for line, (_, left, refused) in enumerate(balances):
    style = {"color": "white", "edgecolor": "C5", "hatch": "///"} if refused else {"color": "C0" if line else "C2"}
    axis.barh(line, left, height=0.65, **style)
    axis.text(left + 0.02, line, f"{left:.2f}" + (" (refused)" if refused else ""), va="center")
axis.set_yticks(range(len(balances)), [name for name, _, _ in balances])
axis.set(xlabel="left afterwards (epsilon, at delta 1e-6)", xlim=(0, 1.75), ylim=(len(balances) - 0.4, -0.6))
axis.spines[["top", "right"]].set_visible(False)

# %%
# What did they spend it on? The ledger knows every question, never an answer.

accounts = ledger.summary()["accounts"]
cells = [[one["stated_purpose"], one["purpose"], str(one["events"]), one["cost"].split(" at")[0]] for one in accounts]
figure, axis = plt.subplots(figsize=(5.6, 1.9), layout="constrained")
axis.axis("off")
table = axis.table(
    cells,
    colLabels=["who and what for", "method", "questions", "cost"],
    colWidths=[0.4, 0.24, 0.16, 0.24],
    loc="center",
    cellLoc="left",
)
table.auto_set_font_size(False)
table.set_fontsize(10)
table.scale(1, 1.5)
for (line, _), cell in table.get_celld().items():
    cell.set(edgecolor="0.85", facecolor="#E6EEF5" if line == 0 else "white")

# %%
# Each question as a dot: how much noise its answer carries, as a multiple of what one patient can change in it. A fit can ask
# many questions with much noise, or few with little: what counts is the sum of ``1 / height²`` over its dots, the square of mu
# in Gaussian differential privacy.

figure, axis = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
debits = [line for line in ledger.lines if line["kind"] == "debit"]
for mark, colour, account in zip("osD^", ("C0", "C1", "C3", "C5"), accounts, strict=True):
    own = [
        (place, one["scale"] / one["sensitivity"]) for place, one in enumerate(debits) if one["account"] == account["account"]
    ]
    axis.plot(*zip(*own, strict=True), mark, color=colour, markersize=5, label=account["stated_purpose"])
axis.set(yscale="log", xlabel="question, in the order they were asked", ylabel="noise / what one patient changes")
axis.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside upper center", ncols=2, frameon=False)

# %%
# An auditor reads the same lines with ``cloister ledger show patients.sqlite --events``. Each line carries a digest of the one
# before it, so an altered file is refused, and a checkpoint kept elsewhere shows whether lines were cut off the end:
# ``Ledger.open(path, checkpoint=...)``. More: :doc:`/privacy`.

print(f"{len(ledger.lines)} lines; left: epsilon {ledger.left:.2f}")
ledger.close()
folder.cleanup()
