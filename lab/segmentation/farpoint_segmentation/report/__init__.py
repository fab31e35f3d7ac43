"""``python -m farpoint_segmentation report``: tables 2, 3 and 5 and figures 1 and 11 of the RadiusFPS paper.

They are computed from the records of ``evaluate`` and ``time``: as CSV, plots (SVG) and one page, next to the paper's
numbers. From the bottom up: ``published`` (the paper's numbers), ``runs`` (records by network and sampler),
``tables``, ``figures`` (requires matplotlib), ``remarks``, ``page``.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import os
from collections.abc import Sequence
from pathlib import Path

from ..records import SceneRecord, read_scenes
from . import figures, remarks, tables
from .figures import Plot
from .page import page
from .runs import Run, runs_of
from .tables import Table

__all__ = ["run"]


def run(folders: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str]) -> Path:
    """Write the report.

    Parameters
    ----------
    folders : sequence of str or os.PathLike
        Folders with the records of ``evaluate`` and ``time``.
    output : str or os.PathLike
        Folder of the report, created if missing: ``report.html``, and every table and plot
        as a file. Existing files are replaced.

    Returns
    -------
    Path
        Path of the page.

    Raises
    ------
    ModuleNotFoundError
        matplotlib is not installed.
    ValueError
        A folder without records, or a damaged record; the message has the file and the line.
    OSError
        A file can't be written.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise ModuleNotFoundError(
            "report draws with matplotlib, which is not installed: pip install matplotlib"
        )
    runs = runs_of(_records(folders))
    sections = _sections(runs)
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    for name, content in _files(sections).items():
        _write(output / name, content)
    notes = [
        ("What these records say", remarks.findings(runs)),
        ("What of the paper does not fit", remarks.misfits()),
        ("Limits of these records", remarks.limits(runs)),
    ]
    path = output / "report.html"
    _write(path, page([(title, [item for _, item in items]) for title, items in sections], notes))
    return path


def _records(folders: Sequence[str | os.PathLike[str]]) -> list[SceneRecord]:
    records = []
    for folder in folders:
        scenes = read_scenes(folder)
        # Trainings write another kind of records; a folder with only these needs no scenes.
        if not scenes and not (Path(folder) / "training.jsonl").exists():
            raise ValueError(
                f"{Path(folder) / SceneRecord.FILE}: no records; give folders that evaluate or time wrote"
            )
        records += scenes
    return records


#: Heading, and its tables and plots by file name without extension.
_Section = tuple[str, list[tuple[str, Table | Plot]]]


def _sections(runs: Sequence[Run]) -> list[_Section]:
    sections: list[_Section] = []
    for number in (2, 3):
        items: list[tuple[str, Table | Plot]] = [
            (f"table-{number}-{run.slug}", table) for run in runs for table in tables.latency(number, [run])
        ]
        sections.append((f"Table {number}", items))
    fifth = tables.quality(runs)
    sections.append(("Table 5", [("table-5", fifth)] if fifth else []))
    first: list[tuple[str, Table | Plot]] = []
    for run in runs:
        if (table := figures.sizes(run)) is not None:
            plot = figures.sizes_plot(run, table)
            first += [(plot.name, plot), (plot.name, table)]
    if (table := figures.share(runs)) is not None:
        first += [("figure-1-share", figures.share_plot(table)), ("figure-1-share", table)]
    last: list[tuple[str, Table | Plot]] = []
    for run in runs:
        if (table := figures.speed_ups(run)) is not None:
            plot = figures.speed_ups_plot(run, table)
            last += [(plot.name, plot), (plot.name, table)]
    return [*sections, ("Figure 1", first), ("Figure 11", last)]


def _files(sections: Sequence[_Section]) -> dict[str, str]:
    """Returns the contents of the files, by name."""
    contents = {}
    for _, items in sections:
        for name, item in items:
            if isinstance(item, Plot):
                contents[f"{name}.svg"] = item.svg
            else:
                contents[f"{name}.csv"] = _csv(item)
    return contents


def _csv(table: Table) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table.head)
    writer.writerows([["" if cell is None else cell for cell in row] for row in table.rows])
    return stream.getvalue()


def _write(path: Path, content: str) -> None:
    """Writes a file whole or not at all."""
    partial = path.with_name(f".{path.name}.part")
    partial.write_text(content, encoding="utf-8")
    partial.replace(path)
