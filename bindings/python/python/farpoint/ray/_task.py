"""Body of a Ray task: samples files one after another and reports each result."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

#: Seconds for which answers are buffered, so that many small files need few messages.
BUFFER_SECONDS = 0.1


def work(settings: dict[str, Any], files: list[tuple[str, str]]) -> Iterator[list[str]]:
    """Yields an empty list when work begins, then the lines of the files in order, including errors."""
    from .._file_workers import make

    worker = make(settings)
    yield []
    lines: list[str] = []
    last_report = time.monotonic()
    for path, output in files:
        lines.append(worker.sample(path, output, None))
        if time.monotonic() - last_report > BUFFER_SECONDS:
            yield lines
            lines, last_report = [], time.monotonic()
    if lines:
        yield lines
