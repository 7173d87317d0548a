"""Steps in the forms that run with the least work, and with the same bits.

Note [Normal form]

- A number beside an array is converted by NumPy at each call. Here it becomes an array without
  dimensions of the dtype that it is converted to, so that all operands are places.
- What fills or copies an array is an assignment to all its elements, also if it was an assignment
  to an index that makes a view.
- Keywords of a ufunc that say what NumPy does anyhow are left out.
- `numpy.dot` of two real matrices is `numpy.matmul`, which computes in place: both call the same
  functions of BLAS, in the same way.
"""

from __future__ import annotations

import operator

import numpy as np

from vtgrad.jit.effects import extent, is_elementwise
from vtgrad.jit.nests import contiguous
from vtgrad.jit.steps import Buffer, Fixed, Kind, Operand, Place, Program, Step
from vtgrad.storage.arrays import NumpyDType
from vtgrad.storage.no_fp_warnings import run_without_warnings

__all__ = ["in_normal_form"]


def in_normal_form(program: Program) -> Program:
    """The same program; see Note [Normal form]."""
    return run_without_warnings(_Forms(program).run)


class _Forms:
    """The constants that are made for one program."""

    __slots__ = ("buffers", "made", "program")

    program: Program
    buffers: list[Buffer]
    made: dict[tuple[NumpyDType, bytes], Place]

    def __init__(self, program: Program) -> None:
        self.program = program
        self.buffers = list(program.buffers)
        self.made = {}

    def run(self) -> Program:
        """The program with the constants."""
        steps = [self._step(step) for step in self.program.steps]
        return Program(self.buffers, steps, self.program.guards, self.program.results)

    def _step(self, step: Step) -> Step:
        function = step.function
        if isinstance(function, np.ufunc):
            if len(step.outputs) == 1 and is_elementwise(function):
                return self._call(function, step)
            return step
        if function is operator.setitem:
            return self._assignment(_on_view(step))
        if function is np.ndarray.fill and not step.keywords and isinstance(step.inputs[0], Place):
            inputs = (step.inputs[0], Fixed(...), step.inputs[1])
            return self._assignment(step.changed(function=operator.setitem, inputs=inputs))
        if function is np.copyto:
            return self._assignment(_copied(step))
        if function in (np.dot, np.ndarray.dot):
            return _product(step)
        if isinstance(getattr(function, "__self__", None), np.ufunc):
            return _reduction(step)
        return step

    def _assignment(self, step: Step) -> Step:
        if step.function is not operator.setitem:
            return step
        target, key, value = step.inputs
        if isinstance(value, Fixed) and isinstance(target, Place) and _is_number(value.value):
            place = self._constant(value.value, target.dtype)
            if place is not None:
                return step.changed(inputs=(target, key, place))
        return step

    def _call(self, function: np.ufunc, step: Step) -> Step:
        numbers = [x for x in step.inputs if type(x) is not Place]
        if not numbers and not step.keywords:
            return step
        if not all(name in ("casting", "dtype") for name, _ in step.keywords):
            return step
        kinds: list[NumpyDType | type] = []
        for operand in step.inputs:
            if isinstance(operand, Place):
                kinds.append(operand.dtype)
            elif isinstance(operand, Fixed) and _is_number(operand.value):
                value = operand.value
                # Only these take the dtype of the operand beside them.
                weak = type(value) in (int, float, complex)
                kinds.append(type(value) if weak else np.asarray(value).dtype)
            else:
                return step
        try:
            found = function.resolve_dtypes((*kinds, step.outputs[0].dtype))
        except (TypeError, ValueError):
            return step
        out = step.outputs[0].dtype
        if step.keywords and not _is_plain(step, found[: function.nin], found[-1], out):
            return step
        inputs: list[Operand] = []
        for operand, dtype in zip(step.inputs, found, strict=False):
            if isinstance(operand, Fixed):
                weak = type(operand.value) in (int, float, complex)
                own = dtype if weak else np.asarray(operand.value).dtype
                place = self._constant(operand.value, own)
                if place is None:
                    return step
                inputs.append(place)
            else:
                inputs.append(operand)
        return step.changed(inputs=tuple(inputs), keywords=())

    def _constant(self, value: object, dtype: NumpyDType) -> Place | None:
        """The place of a number, converted; None if it cannot be."""
        if dtype.hasobject or dtype.kind not in "biufc":
            return None
        lone = np.empty((), dtype)
        try:
            lone[...] = value
        except (TypeError, ValueError, OverflowError):
            return None
        content = np.frombuffer(lone.tobytes(), np.uint8)
        key = (dtype, content.tobytes())
        found = self.made.get(key)
        if found is None:
            found = self.made[key] = Place(len(self.buffers), dtype, (), (), 0)
            self.buffers.append(Buffer(Kind.CONSTANT, dtype.itemsize, content=content))
        return found


def _is_plain(
    step: Step, inputs: tuple[NumpyDType, ...], result: NumpyDType, out: NumpyDType
) -> bool:
    """Whether the keywords of a call only say what NumPy does without them."""
    keywords = {name: x.value for name, x in step.keywords if isinstance(x, Fixed)}
    if result != out or len(keywords) != len(step.keywords):
        return False
    if "dtype" in keywords and keywords["dtype"] not in (None, out, out.type):
        return False
    return all(x.dtype == y for x, y in zip(step.inputs, inputs, strict=True) if type(x) is Place)


def _copied(step: Step) -> Step:
    """A call of `numpy.copyto` as an assignment."""
    names = [name for name, _ in step.keywords]
    if len(step.inputs) > 3 or names not in ([], ["casting"]) or len(step.inputs) < 2:
        return step
    target, source = step.inputs[:2]
    # An assignment takes more shapes, and lists.
    if not isinstance(target, Place) or not isinstance(source, (Place, Fixed)):
        return step
    inputs = (target, Fixed(...), source)
    return step.changed(function=operator.setitem, inputs=inputs, keywords=())


def _product(step: Step) -> Step:
    """A call of `numpy.dot` as one of `numpy.matmul`."""
    places = (*step.inputs, *step.outputs)
    if len(step.inputs) != 2 or len(step.outputs) != 1 or step.keywords:
        return step
    for place in places:
        if not isinstance(place, Place) or len(place.shape) != 2 or 0 in place.shape:
            return step
        if place.dtype.char not in "fd" or place.dtype != step.outputs[0].dtype:
            return step
        if not contiguous(place, False) and not contiguous(place, True):
            return step
    return step.changed(function=np.matmul)


def _reduction(step: Step) -> Step:
    """A reduction without a dtype that its operand and its result have."""
    if not step.outputs or not isinstance(step.inputs[0], Place):
        return step
    dtype = step.inputs[0].dtype
    # The others are summed in a larger dtype where none is given.
    if dtype.char not in "fdFDlqLQ":
        return step
    if dtype != step.outputs[0].dtype or ("dtype", Fixed(dtype)) not in step.keywords:
        return step
    keywords = tuple([x for x in step.keywords if x[0] != "dtype"])
    return step.changed(keywords=keywords)


def _is_number(value: object) -> bool:
    return isinstance(value, (bool, int, float, complex, np.number, np.bool))


def _on_view(step: Step) -> Step:
    """An assignment to an index that makes a view, as one to all elements of the view."""
    target, key, value = step.inputs
    if not isinstance(key, Fixed) or not isinstance(target, Place) or key.value is ...:
        return step
    parts = key.value if isinstance(key.value, tuple) else (key.value,)
    if not all(x is None or x is ... or type(x) in (int, slice) for x in parts):
        return step
    if 0 in target.shape or (target,) != step.writes:
        return step
    if ... not in parts:
        parts = (*parts, ...)
    low, high = extent(target)
    whole = np.ndarray(
        target.shape,
        target.dtype,
        np.empty(high - low, np.uint8),
        target.offset - low,
        target.strides,
    )
    view = whole[parts]
    if 0 in view.shape:
        return step
    moved = target.offset + view.ctypes.data - whole.ctypes.data
    place = Place(target.buffer, target.dtype, view.shape, view.strides, moved)
    return step.changed(inputs=(place, Fixed(...), value), writes=(place,))
