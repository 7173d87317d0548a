"""The tests of batches find faults that a change could bring.

Each fault is planted through a seam of the rules, and the random programs, or the test of
promotion, must find it. What breaks it: programs that no longer reach a rule, or a comparison that
is too weak.
"""

import random
import sys
import warnings
from collections.abc import Callable

import pytest

import vtgrad as vt
from tests.ops.calls import function_named
from tests.vmap import test_promotion, test_random_programs
from tests.vmap.programs import Data, draw
from tests.vmap.test_random_programs import SEED
from vtgrad.graph.batch import BatchLevel, batch_of, batched
from vtgrad.graph.set_history import requires_grad
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.generated import functional as F
from vtgrad.ops.operator import Operator
from vtgrad.ops.rules.batches import batched_call, entering, quick_calls, take_over_batched, values
from vtgrad.ops.rules.batches.by_family import elementwise, flat_index, indexing, shift, slices
from vtgrad.ops.rules.batches.entering import EnterBatch
from vtgrad.storage.tensor_base import TensorBase

PROGRAMS = 60
Patch = pytest.MonkeyPatch


def by_programs() -> bool:
    rng = random.Random(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(PROGRAMS):
            steps, data = draw(rng), Data.draw(rng)
            try:
                test_random_programs.check(steps, data)
            except Exception:
                return True
            except pytest.fail.Exception:
                return True
    return False


def by_promotion() -> bool:
    rng = random.Random(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("add", "maximum", "where_self", "lt_Tensor"):
            operator = function_named(name)
            for _ in range(PROGRAMS):
                try:
                    test_promotion.check(name, operator, writes=False, rng=rng)  # type: ignore[arg-type]  # of tensors
                except AssertionError:
                    return True
    return False


# -- faults ----------------------------------------------------------------------------------------


def quick_dimensions_are_not_shifted(patch: Patch) -> None:
    shifted = quick_calls._shifted

    def planted(operator: Operator, args: tuple[object, ...]) -> quick_calls.Quick:
        found = shifted(operator, args)
        if found is not None and operator.spoken == "cumsum":
            found[1][1] = 0
        return found

    patch.setattr(quick_calls, "_shifted", planted)


def dimensions_are_not_shifted_by_rules(patch: Patch) -> None:
    patch.setattr(quick_calls, "_shifted", lambda operator, args: None)
    normal = shift.shifted

    def planted(value: object, ndim: int, name: str = "dim") -> object:
        found = normal(value, ndim, name)
        return found - 1 if isinstance(found, int) and ndim == 1 else found

    patch.setattr(shift, "shifted", planted)


def nothing_is_entered(patch: Patch) -> None:
    for module in (batched_call, entering):
        patch.setattr(module, "entered", lambda tensor, level: None)


def quick_calls_forget_that_operands_are_entered(patch: Patch) -> None:
    elementwise_values = quick_calls._elementwise

    def planted(args: tuple[object, ...]) -> quick_calls.Quick:
        level = thread.reverse_level
        try:
            thread.reverse_level = 0
            return elementwise_values(args)
        finally:
            thread.reverse_level = level

    patch.setattr(quick_calls, "_elementwise", planted)


def tangents_are_not_entered(patch: Patch) -> None:
    patch.setattr(entering, "_tangents", lambda tensor: {})


def gradients_are_summed_while_the_level_is_open(patch: Patch) -> None:
    def planted(
        self: EnterBatch, grads: list[TensorBase | None], needs: int
    ) -> list[TensorBase | None]:
        grad = grads[0]
        return [None if grad is None else F.sum_dim_IntList(grad, (self.dim,))]

    patch.setattr(EnterBatch, "apply_tensors", planted)


def samples_of_an_outer_level_pass_for_those_of_the_inner_one(patch: Patch) -> None:
    def planted(tensor: TensorBase, level: BatchLevel) -> TensorBase | None:
        batch = batch_of(tensor)
        return None if batch is None else batch.value

    for module in (values, entering, batched_call):
        patch.setattr(module, "value_at", planted)


def levels_change_places(patch: Patch) -> None:
    patch.setattr(entering, "batch_along_first", lambda value, level: batched(value, level))
    patch.setattr(
        "vtgrad.autograd.values_of_samples.batch_along_first",
        lambda value, level: batched(value, level),
    )


def each_sample_chooses_in_the_first_one(patch: Patch) -> None:
    numbers = flat_index.sample_numbers

    def planted(call: batched_call.BatchedCall, ndim: int, *, given: TensorBase) -> TensorBase:
        return F.mul(numbers(call, ndim, given=given), 0)

    for module in (flat_index, indexing):
        patch.setattr(module, "sample_numbers", planted)


def values_are_put_along_the_wrong_dimension(patch: Patch) -> None:
    patch.setattr(indexing.Placement, "in_front", lambda self, result: result)


def values_with_fewer_dimensions_are_not_aligned(patch: Patch) -> None:
    patch.setattr(batched_call.BatchedCall, "aligned", lambda self, operand, ndim: operand.value)


def a_write_goes_into_a_copy(patch: Patch) -> None:
    rules = take_over_batched._RULES

    def planted(call: batched_call.BatchedCall) -> object:
        if call.operator.spoken == "copy_":
            call.called({"input": F.clone(call.value("input")), "other": call.value("other")})
            return call.tensor("input")
        return elementwise.elementwise(call)

    patch.setattr(quick_calls, "_elementwise", lambda args: None)
    patch.setitem(rules, "elementwise", planted)


def slices_are_scattered_without_their_index(patch: Patch) -> None:
    along = slices._along

    def planted(index: TensorBase, dim: int, sizes: tuple[int, ...]) -> TensorBase:
        return F.mul(along(index, dim, sizes), 0)

    patch.setattr(slices, "_along", planted)


def results_keep_their_batch_in_front(patch: Patch) -> None:
    # The module has the name of its function, which hides it as an attribute.
    module = sys.modules["vtgrad.func.vmap"]
    whole = module._whole

    def planted(leaf: object, dim: int | None, *others: object) -> object:
        return whole(leaf, None if dim is None else 0, *others)

    patch.setattr(module, "_whole", planted)


def dtypes_are_promoted_as_those_of_the_batch(patch: Patch) -> None:
    patch.setattr(elementwise, "_dtypes_differ", lambda operands: False)


def conditions_take_part_in_promotion(patch: Patch) -> None:
    patch.setattr(elementwise, "_CHOICES", frozenset())


def quick_calls_forget_dtypes(patch: Patch) -> None:
    quick = quick_calls._elementwise

    def planted(args: tuple[object, ...]) -> quick_calls.Quick:
        found = quick(args)
        if found is not None:
            return found
        level, given = None, []
        for x in args:
            batch = batch_of(x) if isinstance(x, TensorBase) else None
            level = level if batch is None else batch.level
            given.append(x if batch is None else batch.value)
            if isinstance(x, TensorBase) and (x._impl.array.ndim or requires_grad(x)):
                return None
        return None if level is None else (level, given)

    patch.setattr(quick_calls, "_elementwise", planted)


BY_PROGRAMS: list[Callable[[Patch], None]] = [
    quick_dimensions_are_not_shifted,
    dimensions_are_not_shifted_by_rules,
    nothing_is_entered,
    quick_calls_forget_that_operands_are_entered,
    tangents_are_not_entered,
    gradients_are_summed_while_the_level_is_open,
    samples_of_an_outer_level_pass_for_those_of_the_inner_one,
    levels_change_places,
    each_sample_chooses_in_the_first_one,
    values_are_put_along_the_wrong_dimension,
    values_with_fewer_dimensions_are_not_aligned,
    a_write_goes_into_a_copy,
    slices_are_scattered_without_their_index,
    results_keep_their_batch_in_front,
]
BY_PROMOTION: list[Callable[[Patch], None]] = [
    dtypes_are_promoted_as_those_of_the_batch,
    conditions_take_part_in_promotion,
    quick_calls_forget_dtypes,
]


@pytest.mark.slow
@pytest.mark.parametrize("plant", BY_PROGRAMS)
def test_a_fault_is_found_by_random_programs(plant: Callable[[Patch], None]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        assert by_programs()


@pytest.mark.parametrize("plant", BY_PROMOTION)
def test_a_fault_of_dtypes_is_found(plant: Callable[[Patch], None]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        assert by_promotion()


def test_without_a_fault_nothing_is_found() -> None:
    """Of dtypes; the random programs are run by `test_random_programs.py`."""
    assert not by_promotion()
    assert vt.vmap(lambda a: a * 2)(vt.ones(2)).tolist() == [2, 2]
