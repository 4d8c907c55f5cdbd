# SPDX-License-Identifier: Apache-2.0
"""MST of dpmm, then k-means on its synthetic rows, for an interpreter that has dpmm.

Columns are cut into equal bins within the public bounds, here and not by the package's pipeline, which looks at the rows for
constant columns and missing values. As many rows are drawn as there are: their number is public. A synthetic row lies in the
middle of its bins. dpmm draws its noise from the operating system, so a seed does not repeat a fit.
"""

from _serve import serve

FEWEST, MOST = 8, 32  # bins of a column
N_ITERATIONS = 1000  # of the last inference: the default of its engine; that of MST is 5,000
N_STARTS = 10  # of k-means


def fit(rows, *, n_clusters, epsilon, delta, reach, seed):
    import numpy as np
    import pandas as pd
    from dpmm.models.mst import MSTGM
    from sklearn.cluster import KMeans

    n_bins = count_bins(len(rows))
    bins = np.clip(np.floor((rows + reach) * (n_bins / (2 * reach))), 0, n_bins - 1).astype(int)
    table = pd.DataFrame(bins, columns=[f"column {number}" for number in range(rows.shape[1])])
    domain = dict.fromkeys(table.columns, n_bins)
    model = MSTGM(epsilon=epsilon, delta=delta, n_iters=N_ITERATIONS, domain=domain, n_jobs=1)
    model.set_random_state(np.random.RandomState(seed))
    model.fit(table)
    synthetic = model.generate(n_records=len(rows))[list(table.columns)].to_numpy(dtype=float)
    middles = (synthetic + 0.5) * (2 * reach / n_bins) - reach
    return KMeans(n_clusters, n_init=N_STARTS, random_state=seed).fit(middles).cluster_centers_


def count_bins(n_rows):
    """Return the bins of a column, from the public number of rows: from 1,024 on, a cell of two columns has 16 on average."""
    return int(min(max(n_rows**0.5 / 4, FEWEST), MOST))


if __name__ == "__main__":
    serve("dpmm.models.mst", fit)
