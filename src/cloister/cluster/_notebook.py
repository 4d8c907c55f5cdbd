# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows of an estimator: scikit-learn's page of its parameters and, once it is fitted, what it may publish.

Values about single rows are kept where neither page meets them: see ``_clusterer.LABELS``.
"""

from collections.abc import Callable
from typing import Any

from cloister.card import Card


class NotebookPage:
    """The part of an estimator that notebooks show, to be listed before scikit-learn's base class."""

    @property
    def _repr_html_(self) -> Callable[[], str]:
        parameters: Callable[[], str] = super()._repr_html_  # type: ignore[misc]  # refuses where text is preferred
        return lambda: parameters() + self._published_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._published_html()
        return bundle

    def _published_html(self) -> str:
        """Return the card of the release or the synopsis; of what has neither, the guarantee; nothing before the fit."""
        for name in ("release_", "synopsis_"):
            if hasattr(self, name):
                return str(getattr(self, name)._repr_html_())
        receipt = vars(self).get("privacy_receipt_")
        if receipt is None:
            return ""
        return Card(type(self).__name__, sentences=receipt.promise()[:-1], alert=receipt.alert).html()
