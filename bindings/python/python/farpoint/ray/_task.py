"""Body of a Ray task: samples files one after another and reports each result."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

#: Seconds for which answers are buffered, so that many small files need few messages.
PATIENCE = 0.1


def work(settings: dict[str, Any], files: list[tuple[str, str]]) -> Iterator[list[str]]:
    """Yields an empty list when work begins, then the lines of the files in order, including errors."""
    from .._file_workers import make

    worker = make(settings)
    yield []
    lines: list[str] = []
    told = time.monotonic()
    for path, output in files:
        lines.append(worker.sample(path, output, None))
        if time.monotonic() - told > PATIENCE:
            yield lines
            lines, told = [], time.monotonic()
    if lines:
        yield lines
