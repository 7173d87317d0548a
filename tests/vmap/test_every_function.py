"""Every function of users for a batch is the function for each sample, or is refused.

`test_every_operator.py` calls the operators of the tables. Here are the functions that users call,
also those that are written by hand, with the arguments of the examples in their docstrings.
"""

import warnings
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.test_names_of_every_function import FUNCTIONS, calls_of, family_of
from tests.sweeping import sweep
from vtgrad.errors import BatchedTensorError

# What needs the values of one tensor; see also tests/behaviour/vmap/test_refusals.py.
REFUSED = {
    "allclose": "returns a bool",
    "argwhere": "the shape of the result depends on values",
    "equal": "returns a bool",
    "is_nonzero": "returns a bool",
    "bincount": "the shape of the result depends on values",
    "histc": "elements are counted by their values",
    "histogram": "elements are counted by their values",
    "histogramdd": "elements are counted by their values",
    "is_set_to": "compares memory",
    "masked_select": "the shape of the result depends on values",
    "nonzero": "the shape of the result depends on values",
    "repeat_interleave": "the shape of the result depends on values",
    "unique": "the shape of the result depends on values",
    "unique_consecutive": "the shape of the result depends on values",
    "where": "with one argument it is nonzero",
}
# Random numbers, see tests/behaviour/vmap/test_random_numbers.py, and elements that are not set.
DRAWN = {
    "bernoulli",
    "empty_like",
    "multinomial",
    "normal",
    "poisson",
    "rand_like",
    "randn_like",
    "randint_like",
}

Call = tuple[tuple[object, ...], dict[str, object]]


def tensors_in(value: object) -> list[vt.Tensor]:
    if isinstance(value, vt.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [x for one in value for x in tensors_in(one)]
    return []


def with_tensors(value: object, tensors: dict[int, vt.Tensor]) -> object:
    """The argument, with other tensors for those with these identities."""
    if isinstance(value, vt.Tensor):
        return tensors.get(id(value), value)
    if type(value) in (list, tuple):
        assert isinstance(value, (list, tuple))
        return type(value)(with_tensors(one, tensors) for one in value)
    return value


def batch_of(tensor: vt.Tensor) -> vt.Tensor:
    """Three samples in the domain of one: its elements in other orders."""
    array = tensor.detach().numpy(force=True)
    rows = [np.roll(array.reshape(-1), nr).reshape(array.shape) for nr in range(3)]
    return vt.tensor(np.stack(rows))


def check(function: Callable[..., object], call: Call, chosen: Sequence[vt.Tensor]) -> bool:
    """Compare the call for a batch with the calls for each sample; whether there was a result."""
    args, kwargs = call
    batches = [batch_of(x) for x in chosen]
    others: list[object] = []

    def apply(*samples: vt.Tensor) -> tuple[vt.Tensor, ...]:
        given = {id(x): sample for x, sample in zip(chosen, samples, strict=True)}
        found = function(
            *[with_tensors(x, given) for x in args],
            **{name: with_tensors(x, given) for name, x in kwargs.items()},
        )
        tensors = tensors_in(found)
        if not tensors:
            others.append(found)
        return tuple(tensors)

    try:
        rows = [apply(*[x[nr].clone() for x in batches]) for nr in range(3)]
        expected = [vt.stack(list(parts)) for parts in zip(*rows, strict=True)]
    except (RuntimeError, IndexError, ValueError, TypeError):
        # Elements in another order, as of indices, may be outside; or results differ in shape.
        return False
    for dim in (0, -1):
        moved = [vt.movedim(x, 0, dim).clone() for x in batches]
        found = vt.vmap(apply, in_dims=dim)(*moved)
        assert isinstance(found, tuple)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert isinstance(one, vt.Tensor)
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            np.testing.assert_allclose(
                one.numpy(force=True), other.numpy(force=True), rtol=1e-6, atol=1e-7
            )
    # Three for each sample, and one for each batch.
    assert all(one == others[0] for one in others)
    assert not others or len(others) == 5
    return bool(expected or others)


@pytest.mark.slow
@sweep(sorted(set(FUNCTIONS) - DRAWN), row=family_of)
def test_a_function_for_a_batch(name: str) -> None:
    compared = refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in calls_of(name, FUNCTIONS[name]):
            args, kwargs = call
            if kwargs.get("out") is not None:
                continue
            tensors = tensors_in((*args, *kwargs.values()))
            for count in range(1, min(len(tensors), 3) + 1):
                for chosen in combinations(tensors, count):
                    try:
                        compared += check(FUNCTIONS[name], call, chosen)
                    except BatchedTensorError:
                        refused += 1
    assert bool(refused) == (name in REFUSED), f"{name} was refused {refused} times"
    assert compared or name in REFUSED, f"{name} was never compared"
