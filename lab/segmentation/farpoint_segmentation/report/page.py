"""Report as one self-contained page."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence

from .figures import Plot
from .published import MACHINE, SOURCE
from .tables import Cell, Table, text

__all__ = ["page"]

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;color:#222;max-width:1100px;margin:2em auto;padding:0 1em}"
    "h1,h2,h3{line-height:1.2}h2{margin-top:2.4em;border-top:1px solid #ccc;padding-top:.8em}"
    "p,li{max-width:60em}img{display:block;max-width:100%;height:auto;margin:1em 0}.wide{overflow-x:auto}"
    "table{border-collapse:collapse;font-size:14px;margin:1em 0}"
    "th,td{padding:.25em .6em;border-bottom:1px solid #e2e2e2;text-align:right;vertical-align:top}"
    "th{border-bottom:2px solid #888}td.words,th.words{text-align:left}td.words{white-space:nowrap}.paper{color:#777}"
    "caption{text-align:left;font-weight:600;padding:.3em .6em}figure{margin:1.5em 0}figcaption{color:#555;font-size:14px}nav a{margin-right:1.2em}"
)


def page(
    sections: Sequence[tuple[str, Sequence[Table | Plot]]], remarks: Sequence[tuple[str, Sequence[str]]]
) -> str:
    """Return the page: tables and plots under headings, then lists of remarks."""
    parts = [
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">',
        "<title>Segmentation with farpoint: tables and figures of the RadiusFPS paper</title>",
        f"<style>{_STYLE}</style>\n<h1>Segmentation with farpoint</h1>",
        f"<p>Tables 2, 3 and 5 and figures 1 and 11 of: {html.escape(SOURCE)} (measured there on "
        f"{html.escape(MACHINE)}). Columns of the paper are gray. “–” stands for what was not measured, or what "
        "the paper does not have.</p>",
    ]
    headings = [title for title, _ in (*sections, *remarks)]
    parts.append(
        "<nav>" + "".join(f'<a href="#{_anchor(one)}">{html.escape(one)}</a>' for one in headings) + "</nav>"
    )
    for title, items in sections:
        parts.append(f'<h2 id="{_anchor(title)}">{html.escape(title)}</h2>')
        parts += [_plot(item) if isinstance(item, Plot) else _table(item) for item in items]
        if not items:
            parts.append("<p>No records of this yet.</p>")
    for title, texts in remarks:
        items_of = "".join(f"<li>{html.escape(one)}</li>\n" for one in texts)
        parts.append(f'<h2 id="{_anchor(title)}">{html.escape(title)}</h2>\n<ul>\n{items_of}</ul>')
    return "\n".join([*parts, "</html>\n"])


def _anchor(title: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())


def _plot(plot: Plot) -> str:
    data = base64.b64encode(plot.svg.encode()).decode()
    caption = html.escape(plot.caption)
    return (
        f'<figure><img alt="{caption}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _table(table: Table) -> str:
    lines = [f"<h3>{html.escape(table.title)}</h3>\n<p>{html.escape(table.note)}</p>"]
    lines += [_part(table, *part) for part in table.shown()]
    return "\n".join(lines)


def _part(table: Table, caption: str, head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    words = [
        not any(isinstance(row[k], (int, float)) for row in rows) and any(row[k] for row in rows)
        for k in range(len(head))
    ]
    kinds = [
        " ".join(["words"] * words[k] + ["paper"] * name.startswith("paper")) for k, name in enumerate(head)
    ]
    caption_tag = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    lines = [f'<div class="wide"><table>{caption_tag}', _row("th", head, kinds)]
    for row in rows:
        cells = [text(cell, table.digits.get(name, 2)) for cell, name in zip(row, head, strict=True)]
        lines.append(_row("td", cells, kinds))
    return "\n".join([*lines, "</table></div>"])


def _row(tag: str, cells: Sequence[str], kinds: Sequence[str]) -> str:
    inner = "".join(
        f'<{tag} class="{kind}">{html.escape(cell)}</{tag}>' for cell, kind in zip(cells, kinds, strict=True)
    )
    return f"<tr>{inner}</tr>"
