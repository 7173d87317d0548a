"""The docstrings of generated functions."""

__all__ = ["docstring", "inplace_docstring"]


def docstring(text: str) -> str:
    """A docstring as Python text, of one line or of many."""
    if "\\" in text or '"""' in text:
        text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{text}\n"""' if "\n" in text else f'"""{text}"""'


def inplace_docstring(name: str) -> str:
    """The docstring of what writes the result of an operator into its first argument.

    Parameters
    ----------
    name : str
        What users call the in-place function.
    """
    base = name.removesuffix("_")
    return docstring(f"Write the result of `{base}` into the tensor itself, which is returned.")
