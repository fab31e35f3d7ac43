"""Makes Markdown of the package's docstrings, which are numpydoc's with freer text: paragraphs after a
list of parameters or errors go before the lists, what a function returns may be a sentence, and
examples between paragraphs become blocks of code."""

import re

from griffe import Extension

HEADING = re.compile(r"(?P<name>\w[\w ]*)\n-+\n")
EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!>>>)\S.*\n?)*)+", re.MULTILINE)
LISTS = ("Parameters", "Attributes", "Returns", "Yields", "Raises")


def fenced(text):
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)


def in_markdown(text):
    """The docstring with its sections after its text."""
    said, sections, inside = [], [], None
    for block in re.split(r"\n\n+", text):
        heading = HEADING.match(block)
        inside = heading["name"] if heading else inside
        indented = "\n    " in block or block.startswith("    ")
        if heading and inside in ("Returns", "Yields") and not indented:
            said.append(f"**{inside}:** {block[heading.end():]}")
        elif inside == "See Also":
            sections.append(re.sub(r"^(\w[\w., ]*) : ", r"- `\1`: ", block, flags=re.MULTILINE))
        elif heading or (inside and inside not in LISTS) or (inside and indented):
            sections.append(block)
        else:
            said.append(fenced(block))
    return "\n\n".join([*said, *sections])


class Docstrings(Extension):
    """Called for each object of the package."""

    def on_object(self, *, obj, **_):
        if obj.docstring and obj.docstring.value:
            obj.docstring.value = in_markdown(obj.docstring.value)
