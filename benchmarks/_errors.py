# SPDX-License-Identifier: Apache-2.0
"""The one error of this folder: something a person can put right. The command line prints it as one line."""

from cloister.exceptions import CloisterError

__all__ = ["BenchError"]


class BenchError(CloisterError):
    """A benchmark cannot be run as asked; the message says what to do."""
