# SPDX-License-Identifier: Apache-2.0
"""Seeded fits publish what they published when their files were written, to the last bit.

The files in `data/` hold events, centres, labels and documents. The fits run in a process of their own, on one thread and with
kernels that every machine of the architecture has, so that sums have one order everywhere. Under other versions of the
numerical libraries differences up to 1e-6 are let pass. A change that is meant to change results renews the files of its cases,
and its commit says why: ``python -m tests.goldens.test_goldens CASE ...`` (all cases without a name).
"""

import json
import math
import os
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.goldens.cases import CASES, Difference, differences

DATA = Path(__file__).with_name("data")
BUILD = DATA / "build.json"
SHOWN = 8
ON_DASK = ("kmeans-from-dask",)
ONE_ORDER = {
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
}


def build() -> dict[str, str]:
    return {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}


def fits(names: list[str]) -> dict[str, dict[str, Any]]:
    """Return what these cases publish, fitted in a process of their own."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.goldens.cases", *names]
    return dict(json.loads(subprocess.run(command, env={**os.environ, **ONE_ORDER}, check=True, stdout=subprocess.PIPE).stdout))


@pytest.mark.both_suites  # with Dask
def test_seeded_fits_publish_what_they_did():
    differ = {}
    for name, now in fits([name for name in CASES if name not in ON_DASK or find_spec("dask") is not None]).items():
        found = list(differences(json.loads((DATA / f"{name}.json").read_text()), now))
        if build() != json.loads(BUILD.read_text()):
            found = [one for one in found if not close(one)]
        if found:
            differ[name] = [f"{len(found)} differences", *found[:SHOWN]]
    assert not differ, json.dumps(differ, indent=1)


def close(found: Difference) -> bool:
    """Whether a difference is one of the last digits of a number."""
    numbers = all(type(one) in (int, float) for one in (found.before, found.now))
    return numbers and math.isclose(found.before, found.now, rel_tol=1e-6, abs_tol=1e-9)


def test_all_cases_have_files():
    assert {path.stem for path in DATA.glob("*.json")} - {"build"} == set(CASES)


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for case, found in fits(sys.argv[1:] or list(CASES)).items():
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
        (DATA / f"{case}.json").write_text("{" + ",\n".join(lines) + "}\n")
    BUILD.write_text(json.dumps(build(), indent=1) + "\n")
