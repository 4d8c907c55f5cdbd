# SPDX-License-Identifier: Apache-2.0
"""
Patients with mixed columns
===========================

Tables of people have numbers, categories, flags and dates, and some values are missing. Columns are declared once, from what
everybody knows of them; the clusters are then told in the columns' own words.
"""

import matplotlib.pyplot as plt

from cloister import KMeans
from cloister.demo import COLUMNS, make_patients

plt.style.use("tableau-colorblind10")

# %%
# Twenty thousand fictitious patients, the ones of ``make demo``. They were made up from five groups, which the fit knows
# nothing of. About a tenth of the glucose values is missing.

patients = make_patients(20_000)
patients.drop_columns("patient_id").slice(0, 4).to_pandas()

# %%
# The declarations: bounds of numbers, levels of categories, the first and last day of a date. Nothing of this was read off the
# rows. ``weight`` says how much a difference in a column matters beside the others.

for name, declared in COLUMNS.items():
    print(f"{name:18} {declared}")

# %%
# A tenth of the budget asks how every column is distributed in every cluster (``describe``).

model = KMeans(5, epsilon=1.0, bounds=COLUMNS, describe=0.1, random_state=0).fit(patients)
release = model.release_
release

# %%
# Which columns set the clusters apart? Colours compare each cluster with all patients.

axis = release.plot(
    "profiles", columns=["age", "body_mass_index", "systolic_pressure", "glucose", "ward=geriatrics", "insulin"]
)
axis.figure.set_size_inches(5.6, 3.6)
axis.set_xticks(
    range(6),
    ["age\n(years)", "BMI\n(kg/m²)", "pressure\n(mmHg)", "glucose\n(mg/dl)", "ward:\ngeriatrics", "insulin"],
    rotation=0,
    ha="center",
)
axis.tick_params(axis="x", labelsize=8)

# %%
# Two columns as a map: the area of a disc is the noisy number of patients, bars are standard errors, here too short to be seen.

axis = release.plot("map", columns=["age", "glucose"])
axis.figure.set_size_inches(5.6, 3.6)
axis.set(xlabel="age (years)", ylabel="glucose (mg/dl)")

# %%
# The same as data: ``profile()`` has an entry for each cluster, in the words of its columns. This is the cluster with the
# highest glucose:

diabetic = max(release.profile(), key=lambda cluster: cluster["columns"]["glucose"]["value"])
for name, words in diabetic["columns"].items():
    match words:
        case {"type": "number", "value": value, "error": error}:
            print(f"{name:18} {value:.1f} ± {error:.1f}")
        case {"type": "category", "shares": shares}:
            print(f"{name:18} " + ", ".join(f"{share:.0%} {level}" for level, (share, _) in shares.items()))
        case {"type": "flag", "share": share}:
            print(f"{name:18} {share:.0%}")
        case {"type": "date", "value": day, "error_days": days}:
            print(f"{name:18} {day} ± {days:.0f} days")

# %%
# And as a table, one line for each cluster:

frame = release.to_frame()
frame[["rows", "rows_error", "age", "age_error", "glucose", "glucose_error", "insulin"]].round(2)

# %%
# How does glucose scatter within the clusters? The histograms that ``describe`` paid for, as shares of each cluster. Counts of
# empty bins are noise around zero, so some of them are negative.

glucose = release.profiles["glucose"]
middles, width = (glucose.edges[:-1] + glucose.edges[1:]) / 2, glucose.edges[1] - glucose.edges[0]

figure, axes = plt.subplots(5, 1, figsize=(5.4, 6.2), sharex=True, sharey=True, layout="constrained")
for axis, label in zip(axes, frame.sort_values("age")["label"], strict=True):
    counts, total = glucose.noisy_counts[label, :-1], glucose.totals.value[label]
    axis.bar(middles, 100 * counts / total, width=0.9 * width, color="C4")
    axis.errorbar(middles, 100 * counts / total, yerr=196 * glucose.sigma / total, fmt="none", ecolor="C3", elinewidth=1)
    axis.set_title(f"cluster {label}, mean age {frame['age'][label]:.0f}", loc="right", fontsize=10, y=0.7)
    axis.spines[["top", "right"]].set_visible(False)
axes[-1].set_xlabel("glucose (mg/dl)")
figure.supylabel("part of the cluster (%), with 95 % intervals", fontsize=10)

# %%
# More on declarations: :doc:`/columns`. More on distributions: :doc:`/profiles`.
