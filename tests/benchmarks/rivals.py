# SPDX-License-Identifier: Apache-2.0
"""Methods from outside: one that works, and others that raise, die, never end, take their time or go astray."""

import os
import signal
import time
from pathlib import Path

import numpy as np


class Sample:
    """Centres are rows drawn at random: no method, but repeatable."""

    def __init__(self, n_clusters, seed, wait=0.0):
        self.n_clusters, self.seed, self.wait = n_clusters, seed, wait

    def fit(self, rows):
        time.sleep(self.wait)
        self.cluster_centers_ = rows[np.random.default_rng(self.seed).choice(len(rows), self.n_clusters, replace=False)]
        return self


def good(n_clusters, epsilon, delta, n_rows, seed):
    assert epsilon > 0
    assert 0 < delta < 1 / n_rows
    return Sample(n_clusters, seed)


def slow(n_clusters, epsilon, delta, n_rows, seed):
    """Leave the process's number behind, so that a test can see it go, and take long enough for a busy test to stop it."""
    if "RIVALS_PIDS" in os.environ:
        (Path(os.environ["RIVALS_PIDS"]) / str(os.getpid())).touch()
        return Sample(n_clusters, seed, wait=0.25)
    return Sample(n_clusters, seed, wait=0.05)


def broken(n_clusters, epsilon, delta, n_rows, seed):
    raise ValueError(f"no idea for {n_clusters} clusters")


def dies(n_clusters, epsilon, delta, n_rows, seed):
    os.kill(os.getpid(), signal.SIGKILL)


def endless(n_clusters, epsilon, delta, n_rows, seed):
    return Sample(n_clusters, seed, wait=3600)


def not_a_number(n_clusters, epsilon, delta, n_rows, seed):
    class Lost(Sample):
        def fit(self, rows):
            super().fit(rows)
            self.cluster_centers_ = np.full_like(self.cluster_centers_, 1e200)
            return self

    return Lost(n_clusters, seed)
