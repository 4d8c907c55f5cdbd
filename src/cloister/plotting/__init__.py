# SPDX-License-Identifier: Apache-2.0
"""Pictures of public numbers with matplotlib, which is optional: ``pip install 'cloister[plot]'``.

Functions of plain arrays: they see neither rows nor releases. Each draws on the axes it is given, or on those of a new figure,
and returns them; none shows a window. Imports columns; imported by release and synopsis.
"""

from cloister.plotting._charts import cut_height, mark_seeded, plot_curve, plot_tree
from cloister.plotting._clusters import deviations_of, plot_map, plot_profiles

__all__ = ["cut_height", "deviations_of", "mark_seeded", "plot_curve", "plot_map", "plot_profiles", "plot_tree"]
