# SPDX-License-Identifier: Apache-2.0
"""How many examples a property is tested with: all of them in the slow suite, a part in the fast one (tests/conftest.py)."""

from typing import Any

from hypothesis import settings

ALL = 100  # what Hypothesis draws by default
FEWEST = 5


def examples(number: int, **other: Any) -> settings:
    """Return settings for so many examples, or for the part of them that the fast suite draws."""
    part = settings.default.max_examples / ALL
    return settings(max_examples=max(round(number * min(part, 1.0)), min(number, FEWEST)), deadline=None, **other)
