# SPDX-License-Identifier: Apache-2.0
"""Examples of the gallery are run as a reader runs them: a warning is an error."""

import warnings


def refuse_warnings(gallery: object, example: str, when: str) -> None:
    """Make warnings errors before an example, and let those of the site's own tools pass after it."""
    warnings.simplefilter("error" if when == "before" else "ignore")
