"""What `inspect.signature` and `help` show of public functions and methods."""

import builtins
import collections.abc
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

import pytest

import vtgrad as vt
from docs.reference_pages.entries import MODULES

pytestmark = pytest.mark.skipif(
    vt.__compiled__, reason="native functions have no annotations to show"
)

# Names of types that stand in signatures and have no entry in the reference: each is a word that
# reads as what is passed or returned.
READABLE = set(
    """
    Array Shape Number Nested Dims Index Parts Unset Gradient Gradients Roots ndarray ufunc
    DType Device MemoryFormat TensorBase StorageBase Storage WrittenPart Site RemovableHandle
    NDArray Path PathLike Memory SavedVariable Held HookPair CheckpointCtx AbstractContextManager
    Inputs Outputs Measured Schedule NextEdge Coefficients Sections Points Condition Values
    Fill FillValue
    ModeScope Mode Exit GradCell NodeHooks Call OfAll OfAny ref
    Tensors Strategy Jacobian ArgNums TreeSpec Randomness IntArray csr_array coo_array
    Divergence Library Operator Step ViewsAndWrites SearchStrategy
    TensorImpl TensorFunction ArrayFunction GradientFunction Buffer CapsuleType
    Replay Structure Program Prepared Guard Line Node args kwargs
    Params Closure PreHook PostHook Slots Drawing
    Executor Progress Record StartMethod
    """.split()
)
# Variables of generic functions.
VARIABLES = {"T", "R", "P", "G", "E", "S", "Ts", "X"}
# The class of several results, as `MaxResult`.
_RESULTS = re.compile(r"[A-Z][A-Za-z]+Result")
_LITERAL = re.compile(r"Literal\[.*?\]")
_WORD = re.compile(r"[^\W\d][\w.]*")


def _callables() -> Iterator[tuple[str, Callable[..., object]]]:
    """The functions, classes and methods that users see, by name."""
    for module_name in MODULES:
        module = import_module(module_name)
        for name in getattr(module, "__all__", dir(module)):
            thing = getattr(module, name)
            if name[0] == "_" or not callable(thing) or not _is_ours(thing):
                continue
            yield f"{module_name}.{name}", thing
            if isinstance(thing, type):
                yield from ((f"{module_name}.{name}.{m}", found) for m, found in _methods(thing))


def _methods(owner: type) -> Iterator[tuple[str, Callable[..., object]]]:
    for name in dir(owner):
        found = getattr(owner, name, None)
        hidden = name[0] == "_" and not name.endswith("__")
        if isinstance(found, (types.FunctionType, types.MethodType)) and not hidden:
            if _is_ours(found):
                yield name, found


def _is_ours(thing: object) -> bool:
    return str(getattr(thing, "__module__", "")).startswith("vtgrad")


@cache
def _signatures() -> dict[str, inspect.Signature]:
    """Every signature by the name of what it belongs to."""
    found = {}
    for name, thing in _callables():
        try:
            found[name] = inspect.signature(thing)
        except ValueError:  # a class with the `__new__` of a built-in
            continue
    return found


def _types(signature: inspect.Signature) -> Iterator[str]:
    """The annotations, as they are shown."""
    for annotation in [*(p.annotation for p in signature.parameters.values())] + [
        signature.return_annotation
    ]:
        if annotation is not inspect.Signature.empty:
            yield inspect.formatannotation(annotation)


@cache
def _known() -> set[str]:
    """The words that a reader can look up."""
    known = set(dir(builtins)) | set(dir(typing)) | set(dir(collections.abc)) | set(dir(types))
    for module_name in MODULES:
        module = import_module(module_name)
        known |= set(getattr(module, "__all__", dir(module)))
    return known | {"ForwardRef"}


def test_signatures_read_as_they_are_called() -> None:
    found = _signatures()
    assert str(found["vtgrad.select"]) == "(input: 'T', dim: 'int', index: 'int') -> 'T'"
    assert str(found["vtgrad.Tensor.index_add_"]).startswith(
        "(input: 'T', dim: 'int', index: 'Tensor', source: 'Tensor', *,"
    )
    assert found["vtgrad.var"].parameters["correction"].default.__repr__() == "..."
    assert len(found) > 900


def test_every_default_has_a_spelling() -> None:
    found = [
        f"{name}: {parameter}"
        for name, signature in _signatures().items()
        for parameter in signature.parameters.values()
        # `<factory>` is how a dataclass spells what it makes anew.
        if "<" in repr(parameter.default).replace("<factory>", "")
        # A public function as a default is shown with its name.
        and getattr(parameter.default, "__name__", "_")[0] == "_"
        and parameter.default is not inspect.Parameter.empty
    ]
    assert found == []


def test_no_annotation_has_a_private_name() -> None:
    known = _known() | READABLE | VARIABLES
    found = [
        f"{name}: {text}"
        for name, signature in _signatures().items()
        for text in _types(signature)
        for word in _WORD.findall(_LITERAL.sub("", text))
        if word.split(".")[-1] not in known and not _RESULTS.fullmatch(word)
    ]
    assert found == []
