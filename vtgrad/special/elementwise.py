"""Functions of elements that are no rows of the tables.

Note [Functions of elements]

An `Elementwise` is an operator that is imported when a program first names it. It has a record, as
a row of the tables has (Note [One record for each operator]), so keys take its calls over by the
same rules: names of the operands are unified, samples of `vmap` broadcast, a tangent follows by the
slopes, and an element depends on the elements at its index. What is left is a call with arrays,
which is one node of the graph.

Its value is a kernel, of which a recording sees the arguments and the result. Its derivatives are
slopes, functions that are written with operators and with other functions of elements, so that they
can be differentiated again. The gradient of an operand is the gradient of the result times the
slope, summed over the dimensions along which the operand was broadcast.

Note [Derivatives that are not known]

A parameter without a slope has no derivative that is known here, as the order of a Bessel function.
An operand for it that requires grad while recording is refused by the call: before anything ran,
and with the line that has to be changed. So is one that has a tangent.

PyTorch runs calls of `zeta`, `gammainc`, `gammaincc` and polynomials whose order requires grad, and
differentiates them by the other operand. Programs with these names have to run here too. Their
nodes refuse in backward, and only if the gradient of the order is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NoReturn, TypeAlias, cast

import numpy as np

from vtgrad.errors import ArgumentTypeError, NotSupportedError
from vtgrad.function.function import Function, FunctionMeta
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.function.node import BackwardCFunction
from vtgrad.graph.recording import is_recording
from vtgrad.graph.region import Gradient
from vtgrad.graph.set_history import requires_grad
from vtgrad.ops.calling.constants import exact_beside
from vtgrad.ops.calling.take_over import is_keyed, take_over
from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.special.series import by_blocks
from vtgrad.ops.kernels.support.elementwise import finish_like, floating, refuse, working
from vtgrad.ops.operator import Operator
from vtgrad.ops.rules.tangents.functions_of import TangentFunctions, add_functions
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.no_fp_warnings import no_fp_warnings
from vtgrad.storage.promotion import result_dtype
from vtgrad.storage.shapes import broadcast_shapes
from vtgrad.storage.tensor_base import TensorBase, wrap_like
from vtgrad.tensor.tensor import Tensor
from vtgrad.views.write_out import check_out, write_out

__all__ = ["Elementwise", "Kernel", "Slope"]

# Takes an array for each operand.
Kernel: TypeAlias = Callable[..., Array]
# Takes the operands, and the result if it is read, and returns a derivative.
Slope: TypeAlias = Callable[..., Tensor]


class _Step:
    """What a recording has of a kernel: one call, with a name that says where it is.

    Attributes
    ----------
    in_double : bool
        As of `Elementwise`.
    """

    in_double: bool
    kernel: Kernel
    __name__: str

    def __init__(self, name: str, kernel: Kernel, in_double: bool) -> None:
        self.__name__ = name
        self.__module__ = "vtgrad.special"
        self.kernel = kernel
        self.in_double = in_double

    def __call__(self, *arrays: Array) -> Array:
        """The result of the kernel."""
        if self.in_double:
            return by_blocks(self.kernel, *arrays)
        # That of 0-d arrays may be a scalar.
        return making.asarray(self.kernel(*arrays))


class _Recorded(Function):
    """The node of a call; each `Elementwise` has a subclass, which is named after it."""

    of: Elementwise

    @classmethod
    def forward(cls, ctx: FunctionCtx, *operands: Tensor) -> Tensor:
        """The value, and what backward reads."""
        result = wrap_like(operands[0], cls.of.value(*operands))
        ctx.save_for_backward(*operands, *((result,) if cls.of.reads_result else ()))
        return result

    @classmethod
    def backward(cls, ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        """The gradient times the slope by each operand."""
        saved = ctx.saved_tensors
        return tuple(
            [
                # Without a slope: the node has refused, if the gradient is asked.
                cls.of.product(grad, name, saved, adjoint=True) if needed and slope else None
                for (name, slope), needed in zip(
                    cls.of.slopes.items(), ctx.needs_input_grad, strict=True
                )
            ]
        )


class _Node(BackwardCFunction):
    """A node that refuses gradients which are asked and not known.

    The engine says which ones are asked; see Note [Derivatives that are not known].
    """

    of: ClassVar[Elementwise]

    def apply_owned(
        self, grad: Array, owned: bool, may_share: bool, needs: int
    ) -> tuple[Sequence[Gradient | None], Sequence[int]]:
        """Run backward on the gradient of the result."""
        self._check(needs)
        return super().apply_owned(grad, owned, may_share, needs)

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> Sequence[Gradient | None]:
        """Run backward on copies of gradients."""
        self._check(needs)
        return super().apply_arrays(grads, needs)

    def apply_tensors(
        self, grads: Sequence[TensorBase | None], needs: int
    ) -> Sequence[TensorBase | None]:
        """Run backward, recorded."""
        self._check(needs)
        return super().apply_tensors(grads, needs)

    def _check(self, needs: int) -> None:
        edges = self.next_edges
        for nr, (name, slope) in enumerate(self.of.slopes.items()):
            if slope is None and needs >> nr & 1 and edges[nr] is not None:
                self.of.refuse(name)


class Elementwise:
    """A function of elements with its derivatives; see Note [Functions of elements].

    Parameters
    ----------
    name : str
        What errors call it.
    kernel : callable
        Takes an array for each operand and returns a new array. See `in_double`.
    in_double : bool
        True by default: the kernel gets vectors of float64, all of one length, dense, of a few
        thousand elements, and its result is rounded to the dtype of the function's. Otherwise it
        gets arrays of the result's dtype (float32 for float16), as they broadcast, and its result
        broadcasts as they do.
    takes_complex : bool
        Whether the function is defined for complex operands, and analytic. False by default.
    takes_half : bool
        Whether the function is defined for float16. True by default; False where PyTorch refuses.
    reads_result : bool
        Whether the slopes take the result behind the operands. False by default.
    refuses_late : bool
        Whether backward refuses a derivative that is not known, as PyTorch's does. False by
        default: the call does. See Note [Derivatives that are not known].
    **slopes : callable or None
        The parameters in their order. Each with the derivative by it, or None if there is none.

    Attributes
    ----------
    record : Operator
        What keys ask for.
    node : type
        The Function that records a call.

    Examples
    --------
    >>> from vtgrad.special.elementwise import Elementwise
    >>> cube = Elementwise("cube", lambda x: x**3, input=lambda x: 3 * x * x)
    >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
    >>> cube(x)
    tensor([1., 8.], grad_fn=<CubeBackward>)
    >>> vt.func.grad(lambda x: cube(x).sum())(x.detach())
    tensor([ 3., 12.])
    """

    __slots__ = (
        "_refused",
        "_run",
        "in_double",
        "kernel",
        "name",
        "node",
        "reads_result",
        "record",
        "slopes",
        "takes_complex",
        "takes_half",
    )

    name: str
    kernel: Kernel
    slopes: Mapping[str, Slope | None]
    in_double: bool
    takes_complex: bool
    takes_half: bool
    reads_result: bool
    record: Operator
    node: type[_Recorded]
    _run: _Step
    # The places and the names of the operands that may not require grad.
    _refused: tuple[tuple[int, str], ...]

    def __init__(
        self,
        name: str,
        kernel: Kernel,
        *,
        in_double: bool = True,
        takes_complex: bool = False,
        takes_half: bool = True,
        reads_result: bool = False,
        refuses_late: bool = False,
        **slopes: Slope | None,
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.slopes = slopes
        self.in_double = in_double
        self._run = _Step(name, kernel, in_double)
        self.takes_complex = takes_complex
        self.takes_half = takes_half
        self.reads_result = reads_result
        # Of its own among the rows: PyTorch and SciPy may mean another function by one name.
        row = f"special.{name}"
        parameters = " ".join(slopes)
        self.record = Operator(row, parameters, parameters, spoken=name)
        add_functions(row, TangentFunctions(self._tangent, None, None))
        title = "".join([part.capitalize() for part in name.split("_")])
        self.node = cast(
            "type[_Recorded]",
            FunctionMeta(title, (_Recorded,), {"of": self, "__module__": __name__}),
        )
        unknown = tuple([(nr, x) for nr, x in enumerate(slopes) if slopes[x] is None])
        self._refused = () if refuses_late else unknown
        if unknown and refuses_late:
            plain = self.node._backward_cls
            members = {"of": self, "__module__": plain.__module__, "__doc__": plain.__doc__}
            self.node._backward_cls = type(plain.__name__, (_Node, plain), members)

    def __repr__(self) -> str:
        return f"<function of elements {self.name}>"

    def __call__(self, *operands: Tensor | Number, out: Tensor | None = None) -> Tensor:
        """The function of operands that broadcast.

        Parameters
        ----------
        *operands : Tensor or number
            At least one of them is a tensor.
        out : Tensor, optional
            Where to store the result.

        Raises
        ------
        ArgumentTypeError
            If an operand is neither a tensor nor a number, or none is a tensor.
        NotSupportedError
            If the function is not defined for the dtype, or has no derivative by an operand that
            requires grad while recording.
        OutGradError
            If `out` is given and an argument requires grad while recording.
        """
        if self._refused and is_recording():
            for nr, name in self._refused:
                x = operands[nr]
                if isinstance(x, TensorBase) and requires_grad(x):
                    self.refuse(name)
        if is_keyed(*operands, out):
            return take_over(self.record, self, *operands, out=out)
        tensors = self._tensors(operands)
        if out is None:
            result: Tensor = self.node.apply(*tensors)
            return result
        check_out(out, *tensors)
        return write_out(out, self.value(*tensors), self.name)

    def _tensors(self, operands: tuple[Tensor | Number, ...]) -> list[Tensor]:
        """The operands, where numbers are 0-d tensors in the dtype that all promote to."""
        given = [x for x in operands if isinstance(x, TensorBase)]
        if len(given) == len(operands) and given:
            return given
        for name, x in zip(self.slopes, operands, strict=True):
            if not isinstance(x, (TensorBase, bool, int, float, complex, np.generic)):
                raise ArgumentTypeError(
                    f"argument {name!r} of {self.name}() must be a tensor or a number, not "
                    f"{type(x).__name__}",
                    argument=name,
                )
        if not given:
            raise ArgumentTypeError(
                f"{self.name}() needs a tensor among its operands", argument=next(iter(self.slopes))
            )
        return [
            x
            if isinstance(x, TensorBase)
            else cast(
                "Tensor",
                exact_beside(cast("Number", x.item() if isinstance(x, np.generic) else x), *given),
            )
            for x in operands
        ]

    def value(self, *operands: Tensor) -> Array:
        """A new array with the result, in its dtype.

        Raises
        ------
        NotSupportedError
            If the function is not defined for the dtype.
        """
        arrays = [resolved(x._impl.array) for x in operands]
        dtype = floating(result_dtype(*arrays))
        if not self.takes_complex:
            refuse(self.name, dtype, "c", *arrays)
        if not self.takes_half and dtype.itemsize == 2:
            refuse(self.name, dtype, "f", *arrays)
        shape = broadcast_shapes(*[x.shape for x in arrays])
        if self.in_double:
            double = np.dtype(np.complex128 if dtype.kind == "c" else np.float64)
            flat = [
                making.ascontiguousarray(making.broadcast_to(x, shape), double).reshape(-1)
                for x in arrays
            ]
            found = no_fp_warnings.run(making.call, self._run, *flat).reshape(shape)
        else:
            # A kernel may be a ufunc, whose result of 0-d arrays is no array.
            given = [x.astype(working(dtype), copy=False) for x in arrays]
            found = no_fp_warnings.run(making.call, self._run, *given)
            if found.shape != shape:
                found = making.broadcast_to(found, shape)
        # A narrower dtype may not hold the values.
        return no_fp_warnings.run(finish_like, found, dtype, None, *arrays)

    def product(
        self, factor: Tensor, name: str, values: tuple[Tensor, ...], *, adjoint: bool
    ) -> Tensor:
        """A tangent or a gradient times the derivative by a parameter.

        Parameters
        ----------
        values : tuple of Tensor
            The operands, and the result if slopes read it.
        adjoint : bool
            Whether the derivative is conjugated.

        Raises
        ------
        NotSupportedError
            If there is no derivative.
        """
        slope = self.slopes[name]
        if slope is None:
            self.refuse(name)
        found = slope(*values)
        if adjoint and self.takes_complex:
            found = F.conj(found)
        return F.mul(factor, found)

    def refuse(self, name: str) -> NoReturn:
        """Raise, because there is no derivative by a parameter.

        Raises
        ------
        NotSupportedError
            Always.
        """
        raise NotSupportedError(
            f"{self.name}() has no derivative with respect to {name}; detach it",
            operator=self.name,
            argument=name,
        )

    def _tangent(
        self, arguments: Mapping[str, object], given: Mapping[str, object], result: object
    ) -> object:
        """The tangent of the result: the sum over the operands that have one."""
        found = cast("Tensor", result)
        values = tuple([cast("Tensor", arguments[name]) for name in self.slopes])
        if self.reads_result:
            values = (*values, found)
        total: Tensor | None = None
        for name, tangent in given.items():
            part = self.product(cast("Tensor", tangent), name, values, adjoint=False)
            total = part if total is None else F.add(total, part)
        assert total is not None
        shape = found._impl.array.shape
        return total if total._impl.array.shape == shape else F.expand(total, shape)
