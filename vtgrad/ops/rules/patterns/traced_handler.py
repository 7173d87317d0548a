"""Operators of a thread that is traced.

The operator runs as it does without a tracer. Then its results get the index sets that follow by
its row in the tables; see Note [Local patterns].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.graph.tracer import thread
from vtgrad.ops.operator import Operator, Pattern
from vtgrad.ops.rules.patterns.index_sets import IntArray, SetsTooLargeError
from vtgrad.ops.rules.patterns.rules import contribution
from vtgrad.ops.rules.patterns.sparsity_tracer import SparsityTracer
from vtgrad.ops.rules.patterns.targets_of import targets_of
from vtgrad.storage import making
from vtgrad.storage.key_set import TRACED
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.version_counter import INFERENCE

__all__ = ["handle_traced"]

# Written by hand, with nothing to follow: it gives a tensor another geometry on its memory.
_GEOMETRY = frozenset({"as_strided_"})


class _Call:
    """A call of an operator with the sets of its operands.

    Attributes
    ----------
    operator, function : Operator, callable
        The operator.
    arguments : dict of str to object
        The arguments by name.
    pattern : Pattern
        What the tables say.
    known : dict of int to ndarray
        The sets of those operands that have any, by the identity of the tensor.
    """

    __slots__ = (
        "args",
        "arguments",
        "function",
        "known",
        "kwargs",
        "operator",
        "pattern",
        "tracer",
    )

    def __init__(
        self,
        tracer: SparsityTracer,
        operator: Operator,
        pattern: Pattern,
        function: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> None:
        self.tracer = tracer
        self.operator, self.pattern = operator, pattern
        self.function = function
        self.args, self.kwargs = args, kwargs
        self.arguments: dict[str, object] = {
            **dict(zip(operator.positional, args, strict=False)),
            **kwargs,
        }
        self.known: dict[int, IntArray] = {}
        for _, _, tensor in self.operands():
            ids = tracer.sets_of(tensor)
            if ids is not None:
                self.known[id(tensor)] = ids

    def operands(self) -> Iterator[tuple[str, int, TensorBase]]:
        """The tensors that the operator reads, with the parameter and their number in a list."""
        first = True
        for name, value in self.arguments.items():
            skipped = name == "out" or (first and self.operator.overwrites)
            first = False
            if skipped:
                continue
            if isinstance(value, TensorBase):
                yield name, 0, value
            elif isinstance(value, Sequence) and not isinstance(value, str):
                for nr, one in enumerate(value):
                    if isinstance(one, TensorBase):
                        yield name, nr, one

    def read_indices(self) -> None:
        """Tell the tracer of indices and masks, whose values decide what goes where."""
        for name, _, tensor in self.operands():
            if name not in self.pattern.derivatives:
                self.tracer.read(tensor)

    def sets_by_rule(self, shape: tuple[int, ...]) -> IntArray:
        """The sets of the elements of a result."""
        pattern, sets = self.pattern, self.tracer.sets
        total: IntArray = making.zeros((), np.int64)
        for name, _, tensor in self.operands():
            ids = self.known.get(id(tensor))
            if ids is None:
                continue
            number = -1
            if name in pattern.derivatives:
                number = pattern.derivatives.index(name)
            else:
                ids = sets.without_members(ids)
            if name in pattern.targets:
                part = self._sent(name, ids, shape)
            else:
                part = contribution(sets, pattern.rule, number, ids, self.arguments, len(shape))
            total = sets.unite(total, part) if total.any() else part
        return making.broadcast_to(total, shape)

    def _sent(self, name: str, ids: IntArray, shape: tuple[int, ...]) -> IntArray:
        """The sets that an operand contributes whose elements each go to one of the result."""
        count = int(np.prod(shape, dtype=np.int64))
        numbers = self._like_operand(making.arange(count).reshape(shape), name)
        targets = targets_of(self.operator, name)(self.arguments, numbers)
        assert isinstance(targets, TensorBase)
        array = targets._impl.array
        if ids.ndim == array.ndim and all(
            n >= m for n, m in zip(ids.shape, array.shape, strict=True)
        ):
            # What an index does not name is not read.
            ids = ids[tuple([slice(0, m) for m in array.shape])]
        if ids.size == array.size:
            # As a source of one element beside an index without dimensions.
            ids = ids.reshape(array.shape)
        ids = making.broadcast_to(ids, array.shape).reshape(-1)
        return self.tracer.sets.unite_groups(ids, array.reshape(-1), count).reshape(shape)

    def sets_by_moving(self) -> Sequence[IntArray]:
        """The sets of the results of an operator that moves elements: it moves their numbers."""
        table = [making.zeros(1, np.int64)]
        start = 1
        numbered: dict[tuple[str, int], TensorBase] = {}
        for name, nr, tensor in self.operands():
            if name not in self.pattern.derivatives:
                continue
            ids = self.known.get(id(tensor))
            numbers = making.zeros(tensor.shape, np.int64)
            if ids is not None:
                numbers += making.arange(start, start + ids.size).reshape(ids.shape)
                table.append(ids.reshape(-1))
                start += ids.size
            numbered[name, nr] = self._like_operand(numbers, name)
        arguments = dict(self.arguments)
        for (name, nr), numbers_of in numbered.items():
            value = arguments[name]
            if isinstance(value, Sequence):
                parts = list(value)
                parts[nr] = numbers_of
                arguments[name] = parts
            else:
                arguments[name] = numbers_of
        arguments.pop("out", None)
        arguments.update(dict.fromkeys(self.pattern.constants, 0))
        positional = list(arguments.values())[: len(self.args)]
        named = {name: arguments[name] for name in self.kwargs if name != "out"}
        moved = self.function(*positional, **named)
        results = moved if isinstance(moved, (tuple, list)) else (moved,)
        ids_of = np.concatenate(table)
        return [ids_of[one._impl.array] for one in results if isinstance(one, TensorBase)]

    def _like_operand(self, numbers: IntArray, name: str) -> TensorBase:
        """Numbers of elements as a tensor on the device of an operand."""
        value = self.arguments[name]
        like = value[0] if isinstance(value, Sequence) else value
        assert isinstance(like, TensorBase)
        return like._wrap(impl_on(numbers, like._impl.device))


def handle_traced(
    operator: Operator,
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    /,
) -> object:
    """Call an operator, and give its results their index sets.

    Raises
    ------
    NotSupportedError
        If the operator cannot be followed, or a tensor belongs to a function that another thread
        traces.
    """
    tracer = thread.tracer
    if tracer is None:
        raise NotSupportedError(
            f"{operator.name} got a tensor of a function whose pattern another thread finds; a "
            "function that is traced must run on one thread",
            operator=operator.name,
        )
    assert isinstance(tracer, SparsityTracer)
    before = thread.excluded_keys
    target: TensorBase | None = None
    version = 0
    try:
        thread.excluded_keys = before | TRACED
        if operator.pattern is None:
            if operator.name not in _GEOMETRY:
                _refuse(tracer, operator.name, args)
            return function(*args, **kwargs)
        tracer.make_room()
        call = _Call(tracer, operator, operator.pattern, function, args, kwargs)
        if call.pattern.rule == "view":
            result = function(*args, **kwargs)
            _mark_views(tracer, args[0], result)
            return result
        if operator.writes and isinstance(args[0], TensorBase):
            target = args[0]
            version = _version(target)
        elif not call.known and kwargs.get("out") is None:
            return function(*args, **kwargs)
        return _followed(tracer, call)
    except BaseException as error:
        if isinstance(error, SetsTooLargeError):
            tracer.error = error
        if target is not None and _version(target) != version:
            tracer.interrupted = operator.name
        raise
    finally:
        thread.excluded_keys = before


def _followed(tracer: SparsityTracer, call: _Call) -> object:
    """Call the operator, and store the sets of its results."""
    pattern = call.pattern
    moves = pattern.rule == "moves" or (
        bool(pattern.targets) and call.arguments.get("accumulate", True) is False
    )
    if moves or pattern.targets or pattern.rule == "reads":
        call.read_indices()
    out = call.kwargs.get("out")
    outs = [x for x in (out if isinstance(out, (tuple, list)) else (out,)) if x is not None]
    known = [x for x in outs if isinstance(x, TensorBase) and tracer.knows(x._impl)]
    # First, so that a call that is wrong gets the error of the operator.
    result = call.function(*call.args, **call.kwargs)
    if not all(tracer.knows(x._impl) for x in known):
        raise NotSupportedError(
            "out= had to grow, which cannot be followed to find the pattern of a Jacobian"
        )
    if pattern.rule == "reads":
        # On the path that reads these values, the result is a constant.
        return result
    results = result if isinstance(result, (tuple, list)) else (result,)
    tensors = [one for one in results if isinstance(one, TensorBase)]
    ids = (
        call.sets_by_moving() if moves else [call.sets_by_rule(tensor.shape) for tensor in tensors]
    )
    for tensor, own in zip(tensors, ids, strict=True):
        if call.operator.writes or outs:
            tracer.store_written(tensor, own)
        else:
            tracer.store(tensor, own)
    return result


def _mark_views(tracer: SparsityTracer, source: object, result: object) -> None:
    """Views of what was detached are detached."""
    if isinstance(source, TensorBase) and tracer.is_detached(source):
        for view in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(view, TensorBase):
                tracer.detached(view, source)


def _refuse(tracer: SparsityTracer, operator: str, args: tuple[object, ...]) -> None:
    for one in args:
        if isinstance(one, TensorBase) and tracer.knows(one._impl):
            raise NotSupportedError(
                f"{operator} cannot be followed to find the pattern of a Jacobian, and got a "
                "tensor that depends on the inputs",
                operator=operator,
            )


def _version(tensor: TensorBase) -> int:
    counter = tensor._impl.counter
    return 0 if counter is INFERENCE else counter.value
