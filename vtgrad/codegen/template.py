"""Filling in the templates, which look like the Python text that comes out of them."""

import re

__all__ = ["fill", "tuple_of"]


def fill(template: str, **fields: str) -> str:
    """The template with its fields filled in; it ends in a line break.

    ``$name`` inside a line stands for a text within one line. ``$name`` alone on a line stands for
    any number of lines, which are indented as the field is; without lines there is none.

    Raises
    ------
    KeyError
        If a field of the template is missing.
    """
    lines: list[str] = []
    for line in template.strip("\n").splitlines():
        alone = re.fullmatch(r"( *)\$(\w+)", line)
        if alone is None:
            lines.append(re.sub(r"\$(\w+)", lambda found: fields[found[1]], line))
            continue
        indent = alone[1]
        lines += [indent + part if part else "" for part in fields[alone[2]].splitlines()]
    return "\n".join(lines) + "\n"


def tuple_of(values: list[str]) -> str:
    """A tuple as Python text."""
    return f"({', '.join(values)}{',' if len(values) == 1 else ''})"
