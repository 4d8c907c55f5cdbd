# SPDX-License-Identifier: Apache-2.0
"""What `fit` and `predict` ask of a table before it is opened."""

from typing import Any

import numpy as np

from cloister.data import LocalRows, Rows


def is_in_memory(X: object, rows: Rows) -> bool:
    """Whether scikit-learn can look at the shape and the column names itself."""
    return isinstance(rows, LocalRows) and (isinstance(X, list | tuple | np.ndarray) or hasattr(X, "columns"))


def is_file(X: object) -> bool:
    """Whether rows are read when they are needed, from a file or from what was opened already."""
    return isinstance(X, str) or hasattr(X, "__fspath__") or isinstance(X, Rows)


def has_names(X: object) -> bool:
    """Whether a table in memory has names for its columns."""
    return hasattr(X, "columns") or hasattr(X, "column_names")


def shape_of(X: Any, rows: Rows) -> Any:
    """Return what has the shape and the column names of `X`; scikit-learn would take the width of a list from its first row."""
    return X if hasattr(X, "columns") else np.empty((0, rows.n_features))
