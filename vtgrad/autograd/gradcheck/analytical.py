"""Derivatives by backward.

Note [Jacobians of complex numbers]

A complex number is a pair of real ones. Backward takes one number for an output, which says how
much its real and its imaginary part count, and gives one for an input, which holds the derivatives
by its real and its imaginary part. So the Jacobian of an output by an input is an array of shape
``(parts, elements of the output, elements of the input)``: the first index is 0 for the real and 1
for the imaginary part of the output, which real outputs have not, and an entry for a complex
input is the complex number ``derivative by the real part + 1j * derivative by the imaginary part``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vtgrad.autograd.differentiate import grad
from vtgrad.autograd.gradcheck.settings import Settings
from vtgrad.autograd.gradcheck.subject import Subject, double_values
from vtgrad.errors import GradcheckError
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.tensor import Tensor

__all__ = ["Recorded", "record", "zeros_of"]


class Recorded(NamedTuple):
    """Outputs whose graph is kept, for backward to run through it as often as needed.

    Attributes
    ----------
    subject : Subject
        The function.
    settings : Settings
        The options.
    outputs : list of Tensor
        All outputs.
    numbers : list of int
        Which of them require grad.
    """

    subject: Subject
    settings: Settings
    outputs: list[Tensor]
    numbers: list[int]

    def gradients(self, cotangents: dict[int, Array]) -> list[Array | None]:
        """The gradients of the inputs, for gradients of some outputs.

        Parameters
        ----------
        cotangents : dict of int to ndarray
            By the number of the output.

        Returns
        -------
        list of ndarray or None
            In double precision; None where backward has no gradient for an input.

        Raises
        ------
        GradcheckError
            If a gradient is of another dtype than its input, and that is checked.
        """
        roots = [self.outputs[nr] for nr in cotangents]
        given = [
            from_numpy(making.asarray(w, root._impl.dtype)).to(root.device)
            for root, w in zip(roots, cotangents.values(), strict=True)
        ]
        found = grad(roots, self.subject.inputs, given, retain_graph=True, allow_unused=True)
        if self.settings.check_grad_dtypes:
            self._check_dtypes(found)
        return [None if g is None else double_values(g) for g in found]

    def jacobians(self, number: int) -> list[Array | None]:
        """The derivatives of one output by all elements of each input.

        Parameters
        ----------
        number : int
            Which output; it requires grad.

        Returns
        -------
        list of ndarray or None
            See Note [Jacobians of complex numbers]; None where backward has never given a gradient.
        """
        output = self.outputs[number]
        shape, is_complex = tuple(output.shape), output.is_complex()
        units = (1.0, 1.0j) if is_complex else (1.0,)
        reached = [False] * len(self.subject.inputs)
        rows = [
            making.zeros((len(units), output.numel(), x.numel()), zeros_of(x).dtype)
            for x in self.subject.inputs
        ]
        for part, unit in enumerate(units):
            for row, index in enumerate(np.ndindex(shape)):
                cotangent = zeros_of(output)
                cotangent[index] = unit
                for nr, g in enumerate(self.gradients({number: cotangent})):
                    if g is not None:
                        reached[nr] = True
                        rows[nr][part, row] = g.reshape(-1)
        return [found if seen else None for found, seen in zip(rows, reached, strict=True)]

    def _check_dtypes(self, gradients: Sequence[Tensor | None]) -> None:
        """Compare the dtypes of gradients with those of the inputs."""
        for x, name, g in zip(
            self.subject.inputs, self.subject.input_names, gradients, strict=True
        ):
            if g is not None and g.dtype != x.dtype:
                raise GradcheckError(
                    f"the gradient of {name} is {g.dtype}, the input {x.dtype}",
                    check="dtype",
                    input=name,
                    expected=x.dtype,
                    found=g.dtype,
                )


def record(subject: Subject, settings: Settings) -> Recorded:
    """Call the function, and keep the graph of its outputs.

    Raises
    ------
    GradcheckError
        If the function has written to an input.
    """
    versions = [x._version for x in subject.inputs]
    outputs = subject.outputs()
    for x, name, version in zip(subject.inputs, subject.input_names, versions, strict=True):
        if x._version != version:
            raise GradcheckError(
                f"the function has written to {name}, so that every call would begin at another "
                "point: let it write to a clone, or pass check_inplace=True",
                check="input-written",
                input=name,
            )
    return Recorded(
        subject.with_dtypes_of(outputs),
        settings,
        outputs,
        [nr for nr, y in enumerate(outputs) if y.requires_grad],
    )


def zeros_of(tensor: Tensor) -> Array:
    """Zeros of the shape of a tensor, in double precision."""
    return making.zeros(tuple(tensor.shape), np.complex128 if tensor.is_complex() else np.float64)
