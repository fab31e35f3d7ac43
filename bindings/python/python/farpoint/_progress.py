"""Progress bars: tqdm's if installed, else a line on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from . import _arguments

#: Progress callback of calls on this thread.
_shown: ContextVar[Callable[[int, int], None] | None] = ContextVar("_shown", default=None)


@contextmanager
def over_calls(what: str, unit: str) -> Iterator[None]:
    """Shows a bar that calls of the compiled module on this thread advance through ``callback``."""
    with bar(True, what, unit) as show:
        before = _shown.set(show)
        try:
            yield
        finally:
            _shown.reset(before)


def callback() -> Callable[[int, int], None] | None:
    """Returns the compiled module's progress callback ``(done, of)``, if there is a bar on this thread."""
    return _shown.get()


@contextmanager
def bar(
    enabled: object, what: str, unit: str, scale: bool = False
) -> Iterator[Callable[[int, int], None] | None]:
    """Yields a progress callback ``(done, of)``, or None without a bar."""
    if not _arguments.flag(enabled, "progress"):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _line(what)
        print(f"\r{what}: 100 %", file=sys.stderr)
        return
    with tqdm(desc=what, unit=unit, unit_scale=scale) as shown:

        def show(done: int, of: int) -> None:
            shown.total = of
            shown.update(done - shown.n)

        yield show
        if shown.total:
            show(shown.total, shown.total)


def _line(what: str) -> Callable[[int, int], None]:
    def show(done: int, of: int) -> None:
        print(f"\r{what}: {100 * done // max(of, 1):3d} %", end="", file=sys.stderr, flush=True)

    return show
