# SPDX-License-Identifier: Apache-2.0
"""The messages that the pages of docs/howto quote are those that readers get."""

import pickle
import re
import warnings
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from cloister import Category, GridKMeans, KMeans, Ledger, PEMeans, PrivacyWarning, PrivateScaler, load_release, load_synopsis
from cloister.privacy import PROCESS

from ._pages import NAMES, ROOT, fences

COLUMNS = {"age": (0, 110), "glucose": (40, 320)}
TABLE = "patients.parquet"
ROWS = np.random.default_rng(0).random((300, 2))
SEEN_ELSEWHERE = {  # by tests with clusters: here a part of the message is looked for in the source
    "KMeans.predict: expected rows of this machine": "expected rows of this machine, got rows of a cluster.",
    "open_rows: no Dask scheduler answers at": "no Dask scheduler answers at {scheduler!r} ({type(error).__name__}).",
    "KMeans.privacy_unit: expected the name of a column of a Dask data frame": "expected the name of a column of a",
    "KMeans: Spark cannot compute a partition": "Spark cannot compute a partition ({type(error).__name__}).",
    "KMeans: expected a frame of a session with a Spark context": "expected a frame of a session with a Spark context, got",
}


def spent_twice(second: type, epsilon: float) -> None:
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    KMeans(5, bounds=COLUMNS, epsilon=0.9, ledger=ledger).fit(TABLE)
    second(5, bounds=COLUMNS, epsilon=epsilon, ledger=ledger).fit(TABLE)


def searched() -> None:
    model = KMeans(epsilon=1.0, bounds=(0, 1), ledger=Ledger(epsilon=2.0, delta=1e-6))
    GridSearchCV(model, {"n_clusters": [3, 4]}, cv=3, error_score="raise").fit(ROWS)


def saved_twice() -> None:
    release = load_release("release.json")
    release.save("published.json")
    release.save("published.json")


def created_twice() -> None:
    Ledger.create("team.sqlite", epsilon=1.0).close()
    Ledger.create("team.sqlite", epsilon=1.0)


def fitted_again() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        PROCESS._uncounted = 1
        KMeans(5, bounds=COLUMNS).fit(TABLE)


CASES: list[Callable[[], object]] = [
    lambda: PEMeans("auto", bounds=COLUMNS).fit(TABLE),
    lambda: KMeans(5).fit(ROWS),
    lambda: KMeans(5, bounds=(0, 1)).fit(TABLE),
    lambda: Category([]),
    lambda: KMeans(5, bounds=COLUMNS, privacy_unit="patient_id", ledger=Ledger(epsilon=2.0, delta=1e-6)).fit(TABLE),
    lambda: KMeans(5, bounds=COLUMNS, max_rows_per_unit=3).fit(TABLE),
    lambda: KMeans(5, bounds=(0, 1)).fit(ROWS, groups=np.arange(len(ROWS))),
    lambda: KMeans(5, bounds={"patient_id": (0, 9)}, privacy_unit="patient_id").fit(TABLE),
    lambda: spent_twice(KMeans, 0.9),
    lambda: spent_twice(GridKMeans, 0.3),
    created_twice,
    lambda: Ledger.open("nothing.sqlite"),
    lambda: KMeans(5, bounds=COLUMNS, ledger=pickle.loads(pickle.dumps(Ledger(epsilon=2.0, delta=1e-6)))).fit(TABLE),
    lambda: KMeans(2, bounds=COLUMNS).fit("nothing/*.parquet"),
    lambda: KMeans(5, bounds=COLUMNS, delta=0.1, ledger=Ledger(epsilon=2.0, delta=1e-6)).fit(TABLE),
    fitted_again,
    saved_twice,
    lambda: KMeans(2, bounds=(0, 1), random_state=0).fit(ROWS).release_.save("seeded.json"),
    lambda: KMeans(2, bounds=COLUMNS).fit(TABLE).release_.predict(pd.DataFrame({"age": [1.0]})),
    lambda: load_synopsis("release.json"),
    searched,
    lambda: make_pipeline(PrivateScaler(epsilon=0.3, bounds=(-9, 9)), PCA(2), KMeans(5)).fit(ROWS),
    lambda: KMeans(5, max_iter=3),
    lambda: KMeans(5, accountant=None),
    lambda: KMeans(5, bounds=COLUMNS, ledger=Ledger(epsilon=2.0)).fit(TABLE),
]


def quoted() -> list[tuple[str, str]]:
    """Return the messages that the pages quote, with their page."""
    pages = [name for name in NAMES if name.startswith("docs/howto/")]
    found = [(name, fence) for name in pages for fence in fences((ROOT / name).read_text(encoding="utf-8"))]
    lines = [(name, line.strip()) for name, fence in found if fence.language == "text" for line in fence.lines]
    return [(name, line) for name, line in lines if re.match(r"\w+(\.\w+)*(: |\(\) )", line)]


def without_numbers(message: str) -> str:
    """Return a message without decimals, which differ with the noise."""
    return re.sub(r"\d+\.\d+", "x", message)


def test_messages_are_those_that_readers_get(folder: Path) -> None:
    messages = []
    with chdir(folder):
        for case in CASES:
            with pytest.raises(Exception) as refusal:
                case()
            messages.append(without_numbers(str(refusal.value)))
    seen = set()
    for name, line in quoted():
        if line.startswith(tuple(SEEN_ELSEWHERE)):
            continue
        found = {message for message in messages if message.startswith(without_numbers(line))}
        assert found, f"{name}: {line}"
        seen |= found
    assert set(messages) == seen, "a case that no page quotes"


def test_messages_about_clusters_are_in_the_source() -> None:
    source = "".join(re.sub(r'"\s*f?"', "", path.read_text(encoding="utf-8")) for path in (ROOT / "src").rglob("*.py"))
    for start, part in SEEN_ELSEWHERE.items():
        assert part in source, part
        assert any(line.startswith(start) for _, line in quoted()), start
