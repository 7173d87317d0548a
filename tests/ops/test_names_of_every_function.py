"""No function of users drops or ignores the names of dimensions in silence."""

import ast
import doctest
import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final

import numpy as np
import pytest

import vtgrad as vt
from tests.sweeping import sweep
from vtgrad.codegen.source_files import OPS, functions_in
from vtgrad.errors import NamesError
from vtgrad.later import FUNCTIONS as LATER
from vtgrad.ops.generated import public
from vtgrad.ops.generated.methods import TensorMethods

# Results that have no names by their nature.
UNNAMED: Final[Mapping[str, str]] = {
    "as_strided": "a geometry of memory, not of dimensions",
    "as_strided_copy": "a geometry of memory, not of dimensions",
    "masked_select": "elements in a row",
    "diagonal": "the new dimension has none without outdim",
    "diagonal_copy": "the new dimension has none",
    "diag": "the new dimension has none",
    "addmv": "the vector's dimension is summed over",
    "expand_as": "of the second tensor only the shape is asked for",
    "reshape_as": "of the second tensor only the shape is asked for",
    "view_as": "of the second tensor only the shape is asked for",
    "mv": "the vector's dimension is summed over",
    "matmul": "a vector's dimension is summed over",
}

Call = tuple[tuple[object, ...], dict[str, object]]


@cache
def docstrings_in(module: str) -> dict[str, str | None]:
    """Of the functions of a module of the library; from its text, as native ones have none."""
    path = OPS.parents[1].joinpath(*module.split(".")).with_suffix(".py")
    return {name: ast.get_docstring(text) for name, text in functions_in([path]).items()}


# Of functions whose examples call a method, or the function under another name.
CALLS: Final[Mapping[str, Call]] = {
    "clip": ((vt.ones(2, 3), 0.0, 1.0), {}),
    "concat": (([vt.ones(2, 3)], 0), {}),
    "concatenate": (([vt.ones(2, 3)], 0), {}),
    "moveaxis": ((vt.ones(2, 3), 0, 1), {}),
    "view": ((vt.ones(2, 3), 6), {}),
}


def calls_of(name: str, function: Callable[..., object]) -> list[Call]:
    """How the examples in a function's docstring call it."""
    calls = [CALLS[name]] if name in CALLS else []

    def recorded(*args: object, **kwargs: object) -> object:
        calls.append((args, kwargs))
        return function(*args, **kwargs)

    module = types.SimpleNamespace(**{n: getattr(vt, n) for n in vt.__all__})
    setattr(module, name, recorded)
    text = docstrings_in(function.__module__)[function.__name__] or ""
    test = doctest.DocTestParser().get_doctest(text, {"vt": module, "np": np}, name, None, None)
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=lambda _: None)
    return calls


def _letters() -> Iterator[str]:
    for nr in range(1000):
        yield f"d{nr}"


def _named(value: object, letters: Iterator[str]) -> object:
    """A copy of an argument, whose tensors have a name for each dimension."""
    if isinstance(value, vt.Tensor):
        copy = value.detach().clone()
        return copy.rename_(*[next(letters) for _ in range(copy.ndim)]) if copy.ndim else copy
    if isinstance(value, (list, tuple)):
        return type(value)(_named(one, letters) for one in value)
    return value


def _tensors(value: object) -> list[vt.Tensor]:
    if isinstance(value, vt.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [x for one in value for x in _tensors(one)]
    return []


def _handled(function: Callable[..., object], call: Call, nr: int) -> bool | None:
    """Whether names of operand `nr` reach the result, or are refused; None without such a call."""
    args, kwargs = call
    values = [*args, *kwargs.values()]
    if nr >= len(values) or not any(t.ndim for t in _tensors(values[nr])):
        return None
    given = [_named(v, _letters()) if n == nr else v for n, v in enumerate(values)]
    count = len(args)
    try:
        result = function(*given[:count], **dict(zip(kwargs, given[count:], strict=True)))
    except NamesError:
        return True
    results = [t for t in _tensors(result) if t.ndim]
    # Of several tensors that were passed, not all have names here.
    return not results or any(t.has_names() for t in results)


# Those that make tensors of other memory have no operand with names.
NAMED_LATER: Final = [name for name, home in LATER.items() if ".tensor." not in home]

# By their own names; in-place variants, which have no examples, are rows of the tables.
FUNCTIONS: Final[Mapping[str, Callable[..., object]]] = {
    name: function
    for name in [*public.__all__, *NAMED_LATER]
    if not name.endswith("_") and (function := getattr(vt, name)).__name__ in (name, f"lazy_{name}")
}


def family_of(name: str) -> str:
    """The table that states the function, or the folder or module that defines it."""
    return FUNCTIONS[name].__module__.removeprefix("vtgrad.ops.").split(".")[1]


@sweep(FUNCTIONS, row=family_of)
def test_names_reach_the_result_or_are_refused(name: str) -> None:
    function = FUNCTIONS[name]
    calls = calls_of(name, function)
    answers = [_handled(function, call, nr) for call in calls for nr in range(8)]
    if name in UNNAMED:
        assert False in answers, f"{name} is excused without a reason"
    else:
        assert False not in answers


@pytest.mark.slow
def test_every_function_has_been_called_with_names() -> None:
    """An example that passes no tensor with a dimension would test nothing."""
    untested = {
        name
        for name, function in FUNCTIONS.items()
        if all(
            _handled(function, call, nr) is None
            for call in calls_of(name, function)
            for nr in range(8)
        )
    }
    assert untested == set()


def test_every_method_is_a_function_that_was_looked_at() -> None:
    """In-place variants aside, which the test of rows calls."""
    functions = list(FUNCTIONS.values())
    others = {
        name
        for name, method in vars(TensorMethods).items()
        if callable(method)
        and not name.startswith("__")
        and getattr(method, "__func__", method) not in functions
        and not name.endswith("_")
    }
    assert others == set()
