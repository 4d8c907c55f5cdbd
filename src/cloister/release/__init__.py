# SPDX-License-Identifier: Apache-2.0
"""What a fit may publish, as one file that predicts again. Imports domain, privacy and questions."""

from cloister.release._release import (
    NearestPoint,
    Release,
    library_versions,
    load_release,
    nearest_center,
    nearest_point,
    refuse_odd_values,
    write_whole,
)

__all__ = [
    "NearestPoint",
    "Release",
    "library_versions",
    "load_release",
    "nearest_center",
    "nearest_point",
    "refuse_odd_values",
    "write_whole",
]
