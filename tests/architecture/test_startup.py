# SPDX-License-Identifier: Apache-2.0
"""What `import cloister` loads, and how long that takes beside scikit-learn."""

import subprocess
import sys

import pytest

LATE = {
    "pandas",
    "polars",
    "dask",
    "pyspark",
    "matplotlib",
    "dp_accounting",
    "pyarrow",
    "rich",
    "click",
    "sqlalchemy",
    "IPython",
}


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def loaded(code):
    """Return the libraries that are in memory after running `code`."""
    return set(run(f"{code}\nimport sys; print(*{{name.split('.')[0] for name in sys.modules}})").split())


def test_nothing_heavy_is_imported_at_start_up():
    # scikit-learn looks for some of these itself, so what it loads does not count.
    ours = loaded("import cloister") - loaded("import sklearn.cluster, sklearn.utils.validation")
    assert "cloister" in ours
    assert not LATE & ours


def test_a_fit_of_an_array_needs_no_optional_library():
    fit = "import numpy as np, {0}\n{0}.{1}.fit(np.random.default_rng(0).random((50, 2)))"
    theirs = loaded(fit.format("sklearn.cluster", "KMeans(2, n_init=1)"))
    assert not LATE & (loaded(fit.format("cloister", "PEMeans(2, bounds=(0, 1), n_rounds=2, n_init=1)")) - theirs)


def test_importing_says_nothing():
    assert run("import cloister") == ""


@pytest.mark.slow
def test_start_up_is_close_to_that_of_scikit_learn():
    clock = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"

    def best(module):
        return min(float(run(clock.format(module))) for _ in range(7))

    assert best("cloister") < 1.5 * best("sklearn.cluster")
