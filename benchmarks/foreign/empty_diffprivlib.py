# SPDX-License-Identifier: Apache-2.0
"""What diffprivlib's KMeans tells of one row: ``PYTHON empty_diffprivlib.py [FITS]``, with a Python that has it.

One column in [-1, 1], two clusters, 300 rows at 0.7, with and without one more row at -1. A start lies within 0.75 of the
middle, and the centre of a cluster without rows stays at its start. So a centre below -0.75 tells of the one row. Pure
epsilon = 1 allows it to be e = 2.7 times as frequent with the row as without.
"""

import json
import sys


def count(n_fits, *, extra):
    """Return in how many fits, at epsilon = 1, a centre lies below -0.75."""
    import numpy as np
    from diffprivlib.models import KMeans

    rows = np.concatenate([np.full((300, 1), 0.7), np.full((int(extra), 1), -1.0)])
    fits = (KMeans(2, epsilon=1.0, bounds=([-1.0], [1.0]), random_state=seed).fit(rows) for seed in range(n_fits))
    return sum(float(model.cluster_centers_.min()) < -0.75 for model in fits)


if __name__ == "__main__":
    n_fits = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    print(json.dumps({f"fits {name} the row": count(n_fits, extra=name == "with") for name in ("without", "with")}))
