"""Faults in forward mode: in who has a tangent, in what it becomes, and in what saved values keep.

Each must be found within the programs that it states, by programs in which tensors have tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from types import SimpleNamespace

import pytest

import vtgrad as vt
from tests.stateful.faults import Fault
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.forward_grad import DualLevel
from vtgrad.graph.operators import operators
from vtgrad.graph.recording import is_recording
from vtgrad.graph.saved_tangents import SavedTangents
from vtgrad.graph.set_history import own_meta
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.operators import MUL
from vtgrad.ops.operator import Operator, Tangent
from vtgrad.ops.rules.tangents import dual_handler, functions_of
from vtgrad.ops.rules.tangents.tangents import as_tangent, highest_level, tangent_of, write_tangent
from vtgrad.storage.geometry import contiguous_strides
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.forward_view_meta import ForwardViewMeta

__all__ = ["FAULTS_OF_TANGENTS", "RARE_FAULTS_OF_TANGENTS", "FaultOfTangents"]


@dataclass(frozen=True)
class FaultOfTangents(Fault):
    """A planted fault of forward mode.

    Attributes
    ----------
    programs : int
        It is found within so many.
    """

    programs: int


def view_of_a_dual_has_no_tangent(patch: pytest.MonkeyPatch) -> None:
    """A view shows no tangent but its own."""
    patch.setattr(ForwardViewMeta, "fw_level", AutogradMeta.fw_level)
    patch.setattr(ForwardViewMeta, "fw_grad", AutogradMeta.fw_grad)


def older_view_does_not_see_a_new_tangent(patch: pytest.MonkeyPatch) -> None:
    """A view shows the tangent of its base only if that was there when the view was made."""
    make = ForwardViewMeta.share_forward_base

    def planted(
        self: ForwardViewMeta, parent: TensorBase, of_parent: ForwardViewMeta, *rest: object
    ) -> None:
        make(self, parent, of_parent, *rest)  # type: ignore[arg-type]  # passed on as they are
        base = own_meta(self.base if self.forward_info is None else self.forward_info.base)
        if not base.fw_level(2**62):
            self.be_forward_base()

    patch.setattr(ForwardViewMeta, "share_forward_base", planted)


def write_to_a_view_leaves_the_base_without_tangent(patch: pytest.MonkeyPatch) -> None:
    """A dual that is written into a view of a plain base gives a tangent to the view alone."""
    patch.setattr(ForwardViewMeta, "set_fw_grad", AutogradMeta.set_fw_grad)


def tangent_is_written_at_the_start_of_the_base(patch: pytest.MonkeyPatch) -> None:
    """The new tangent of a base is filled from its first element on."""
    set_fw_grad = ForwardViewMeta.set_fw_grad

    def planted(
        self: ForwardViewMeta, new_grad: TensorBase, owner: TensorBase, level: int, is_inplace: bool
    ) -> None:
        info = self.forward_info
        if is_inplace and info is not None and self.fw_grad(level, owner) is None:
            whole = operators().zeros_as_memory(info.base, new_grad)
            sizes = new_grad._impl.sizes
            part = operators().as_strided(whole, sizes, contiguous_strides(sizes), 0)
            operators().copy_(part, new_grad)
            own_meta(info.base).set_fw_grad(whole, info.base, level, False)
            return
        set_fw_grad(self, new_grad, owner, level, is_inplace)

    patch.setattr(ForwardViewMeta, "set_fw_grad", planted)


def overwritten_dual_keeps_its_tangent(patch: pytest.MonkeyPatch) -> None:
    """A constant that is written over a dual leaves the tangent as it was."""
    patch.setattr(
        dual_handler,
        "F",
        SimpleNamespace(**{**vars(F), "zero_": lambda tangent: tangent}),
    )


def zero_tangent_is_dropped(patch: pytest.MonkeyPatch) -> None:
    """A result whose tangent is zero everywhere has none."""
    set_fw_grad = AutogradMeta.set_fw_grad

    def planted(
        self: AutogradMeta, new_grad: TensorBase, owner: TensorBase, level: int, is_inplace: bool
    ) -> None:
        if is_inplace or new_grad._impl.array.any():
            set_fw_grad(self, new_grad, owner, level, is_inplace)

    patch.setattr(AutogradMeta, "set_fw_grad", planted)


def result_has_the_tangent_of_its_operand(patch: pytest.MonkeyPatch) -> None:
    """A formula that returns the operand's tangent gives that very tensor to the result."""

    def planted(
        tangent: TensorBase, tensor: TensorBase, given: Mapping[str, object] | None = None
    ) -> TensorBase:
        made = as_tangent(tangent, tensor, given)
        return tangent if tangent._impl.geometry == made._impl.geometry else made

    patch.setattr(dual_handler, "as_tangent", planted)


def tangents_outlive_their_level(patch: pytest.MonkeyPatch) -> None:
    """The number of a level is used again, and its tangents are not dropped."""

    patch.setattr("vtgrad.graph.forward_grad._numbers", repeat(1))
    patch.setattr(DualLevel, "drop_tangents", lambda level: level.members.clear())


def detach_keeps_the_tangent(patch: pytest.MonkeyPatch) -> None:
    """An alias outside of the graph has the tangent of its tensor."""
    detach = vt.Tensor.detach

    def planted(self: vt.Tensor) -> vt.Tensor:
        alias = detach(self)
        tangent = vt.autograd.forward_ad.unpack_dual(self).tangent
        if tangent is not None:
            for number in tuple(keys.modes):
                own_meta(alias).set_fw_grad(tangent, alias, number, False)
        return alias

    patch.setattr(vt.Tensor, "detach", planted)


def formula_is_evaluated_after_the_write(patch: pytest.MonkeyPatch) -> None:
    """The tangent of a write is computed from the new value instead of the old one."""

    def planted(
        operator: Operator,
        rule: Tangent,
        function: Callable[..., object],
        args: Sequence[object],
        kwargs: Mapping[str, object],
        arguments: Mapping[str, object],
        given: Mapping[str, object],
        level: int,
    ) -> object:
        (target, *_) = args
        assert isinstance(target, TensorBase)
        result = function(*args, **kwargs)
        present = tangent_of(target, level)
        formula = functions_of.functions_of(operator).formula
        if formula is not None and given:
            tangent = formula(arguments, given, target)
            if isinstance(tangent, TensorBase):
                write_tangent(target, tangent, level, given)
        elif present is not None:
            F.zero_(present)
        return result

    patch.setattr(dual_handler, "_write", planted)


def tangents_are_written_behind_their_counter(patch: pytest.MonkeyPatch) -> None:
    """A write to a tangent does not move its version."""

    def planted(target: TensorBase, source: TensorBase) -> TensorBase:
        version = target._impl.version
        F.copy_(target, source)
        target._impl.counter.value = version
        return target

    patch.setattr("vtgrad.graph.autograd_meta.operators", lambda: SimpleNamespace(copy_=planted))


def geometry_in_place_leaves_the_tangent(patch: pytest.MonkeyPatch) -> None:
    """``t_`` and the like change the value alone."""

    def planted(
        function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object:
        return dual_handler._without_tangents(function, tuple(args), dict(kwargs))

    patch.setattr(dual_handler, "_change_geometry", planted)


def no_grad_switches_forward_mode_off(patch: pytest.MonkeyPatch) -> None:
    """Operators carry tangents only while they are recorded."""

    def planted(values: Sequence[object], limit: int) -> int:
        return highest_level(values, limit) if is_recording() else 0

    patch.setattr(dual_handler, "highest_level", planted)


def second_operand_has_no_tangent(patch: pytest.MonkeyPatch) -> None:
    """A product forgets the tangent of its second operand, if both have one."""
    functions = functions_of.functions_of(MUL)
    formula = functions.formula
    assert formula is not None

    def planted(
        arguments: Mapping[str, object], given: Mapping[str, object], result: object
    ) -> object:
        first = {"input": given["input"]} if "input" in given else given
        return formula(arguments, first, result)

    patch.setitem(functions_of._found, MUL.row, functions._replace(formula=planted))


def primal_keeps_the_tangent(patch: pytest.MonkeyPatch) -> None:
    """What is unpacked follows the dual."""
    patch.setattr(ForwardViewMeta, "be_forward_base", lambda self: None)


def saved_tensor_loses_its_tangent(patch: pytest.MonkeyPatch) -> None:
    """A saved tensor that is dead, or overwritten beside, is made again without tangent."""
    patch.setattr(SavedTangents, "kept", staticmethod(lambda tensor, is_output: None))


def saved_copy_loses_its_tangent(patch: pytest.MonkeyPatch) -> None:
    """The copy of a value that is overwritten has no tangent."""
    patch.setattr(SavedTangents, "copied", staticmethod(lambda tensor: None))


FAULTS_OF_TANGENTS = [
    FaultOfTangents(plant.__name__, plant, shows, steps, programs)
    for plant, shows, steps, programs in (
        (view_of_a_dual_has_no_tangent, "tangent of", 5, 100),
        (older_view_does_not_see_a_new_tangent, "tangent of", 6, 100),
        (write_to_a_view_leaves_the_base_without_tangent, "tangent of", 5, 100),
        (tangent_is_written_at_the_start_of_the_base, "tangent of", 5, 100),
        (overwritten_dual_keeps_its_tangent, "tangent of", 4, 50),
        (zero_tangent_is_dropped, "is there: expected True", 5, 100),
        (result_has_the_tangent_of_its_operand, "share memory", 4, 100),
        (detach_keeps_the_tangent, "got forward-mode", 4, 50),
        (formula_is_evaluated_after_the_write, "tangent of", 4, 50),
        (tangents_are_written_behind_their_counter, "_version", 4, 50),
        (no_grad_switches_forward_mode_off, "tangent of", 4, 100),
        (second_operand_has_no_tangent, "tangent of", 6, 100),
        (primal_keeps_the_tangent, "tangent of", 5, 100),
    )
]

#: Found by random programs too, but later; `test_tangents` has the program.
RARE_FAULTS_OF_TANGENTS = [
    Fault(plant.__name__, plant, shows, steps)
    for plant, shows, steps in (
        (tangents_outlive_their_level, "is there: expected False", 5),
        (geometry_in_place_leaves_the_tangent, "tangent of", 5),
        (saved_tensor_loses_its_tangent, "tangent of g", 6),
        (saved_copy_loses_its_tangent, "tangent of g", 6),
    )
]
