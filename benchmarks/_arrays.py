# SPDX-License-Identifier: Apache-2.0
"""The one array type of this folder."""

import numpy as np
import numpy.typing as npt

__all__ = ["Array"]

Array = npt.NDArray[np.float64]
