"""Figures 1 and 11 of the paper, as tables and plots."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .published import BASELINE, FAMILIES, FIGURE_1_SHARE, FIGURE_11_MOST, TABLES
from .runs import Run, is_exact
from .tables import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Plot", "share", "share_plot", "sizes", "sizes_plot", "speed_ups", "speed_ups_plot"]

#: Bin edges of scene sizes, in points.
_EDGES = (0, 10_000, 25_000, 50_000, 75_000, 100_000, 150_000)
_BLUE, _RED, _GRAY, _DARK = "#5b8fc7", "#c8553d", "#b9bec5", "#333333"


class Plot(NamedTuple):
    """Plot: file name without extension, caption, and SVG."""

    name: str
    caption: str
    svg: str


def _range(points: int) -> int:
    return max(k for k, edge in enumerate(_EDGES) if points >= edge)


def _label(k: int) -> str:
    low = f"{_EDGES[k] // 1000}"
    return f"{low}k+" if k + 1 == len(_EDGES) else f"{low}–{_EDGES[k + 1] // 1000}k"


def _pair(run: Run) -> list[str]:
    """Returns textbook sampling, and the fastest exact sampler."""
    base = run.of(BASELINE) or run.of("FPS (CPU)")
    if base is None:
        return []
    spent: dict[str, float] = {}
    for name, results in run.samplers.items():
        sums = results.sums() if is_exact(name) and name != base else None
        if sums is not None and sums.sampling is not None:
            spent[name] = sums.sampling / sums.scenes
    fastest = min(spent, key=lambda name: spent[name], default=None)
    return [base] if fastest is None else [base, fastest]


def sizes(run: Run) -> Table | None:
    """Return figure 1, top: scenes by size, and their mean sampling time."""
    head = ["sampler", "points", "scenes", "sampling ms", "ms a scene"]
    rows: list[list[Cell]] = []
    for sampler in _pair(run):
        results = run.samplers[sampler]
        for k in range(len(_EDGES)):
            scenes = [name for name, one in results.times.items() if _range(one.points) == k]
            sums = results.sums(scenes)
            if sums is not None and sums.sampling is not None:
                rows.append(
                    [
                        sampler,
                        _label(k),
                        sums.scenes,
                        1e3 * sums.sampling / sums.scenes,
                        1e3 * sums.all / sums.scenes,
                    ]
                )
    if not rows:
        return None
    note = (
        "Points are occupied voxels. The paper: around 250 ms a scene of over 50,000 points and more than 1,000 ms of "
        "over 100,000, with textbook sampling on its GPU."
    )
    return Table(f"Figure 1, sizes: {run.title}", note, head, rows, {})


def share(runs: Sequence[Run]) -> Table | None:
    """Return figure 1, bottom: the share of sampling in a forward pass."""
    head = ["run", "sampler", "in the paper", "ms a scene", "sampling ms", "sampling %", "paper %"]
    rows: list[list[Cell]] = []
    several = len({run.device for run in runs}) > 1
    for run in runs:
        title = run.title if several else run.title.replace(f", {run.device}", "", 1)
        for sampler in _pair(run):
            sums = run.samplers[sampler].sums()
            if sums is None or sums.sampling is None or sums.all == 0:
                continue
            name = run.name(sampler)
            is_published = run.network.startswith(FAMILIES[2]) and name == BASELINE
            rows.append(
                [
                    title,
                    sampler,
                    name if name != sampler else None,
                    1e3 * sums.all / sums.scenes,
                    1e3 * sums.sampling / sums.scenes,
                    100 * sums.sampling / sums.all,
                    FIGURE_1_SHARE.get(run.data) if is_published else None,
                ]
            )
    if not rows:
        return None
    note = "Textbook sampling, and the fastest exact sampler. The paper has PointMetaBase on S3DIS and ScanNet."
    digits = {"sampling %": 1, "paper %": 1}
    return Table("Figure 1, shares of sampling", note, head, rows, digits)


def speed_ups(run: Run) -> Table | None:
    """Return figure 11: times of the forward pass and of sampling, and speed-ups over FPS (GPU)."""
    number = next(k for k, family in FAMILIES.items() if run.network.startswith(family))
    head = [
        "sampler",
        "in the paper",
        "ms a scene",
        "sampling ms",
        "times faster",
        "sampling times faster",
        "paper times faster",
        "paper sampling times faster",
    ]
    rows: list[list[Cell]] = []
    for sampler, results in run.samplers.items():
        sums = results.sums()
        if sums is None:
            continue
        name = run.name(sampler)
        published = TABLES[number].get(name, {}).get(run.data)
        base = TABLES[number][BASELINE][run.data].seconds
        is_published_maximum = (number, run.data, name) == (2, "s3dis", "FastPoint + RadiusFPS-G")
        rows.append(
            [
                sampler,
                name if name != sampler else None,
                1e3 * sums.all / sums.scenes,
                None if sums.sampling is None else 1e3 * sums.sampling / sums.scenes,
                run.speed_up(sampler),
                run.speed_up(sampler, "sampling"),
                None if published is None else base / published.seconds,
                FIGURE_11_MOST if is_published_maximum else None,
            ]
        )
    if not rows:
        return None
    rows.sort(key=lambda row: -_number(row[2]))
    note = (
        "The paper's speed-ups of the whole pass follow from its tables 2 and 3; of those of sampling its text gives "
        "one."
    )
    return Table(f"Figure 11: {run.title}", note, head, rows, {})


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, (int, float)) else 0.0


def _drawn(draw: Callable[[Figure], None], width: float, height: float) -> str:
    """Returns a plot as SVG, with reproducible bytes."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style = {"svg.hashsalt": "farpoint", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
    with matplotlib.rc_context(style):  # type: ignore[arg-type]
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        FigureCanvasSVG(figure)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def sizes_plot(run: Run, table: Table) -> Plot:
    """Plot bars of the number of scenes, and lines of sampling times."""
    ranges = [_label(k) for k in range(len(_EDGES))]
    samplers = list(dict.fromkeys(str(row[0]) for row in table.rows))
    rows_by_key = {(str(row[0]), str(row[1])): row for row in table.rows}

    def draw(figure: Figure) -> None:
        bars = figure.subplots()
        counts = [
            max(_number(rows_by_key[one, name][2]) if (one, name) in rows_by_key else 0 for one in samplers)
            for name in ranges
        ]
        total = sum(counts)
        bars.bar(ranges, [100 * count / total for count in counts], color=_GRAY, label="scenes")
        bars.set(xlabel="points of a scene", ylabel="% of the scenes", ylim=(0, 105))
        lines = bars.twinx()
        lines.spines["right"].set_visible(True)
        for sampler, color, mark in zip(samplers, (_RED, _BLUE), "os", strict=False):
            drawn = [name for name in ranges if (sampler, name) in rows_by_key]
            times = [_number(rows_by_key[sampler, name][3]) for name in drawn]
            lines.plot(drawn, times, color=color, marker=mark, label=_called(run, sampler))
        lines.set(yscale="log", ylabel="sampling, ms a scene")
        figure.legend(loc="outside upper center", ncols=3, frameon=False)

    caption = f"{run.title}: how large the scenes are, and how long sampling takes."
    return Plot(f"figure-1-sizes-{run.slug}", caption, _drawn(draw, 7.6, 3.8))


def _called(run: Run, sampler: str) -> str:
    name = run.name(sampler)
    return sampler if name == sampler else f"{name} ({sampler})"


def share_plot(table: Table) -> Plot:
    """Plot stacked bars of a pass with textbook sampling and with the fastest exact sampler."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        names = [f"{row[0]}: {row[1]}" for row in table.rows]
        parts = [_number(row[5]) for row in table.rows]
        places = range(len(names))
        axes.barh(places, parts, color=_RED, height=0.62, label="sampling")
        axes.barh(places, [100 - one for one in parts], left=parts, color=_GRAY, height=0.62, label="the rest")
        for place, row in zip(places, table.rows, strict=True):
            paper = "" if row[6] is None else f", the paper {_number(row[6]):.1f} %"
            axes.text(101, place, f"{_number(row[5]):.1f} %{paper}", va="center", color=_DARK)
        axes.set(xlim=(0, 100), xlabel="% of the forward pass")
        axes.set_yticks(places, names)
        axes.invert_yaxis()
        figure.legend(loc="outside upper center", ncols=2, frameon=False)

    caption = "The share of sampling in a forward pass: textbook sampling, and the fastest exact sampler."
    return Plot("figure-1-share", caption, _drawn(draw, 10.5, 1.2 + 0.4 * len(table.rows)))


def speed_ups_plot(run: Run, table: Table) -> Plot:
    """Plot two bars for each sampler on a logarithmic scale."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        places = range(len(table.rows))
        totals, part = [_number(row[2]) for row in table.rows], [_number(row[3]) for row in table.rows]
        axes.barh([place - 0.2 for place in places], totals, height=0.38, color=_BLUE, label="forward pass")
        axes.barh([place + 0.2 for place in places], part, height=0.38, color=_RED, label="sampling")
        for place, row in zip(places, table.rows, strict=True):
            for off, value, speed, paper in ((-0.2, row[2], row[4], row[6]), (0.2, row[3], row[5], row[7])):
                if value is not None:
                    axes.annotate(
                        _speed(speed, paper),
                        (_number(value), place + off),
                        (4, 0),
                        textcoords="offset points",
                        va="center",
                        fontsize=8,
                        color=_DARK,
                    )
        positive = [one for one in (*totals, *part) if one > 0]
        axes.set(xscale="log", xlabel="ms a scene", xlim=(min(positive) / 2, max(positive) * 12))
        axes.set_yticks(places, [_called(run, str(row[0])) for row in table.rows])
        axes.invert_yaxis()
        figure.legend(loc="outside upper center", ncols=2, frameon=False)

    caption = f"{run.title}: the forward pass and its sampling; times faster than {BASELINE}, the paper's in brackets."
    return Plot(f"figure-11-{run.slug}", caption, _drawn(draw, 8.6, 1.2 + 0.5 * len(table.rows)))


def _speed(ours: Cell, paper: Cell) -> str:
    text = "" if ours is None else f"{_number(ours):.1f}×"
    return text if paper is None else f"{text} (paper {_number(paper):.1f}×)".strip()
