# Compiled by mypyc.
"""The Python operators of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, SupportsIndex, cast

from vtgrad.errors import ArgumentTypeError, ShapeError
from vtgrad.ops.calling.numbers import python_operand
from vtgrad.ops.calling.types import Index
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.python_operators import PythonOperators
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.storage.arrays import Number
from vtgrad.storage.native import mypyc_attr
from vtgrad.storage.tensor_base import TensorBase, wrap_like
from vtgrad.storage.warn import warn

__all__ = ["OperatorMethods"]


def _assign(part: TensorBase, value: object, name: str) -> None:
    """Overwrite a part of a tensor, for ``x.real = y``."""
    operand = python_operand(part, value)
    if operand is None:
        raise ArgumentTypeError(
            f".{name} takes a tensor, an array or a number, not {type(value).__name__}",
            argument=name,
        )
    if not isinstance(operand, TensorBase):
        operand = wrap_like(part, as_element(operand, part._impl.array.dtype))
    F.copy_(part, operand)


def _warn_of_rank(name: str, ndim: int) -> None:
    warn(f"{name} of a tensor with {ndim} dimension(s) is deprecated: it is for matrices")


@mypyc_attr(allow_interpreted_subclasses=True)
class OperatorMethods(PythonOperators):
    """What ``[]``, ``~`` and the properties of matrices and complex numbers do."""

    __slots__ = ()

    def __hash__(self) -> int:
        return id(self)

    def __invert__(self) -> Self:
        if self._impl.array.dtype.kind in "fc":
            raise ArgumentTypeError(f"~ needs integers or bools, not {self.dtype.name}")
        return F.bitwise_not(self)

    def __getitem__(self, index: Index) -> Self:
        # Much the most frequent case; the operator checks the range itself.
        return F.select(self, 0, index) if type(index) is int else F.getitem(self, index)

    def __setitem__(self, index: Index, value: TensorBase | Number) -> None:
        F.setitem(self, index, value)

    def __reversed__(self) -> Self:
        """A copy with the first dimension in reverse order; a 0-d tensor itself."""
        return F.flip(self, 0) if self.ndim else self

    def __delitem__(self, index: Index) -> None:
        raise ArgumentTypeError("the elements of a tensor cannot be deleted")

    def where(self, condition: TensorBase, other: TensorBase | Number) -> Self:
        """The tensor's elements where a condition is true, other elements elsewhere.

        Parameters
        ----------
        condition : Tensor
            Of dtype bool; the three shapes broadcast.
        other : Tensor or number
            What to take where `condition` is false.

        Returns
        -------
        Tensor
            ``vt.where(condition, x, other)``.

        Raises
        ------
        DTypeError
            If `condition` is not bool.
        ShapeError
            If the shapes do not broadcast.

        Examples
        --------
        >>> x = vt.tensor([-1.0, 2.0])
        >>> x.where(x > 0, 0)
        tensor([0., 2.])
        """
        return cast("Self", F.where(condition, self, other))

    def polygamma(self, n: SupportsIndex) -> Self:
        """The derivative of order `n` of the digamma function, at each element.

        Parameters
        ----------
        n : int
            The order, from 0 up.

        Returns
        -------
        Tensor
            ``vt.polygamma(n, x)``.

        Raises
        ------
        OptionValueError
            If `n` is negative.

        Examples
        --------
        >>> vt.tensor([1.0]).polygamma(1)  # pi**2 / 6
        tensor([1.6449])
        """
        return F.polygamma(n, self)  # type: ignore[arg-type]  # looked at there

    def sum_to_size(self, *sizes: int | Sequence[int], size: Sequence[int] | None = None) -> Self:
        """The sum over the dimensions that broadcasting from a shape added.

        It is the derivative of `expand`: the gradient of a broadcast operand is of the operand's
        shape.

        Parameters
        ----------
        *sizes : int, or one sequence of int
            A shape that broadcasts to the tensor's.
        size : sequence of int, optional
            The shape as a keyword.

        Returns
        -------
        Tensor
            A new tensor of the shape; the tensor itself if it has the shape.

        Raises
        ------
        ShapeError
            If the shape does not broadcast to the tensor's.

        Examples
        --------
        >>> x = vt.ones(2, 3)
        >>> x.sum_to_size(3), x.sum_to_size(2, 1)
        (tensor([2., 2., 2.]), tensor([[3.],
                [3.]]))
        """
        return F.sum_to(self, sizes, size)

    def split(
        self, split_size: int | Sequence[int], dim: SupportsIndex | str = 0
    ) -> tuple[Self, ...]:
        """Parts of the tensor along a dimension, as views; see `vtgrad.split`.

        Parameters
        ----------
        split_size : int or sequence of int
            The length of each part but perhaps the last, or the length of every part.
        dim : int or str, default 0
            The dimension, or its name.

        Returns
        -------
        tuple of Tensor
            Views of the tensor: writing to the tensor writes to them.

        Raises
        ------
        ShapeError, DimensionError
            If the lengths do not fit, or there is no such dimension.

        Examples
        --------
        >>> vt.arange(5).split(2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
        """
        return F.split(self, split_size, dim)  # type: ignore[arg-type]  # looked at there

    @property
    def T(self) -> Self:
        """All dimensions in reverse order.

        Meant for matrices; for other tensors there is a warning: use `mT` or `permute`.

        Returns
        -------
        Tensor
            A view: writing to it writes to the tensor.

        Examples
        --------
        >>> x = vt.zeros(2, 3)
        >>> x.T[0] = 1
        >>> x
        tensor([[1., 0., 0.],
                [1., 0., 0.]])
        """
        if self.ndim != 2:
            _warn_of_rank("T", self.ndim)
        return F.permute_dims(self, tuple(reversed(range(self.ndim))))

    @property
    def mT(self) -> Self:
        """The last two dimensions exchanged: each matrix of a batch transposed.

        Returns
        -------
        Tensor
            A view; of a 0-d tensor, with a warning, the tensor itself.

        Raises
        ------
        ShapeError
            If there is one dimension only.

        Examples
        --------
        >>> vt.zeros(5, 2, 3).mT.shape
        vtgrad.Size([5, 3, 2])
        """
        if self.ndim == 0:
            _warn_of_rank("mT", 0)
            return self
        if self.ndim == 1:
            raise ShapeError(
                f"mT needs a matrix or a batch of them, not {self.ndim} dimensions",
                shape=self.shape,
            )
        return F.transpose(self, -2, -1)

    @property
    def H(self) -> Self:
        """A matrix transposed and conjugated.

        Returns
        -------
        Tensor
            A view, whose values are conjugated when they are read.

        Raises
        ------
        ShapeError
            If the tensor is not a matrix, unless it is 0-d; that gives a warning.

        Examples
        --------
        >>> vt.tensor([[1 + 2j, 3 - 1j]]).H
        tensor([[1.-2.j],
                [3.+1.j]])
        """
        if self.ndim not in (0, 2):
            raise ShapeError(
                f"H needs a matrix, not {self.ndim} dimensions; mH takes batches of them",
                shape=self.shape,
            )
        if self.ndim == 0:
            _warn_of_rank("H", 0)
            return F.lazy_conj(self)
        return F.adjoint(self)

    @property
    def mH(self) -> Self:
        """The last two dimensions exchanged, and conjugated: `H` of each matrix of a batch.

        Returns
        -------
        Tensor
            A view, whose values are conjugated when they are read.

        Raises
        ------
        ShapeError
            If there is one dimension only.

        Examples
        --------
        >>> vt.zeros(5, 2, 3).mH.shape
        vtgrad.Size([5, 3, 2])
        """
        return F.adjoint(self)

    # -- parts of complex numbers ----------------------------------------------------------------

    @property
    def real(self) -> Self:
        """The real parts.

        Assigned to, it writes them.

        Returns
        -------
        Tensor
            A view of a complex tensor; a real tensor itself.

        Examples
        --------
        >>> z = vt.tensor([1 + 2j, 3 - 4j])
        >>> z.real = vt.tensor([5.0, 6.0])
        >>> z
        tensor([5.+2.j, 6.-4.j])
        """
        return F.real(self)

    @real.setter
    def real(self, value: TensorBase | Number) -> None:
        _assign(F.real(self), value, "real")

    @property
    def imag(self) -> Self:
        """The imaginary parts.

        Assigned to, it writes them.

        Returns
        -------
        Tensor
            A view.

        Raises
        ------
        DTypeError
            If the tensor is not complex.

        Examples
        --------
        >>> z = vt.tensor([1 + 2j, 3 - 4j])
        >>> z.imag.zero_()
        tensor([0., 0.])
        >>> z
        tensor([1.+0.j, 3.+0.j])
        """
        return F.imag(self)

    @imag.setter
    def imag(self, value: TensorBase | Number) -> None:
        _assign(F.imag(self), value, "imag")

    def _neg_view(self) -> Self:
        """The negatives, as a view of the same memory."""
        return F._neg_view(self)
