# SPDX-License-Identifier: Apache-2.0
"""A canary is planted in the rows, then looked for in everything a fit leaves behind."""

import logging
import pickle
import re
import struct
import warnings

import numpy as np
import pandas as pd
import pytest

from cloister import Box, Ledger
from cloister.exceptions import CloisterError

VALUE = 77.123456789
COUNT = 10_007  # rows, exactly
BOUNDS = (0.0, 100.0)


def plant(generator, n_features):
    rows = generator.uniform(10, 60, size=(COUNT, n_features))
    rows[4711] = VALUE
    return rows


def traces(n_features):
    """Return every form in which the canary could show: text, and the bytes of a double, in the input's units and in others."""
    text = [f"{VALUE:.9f}", f"{VALUE:.5f}", f"{VALUE:.7g}"]
    frame = Box(*BOUNDS).spread(n_features).frame()
    row = np.full((1, n_features), VALUE)
    numbers = [VALUE, frame.to_unit(row)[0, 0], frame.clean(row)[0, 0], (VALUE - 50) / 50]
    return [re.escape(word.encode()) for word in text] + [
        rb"(?<![0-9a-zA-Z.])%d(?![0-9a-zA-Z])" % COUNT,
        *(re.escape(struct.pack("<d", number)) for number in numbers),
    ]


@pytest.fixture
def everything(make, generator, tmp_path, caplog, capfd, request):
    """Fit, use, print, pickle, save and break a model; return all text and all bytes that came of it."""
    n_features, extra = request.param
    rows = plant(generator, n_features)
    frame = pd.DataFrame(rows, columns=[f"column {index}" for index in range(n_features)])
    relation = {"neighbours": extra.get("neighbours", "add-remove")}
    ledger = Ledger.create(tmp_path / "budget.sqlite", epsilon=20.0, delta=extra.get("delta", 1e-6), name="canary", **relation)
    texts, blobs = [], []
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for data in (rows, frame):
            model = make(3, bounds=BOUNDS, ledger=ledger, epsilon=1.0, **extra).fit(data)
            texts += [repr(model), str(model.get_params()), repr(model.privacy_receipt_), *model.privacy_receipt_.explain()]
            texts += [model.release_.to_json(), repr(model.release_), repr(model.generations_), str(ledger.summary())]
            state = {name: value for name, value in vars(model).items() if name != "labels_"}
            texts += [repr(state), repr(ledger), str(ledger.lines)]
            model.release_.save(tmp_path / "release.json")
            blobs += [pickle.dumps(model), pickle.dumps(model.release_), (tmp_path / "release.json").read_bytes()]
        for wrong in ({"epsilon": 50.0}, {"bounds": None}, {"n_clusters": 0}):
            with pytest.raises(CloisterError) as refused:
                make(**{"bounds": BOUNDS, "ledger": ledger, **relation, **wrong}).fit(frame)
            texts.append(str(refused.value))
        with pytest.raises(CloisterError) as refused:
            make(3, bounds=BOUNDS).fit(frame.assign(name=str(VALUE)))
        texts.append(str(refused.value))
    texts += [caplog.text, *(str(one.message) for one in caught), *capfd.readouterr()]
    ledger.close()
    blobs += [path.read_bytes() for path in tmp_path.iterdir()]
    return n_features, [*(text.encode() for text in texts), *blobs]


CASES = [
    (2, {}),
    (2, {"delta": 0, "neighbours": "replace"}),
    (2, {"progress": True, "scaling": "bounds"}),
    (40, {}),
]


@pytest.mark.parametrize("everything", CASES, indirect=True)
def test_the_canary_is_found_nowhere(everything):
    n_features, left_behind = everything
    for trace in traces(n_features):
        assert not [blob for blob in left_behind if re.search(trace, blob)]


def test_the_search_would_find_it():
    planted = [
        str(VALUE).encode(),
        pickle.dumps(np.array([VALUE])),
        f"n={COUNT}, {COUNT}.0".encode(),
        f"[{VALUE:.7g}]".encode(),
    ]
    for blob in planted:
        assert any(re.search(trace, blob) for trace in traces(2))


def test_the_exact_number_of_rows_is_not_the_noisy_one(make, generator):
    totals = {make(2, bounds=BOUNDS, epsilon=1.0).fit(plant(generator, 2)).cluster_counts_.sum() for _ in range(4)}
    assert len(totals) > 1


def test_there_is_no_exact_loss(make, rows):
    model = make().fit(rows)
    assert not hasattr(model, "inertia_")
    assert sorted(name for name in vars(model) if name.endswith("_")) == [
        "cluster_centers_",
        "cluster_counts_",
        "generations_",
        "n_features_in_",
        "n_iter_",
        "privacy_receipt_",
        "release_",
    ]


def test_bounds_are_never_taken_from_the_rows(make, rows):
    # Fault 9: minimum and maximum of the rows taken silently as bounds, and stored.
    for table in (rows, rows * 0.01):
        model = make(bounds=(-3, 3)).fit(table)
        assert model.release_.domain.to_dict() == {"kind": "box", "low": [-3.0, -3.0], "high": [3.0, 3.0]}
