"""Progress bars: tqdm's if installed, else a line on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["bar"]


@contextmanager
def bar(enabled: bool, what: str, unit: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a progress callback ``(done, of)``, or None without a bar."""
    if not enabled:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _line(what)
        print(f"\r{what}: 100 %", file=sys.stderr)
        return
    with tqdm(desc=what, unit=unit) as shown:

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
