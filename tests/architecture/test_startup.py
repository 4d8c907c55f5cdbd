# SPDX-License-Identifier: Apache-2.0
"""What `import cloister` loads, and how long that takes beside scikit-learn."""

import subprocess
import sys

import pytest
from tests.architecture._sources import OPTIONAL

LATE = {*OPTIONAL, "dp_accounting", "pyarrow", "rich", "click", "sqlalchemy", "IPython"}
LOADED = "print(*{name.split('.')[0] for name in sys.modules})"


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def loaded(*parts):
    """Return the libraries that are in memory after each part of a program."""
    shown = run("\n".join(["import sys, numpy as np", *(f"{part}\n{LOADED}" for part in parts)]))
    assert len(shown.splitlines()) == len(parts), "importing says nothing"
    return [set(line.split()) for line in shown.splitlines()]


def test_neither_importing_nor_a_fit_of_an_array_needs_an_optional_library():
    # scikit-learn looks for some of these itself, so what it loads does not count.
    fit = ".fit(np.random.default_rng(0).random((50, 2)))"
    theirs = loaded("import sklearn.cluster, sklearn.utils.validation", f"sklearn.cluster.KMeans(2, n_init=1){fit}")
    ours = loaded("import cloister", f"cloister.PEMeans(2, bounds=(0, 1), n_rounds=2, n_init=1){fit}")
    assert "cloister" in ours[0]
    for before, after in zip(theirs, ours, strict=True):
        assert not LATE & (after - before)


@pytest.mark.slow
def test_start_up_is_close_to_that_of_scikit_learn():
    clock = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"

    def best(module):
        return min(float(run(clock.format(module))) for _ in range(7))

    assert best("cloister") < 1.5 * best("sklearn.cluster")
