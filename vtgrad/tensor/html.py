"""A tensor as a table, for notebooks."""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.storage.arrays import Array
from vtgrad.tensor.formatting import element_texts, plain_values

__all__ = ["tensor_table"]

# Of larger tensors as many rows and columns are shown, half of them from the end.
_SHOWN: Final = 20

# Of Python, `html` would do this. It loads the 2,231 names of characters, which takes longer than
# any module here, and `import vtgrad` would wait for it.
_ESCAPES: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"}
)


def tensor_table(array: Array, caption: str) -> str | None:
    """The elements of a vector or matrix as an HTML table; None for other shapes.

    Parameters
    ----------
    array : ndarray
        The values.
    caption : str
        What is said of the tensor; plain text.
    """
    if array.ndim not in (1, 2) or not array.size:
        return None
    values = plain_values(array).reshape(-1, array.shape[-1])
    rows, columns = _shown(values.shape[0]), _shown(values.shape[1])
    seen = values[np.ix_(*[[i for i in ends if i is not None] for ends in (rows, columns)])]
    texts = iter(element_texts(seen))
    head = "".join(f"<th>{'&hellip;' if c is None else c}</th>" for c in columns)
    lines = [f"<tr><th></th>{head}</tr>"]
    for row in rows:
        if row is None:
            lines.append("<tr><th>&hellip;</th>" + "<td>&hellip;</td>" * len(columns) + "</tr>")
            continue
        cells = "".join(
            f"<td>{'&hellip;' if c is None else next(texts).strip().translate(_ESCAPES)}</td>"
            for c in columns
        )
        title = "" if array.ndim == 1 else str(row)
        lines.append(f"<tr><th>{title}</th>{cells}</tr>")
    return f"<table><caption>{caption.translate(_ESCAPES)}</caption>{''.join(lines)}</table>"


def _shown(count: int) -> list[int | None]:
    """The indices that are shown; None for those left out."""
    if count <= _SHOWN:
        return list(range(count))
    half = _SHOWN // 2
    return [*range(half), None, *range(count - half, count)]
