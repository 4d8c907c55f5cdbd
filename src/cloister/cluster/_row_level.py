# SPDX-License-Identifier: Apache-2.0
"""Attributes about single rows, kept beside an estimator instead of in it.

Scikit-learn asks for ``labels_``, and its page for notebooks shows whatever ``vars`` or ``dir`` list: of an array the exact
length and the first and last entries. So row-level values are stored outside the object. They can be read by name; nothing that
lists, prints, copies or stores the object meets them. Imported by the estimators.
"""

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary


class RowLevel:
    """An attribute of this process alone: no part of an object's state, gone with the object.

    Examples
    --------
    >>> class Model:
    ...     labels_ = RowLevel()
    >>> model = Model()
    >>> hasattr(model, "labels_")
    False
    >>> model.labels_ = [1, 0, 1]
    >>> model.labels_, vars(model)
    ([1, 0, 1], {})
    """

    def __init__(self) -> None:
        self._values: WeakKeyDictionary[object, Any] = WeakKeyDictionary()
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if instance not in self._values:
            raise AttributeError(f"{type(instance).__name__!r} object has no attribute {self._name!r}")
        return self._values[instance]

    def __set__(self, instance: object, value: Any) -> None:
        self._values[instance] = value

    def __delete__(self, instance: object) -> None:
        self.__get__(instance)  # there must be one
        self.forget(instance)

    def forget(self, instance: object) -> None:
        """Drop the value, if there is one."""
        self._values.pop(instance, None)


def without_row_level(kind: type, names: Iterable[str]) -> list[str]:
    """Return the names of attributes that may be listed: those that are not about single rows."""
    hidden = {name for base in kind.__mro__ for name, value in vars(base).items() if isinstance(value, RowLevel)}
    return sorted(set(names) - hidden)
