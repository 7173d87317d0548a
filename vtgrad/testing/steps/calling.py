"""The step that calls an operator of the user's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vtgrad.testing.custom import FLOATING
from vtgrad.testing.geometry import Geometry
from vtgrad.testing.invocation import Array, Invocation, Outcome
from vtgrad.testing.jets import Along, FloatArray
from vtgrad.testing.libraries import TensorLike
from vtgrad.testing.model import ModelTensor, RefusedError, Saved, SkippedError
from vtgrad.testing.model_calls import check_tangents, made, viewed, written
from vtgrad.testing.steps.base import NOTHING, Expected, Line, Literal, Step, named, under
from vtgrad.testing.views import ViewCall, picked_by
from vtgrad.testing.world import World

__all__ = ["Call"]


@dataclass(frozen=True)
class Call(Step):
    """Call an operator of the user's; see `vtgrad.testing.checking.Rule`.

    What the model cannot know, it takes over from the library once it has seen that it may be so:
    strides of a fresh result, and how often a write moves the version.

    Programs are of float64. Operands of another dtype are cast where the operator is called, and
    so are its results, so that gradients flow through; results of integers or bools are compared
    at once, and are no tensors of the program.

    Attributes
    ----------
    outs : tuple of int
        The numbers of the results, none if it writes to its operand.
    operands : tuple of int or Literal
        Tensors of the program, two for a complex operand, and constants.
    dtype : str
        That of the operands that are no constants.
    options : tuple
        Names and values of arguments by keyword.
    seed : int or None
        For an operator that draws random numbers.
    kinds : tuple of str
        The dtypes of the results, where one is not float64.
    is_several : bool
        Whether it returns a tuple.
    is_cloned : bool
        Whether the results are cloned at once: they are views of memory that the operator has made.
    views : tuple
        Views that are taken of constants and of casts: positions of operands, and the views.
    """

    outs: tuple[int, ...]
    name: str
    operands: tuple[int | Literal, ...]
    grad: bool = True
    dtype: str = "float64"
    options: tuple[tuple[str, object], ...] = ()
    seed: int | None = None
    kinds: tuple[str, ...] = ()
    is_several: bool = False
    is_cloned: bool = False
    views: tuple[tuple[int, ViewCall], ...] = ()

    @property
    def sources(self) -> tuple[int, ...]:
        """The numbers of the tensors that it takes."""
        return tuple(part for part in self.operands if isinstance(part, int))

    def _text(self) -> str:
        """The call itself."""
        arguments: list[str] = []
        views = dict(self.views)
        numbers = iter(self.operands)
        for part in numbers:
            if isinstance(part, Literal):
                arguments.append(part.source())
            elif self.dtype == "complex128":
                arguments.append(f"vt.complex({named(part)}, t{next(numbers)})")
            elif self.dtype == "float32":
                arguments.append(f"{named(part)}.to(vt.float32)")
            else:
                arguments.append(named(part))
            view = views.get(len(arguments) - 1)
            if view is not None:
                arguments[-1] = view.source(arguments[-1])
        arguments += [f"{name}={value!r}" for name, value in self.options]
        text = f"{self.name}({', '.join(arguments)})"
        if self.is_cloned:
            text = f"[t.clone() for t in {text}]" if self.is_several else f"{text}.clone()"
        return text

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        targets = ", ".join(map(named, self.outs)) + "," * (self.is_several and len(self.outs) == 1)
        text = self._text()
        lines = [] if self.seed is None else [f"vt.manual_seed({self.seed})"]
        # What is returned beside the written operand is looked at, and forgotten.
        lines += under(self.grad, f"{targets if self.outs else 'w'} = {text}")
        if self._is_cast:
            lines.append(f"r = [{', '.join(map(named, self.outs))}]")
        for out, kind in zip(self.outs, self.kinds, strict=False):
            name = named(out)
            if kind == "complex128":
                lines += under(self.grad, f"{name} = vt.view_as_real({name}).clone()")
            elif kind == "float64" and self.dtype == "float32":
                lines += under(self.grad, f"{name} = {name}.to(vt.float64)")
        return lines

    def line(self) -> Line:
        """See `Step`."""
        return Line(self._text(), tuple(map(named, self.outs)), op=self.name)

    @property
    def _is_cast(self) -> bool:
        """Whether its results are not float64 as it returns them."""
        return self.dtype == "float32" or any(kind != "float64" for kind in self.kinds)

    @property
    def rounding(self) -> float:
        """See `Step`."""
        return 1e-4 if self.dtype == "float32" else 0.0

    def invocation(self, world: World) -> Invocation:
        """Return the call as the model sees it."""
        constants: dict[int, Array] = {}
        position, width = 0, 2 if self.dtype == "complex128" else 1
        for part in self.operands:
            if isinstance(part, Literal):
                constants[position] = np.array(part.numbers, part.dtype).reshape(part.shape)
                position += width
            else:
                position += 1
        views = dict(self.views)
        constants = {at // width: array for at, array in constants.items()}
        for at in views.keys() & constants:
            array = constants[at]
            constants[at] = array.reshape(-1)[picked_by(views.pop(at), array.shape)]
        options = dict(self.options)
        if self.seed is not None:
            options["seed"] = self.seed
        return Invocation(world.rules[self.name], constants, options, self.dtype, views)

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        call = self.invocation(world)
        tensors = [world.tensors[i] for i in self.sources]
        check_tangents(world, call, tensors)
        if call.rule.result == "written":
            written(world, call, tensors, self.grad)
            return NOTHING
        outcome = self._outcome(call, tensors)
        results = (made if call.rule.result == "new" else viewed)(world, call, tensors, self.grad)
        floating = [o for o, k in zip(self.outs, outcome.dtypes, strict=True) if k in FLOATING]
        for out, result in zip(floating, results, strict=True):
            world.put(out, result)
        if not self._is_cast:
            return NOTHING
        dtypes = [self._cast(kind) for kind in outcome.dtypes]
        return Expected({}, {"r": outcome.arrays}, dtypes={"r": dtypes})

    def _outcome(self, call: Invocation, tensors: Sequence[ModelTensor]) -> Outcome:
        arrays = [tensor.values.reshape(tensor.cells.shape) for tensor in tensors]
        kinds = self.kinds or ("float64",) * len(self.outs)
        try:
            outcome = call.outcome(arrays)
        except RefusedError:
            return Outcome((), self.is_several)  # what makes the results raises it again
        if kinds != outcome.dtypes or self.is_several != outcome.is_several:
            raise SkippedError  # the step was drawn for operands of other shapes
        return outcome

    def _cast(self, kind: str) -> str:
        """The dtype of a result as it is returned."""
        return "float32" if kind == "float64" and self.dtype == "float32" else kind

    def observe(self, world: World, tensor: Callable[[int], TensorLike]) -> str | None:
        """See `Step`."""
        if not self.outs:
            target = self.sources[0]
            return _adopt_version(world, world.tensors[target], tensor(target), self)
        for out in self.outs:
            wrong = self._observe(world, out, tensor)
            if wrong is not None:
                return wrong if len(self.outs) == 1 else f"{named(out)}: {wrong}"
        return None

    def _observe(self, world: World, out: int, tensor: Callable[[int], TensorLike]) -> str | None:
        made: object = tensor(out)
        if not hasattr(made, "storage_offset"):
            return f"{self.name} returned no tensor but {type(made).__name__}"
        found = tensor(out)
        if any(found is tensor(index) for index in self.sources):
            return f"{self.name} returned its operand itself"
        if out not in world.tensors:
            return None  # of integers or bools
        if not str(found.dtype).endswith("float64"):
            return f"{self.name} made {found.dtype} of float64"
        model = world.tensors[out]
        shape = tuple(found.shape)
        if shape != model.geometry.shape:
            return f"{self.name} returned shape {shape}, expected {model.geometry.shape}"
        geometry = Geometry(shape, tuple(found.stride()), found.storage_offset())
        if world.rules[self.name].result == "new":
            if geometry.repeats_cells:
                return f"{self.name} returned a tensor that overlaps itself"
            _lay_out(model, geometry)
            if not model.is_inference:
                _take_version(world, model, found._version)
        elif geometry.numel and not np.array_equal(geometry.cells(), model.cells):
            return f"{self.name} returned another view than expected: {geometry}"
        else:
            model.geometry = geometry
        return None


def _adopt_version(world: World, target: ModelTensor, found: TensorLike, call: Call) -> str | None:
    """Take over how often the writes of one call moved the version."""
    expected, version = target.counter.version, found._version
    # An operator that writes element by element does not write to an empty tensor.
    least = expected - (not target.cells.size and not world.rules[call.name].is_function)
    if version < least:
        name = named(call.sources[0])
        return f"{name}._version: expected at least {least}, found {version}"
    _take_version(world, target, version)
    return None


def _take_version(world: World, target: ModelTensor, version: int) -> None:
    """Let a tensor have the version that the library says, in what was noted about it too."""
    expected, target.counter.version = target.counter.version, version
    for tensor in world.tensors.values():
        if tensor.counter is target.counter and tensor.seen_version == expected:
            tensor.seen_version = version
    for save in world.saves:
        check = save.failure
        if isinstance(check, Saved) and check.tensor is target and check.version == expected:
            check.version = version


def _lay_out(tensor: ModelTensor, geometry: Geometry) -> None:
    """Put the elements of a fresh tensor where the library has put them."""
    if geometry == tensor.geometry or not geometry.numel:
        tensor.geometry = geometry
        return
    before, tensor.geometry, tensor.cells = tensor.cells.ravel(), geometry, geometry.cells()
    after = tensor.cells.ravel()
    history = tensor.history
    size = int(after.max()) + 1

    def moved(rows: FloatArray) -> FloatArray:
        laid: FloatArray = np.zeros((size, *rows.shape[1:]))
        laid[after] = rows[before]
        return laid

    tensor.buffer.values = moved(tensor.buffer.values)
    history.jac, history.hes = moved(history.jac), moved(history.hes)
    if history.along is not None:
        history.along = Along(history.along.level, moved(history.along.jac))
    if tensor.tangent is not None:
        tensor.tangent.buffer.values = moved(tensor.tangent.buffer.values)
