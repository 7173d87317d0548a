"""The public tensor class.

`Tensor` inherits from classes that are each in a file of their own: the operators as methods
(`ops/generated/methods.py`), the Python operators, the gradient attributes, the conversions to and
from NumPy, Python and DLPack, the device and layout, the memory, the names of dimensions, and
subclasses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vtgrad.engine.run import registered
from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.operators import install
from vtgrad.lanes.lane_handler import handle_lane
from vtgrad.lanes.lane_run import LaneRunner
from vtgrad.later import add_methods
from vtgrad.ops.calling.take_over import handle_key
from vtgrad.ops.generated.methods import TensorMethods
from vtgrad.ops.install import InstalledOperators
from vtgrad.ops.rules.names.take_over_named import take_over_named
from vtgrad.ops.saving.saved_fields import publish_saved_fields
from vtgrad.storage.device import Device
from vtgrad.storage.dtypes import get_default_dtype
from vtgrad.storage.key_set import LANE, NAMED
from vtgrad.storage.native import bind_functions
from vtgrad.storage.storage_base import StorageBase
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.autograd_methods import AutogradMethods
from vtgrad.tensor.conversion_methods import ConversionMethods
from vtgrad.tensor.device_methods import DeviceMethods
from vtgrad.tensor.dlpack_methods import DLPackMethods
from vtgrad.tensor.memory_methods import MemoryMethods
from vtgrad.tensor.named_methods import NamedMethods
from vtgrad.tensor.new_tensor import new_tensor
from vtgrad.tensor.operator_methods import OperatorMethods
from vtgrad.tensor.pickling import give_state, state_of
from vtgrad.tensor.subclass_methods import SubclassMethods, override

__all__ = ["Tensor"]


class Tensor(
    OperatorMethods,
    AutogradMethods,
    DLPackMethods,
    DeviceMethods,
    MemoryMethods,
    NamedMethods,
    SubclassMethods,
):
    """An array with views, in-place writes and gradients.

    Functions make tensors: `vtgrad.tensor` copies Python data, `vtgrad.from_numpy` takes over an
    array's memory, `vtgrad.zeros` and its like begin with constants. The class makes them too, as
    in older programs: of sizes, ``vt.Tensor(2, 3)``, or of elements in the default dtype,
    ``vt.Tensor([1, 2])``. Operators of Python and of `vtgrad` compute new tensors; indexing and
    shape operators return views of the same memory; methods that end with an underscore,
    ``x[...] = v`` and ``x += v`` write in place. What depends on a leaf with
    ``requires_grad=True`` is recorded, and `backward` adds gradients into its ``.grad``.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> y = x * x
    >>> y[0] *= 10  # a write through a view
    >>> y.sum().backward()
    >>> x.grad
    tensor([[20., 40.],
            [ 6.,  8.]])
    """

    __slots__ = ("__weakref__",)

    def __init__(
        self,
        *data: int | Sequence[object] | TensorBase | StorageBase,
        size: Sequence[int] | None = None,
        device: Device | str | None = None,
    ) -> None:
        """Make a tensor in the manner of older programs, as `FloatTensor` does.

        Parameters
        ----------
        *data : int, sequence, Tensor or storage
            Sizes of a tensor of zeros, its elements, memory to share, or a tensor of any dtype, of
            which the result is a view. Nothing makes a tensor without elements.
        size : sequence of int, optional
            Sizes of a tensor of zeros.
        device : device or str, optional
            The CPU by default, or a lane of it.

        Raises
        ------
        ArgumentTypeError
            If the arguments are none of these, or the tensor is made already.
        """
        if hasattr(self, "_impl"):
            if type(self).__new__ is not Tensor.__new__:
                # The class's own has made it; Python calls this method after that.
                return
            raise ArgumentTypeError(
                "a tensor is not made a second time: __init__ was called on one"
            )
        only = data[0] if len(data) == 1 else None
        dtype = only.dtype if isinstance(only, TensorBase) else get_default_dtype()
        impl = new_tensor(type(self).__name__, dtype, data, size, device)._impl
        if type(self)._takes_functions_over():
            override(impl)
        self._impl = impl

    if not TYPE_CHECKING:
        # Hidden from type checkers, so that subclasses may declare their own types. Defined here
        # because native base classes have such methods, too.

        def __getstate__(self) -> object:
            return state_of(self)

        def __setstate__(self, state: object) -> None:
            give_state(self, state)

        # `TensorBase` has one too; see Note [The bases of Tensor].
        shape = ConversionMethods.shape


# Of this class itself: a native class does not make objects of classes with other members.
Tensor._make = Tensor.__new__
bind_functions(TensorMethods)
add_methods(Tensor)
install(InstalledOperators(Tensor))
handle_key(LANE, handle_lane)
registered.runner = LaneRunner()
handle_key(NAMED, take_over_named)
publish_saved_fields()
