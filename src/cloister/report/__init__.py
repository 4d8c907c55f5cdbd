# SPDX-License-Identifier: Apache-2.0
"""A release or a synopsis as plain data and as one self-contained HTML page. Sees no row."""

from cloister.report._pages import Picture, Table, render_page
from cloister.report._render import report_html, write_report
from cloister.report._source_target import source_target_of
from cloister.report._summary import cells_of, loss_summary, summary, synopsis_summary, table_of
from cloister.report._synopsis import synopsis_html
from cloister.report._words import cell_words, choice_words, comparison_of_numbers, declared_words, found_words

__all__ = [
    "Picture",
    "Table",
    "cell_words",
    "cells_of",
    "choice_words",
    "comparison_of_numbers",
    "declared_words",
    "found_words",
    "loss_summary",
    "render_page",
    "report_html",
    "source_target_of",
    "summary",
    "synopsis_html",
    "synopsis_summary",
    "table_of",
    "write_report",
]
