"""Makes Markdown of the package's docstrings, whose lists of parameters and errors are numpydoc's.
What a function returns and paragraphs after such a list are text: they go before the lists.
Examples between paragraphs become blocks of code."""

import re

from griffe import Extension

HEADING = re.compile(r"(?P<name>\w[\w ]*)\n-+\n")
EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!>>>)\S.*\n?)*)+", re.MULTILINE)


def in_markdown(text):
    """The docstring, its text first."""
    said, lists = [], []
    for block in re.split(r"\n\n+", text):
        heading = HEADING.match(block)
        if heading and heading["name"] in ("Returns", "Yields"):
            said.append(f"**{heading['name']}:** {block[heading.end():]}")
        elif heading or "\n    " in block or block.startswith("    "):
            lists.append(block)
        else:
            said.append(block)
    said = EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", "\n\n".join(said))
    return "\n\n".join([said, *lists])


class Docstrings(Extension):
    """Called for each object of the package."""

    def on_object(self, *, obj, **_):
        if obj.docstring and obj.docstring.value:
            obj.docstring.value = in_markdown(obj.docstring.value)
