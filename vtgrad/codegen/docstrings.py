"""The docstrings of generated functions."""

import re

__all__ = ["docstring", "inplace_docstring"]

_HEADING = re.compile(r"^(?P<title>\S.*)\n-{3,}\n", re.M)


def docstring(text: str) -> str:
    """A docstring as Python text, of one line or of many."""
    if "\\" in text or '"""' in text:
        text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{text}\n"""' if "\n" in text else f'"""{text}"""'


def inplace_docstring(name: str, text: str) -> str:
    """The docstring of what writes the result of an operator into its first argument.

    Parameters
    ----------
    name : str
        What users call the in-place function.
    text : str
        The docstring of the operator, whose parameters are the same but for ``out``.
    """
    base = name.removesuffix("_")
    summary = f"Write the result of `{base}` into the tensor itself, which is returned."
    parameters = _without_out(_section(text, "Parameters"))
    if not parameters:
        return docstring(summary)
    return docstring(f"{summary}\n\nParameters\n----------\n{parameters}")


def _section(text: str, title: str) -> str:
    """What stands under a heading of NumPy's style."""
    headings = list(_HEADING.finditer(text))
    for nr, heading in enumerate(headings):
        if heading["title"] == title:
            end = headings[nr + 1].start() if nr + 1 < len(headings) else len(text)
            return text[heading.end() : end].strip("\n")
    return ""


def _without_out(parameters: str) -> str:
    """The entries of parameters without that of ``out``, which has no meaning in place."""
    entries = re.split(r"^(?=\S)", parameters, flags=re.M)
    return "".join(entry for entry in entries if not re.match(r"out\b", entry)).strip("\n")
