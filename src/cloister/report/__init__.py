# SPDX-License-Identifier: Apache-2.0
"""A release as plain data and as one self-contained HTML page. Imports releases; sees no row."""

from cloister.report._format import plain_text, with_error
from cloister.report._render import render, report_html, write_report
from cloister.report._summary import rank_columns, summary

__all__ = ["plain_text", "rank_columns", "render", "report_html", "summary", "with_error", "write_report"]
