"""Programs that random interrupts have found, as small as they get.

Each interrupts one function of the library as it begins, or as soon as something that it has called
is over.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from types import CodeType, FrameType, FunctionType

import pytest

import vtgrad as vt
from tests.hostile.random_signals import Raised
from vtgrad.autograd.function import FunctionCtx
from vtgrad.autograd.graph import (
    allow_mutation_on_saved_tensors,
    set_audit,
    set_overwrite_check,
)
from vtgrad.errors import VtgradError
from vtgrad.function import context, results
from vtgrad.graph import grad_stores
from vtgrad.graph.audit import audit
from vtgrad.graph.overwrite_rule import overwrite_rule
from vtgrad.storage import kept_bytes, rewind, write_log
from vtgrad.views import write

pytestmark = pytest.mark.skipif(vt.__compiled__, reason="compiled functions have no code")


def _interrupt() -> None:
    raise Raised


def _code(function: object) -> CodeType:
    assert isinstance(function, FunctionType)
    return function.__code__


@contextmanager
def at(function: object, act: Callable[[], object] = _interrupt, after: str = "") -> Iterator[None]:
    """Act once, as a handler would: as a function begins, or after it has called a C function."""
    code = _code(function)

    def profile(frame: FrameType, event: str, argument: object) -> None:
        name = getattr(argument, "__name__", "")
        if frame.f_code is code and (
            event == "c_return" and name == after if after else event == "call"
        ):
            sys.setprofile(None)
            act()

    sys.setprofile(profile)
    try:
        with suppress(Raised):
            yield
    finally:
        sys.setprofile(None)


def _sum_with(weight: vt.Tensor, x: vt.Tensor) -> vt.Tensor:
    """Saves `x`, whose elements are the gradient of `weight`."""
    return (weight * x).sum()


def _is_refused_or(expected: object, root: vt.Tensor, leaf: vt.Tensor) -> bool:
    try:
        (grad,) = vt.autograd.grad(root, leaf, retain_graph=True)
    except VtgradError:
        return True
    assert grad.tolist() == expected
    return False


def _interrupted_value() -> tuple[vt.Tensor, vt.Tensor]:
    """A leaf, and what was computed from it and half written."""
    leaf = vt.ones(2, requires_grad=True)
    y = leaf * 3
    with at(write.write, after="run"):
        y.mul_(2)
    return leaf, y


# -- the log -----------------------------------------------------------------------------------


def test_a_write_in_a_handler_is_marked_while_the_log_is_made() -> None:
    # `own_log` replaces the log that the handler's write has made, with its mark.
    x, weight = vt.ones(3), vt.ones(1, requires_grad=True)
    root = _sum_with(weight, x[:1])

    with at(write_log.WriteLog.__init__, lambda: x.__setitem__(0, 5.0)):
        x[2] = 3.0
    assert _is_refused_or([1.0], root, weight)


# -- unfinished writes -------------------------------------------------------------------------


def test_a_half_written_value_has_no_gradient_for_some_leaves_either() -> None:
    # The node that refuses leads nowhere, so that a pass to some leaves does not run it.
    leaf, y = _interrupted_value()
    root = y.sum() + (leaf * leaf).sum()
    with pytest.raises(VtgradError):
        vt.autograd.grad(root, leaf, retain_graph=True)


def test_a_half_written_value_fills_no_given_leaf() -> None:
    leaf, y = _interrupted_value()
    with pytest.raises(VtgradError):
        y.sum().backward(inputs=[leaf], retain_graph=True)


class Double(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        x.mul_(2)
        ctx.save_for_backward(vt.full_like(x, 2.0))
        return x

    @staticmethod
    def backward(ctx: FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
        for factor in ctx.saved_tensors:
            grad = grad * factor
        return grad


@pytest.mark.parametrize(
    "function", [results.check_results, results.wrap_outputs, context.Call.save_variables]
)
def test_what_an_interrupted_function_has_written_has_no_gradient(function: object) -> None:
    # Until `wrap_outputs` the tensor has its former producer; until `Call.save_variables` the new
    # one has saved nothing, and runs all the same.
    leaf = vt.ones(2, requires_grad=True)
    y = leaf * 3
    with at(function):
        Double.apply(y)
    assert y.tolist() == [6, 6]
    assert _is_refused_or([6.0, 6.0], y.sum(), leaf)


# -- modes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", [lambda: set_audit(True), lambda: set_overwrite_check("storage")])
def test_a_block_is_left_where_its_end_is_interrupted(
    scope: Callable[[], AbstractContextManager[object]],
) -> None:
    try:
        opened = scope()
        with at(type(opened).__exit__), opened:
            pass
        assert not audit.enabled
        assert overwrite_rule.exact
    finally:
        audit.switch(False, False)
        overwrite_rule.exact = True


def test_nothing_is_kept_once_an_interrupted_block_is_left() -> None:
    # While the exception lives, its frames hold the generator of the block, which is not closed.
    kept: list[BaseException] = []
    opened = allow_mutation_on_saved_tensors()
    try:
        with at(type(opened).__exit__):
            try:
                with opened:
                    pass
            except Raised as error:
                kept.append(error)
        assert len(kept) == 1
        assert not rewind.rewinding.keeps
    finally:
        kept.clear()
        del opened


# -- saved in the midst ------------------------------------------------------------------------


class Handler:
    """Saves a tensor, perhaps after it has written to it."""

    def __init__(self, x: vt.Tensor, *, writes: bool) -> None:
        self._x = x
        self._writes = writes
        self.weight = vt.ones(x.shape, requires_grad=True)

    def __call__(self) -> None:
        if self._writes:
            with vt.no_grad():
                self._x.add_(4)
        self.seen = self._x.tolist()
        self.root = _sum_with(self.weight, self._x)

    def assert_nothing_wrong(self) -> None:
        """What it saved gives the gradient of what it saw, or is refused."""
        _is_refused_or(self.seen, self.root, self.weight)


@pytest.mark.parametrize("writes", [False, True], ids=["saves", "writes, then saves"])
@pytest.mark.parametrize(
    ("rewinds", "function", "after"),
    [
        (False, write_log.WriteLog.note, ""),
        (False, write_log.WriteLog.note, "append"),
        (True, kept_bytes.Undo.__init__, ""),
        (True, write_log.WriteLog.note, ""),
        (True, write_log.WriteLog.note, "append"),
    ],
    ids=[
        "before the mark",
        "after the mark",
        "rewind, while bytes are kept",
        "rewind, before the mark",
        "rewind, after the mark",
    ],
)
def test_a_save_between_the_mark_and_the_version(
    rewinds: bool, function: object, after: str, writes: bool
) -> None:
    with allow_mutation_on_saved_tensors() if rewinds else nullcontext():
        x = vt.ones(4)
        weight = vt.ones(4, requires_grad=True)
        before = _sum_with(weight, x)
        handler = Handler(x, writes=writes)
        with at(function, handler, after):
            x[:2].mul_(2)
    handler.assert_nothing_wrong()
    _is_refused_or([1.0] * 4, before, weight)


def test_a_first_save_under_rewind_in_the_midst_of_a_row() -> None:
    # Nothing is kept until then: the log is there, but what had been saved is gone.
    with allow_mutation_on_saved_tensors():
        x = vt.ones(4, 2)
        root = _sum_with(vt.ones(2, requires_grad=True), x[0])
        x[0] = 2.0
        del root
        x[0] = 3.0
        handler = Handler(x, writes=False)
        with at(write_log.WriteLog.note, handler):
            x[1] = 5.0
    handler.assert_nothing_wrong()


@pytest.mark.parametrize("writes", [False, True], ids=["saves", "writes, then saves"])
@pytest.mark.parametrize("rewinds", [False, True], ids=["elements", "rewind"])
def test_a_save_of_a_grad_that_is_about_to_be_added_to(rewinds: bool, writes: bool) -> None:
    with allow_mutation_on_saved_tensors() if rewinds else nullcontext():
        leaf = vt.ones(2, requires_grad=True)
        leaf.grad = vt.ones(2)
        weight = vt.ones(2, requires_grad=True)
        before = _sum_with(weight, leaf.grad)
        root = (leaf * 3).sum()
        handler = Handler(leaf.grad, writes=writes)
        with at(grad_stores.GradStores.commit, handler):
            root.backward()
    handler.assert_nothing_wrong()
    _is_refused_or([1.0, 1.0], before, weight)
