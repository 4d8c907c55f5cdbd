# SPDX-License-Identifier: Apache-2.0
"""Pictures of public numbers with matplotlib, which is optional: ``pip install 'cloister[plot]'``.

Functions of plain arrays: they see neither rows nor releases. Each draws on the axes it is given, or on those of a new figure,
and returns them; none shows a window. Imports domain; imported by release and synopsis.
"""

from cloister.plotting._axes import mark_seeded
from cloister.plotting._curve import plot_curve
from cloister.plotting._map import plot_map
from cloister.plotting._profiles import plot_profiles
from cloister.plotting._tree import plot_tree

__all__ = ["mark_seeded", "plot_curve", "plot_map", "plot_profiles", "plot_tree"]
