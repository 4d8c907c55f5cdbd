# SPDX-License-Identifier: Apache-2.0
"""A canary is planted in the source, then looked for in everything a fit leaves behind."""

import pickle
import re
import struct

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from cloister import Ledger
from cloister.cli import main
from cloister.report import report_html

VALUE = 17.123456789
COUNT = 5_003


def traces():
    text = [f"{VALUE:.9f}", f"{VALUE:.5f}", f"{VALUE:.7g}"]
    return [re.escape(word.encode()) for word in text] + [
        rb"(?<![0-9a-zA-Z.])%d(?![0-9a-zA-Z])" % COUNT,
        re.escape(struct.pack("<d", VALUE)),
    ]


@pytest.fixture
def planted(generator):
    rows = generator.normal(20, 1, (COUNT, 2))
    rows[1234] = VALUE
    return rows


def assert_clean(texts):
    for trace in traces():
        assert not [text for text in texts if re.search(trace, text)]


@pytest.mark.parametrize("method", ["nna", "nas"])
@pytest.mark.parametrize("extra", [{}, {"delta": 1e-6}, {"neighbours": "replace", "calibration": "paper"}])
def test_the_canary_is_found_nowhere(make, target, planted, tmp_path, capfd, method, extra):
    relation = {"neighbours": extra.get("neighbours", "add-remove")}
    ledger = Ledger.create(tmp_path / "budget.sqlite", epsilon=20.0, delta=extra.get("delta", 0.0), **relation)
    model = make(method=method, ledger=ledger, epsilon=1.0, progress=True, **extra).fit(target, source=planted)
    texts = [repr(model), repr(vars(model)), model.release_.to_json(), report_html(model.release_), str(ledger.lines)]
    texts += [*model.privacy_receipt_.explain(), *capfd.readouterr()]
    ledger.close()
    model.release_.save(tmp_path / "release.json")
    blobs = [pickle.dumps(model), *(path.read_bytes() for path in tmp_path.iterdir())]
    assert_clean([*(text.encode() for text in texts), *blobs])


def test_the_command_line_keeps_it_too(target, planted, tmp_path):
    pd.DataFrame(target, columns=["x", "y"]).to_csv(tmp_path / "target.csv", index=False)
    pd.DataFrame(planted, columns=["x", "y"]).to_csv(tmp_path / "source.csv", index=False)
    told = []
    base = [
        "source-target",
        str(tmp_path / "target.csv"),
        "--source",
        str(tmp_path / "source.csv"),
        "-k",
        "2",
        "--epsilon",
        "3",
    ]
    files = ["-o", str(tmp_path / "r.json"), "--report", str(tmp_path / "r.html"), "--indices", str(tmp_path / "m.csv")]
    for arguments in ([*base, *files], [*base, "--json"], [*base, "--epsilon", "x"], [*base, "--columns", "z"]):
        told.append(CliRunner().invoke(main, arguments).output.encode())
    told += [(tmp_path / name).read_bytes() for name in ("r.json", "r.html", "m.csv")]
    assert_clean(told)


def test_the_search_would_find_it(planted):
    for blob in (str(VALUE).encode(), pickle.dumps(np.array([VALUE])), b"n=5003,", pickle.dumps(planted)):
        with pytest.raises(AssertionError):
            assert_clean([blob])
