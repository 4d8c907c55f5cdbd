# SPDX-License-Identifier: Apache-2.0
"""Seeded fits publish what they published when their files were written, to the last bit.

The files in `data/` hold events, centres, labels and documents. Where another build of the numerical libraries adds numbers up
in another order, the last digits may differ, and are compared to 1e-6. A change that is meant to change results renews the
files of its cases, and its commit says why: ``python -m tests.goldens.test_goldens CASE ...`` (all cases without a name).
"""

import json
import math
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.goldens.cases import CASES, differences, run
from threadpoolctl import threadpool_info

DATA = Path(__file__).with_name("data")
BUILD = DATA / "build.json"
SHOWN = 8


def build() -> dict[str, Any]:
    """Return what decides in which order numbers are added up."""
    kernels = sorted({str(one.get("architecture")) for one in threadpool_info()})
    simd = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    return {"kernels": kernels, "simd": simd, **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")}}


def fit(name: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(json.loads(json.dumps(run(name, Path(folder)))))


@pytest.mark.every_case
@pytest.mark.parametrize("name", CASES)
def test_a_seeded_fit_publishes_what_it_did(name):
    before, now = json.loads((DATA / f"{name}.json").read_text()), fit(name)
    found = list(differences(before, now))
    if found and build() != json.loads(BUILD.read_text()):
        found = [words for words in found if not close(words)]
    assert not found, f"{name}: {len(found)} differences\n" + "\n".join(found[:SHOWN])


def close(words: str) -> bool:
    """Whether a difference is one of the last digits of a number."""
    try:
        before, now = (float(one) for one in words.rpartition(": ")[2].removesuffix(" now").split(" before, "))
    except ValueError:
        return False
    return math.isclose(before, now, rel_tol=1e-6, abs_tol=1e-9)


def test_all_cases_have_files():
    assert {path.stem for path in DATA.glob("*.json")} - {"build"} == set(CASES)


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for case in sys.argv[1:] or CASES:
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in fit(case).items())
        (DATA / f"{case}.json").write_text("{" + ",\n".join(lines) + "}\n")
    BUILD.write_text(json.dumps(build(), indent=1) + "\n")
