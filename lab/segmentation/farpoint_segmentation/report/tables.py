"""Tables 2, 3 and 5 of the paper, with measured and published numbers: rows of cells for CSV and for the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .published import BASELINE, FAMILIES, SCENES, TABLE_5, TABLES
from .runs import Run, recipe_title

__all__ = ["Table", "latency", "quality", "text"]

#: Cell: numbers in full in CSV, rounded on the page; None for missing values.
Cell = str | int | float | None


class Table(NamedTuple):
    """Table under one heading.

    Attributes
    ----------
    title, note : str
        Title, and further description.
    head : list of str
        Names of the columns.
    rows : list of list
        Cells.
    digits : dict
        Number of decimals of columns on the page; 2 unless set.
    parts : list of tuple
        On the page: tables of some of the columns, each with its caption, if all are too wide for one.
    """

    title: str
    note: str
    head: list[str]
    rows: list[list[Cell]]
    digits: dict[str, int]
    parts: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def shown(self) -> list[tuple[str, list[str], list[list[Cell]]]]:
        """Return the tables of the page with measured numbers: the caption, columns, and nonempty rows of
        each."""
        if not self.parts:
            return [("", self.head, self.rows)]
        shown_columns = []
        for caption, columns in self.parts:
            places = [self.head.index(name) for name in columns]
            rows = [[row[place] for place in places] for row in self.rows]
            kept = [row for row in rows if any(isinstance(cell, float) for cell in row)]
            ours = [place for place, name in zip(places, columns, strict=True) if not name.startswith("paper")]
            if any(isinstance(row[place], float) for row in self.rows for place in ours):
                shown_columns.append((caption, list(columns), kept))
        return shown_columns


_HEAD = [
    "sampler",
    "in the paper",
    "scenes",
    "trainings",
    "OA %",
    "mIoU %",
    "mIoU lowest",
    "mIoU highest",
    "ms a scene",
    "sampling ms",
    "sampling %",
    "times faster",
    "peak MiB",
    "paper OA %",
    "paper mIoU %",
    "paper s",
    "paper times faster",
]
_PARTS = (
    ("Scores", (
        "sampler", "in the paper", "scenes", "trainings", "OA %", "mIoU %", "mIoU lowest", "mIoU highest",
        "paper OA %", "paper mIoU %",
    )),
    ("Times", (
        "sampler", "in the paper", "scenes", "ms a scene", "sampling ms", "sampling %", "times faster", "peak MiB",
        "paper s", "paper times faster",
    )),
)
_DIGITS = {"sampling %": 1, "peak MiB": 0, "paper s": 3}


def latency(number: int, runs: Sequence[Run]) -> Iterator[Table]:
    """Yield table 2 (PointMetaBase) or 3 (PointVector), one for each run."""
    for run in runs:
        if not run.network.startswith(FAMILIES[number]):
            continue
        published = TABLES[number]
        names = {run.of(name): name for name in published}
        # In the paper's order, then samplers that are not in the paper.
        samplers = [sampler for sampler in names if sampler is not None]
        samplers += [sampler for sampler in run.samplers if sampler not in names]
        rows = [_row(run, sampler, run.name(sampler), number) for sampler in samplers]
        rows += [_row(run, None, name, number) for name in published if run.of(name) is None]
        note = (
            f"The paper's seconds are sums over the {SCENES[run.data]:,} scenes of the validation set, ours are means "
            f"over ours; times faster is relative to {BASELINE} on the same scenes."
        )
        yield Table(f"Table {number}: {run.title}", note, _HEAD, rows, _DIGITS, _PARTS)


def _row(run: Run, sampler: str | None, name: str, number: int) -> list[Cell]:
    row: list[Cell] = [sampler, name if name != sampler else None]
    sums = score = speed = None
    if sampler is not None:
        sums, score = run.samplers[sampler].sums(), run.score(sampler)
        speed = run.speed_up(sampler)
    scored = len(run.samplers[sampler].confused()) if sampler is not None else 0
    row += [sums.scenes if sums else scored or None, score.trainings if score else None]
    row += [score.oa, score.miou, score.lowest, score.highest] if score else [None] * 4
    if sums is None:
        row += [None] * 5
    else:
        part = sums.sampling
        row += [1e3 * sums.all / sums.scenes, None if part is None else 1e3 * part / sums.scenes]
        row += [None if part is None or sums.all == 0 else 100 * part / sums.all, speed]
        row += [None if sums.memory is None else sums.memory / (1 << 20)]
    published = TABLES[number].get(name, {}).get(run.data)
    if published is None:
        return row + [None] * 4
    base = TABLES[number][BASELINE][run.data].seconds
    return [*row, published.oa, published.miou, published.seconds, base / published.seconds]


def quality(runs: Sequence[Run]) -> Table | None:
    """Return table 5: mean IoU of eight samplers, a row for each run and sampler; None without scores."""
    head = [
        "network", "data", "device", "protocol", "scenes", "sampler", "in the paper", "mIoU %", "to FPS (GPU)",
        "paper mIoU %", "paper to FPS (GPU)",
    ]
    rows: list[list[Cell]] = []
    for run in runs:
        family = run.network.rpartition("-")[0]
        published = TABLE_5[(family, run.data)]
        for name, miou in published.items():
            for sampler in run.all_of(name):
                score = run.score(sampler)
                if score is not None:
                    kind = "generated" if run.generated else "of the data set"
                    rows.append([
                        run.network, recipe_title(run.data), run.device, run.protocol, kind, sampler, name, score.miou,
                        run.to_exact(sampler), miou, miou - published[BASELINE],
                    ])
    if not rows:
        return None
    note = (
        "Mean IoU by the data set's own metric, of trained networks. Differences to FPS (GPU), or to another exact "
        "sampler where that ran with more trainings, are those of the same trainings. They compare better than the "
        "values: those of generated scenes say nothing about the data set."
    )
    return Table("Table 5: quality of the samplers", note, head, rows, {})


def text(cell: Cell, digits: int = 2) -> str:
    """Format a cell for display."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:,.{digits}f}"
    return f"{cell:,}" if isinstance(cell, int) else cell
