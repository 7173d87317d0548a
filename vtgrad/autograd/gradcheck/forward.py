"""Derivatives by forward mode, compared with central differences.

The function is run once for each element of each input, with a tangent of one there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...graph.forward_grad import DualLevel, exit_level, new_level_number, open_level
from ...storage.arrays import Array, Shape
from ...storage.key_set import keys
from ...tensor.from_data import from_numpy
from ..forward_ad import make_dual_at, tangent_at
from .analytical import zeros_of
from .numerical import numerical_jacobians
from .report import Mismatch, compare, mismatch_error
from .settings import Settings
from .subject import Subject, double_values, listed_outputs

__all__ = ["check_forward"]


def check_forward(subject: Subject, settings: Settings) -> None:
    """Compare every entry of every Jacobian.

    Raises
    ------
    GradcheckError
        If one is wrong.
    NotSupportedError
        If an operator of the function has no forward formula.
    """
    shapes = [tuple(y.shape) for y in subject.outputs()]
    found: list[Mismatch | None] = []
    for number, x in enumerate(subject.inputs):
        analytic = _jacobians(subject, number, shapes)
        numeric = numerical_jacobians(subject, number, shapes, settings.eps)
        found += [
            compare((nr, number), (shape, tuple(x.shape)), ours, theirs, settings)
            for nr, (shape, ours, theirs) in enumerate(zip(shapes, analytic, numeric, strict=True))
        ]
    mismatches = [mismatch for mismatch in found if mismatch is not None]
    if mismatches:
        raise mismatch_error(subject, mismatches, "forward mode")


def _jacobians(subject: Subject, number: int, shapes: Sequence[Shape]) -> list[Array]:
    """The derivatives of each output by one input; see Note [Jacobians of complex numbers]."""
    x = subject.inputs[number]
    dtype = zeros_of(x).dtype
    units = (1.0, 1.0j) if x.is_complex() else (1.0,)
    columns: list[Array | None] = [None] * len(shapes)
    for column, index in enumerate(np.ndindex(tuple(x.shape))):
        for unit in units:
            tangent = zeros_of(x)
            tangent[index] = unit
            for nr, values in enumerate(_tangents(subject, number, tangent)):
                parts = (values.real, values.imag)[: 2 if values.dtype.kind == "c" else 1]
                whole = columns[nr]
                if whole is None:
                    whole = columns[nr] = np.zeros((len(parts), values.size, x.numel()), dtype)
                for part, one in enumerate(parts):
                    whole[part, :, column] += unit * one.reshape(-1)
    return [
        np.zeros((1, int(np.prod(shape)), 0), dtype) if found is None else found
        for shape, found in zip(shapes, columns, strict=True)
    ]


def _tangents(subject: Subject, number: int, tangent: Array) -> list[Array]:
    """The tangents of the outputs in one direction; zeros where there is none."""
    x = subject.inputs[number]
    level = DualLevel(new_level_number())
    try:
        open_level(level)
        given = from_numpy(np.asarray(tangent, x.dtype.numpy)).to(x.device)
        dual = make_dual_at(x.detach(), given, level)
        arguments = [dual if argument is x else argument for argument in subject.arguments]
        found = []
        for y in listed_outputs(subject.function(*arguments)):
            one = tangent_at(y, level)
            found.append(np.zeros_like(double_values(y)) if one is None else double_values(one))
        return found
    finally:
        keys.modes.pop(level.number, None)
        exit_level(level)
