# SPDX-License-Identifier: Apache-2.0
"""A demonstration in a minute, on generated data: a table, a budget, a fit, what it publishes, and a refusal.

Run by ``make demo``, or as ``python -m cloister.demo FOLDER``. A seeded generator makes up the patients; the noise is real.
"""

import json
import sys
import textwrap
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from rich.console import Console

from cloister import plan
from cloister.cli import open_console, print_release, print_remaining
from cloister.cluster import KMeans
from cloister.columns import Category, Date, Flag, Number, days_of
from cloister.exceptions import BudgetExceeded
from cloister.privacy import ApproxDP, Ledger
from cloister.report import write_report

__all__ = ["COLUMNS", "main", "make_patients"]

N_PATIENTS = 50_000
SEED = 20
BUDGET = ApproxDP(1.5, 1e-6)
EPSILON = 1.25
DESCRIBE = 0.1  # part of it that says what the clusters look like
DATASET, PURPOSE = "Demo patients", "Showing how it works"
WARDS = ["general", "cardiology", "geriatrics"]
COLUMNS = {
    "age": Number(0, 110),
    "body_mass_index": Number(10, 60),
    "systolic_pressure": Number(70, 230),
    "glucose": Number(40, 320),
    "ward": Category(WARDS, weight=0.25),
    "insulin": Flag(weight=0.25),
    "admitted": Date("2020-01-01", "2026-12-31"),
}
NUMBERS = tuple(COLUMNS)[:4]
UNITS = ("years", "kg/m2", "mmHg", "mg/dl")
MISSING_GLUCOSE = 0.1


class Group(NamedTuple):
    """Patients who are alike."""

    share: float  # of all patients
    mean: tuple[float, ...]  # of the numbers
    spread: tuple[float, ...]
    wards: tuple[float, ...]  # shares of them
    insulin: float  # share with it
    admitted: str  # on about this day


GROUPS = {
    "young and healthy": Group(0.34, (29, 22.5, 114, 86), (7, 2.2, 8, 8), (0.97, 0.02, 0.01), 0.01, "2022-03-01"),
    "middle-aged and heavier": Group(0.26, (49, 30.5, 129, 103), (8, 3.2, 10, 11), (0.85, 0.14, 0.01), 0.03, "2024-06-01"),
    "older, high blood pressure": Group(0.20, (70, 27.0, 163, 105), (8, 2.8, 12, 12), (0.1, 0.8, 0.1), 0.05, "2023-05-01"),
    "diabetic": Group(0.13, (61, 34.0, 143, 196), (10, 4.0, 13, 28), (0.9, 0.09, 0.01), 0.9, "2023-11-01"),
    "old and frail": Group(0.07, (85, 19.5, 118, 92), (5, 1.8, 12, 10), (0.04, 0.06, 0.9), 0.04, "2025-08-01"),
}
DAYS = 150.0  # by which admissions of a group spread
FILES = ("patients.parquet", "schema.json", "budget.sqlite", "budget.sqlite-journal", "release.json", "report.html")


def make_patients(n_rows: int = N_PATIENTS, *, seed: int = SEED) -> pa.Table:
    """Return fictitious patients, one a row, in no order; some of their glucose values are missing.

    Examples
    --------
    >>> make_patients(100).shape
    (100, 8)
    """
    generator = np.random.default_rng(seed)
    groups = list(GROUPS.values())
    owner = generator.choice(len(groups), size=n_rows, p=[group.share for group in groups])
    means, spreads = np.array([group.mean for group in groups]), np.array([group.spread for group in groups])
    numbers = np.round(generator.normal(means[owner], spreads[owner]), 1)
    levels = np.cumsum([group.wards for group in groups], axis=1)[owner]
    ward = np.minimum(np.sum(generator.random((n_rows, 1)) > levels, axis=1), levels.shape[1] - 1)
    days = generator.normal([days_of(groups[index].admitted) for index in owner], DAYS).astype(np.int32)
    missing = generator.random(n_rows) < MISSING_GLUCOSE
    columns: dict[str, Any] = {"patient_id": pa.array([f"P{index:06d}" for index in range(n_rows)])}
    columns |= {name: pa.array(numbers[:, index]) for index, name in enumerate(NUMBERS)}
    columns["glucose"] = pa.array(numbers[:, NUMBERS.index("glucose")], mask=missing)
    columns["ward"] = pa.array(WARDS).take(pa.array(ward))
    columns["insulin"] = pa.array(generator.random(n_rows) < np.array([group.insulin for group in groups])[owner])
    columns["admitted"] = pa.array(days).cast(pa.date32())
    return pa.table(columns)


def main(arguments: list[str] | None = None) -> None:
    """Run the demonstration in a folder; files of an earlier run are replaced, everything else there is left alone."""
    given = sys.argv[1:] if arguments is None else arguments
    folder = Path(given[0] if given else "demo-output")
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    console = open_console()
    started = time.monotonic()
    pa.parquet.write_table(make_patients(), folder / "patients.parquet")
    _say(
        console,
        f"{N_PATIENTS:,} fictitious patients are in {folder / 'patients.parquet'}. They were made up from {len(GROUPS)} "
        f"groups ({'; '.join(GROUPS)}), which the fit knows nothing of. They have numbers, a category, a flag and a date, and "
        f"about {MISSING_GLUCOSE:.0%} of the glucose values are missing.",
        title="1. A table nobody may see",
    )
    _say(
        console,
        "'cloister schema patients.parquet --output schema.json' drafts this file from names and types, without a look at any "
        "value. Filled in with what everybody knows of such columns, and without the column patient_id, it reads:",
        title="2. What the columns are",
    )
    lines = [f" {json.dumps(name)}: {json.dumps(one.to_dict())}" for name, one in COLUMNS.items()]
    text = "{\n" + ",\n".join(lines) + "\n}"
    (folder / "schema.json").write_text(text + "\n", encoding="utf-8")
    console.print(f"\n{textwrap.indent(text, '  ')}", soft_wrap=True)
    with Ledger.create(folder / "budget.sqlite", BUDGET, name="demo patients") as ledger:
        _say(
            console,
            f"All fits on these patients together may spend {BUDGET}. The ledger {folder / 'budget.sqlite'} pays before an "
            "answer is computed, and refuses what does not fit.",
            title="3. A budget that is written down",
        )
        _say_what_to_expect(console)
        model = KMeans(
            n_clusters=len(GROUPS),
            epsilon=EPSILON,
            bounds=COLUMNS,
            describe=DESCRIBE,
            dataset=DATASET,
            purpose=PURPOSE,
            ledger=ledger,
            progress=sys.stderr.isatty(),
        )
        _fit(console, folder, model, ledger)
        _be_refused(console, folder, model.set_params(progress=False))
        _say_where(console, folder)
    console.print(f"\nAll of this took {time.monotonic() - started:.1f} seconds.")


def _say_what_to_expect(console: Console) -> None:
    forecast = plan(N_PATIENTS, len(COLUMNS), len(GROUPS), epsilon=EPSILON, delta=BUDGET.delta, describe=DESCRIBE)
    votes, rounds = ([step for step in forecast.steps if step.name.startswith(kind)] for kind in ("vote", "round"))
    _say(
        console,
        f"The fit will let the rows vote {len(votes)} times for the nearest of thousands of candidates, to find where "
        f"they are many, then place the centres in {len(rounds)} rounds of noisy counts and sums. With epsilon "
        f"{EPSILON:g} a vote carries Gaussian noise of about {votes[-1].sigma('counts'):.0f} rows, a last count of about "
        f"{rounds[-1].sigma('counts'):.0f}. A group of thousands stands out clearly; noise would hide a few dozen, and "
        "that is the point: no patient stands out from the noise.",
        title="4. What to expect",
    )


def _fit(console: Console, folder: Path, model: KMeans, ledger: Ledger) -> None:
    _print_title(console, "5. The fit")
    console.print("In Python:\n", style="bold")
    console.print(
        '  ledger = Ledger.open("budget.sqlite")\n'
        '  columns = json.load(open("schema.json"))\n'
        f"  model = KMeans({len(GROUPS)}, epsilon={EPSILON:g}, bounds=columns, describe={DESCRIBE:g}, ledger=ledger,\n"
        f'                 dataset="{DATASET}", purpose="{PURPOSE}")\n'
        '  write_report(model.fit("patients.parquet"), "report.html")\n'
    )
    console.print("On the command line:\n", style="bold")
    console.print(
        f"  cloister fit patients.parquet -k {len(GROUPS)} --epsilon {EPSILON:g} --ledger budget.sqlite \\\n"
        f'      --bounds schema.json --describe {DESCRIBE:g} --name "{DATASET}" --purpose "{PURPOSE}" \\\n'
        "      --output release.json --report report.html\n"
    )
    started = time.monotonic()
    release = model.fit(folder / "patients.parquet").release_
    release.save(folder / "release.json", overwrite=True)
    write_report(release, folder / "report.html", overwrite=True)
    _say(console, f"Done in {time.monotonic() - started:.1f} seconds. This is all that left the vault:")
    console.print()
    print_release(console, release)
    units = ", ".join(f"{name} in {unit}" for name, unit in zip(NUMBERS, UNITS, strict=True))
    console.print(f"Units: {units}.\n")
    console.print('The same as data: release.profile()[0]["columns"], or release.to_frame()\n', style="bold")
    for name, one in release.profile()[0]["columns"].items():
        rounded = json.loads(json.dumps(one), parse_float=lambda digits: round(float(digits), 4))
        console.print(f"  {name}: {json.dumps(rounded)}", soft_wrap=True)
    assert release.profiles is not None
    age, label = release.profiles["age"], int(np.argmax(release.cluster_counts))
    spread, difference = age.spread(), age.difference()
    console.print()
    _say(
        console,
        f"{100 * DESCRIBE:.0f} % of the budget asked for histograms of every column in each cluster; the report draws them. "
        f'release.profiles["age"] says that ages in cluster {label}, the largest, have a standard deviation of '
        f"{spread.value[label]:.1f} ± {spread.error[label]:.1f} years, and that their mean lies "
        f"{difference.value[label]:+.2f} ± {difference.error[label]:.2f} standard deviations from that of all patients.",
    )
    console.print()
    print_remaining(console, ledger)
    _say(
        console,
        f"That is more than {BUDGET.epsilon:g} - {EPSILON:g}: costs of Gaussian noise add up like the sides of a "
        "right-angled triangle.",
    )


def _be_refused(console: Console, folder: Path, model: KMeans) -> None:
    _say(console, f"Somebody would like another look at epsilon {EPSILON:g}:", title="6. A second fit, refused")
    try:
        model.fit(folder / "patients.parquet")
    except BudgetExceeded as refusal:
        console.print()
        console.print(textwrap.fill(str(refusal), 96, initial_indent="  Error: ", subsequent_indent="  "), style="red")
        console.print()
    _say(console, "No row was read for it, and nothing was debited.")


def _say_where(console: Console, folder: Path) -> None:
    release, ledger = folder / "release.json", folder / "budget.sqlite"
    _print_title(console, "7. What may be published")
    for line in (
        f"  {release}  the release: centres, noisy counts, guarantee, every event. It predicts again:",
        f"      cloister predict {release} {folder / 'patients.parquet'} --keep patient_id --output labels.csv",
        f"  {folder / 'report.html'}  the report: one page that opens offline in any browser",
        f"  {ledger}  the ledger: every question, how noisy its answer is, and what is left",
        f"\n  Look again:  cloister ledger show {ledger} --events",
    ):
        console.print(line, soft_wrap=True)


def _print_title(console: Console, title: str) -> None:
    console.print(f"\n{title}\n{'-' * len(title)}", style="bold")


def _say(console: Console, text: str, *, title: str = "") -> None:
    if title:
        _print_title(console, title)
    console.print(textwrap.fill(text, 96, break_on_hyphens=False))


if __name__ == "__main__":
    main()
