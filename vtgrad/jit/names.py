"""Names for the buffers of a program, from the user's own variables.

The recorder calls `remember_names` once for each line of the user's code that it meets. A variable
that holds a tensor with a whole buffer gives the buffer its name, and the first name stays. It is
kept by the number of the buffer, never by the identity of an object: another object may get the
same one later.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import FrameType
from typing import Final, TypeAlias, cast

import numpy as np

from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["WholeBuffer", "identifier", "remember_names"]

# The number of the buffer that begins at an address and has so many bytes; None if there is none.
WholeBuffer: TypeAlias = Callable[[int, int], int | None]

# Names of variables that say nothing, as of comprehensions and of lines of a notebook.
_NAMELESS: Final = re.compile(r"_+\d*|\.\d+")
# Longer lists of tensors are looked at up to here.
_PARTS: Final = 64
_LONGEST: Final = 40


def remember_names(frame: FrameType, whole_buffer: WholeBuffer, names: dict[int, str]) -> None:
    """Keep the names of local variables whose tensors have a whole buffer.

    Parameters
    ----------
    frame : frame
        Of the user's function. Its variables are looked at, and nothing is kept of it.
    whole_buffer : callable
        Takes an address and a number of bytes, and gives the number of the buffer that has just
        these bytes, or None.
    names : dict of int to str
        The names by the numbers of buffers, to which new ones are added. The gradient of a tensor
        is called ``grad_`` and the tensor's name; part 0 of a list ``layers`` is ``layers_0``.
    """
    variables = dict(frame.f_locals)
    for variable, value in variables.items():
        if _NAMELESS.fullmatch(variable):
            continue
        for name, array in _arrays_of(variable, value):
            if not array.nbytes or not _is_dense(array):
                continue
            number = whole_buffer(_address(array), array.nbytes)
            if number is not None:
                names.setdefault(number, name)


def _arrays_of(name: str, value: object) -> Iterator[tuple[str, Array]]:
    """The arrays of a variable, and of its gradient, with their names."""
    for part, tensor in _parts(name, value):
        if isinstance(tensor, np.ndarray):
            yield part, tensor
        elif isinstance(tensor, TensorBase):
            yield part, tensor._impl.array
            grad = _grad_of(tensor)
            if grad is not None:
                yield f"grad_{part}", grad._impl.array


def _parts(name: str, value: object) -> Iterator[tuple[str, object]]:
    """A value, or the parts of a list or a dict of them."""
    if type(value) in (list, tuple):
        for number, part in enumerate(cast("Sequence[object]", value)[:_PARTS]):
            yield f"{name}_{number}", part
    elif type(value) is dict:
        for key, part in list(value.items())[:_PARTS]:
            if type(key) in (str, int):
                yield f"{name}_{key}", part
    else:
        yield name, value


def _grad_of(tensor: TensorBase) -> TensorBase | None:
    # Metadata that is not there is not made: a look changes nothing.
    meta = tensor._impl.autograd_meta
    if not isinstance(meta, AutogradMeta) or meta.cell is None:
        return None
    return meta.cell.grad


def _address(array: Array) -> int:
    # Asked of the base class: a class of arrays that watches its use does not see this one.
    interface = np.ndarray.__array_interface__.__get__(array)
    address: int = interface["data"][0]
    return address


def _is_dense(array: Array) -> bool:
    """Whether the elements fill the bytes from the first one on, in some order of the axes."""
    expected = array.itemsize
    for stride, size in sorted(zip(array.strides, array.shape, strict=True)):
        if size > 1:
            if stride != expected:
                return False
            expected *= size
    return True


def identifier(name: str, taken: Collection[str] | Mapping[str, object]) -> str:
    """A name of Python that is like another one, and is not taken.

    Keywords, names of built-in functions, and what is not a letter, digit or underscore of ASCII
    are changed: no text of a user becomes code.

    Parameters
    ----------
    name : str
        Any text.
    taken : collection of str
        Names that are in use.

    Examples
    --------
    >>> identifier("lambda", {"lambda_"}), identifier("x; import os", ())
    ('lambda_2', 'x_import_os')
    """
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:_LONGEST] or "x"
    if plain[0].isdigit():
        plain = f"x{plain}"
    if keyword.iskeyword(plain) or keyword.issoftkeyword(plain) or hasattr(builtins, plain):
        plain += "_"
    found, number = plain, 2
    while found in taken:
        found = f"{plain}{number}" if not plain[-1].isdigit() else f"{plain}_{number}"
        number += 1
    return found
