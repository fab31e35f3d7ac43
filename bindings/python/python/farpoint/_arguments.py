"""Checks of numbers that many functions take. Every refusal names the argument and what it was."""

from __future__ import annotations

import operator
from typing import Any

#: The largest number of rows that an array can have.
_MOST = 2**63 - 1


def integer(value: Any, name: str, low: int, high: int = _MOST) -> int:
    """The value as an int; refuses what is no whole number or out of range."""
    # An int is not looked at again: torch.compile has symbols in place of some.
    if not isinstance(value, int):
        try:
            value = operator.index(value)
        except TypeError:
            text = f"{name} must be an integer, not {value!r} ({type(value).__name__})"
            raise TypeError(text) from None
    if value < low:
        raise ValueError(f"{name} is {value}; it must be {low} or more")
    if value > high:
        raise ValueError(f"{name} {value} is outside {low}..={high}")
    whole: int = value
    return whole


def count(value: Any) -> int | None:
    return None if value is None else integer(value, "count", 0)


def threads(value: Any) -> int | None:
    return None if value is None else integer(value, "threads", 1)


def seed(value: Any) -> int | None:
    return None if value is None else integer(value, "seed", 0, 2**64 - 1)
