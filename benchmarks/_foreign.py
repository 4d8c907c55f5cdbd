# SPDX-License-Identifier: Apache-2.0
"""diffprivlib in an interpreter of its own: it needs an older scikit-learn than the package does."""

import io
import subprocess
from typing import Self

import numpy as np

from ._arrays import Array

__all__ = ["ForeignKMeans"]

CODE = """
import io, sys, time
import numpy as np
from diffprivlib.models import KMeans
k, epsilon, reach, seed = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
rows = np.load(io.BytesIO(sys.stdin.buffer.read()))
box = (np.full(rows.shape[1], -reach), np.full(rows.shape[1], reach))
start = time.perf_counter()
model = KMeans(k, epsilon=epsilon, bounds=box, random_state=seed).fit(rows)
seconds = time.perf_counter() - start
out = io.BytesIO()
np.savez(out, centers=model.cluster_centers_, seconds=seconds)
sys.stdout.buffer.write(out.getvalue())
"""


class ForeignKMeans:
    """Fits in another process; `seconds_` is what the fit took there, without start-up."""

    def __init__(self, python: str, n_clusters: int, epsilon: float | None, reach: float, seed: int) -> None:
        self._command = [python, "-W", "ignore", "-c", CODE, *map(str, (n_clusters, epsilon, reach, seed))]

    def fit(self, rows: Array) -> Self:
        """Send the rows, receive the centres."""
        packed = io.BytesIO()
        np.save(packed, rows)
        done = subprocess.run(self._command, input=packed.getvalue(), capture_output=True)
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no word"]
            raise RuntimeError(f"{self._command[0]} ended with code {done.returncode}: {lines[-1]}")
        with np.load(io.BytesIO(done.stdout)) as found:
            self.cluster_centers_, self.seconds_ = found["centers"], float(found["seconds"])
        return self
