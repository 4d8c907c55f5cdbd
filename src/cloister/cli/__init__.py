# SPDX-License-Identifier: Apache-2.0
"""The command line: parse, call, print. One file per command; what a command needs is imported when it runs."""

from cloister.cli._main import OneLineGroup, main
from cloister.cli._print import open_console, print_release, print_remaining

__all__ = ["OneLineGroup", "main", "open_console", "print_release", "print_remaining"]
