# SPDX-License-Identifier: Apache-2.0
"""Numbers and names as people read them, for the files of the report."""

from cloister.text import count_of, number, plain_text, span_of, with_error

__all__ = ["count_of", "number", "plain_text", "span_of", "with_error"]
