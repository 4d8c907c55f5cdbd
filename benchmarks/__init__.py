# SPDX-License-Identifier: Apache-2.0
"""Accuracy and speed, measured side by side. This folder sees rows and truth, therefore it lives outside the package."""
