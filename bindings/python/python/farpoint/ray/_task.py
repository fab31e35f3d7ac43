"""What runs in a task of Ray: files one after another, and what came of each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

#: Seconds for which answers are kept back, so that many small files are few messages.
PATIENCE = 0.1


def work(settings: dict[str, Any], files: list[tuple[str, str]]) -> Iterator[list[str]]:
    """First no answer, when work begins; then the lines of files in their order, whatever happens to each."""
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
