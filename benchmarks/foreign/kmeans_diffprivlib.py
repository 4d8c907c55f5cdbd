# SPDX-License-Identifier: Apache-2.0
"""diffprivlib's KMeans, for an interpreter that has it: pure epsilon in the public box, so delta is not used."""

from _serve import serve


def fit(rows, *, n_clusters, epsilon, delta, reach, seed):
    import numpy as np
    from diffprivlib.models import KMeans

    box = (np.full(rows.shape[1], -reach), np.full(rows.shape[1], reach))
    return KMeans(n_clusters, epsilon=epsilon, bounds=box, random_state=seed).fit(rows).cluster_centers_


if __name__ == "__main__":
    serve("diffprivlib.models", fit)
