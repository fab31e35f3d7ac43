"""Record of a benchmark: its environment, tables as Markdown, and figures as JSON."""

import datetime
import json
import os
import pathlib
import platform

import farpoint


def arguments(parser):
    """Adds the options for the outputs of a record."""
    parser.add_argument("--out", type=pathlib.Path, help="write the tables to this file")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")


def begun():
    """Returns the date and the environment of a record."""
    return {
        "date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC", "machine": machine(),
        "python": platform.python_version(), "farpoint": farpoint.__version__}


def machine():
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def table(columns, lines):
    def row(cells):
        shown = ["-" if cell is None else cell if isinstance(cell, str) else f"{cell:.3g}" for cell in cells]
        return f"| {' | '.join(shown)} |"

    return "\n".join([row(columns), "|---|" + "---:|" * (len(columns) - 1), *map(row, lines), ""])


def written(options, text, record):
    """Prints the tables, and writes the requested files."""
    print(f"\n{text}")
    for path, content in ((options.out, text), (options.json, json.dumps(record, indent=1) + "\n")):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
            print(f"written: {path}")
