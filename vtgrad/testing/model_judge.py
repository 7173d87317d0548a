"""The judge that has a model: it predicts each step, and compares everything after it."""

import gc
import weakref
from collections.abc import Sequence
from typing import NoReturn, cast

import numpy as np

from vtgrad.graph.node import Node
from vtgrad.testing.assertions import Check, equal, freed, near, observed, raised_by, true
from vtgrad.testing.geometry import Geometry
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.jets import FloatArray, Variable
from vtgrad.testing.judging import PASSED, Divergence, Verdict
from vtgrad.testing.libraries import Library, TensorLike
from vtgrad.testing.model import Buffer, ModelTensor, RefusedError, SkippedError, UncertainError
from vtgrad.testing.modes import RANDOM
from vtgrad.testing.steps import Call, Expected, Step
from vtgrad.testing.steps.base import AnyArray
from vtgrad.testing.world import World

__all__ = ["ModelJudge"]

#: How far numbers may be apart in programs that call operators of the user's.
_ROUNDING = 1e-6


class _WrongError(Exception):
    """The library did something else than the model, or raised what no program may meet."""

    def __init__(self, what: str, check: Check | None) -> None:
        super().__init__(what)
        self.divergence: Divergence = Divergence("", what, check=check)


class ModelJudge:
    """Compares a library with `World`; see Note [An oracle without a graph].

    Parameters
    ----------
    library : Library
        The library under test.
    inspects_always : bool
        As for `Session`.

    Attributes
    ----------
    world : World
        The model of the program.
    """

    replay: str

    def __init__(self, library: Library, *, inspects_always: bool = False) -> None:
        self.library = library
        self.inspects_always = inspects_always
        self.world: World = World(library.manners, rules=library.rules)
        where = "library"
        if library.rules:
            coarse = "library=vtgrad.testing.libraries.vtgrad_library(vtgrad, exact=False)"
            given = "*rules" if library.manners.exact else f"*rules, {coarse}"
            where = f"vtgrad.testing.checking.machine({given}).library"
        read = ", inspects_always=True" if inspects_always else ""
        self.replay = f"vtgrad.testing.session.replay(steps, {where}{read})"
        self._subject: Interpreter = Interpreter(library)
        self._nodes: dict[int, tuple[Variable | None, object]] = {}
        self._has_ended = False
        # What is predicted of the step that is being run.
        self._heard = 0
        self._expected: Expected | None = None
        self._kinds: tuple[str, ...] = ()
        self._possible: tuple[str, ...] = ()
        self._rounding = _ROUNDING

    def begin(self, subject: Interpreter) -> None:
        """See `Judge`."""
        self._subject = subject

    def prepare(self, step: Step) -> bool:
        """See `Judge`: the model does the step, unless it makes no prediction for it."""
        self.world.journal.clear()
        self._heard = len(self.world.heard)
        self._expected, self._kinds, self._possible = None, (), ()
        self._rounding = max(self._rounding, step.rounding)
        try:
            self._expected = step.predict(self.world)
        except SkippedError:
            self.world.undo_reads()
            return False
        except RefusedError as refused:
            self._kinds = refused.kinds
        except UncertainError as uncertain:
            self._possible = uncertain.kinds
        return True

    def judge(self, step: Step, error: Exception | None, *, last: bool) -> Verdict:
        """See `Judge`."""
        try:
            return self._judge(step, error)
        except _WrongError as wrong:
            return Verdict([wrong.divergence], cause=error)

    def finish(self) -> Verdict:
        """See `Judge`: compare with grad_fns included, then see that all is freed."""
        try:
            if not self._has_ended:
                self._compare_tangents({}, everywhere=True)
                for index in list(self.world.tensors):
                    self._inspect(index)
            if self.library.frees_promptly:
                self._check_lifetime()
        except _WrongError as wrong:
            return Verdict([wrong.divergence], cause=cast("Exception", wrong.__cause__))
        return PASSED

    def close(self) -> None:
        """See `Judge`: the model has nothing to close."""

    def _judge(self, step: Step, error: Exception | None) -> Verdict:
        met = self._kind_of(error)
        expected, kinds = self._expected, self._kinds
        if self._possible:
            if met in self._possible:
                kinds = self._possible
            else:
                expected, kinds = self._predict_decided(step)
        if (met is None) != (not kinds) or (met is not None and met not in kinds):
            what = f"expected {_outcome(kinds)}, got {met or 'no error'}"
            self._diverge(what, Check(refusal=tuple(kinds)))
        is_silent = self._heard == len(self.world.heard)
        if kinds and is_silent and step.is_pass and not self.library.manners.all_or_nothing:
            self._has_ended = True
            return Verdict(ends=True)
        self._compare_modes()
        if met is None:
            self._compare_returned(step)
            wrong = step.observe(self.world, self._tensor)
            if wrong is not None:
                self._diverge(wrong, self._observed(wrong, step))
        if expected is not None:
            self._compare_results(expected)
        self._compare_all()
        return PASSED

    def _kind_of(self, error: Exception | None) -> str | None:
        """The kind of what the library raised, which has to have one."""
        if error is None:
            return None
        for base in type(error).__mro__:
            if f"raises {base.__name__}" in self._kinds:
                error.__traceback__ = None  # its frames would keep tensors alive
                return f"raises {base.__name__}"
        kind = self.library.kind(error)
        if kind is None:
            what = f"{self._subject.line!r} raised {type(error).__name__}: {error}"
            self._diverge(what, Check())
        return kind

    def _predict_decided(self, step: Step) -> tuple[Expected | None, tuple[str, ...]]:
        """Predict a step that the library might have refused and did not."""
        self.world.decided = True
        try:
            return step.predict(self.world), ()
        except RefusedError as refused:
            return None, refused.kinds
        finally:
            self.world.decided = False

    def _tensor(self, index: int) -> TensorLike:
        return cast(TensorLike, self._subject.names[f"t{index}"])

    def _diverge(self, what: str, check: Check | None = None) -> NoReturn:
        raise _WrongError(what, check)

    def _expect(self, what: str, expected: object, found: object) -> None:
        if expected != found:
            self._diverge(f"{what}: expected {expected}, found {found}", equal(what, expected))

    def _observed(self, what: str, step: Step) -> Check:
        """How a script shows what was observed of a step."""
        line = step.line()
        tensors = {f"t{i}": tensor for i, tensor in self.world.tensors.items()}
        cells = {
            name: tensors[name].cells.ravel().tolist() for name in line.defs if name in tensors
        }
        return observed(what, line.defs, sorted(line.uses), cells)

    def _expect_values(
        self, what: str, expected: FloatArray | None, tensor: TensorLike | None
    ) -> None:
        if self.library.rules and tensor is None and expected is not None and not expected.any():
            return  # an operator of the user's may leave out a gradient that is zero
        if expected is None or tensor is None:
            self._expect(what, None if expected is None else expected.tolist(), tensor)
            return
        if self.library.rules:
            self._expect_close(what, expected, tensor)
            return
        self._expect(f"{what}.shape", expected.shape, tuple(tensor.shape))
        if expected.size:
            self._expect(what, expected.tolist(), tensor.tolist())

    # -- comparing ---------------------------------------------------------------------------

    def _compare_modes(self) -> None:
        """Compare the modes that operators of the user's can leave switched."""
        for what, (expected, found) in self._subject.left.items():
            if what == RANDOM:
                self._diverge(f"{what} was moved, and the rule does not say `is_random`")
            self._expect(what, expected, found)

    def _compare_returned(self, step: Step) -> None:
        """Compare what an operator that writes has returned: its operand, or nothing."""
        returned = self._subject.names.pop("w", None)
        if not isinstance(step, Call) or step.outs or not step.grad:
            return
        if hasattr(returned, "requires_grad"):
            target = self._tensor(step.sources[0])
            self._expect("w.requires_grad", target.requires_grad, returned.requires_grad)

    def _compare_results(self, expected: Expected) -> None:
        self._compare_gradients(expected)
        for name, values in expected.exact.items():
            found = cast("Sequence[TensorLike | None]", self._subject.names.pop(name))
            for number, (value, tensor) in enumerate(zip(values, found, strict=True)):
                self._expect_values(f"{name}[{number}]", value, tensor)
        for name, arrays in expected.close.items():
            found = cast("Sequence[TensorLike | None]", self._subject.names.pop(name))
            dtypes = [
                str(tensor.dtype).rpartition(".")[2] for tensor in found if tensor is not None
            ]
            self._expect(f"dtypes of {name}", expected.dtypes.get(name, dtypes), dtypes)
            factors = expected.factors.get(name, [1.0] * len(arrays))
            for number, (array, tensor) in enumerate(zip(arrays, found, strict=True)):
                self._expect_close(f"{name}[{number}]", array, tensor, factors[number])
        for scratch in ("w", "k"):
            self._subject.names.pop(scratch, None)

    def _compare_gradients(self, expected: Expected) -> None:
        """Compare the tangents of what ``grad`` has returned."""
        for name, arrays in expected.tangents.items():
            found = cast("Sequence[TensorLike | None]", self._subject.names[name])
            for number, (array, gradient) in enumerate(zip(arrays, found, strict=True)):
                tangent = None if gradient is None else self.library.tangent(gradient)
                what = f"tangent of {name}[{number}]"
                self._expect_close(what, array, tangent)

    def _expect_close(
        self, what: str, expected: AnyArray, tensor: TensorLike | None, factor: float = 1.0
    ) -> None:
        if tensor is None:
            found: AnyArray = np.zeros_like(expected)
        else:
            self._expect(f"{what}.shape", expected.shape, tuple(tensor.shape))
            numbers = tensor.tolist()
            if numbers == expected.tolist():
                return  # as most are, those of what a step leaves alone; `allclose` is slow
            found = np.array(numbers).reshape(expected.shape)
        tolerances = self._tolerances(expected, factor)
        if not np.allclose(found, expected, *tolerances):
            # Differences of a reference end in digits that mean nothing.
            shown = expected.tolist()
            if self.library.rules and expected.dtype.kind == "f":
                shown = (expected.astype(np.float64).round(9) + 0.0).tolist()
            check = near(what, shown, tolerances, is_none=tensor is None)
            self._diverge(f"{what}: expected {shown}, found {found.tolist()}", check)

    def _close(self, expected: AnyArray, found: AnyArray) -> bool:
        return np.allclose(found, expected, *self._tolerances(expected))

    def _tolerances(self, expected: AnyArray, factor: float = 1.0) -> tuple[float, float]:
        if not self.library.rules:
            return 1e-9, 1e-9
        # Differences of a reference are exact to so much of the largest number.
        largest = max(1.0, factor, float(np.abs(expected).max(initial=0.0)))
        return self._rounding, float(f"{self._rounding * largest:.3g}")

    def _compare_heard(self) -> None:
        heard = [(name, _flat(gradient)) for name, gradient in self._subject.names["seen"]]
        told = self.world.heard
        if self.library.rules:  # which may leave out a gradient that is zero
            heard, told = ([(name, g) for name, g in some if any(g)] for some in (heard, told))
        expected, found = (sorted(some, key=lambda pair: pair[0]) for some in (told, heard))
        if self.library.rules and [name for name, _ in expected] == [name for name, _ in found]:
            both = zip(expected, found, strict=True)
            pairs = [(np.array(one), np.array(other)) for (_, one), (_, other) in both]
            if all(one.shape == other.shape and self._close(one, other) for one, other in pairs):
                return
        self._expect("what hooks have seen", expected, found)

    def _compare_all(self) -> None:
        self._compare_heard()
        addresses: dict[int, int] = {}
        for index, model in self.world.tensors.items():
            tensor = self._tensor(index)
            self._compare_plain(index, model, tensor)
            self._compare_memory(f"t{index}", model.buffer, tensor, addresses)
        # PyTorch makes the tangent of a view in the grad mode in which it is first read.
        everywhere = self.inspects_always and self.library.manners.exact_tangents
        self._compare_tangents(addresses, everywhere=everywhere)
        if len(set(addresses.values())) != len(addresses):
            what = "tensors of different buffers share memory"
            self._diverge(what, self._kept_apart(addresses, what))
        for index in list(self.world.tensors) if self.inspects_always else ():
            self._inspect(index)

    def _compare_memory(
        self, name: str, buffer: Buffer, tensor: TensorLike, addresses: dict[int, int]
    ) -> None:
        if not buffer.values.size:
            return  # no memory, no address
        memory = tensor.untyped_storage().data_ptr()
        if addresses.setdefault(buffer.index, memory) != memory:
            self._diverge(f"{name} is not on the buffer that it shares")

    def _kept_apart(self, addresses: dict[int, int], what: str) -> Check | None:
        """How a script shows that two tensors share memory."""
        met: dict[int, tuple[int, int]] = {}
        for index, model in self.world.tensors.items():
            own = model.buffer.index
            memory = addresses.get(own)
            if memory is None:
                continue
            other, first = met.setdefault(memory, (own, index))
            if other != own:
                one, two = (f"t{i}.untyped_storage().data_ptr()" for i in (first, index))
                return true(f"{one} != {two}", what)
        return None

    def _compare_tangents(self, addresses: dict[int, int], *, everywhere: bool) -> None:
        """Compare the tangents that there are; reading may make those of views."""
        if self.world.level is None:
            return
        for index, model in self.world.tensors.items():
            if everywhere or model.leader is None:
                name = f"tangent of t{index}"
                found = self.library.tangent(self._tensor(index))
                self._compare_tangent(name, model, found)
                if found is not None:
                    tangent = self.world.tangent_of(model)
                    assert tangent is not None
                    self._compare_memory(name, tangent.buffer, found, addresses)

    def _compare_tangent(self, name: str, model: ModelTensor, found: TensorLike | None) -> None:
        tangent, geometry = self.world.tangent_of(model), model.geometry
        if tangent is None or found is None:
            self._expect(f"{name} is there", tangent is not None, found is not None)
            return
        expected = tangent.buffer.values[model.cells.ravel()].reshape(geometry.shape)
        self._expect_values(name, expected, found)
        if geometry.numel:
            strides = tuple(found.stride())
            if not geometry.places_as(Geometry(geometry.shape, strides, found.storage_offset())):
                self._diverge(f"{name} is laid out otherwise: {strides}, expected {geometry}")
        if not tangent.is_settled:
            tangent.counter.version, tangent.is_settled = found._version, True
        self._expect(f"{name}._version", tangent.counter.version, found._version)
        if self.library.rules and geometry.numel:
            # As for values.
            tangent.buffer.values[model.cells.ravel()] = np.array(found.tolist()).ravel()

    def _compare_plain(self, index: int, model: ModelTensor, tensor: TensorLike) -> None:
        """Compare all that can be read without touching the graph."""
        name, geometry = f"t{index}", model.geometry
        self._expect(f"{name}.shape", geometry.shape, tuple(tensor.shape))
        if geometry.numel:  # the strides of an empty tensor lead nowhere
            self._expect(f"{name}.stride()", geometry.strides, tuple(tensor.stride()))
        if geometry.numel or not self.library.rules:  # whose results take over their strides
            self._expect(f"{name}.storage_offset()", geometry.offset, tensor.storage_offset())
        self._expect(f"{name}.is_inference()", model.is_inference, tensor.is_inference())
        if not model.is_inference:
            self._expect(f"{name}._version", model.counter.version, tensor._version)
        self._expect(f"{name}.requires_grad", model.requires_grad, tensor.requires_grad)
        self._expect(f"{name}._is_view()", model.base is not None, tensor._is_view())
        self._expect_values(name, model.values.reshape(geometry.shape), tensor)
        if self.library.rules and geometry.numel:
            # Rounding differs; what is compared with it later must not.
            model.buffer.values[model.cells.ravel()] = np.array(tensor.tolist()).ravel()
        base = tensor._base
        if model.base is None:
            self._expect(f"{name}._base", None, base)
        elif self.world.tensors.get(model.base.index) is model.base:
            if base is not self._tensor(model.base.index):
                what = f"{name}._base is not t{model.base.index}"
                self._diverge(what, true(f"{name}._base is t{model.base.index}", what))
        elif base is None:
            what = f"{name}._base is None"
            self._diverge(what, true(f"{name}._base is not None", what))
        if model.leaf is not None or (model.retains and model.base is None):
            self._compare_grad(name, model, tensor)

    def _compare_grad(self, name: str, model: ModelTensor, tensor: TensorLike) -> None:
        expected = None if model.grad is None else model.grad.reshape(model.cells.shape)
        grad = tensor.grad
        self._expect_values(f"{name}.grad", expected, grad)
        if grad is not None and grad.requires_grad:
            what = f"{name}.grad requires grad"
            self._diverge(what, true(f"not {name}.grad.requires_grad", what))

    def _inspect(self, index: int) -> None:
        """Read grad_fn and what depends on it, twice."""
        model, tensor = self.world.tensors[index], self._tensor(index)
        name, kind = f"t{index}", model.unreadable()
        if kind is not None:
            for attribute in ("grad_fn", "is_leaf"):
                self._expect(
                    f"error of {name}.{attribute}", kind, self._error_of(tensor, attribute)
                )
            return
        self.world.refresh(model)
        try:
            node, again, leaf = tensor.grad_fn, tensor.grad_fn, tensor.is_leaf
        except Exception as error:
            what = f"reading {name}.grad_fn raised"
            check = raised_by(f"{name}.grad_fn", what)
            raise _WrongError(f"{what} {type(error).__name__}: {error}", check) from error
        if node is not again:
            what = f"{name}.grad_fn is another object when read again"
            self._diverge(what, true(f"{name}.grad_fn is {name}.grad_fn", what))
        self._expect(f"{name}.is_leaf", model.node is None, leaf)
        self._expect(f"{name} has a grad_fn", model.node is not None, node is not None)
        last = self._nodes.get(index)
        if last is not None and (last[0] is model.node) != (last[1] is node):
            verb = "is still" if last[1] is node else "is no longer"
            self._diverge(f"{name}.grad_fn {verb} the one that was seen before")
        self._nodes[index] = (model.node, node)
        if model.node is not None and model.node.name:
            expected = model.node.name.rpartition("::")[2]
            self._expect(f"{name}.grad_fn.name()", expected, _name_of(node).rpartition("::")[2])
        if model.retains:
            self._compare_grad(name, model, tensor)

    def _error_of(self, tensor: TensorLike, attribute: str) -> str | None:
        try:
            getattr(tensor, attribute)
        except Exception as error:  # noqa: BLE001 - any error of the library is an outcome
            return self.library.kind(error)
        return None

    # -- lifetime ----------------------------------------------------------------------------

    def _check_lifetime(self) -> None:
        """Drop everything; without the collector's help nothing may be left.

        While a level is open, a node that has saved its result keeps the result's tangent, whose
        own graph may lead to the node.
        """
        self.library.close_level()
        watched: list[tuple[str, weakref.ref[object]]] = []
        for name, value in self._subject.names.items():
            if name.startswith("t") and name[1:].isdigit():
                watched.append((name, weakref.ref(value)))
        for index, (_, node) in self._nodes.items():
            if isinstance(node, Node):
                # A node cannot be referred to weakly, but what is noted on it dies with it.
                mark: _Mark | None = _Mark()
                node.metadata["lifetime"] = mark
                watched.append((f"t{index}.grad_fn", weakref.ref(mark)))
        node = value = mark = None
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            self._nodes.clear()
            self._subject.names.clear()
            left = [name for name, reference in watched if reference() is not None]
        finally:
            if was_enabled:
                gc.enable()
        if left:
            what = f"alive after the program's end, so in a cycle: {', '.join(left)}"
            self._diverge(what, freed())


class _Mark:
    """Something that can be referred to weakly."""


def _flat(gradient: TensorLike) -> list[float]:
    numbers: list[float] = np.array(gradient.tolist(), dtype=np.float64).ravel().tolist()
    return numbers


def _outcome(kinds: Sequence[str]) -> str:
    return " or ".join(kinds) or "no error"


def _name_of(node: object) -> str:
    name = getattr(node, "name", None)
    return str(name()) if callable(name) else ""
