"""Checks of arguments that many functions share. Every error has the argument and its value."""

from __future__ import annotations

import operator
import re
import sys
from typing import Any

from ._native import METHODS

#: Largest number of rows of an array.
_MAX_INTEGER = 2**63 - 1


def integer(value: Any, name: str, low: int, high: int = _MAX_INTEGER) -> int:
    """Returns the value as an int after checking that it is an integer within the range."""
    # Ints are not converted: torch.compile replaces some by symbols.
    if not isinstance(value, int) or isinstance(value, bool):
        try:
            value = operator.index(None if isinstance(value, bool) else value)  # type: ignore[arg-type]
        except TypeError:
            text = f"{name} must be an integer, not {value!r} ({type(value).__name__})"
            raise TypeError(text) from None
    if value < low:
        raise ValueError(f"{name} is {value}; it must be {low} or more")
    if value > high:
        raise ValueError(f"{name} {value} is outside {low}..={high}")
    checked: int = value
    return checked


#: Types of immutable arguments, whose records can be cached. Others may be hashable and still
#: change, as tensors do.
_CONSTANT = frozenset((int, float, bool, str, type(None)))


def are_constant(*values: Any) -> bool:
    """Returns whether all values are immutable. Not for use under ``torch.compile``, which has symbols."""
    return _CONSTANT.issuperset(map(type, values))


def count(value: Any) -> int | None:
    return None if value is None else integer(value, "count", 0)


def threads(value: Any) -> int | None:
    return None if value is None else integer(value, "threads", 1)


def seed(value: Any) -> int | None:
    return None if value is None else integer(value, "seed", 0, 2**64 - 1)


def exact(algorithm: Any) -> None:
    """Raises if this is not a string, or names an approximate sampler."""
    if not isinstance(algorithm, str):
        raise TypeError(f'algorithm is {algorithm!r}; it must be the name of one, such as "auto"')
    if algorithm.partition(":")[0] in METHODS:
        raise ValueError(
            f'algorithm "{algorithm}" is approximate, and this function is exact; for an approximate '
            f"sample call farpoint.sample_{algorithm.partition(':')[0]}(points, count)"
        )


def is_narrow(index_dtype: Any) -> bool:
    """Returns whether indices have 32 bits, by a name or the dtype of any library; 64 unless set."""
    if index_dtype is None:
        return False
    name = index_dtype
    if not isinstance(name, str):
        name = getattr(index_dtype, "__name__", None) or str(index_dtype)
    short = name.rpartition(".")[2]
    if short not in ("int32", "int64"):
        raise ValueError(f'index_dtype is {index_dtype!r}; it must be "int64" or "int32"')
    return bool(short == "int32")


def number(value: Any, name: str) -> float:
    """Returns the value as a float after checking that it is a number and not NaN."""
    converted = value
    if not isinstance(value, float):
        try:
            converted = float("" if isinstance(value, bool) else value)
        except (TypeError, ValueError):
            text = f"{name} must be a number, not {value!r} ({type(value).__name__})"
            raise TypeError(text) from None
    if converted != converted:
        raise ValueError(f"{name} is NaN; it must be a number")
    return float(converted)


def deadline(value: Any) -> float:
    """Returns a time in seconds, 0 if it has passed."""
    seconds = number(value, "deadline")
    if seconds > 1e9:
        raise ValueError(f"deadline is {seconds}; it must be a number of seconds, up to 1e9")
    return max(seconds, 0.0)


def flag(value: Any, name: str) -> bool:
    """Returns a bool after checking that it is not a function or text."""
    if callable(value) or isinstance(value, str):
        raise TypeError(f"{name} must be True or False, not {value!r}; a bar is tqdm's if installed, else a line")
    return bool(value)


def numbers(values: Any, name: str) -> list[float]:
    """Returns a number, or each of several, as floats after checking that they are numbers and not NaN."""
    listed = values.tolist() if hasattr(values, "tolist") else values
    return [number(value, name) for value in (listed if isinstance(listed, (list, tuple)) else [listed])]


#: Suffixes of memory sizes, as on the command line; a letter alone is binary.
_SIZES = {
    **{f"{letter}iB": 1024**k for k, letter in enumerate("KMGT", 1)},
    **{f"{letter}B": 1000**k for k, letter in enumerate("kMGT", 1)},
    **{letter: 1024**k for k, letter in enumerate("KMGT", 1)},
    "KB": 1000, "k": 1024, "B": 1,
}


def size(value: Any, name: str) -> int:
    """Returns a memory size in bytes from a number or a text such as "8GiB"."""
    amount = value
    if isinstance(value, str):
        suffix = next((suffix for suffix in _SIZES if value.endswith(suffix)), "")
        try:
            amount = float(value.removesuffix(suffix).rstrip()) * _SIZES.get(suffix, 1)
        except ValueError:
            amount = 0
    if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not 1 <= amount <= 1e18:
        raise ValueError(f'{name} is {value!r}; pass a number of bytes, or text such as "512MiB" or "8GiB"')
    return int(amount)


def gpu_number(device: Any) -> int:
    """Returns the number of a GPU from a number, "cuda" or "cuda:N"; unless set, PyTorch's current device, else 0."""
    if isinstance(device, int) and not isinstance(device, bool):
        if not 0 <= device < 1 << 31:
            raise ValueError(f"there is no device of number {device}; they count from 0")
        return device
    match = None if device is None else re.fullmatch(r"cuda(?::(\d{1,9}))?", str(device))
    if device is not None and match is None:
        raise ValueError(f"device must be a number, 'cuda' or 'cuda:N', not {device!r}")
    if match is not None and match[1] is not None:
        return int(match[1])
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return int(torch.cuda.current_device())
    return 0
