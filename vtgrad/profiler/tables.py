"""The wrappers that make events of operators, and the tables in which they are put.

Note [Observed operators]

Operators do not look whether they are observed: the test would cost small ones more than a
hundredth of their time (docs/decisions/0014). Instead, while a thread is observed, the places in
which programs look operators up hold wrappers:

- the globals of all modules of this package that name an operator, `vtgrad` itself among them;
- the bases of `Tensor`, with `ObservedMethods` as the first. One assignment changes all methods and
  the operators of Python, and one assignment restores them.

A wrapper looks whether its own thread is observed, and calls the operator. Wrappers are the same
objects each time. `adjust_tables` brings the tables into the state that `observers` asks for, from
any state that an interrupt has left, and changes only what holds an operator or its wrapper.

In the compiled build native operators call each other directly: such calls are no events there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import update_wrapper
from threading import RLock, get_ident
from types import ModuleType
from typing import Final

from vtgrad.graph.observer import FUNCTION, NO_SEQUENCE_NR, Observer, observers
from vtgrad.graph.recording import is_recording
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.ops.generated import functional, public
from vtgrad.ops.generated.methods import TensorMethods
from vtgrad.profiler.event_names import CREATION, PROPERTIES, PYTHON_OPERATORS, event_name
from vtgrad.storage.thread_state import after_fork
from vtgrad.tensor import creation, from_data, ranges, sampling
from vtgrad.tensor.operator_methods import OperatorMethods
from vtgrad.tensor.tensor import Tensor

__all__ = ["adjust_tables"]

Operator = Callable[..., object]

_PACKAGE: Final = __name__.partition(".")[0]


class _Tables:
    """What is put into the tables; made on first use, because most programs have no profile.

    Attributes
    ----------
    wrappers, operators : dict of int to callable
        The wrapper of each operator and the operator of each wrapper, by the other's `id`.
    methods : type
        The first base of `Tensor` while a thread is observed.
    """

    __slots__ = ("methods", "operators", "wrappers")

    wrappers: dict[int, Operator]
    operators: dict[int, Operator]
    methods: type

    def __init__(self) -> None:
        self.wrappers = {}
        self.operators = {}
        names = {*public.__all__, *vars(TensorMethods)}
        for name, function in vars(functional).items():
            if callable(function):
                self._add(function, event_name(name, names))
        for name in CREATION:
            home = next(m for m in (creation, from_data, ranges, sampling) if name in m.__all__)
            self._add(getattr(home, name), event_name(name, names))
        self.methods = type("ObservedMethods", (), self._members(names))

    def _add(self, operator: Operator, name: str | None) -> None:
        if name is not None and id(operator) not in self.wrappers:
            wrapper = _wrapper(operator, name)
            self.wrappers[id(operator)], self.operators[id(wrapper)] = wrapper, operator

    def _members(self, names: set[str]) -> dict[str, object]:
        """The attributes of `methods`."""
        members: dict[str, object] = {"__slots__": (), "__hash__": Tensor.__hash__}
        for name, method in vars(TensorMethods).items():
            # Not the function of the same name: the method `conj` is lazy, that of formulas is not.
            # The compiled build wraps the native function, so that it is bound as a method.
            known = self.wrappers.get(id(getattr(method, "__func__", method)))
            if known is not None:
                members[name] = known
        for name in vars(OperatorMethods):
            method = getattr(OperatorMethods, name)
            event = event_name(name, names) if name in names else None
            if event is not None and callable(method):
                members[name] = _wrapper(method, event)
        for name, operator in PYTHON_OPERATORS.items():
            members[name] = _wrapper(getattr(OperatorMethods, name), operator)
        members["__getitem__"] = _getitem(OperatorMethods.__getitem__)
        for name, operator in PROPERTIES.items():
            members[name] = _property(vars(OperatorMethods)[name], operator)
        return members


class _State:
    """The tables of this process.

    Attributes
    ----------
    tables : _Tables or None
        None until a thread is observed for the first time.
    bases : tuple of type
        The bases of `Tensor` while no thread is observed.
    lock : RLock
        Held while tables are changed.
    """

    __slots__ = ("bases", "lock", "tables")

    def __init__(self) -> None:
        self.tables: _Tables | None = None
        self.bases: tuple[type, ...] = Tensor.__bases__
        self.lock = RLock()


_state: Final = _State()


def adjust_tables() -> None:
    """Put wrappers into the tables if a thread is observed, operators if none is."""
    with _state.lock:
        tables = _state.tables
        if tables is None:
            if not observers:
                return
            tables = _state.tables = _Tables()
        put, bases = bool(observers), _state.bases
        type.__setattr__(Tensor, "__bases__", (tables.methods, *bases) if put else bases)
        replaced = tables.wrappers if put else tables.operators
        for module in _modules():
            names = vars(module)
            for name, value in tuple(names.items()):
                new = replaced.get(id(value))
                if new is not None:
                    names[name] = new


def _modules() -> Iterator[ModuleType]:
    """The modules of this package that may name operators."""
    for name, module in tuple(sys.modules.items()):
        if (name == _PACKAGE or name.startswith(_PACKAGE + ".")) and name != __name__:
            yield module


def _wrapper(operator: Operator, name: str) -> Operator:
    def observed(*args: object, **kwargs: object) -> object:
        observer = observers.get(get_ident())
        # An operator of the same name, called by this one, is its implementation.
        if observer is None or observer.runs(name):
            return operator(*args, **kwargs)
        return _call(observer, name, operator, args, kwargs)

    update_wrapper(observed, operator)
    return observed


def _call(
    observer: Observer,
    name: str,
    operator: Operator,
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    """Call an operator as an event."""
    number = this_thread.numbering.next_nr if is_recording() else NO_SEQUENCE_NR
    given = [value for value in kwargs.values() if value is not None]
    inputs = (*args, *given) if observer.needs_inputs else ()
    event = observer.begin(name, FUNCTION, number, 0, inputs)
    try:
        result = operator(*args, **kwargs)
    except BaseException:
        observer.end(event)
        raise
    if result is NotImplemented:
        observer.forget(event)
    else:
        observer.end(event, (result,))
    return result


def _getitem(method: Operator) -> Operator:
    """``x[index]``, which is one of several operators."""
    by_integer = _wrapper(method, "aten::select")
    by_slice = _wrapper(method, "aten::slice")
    by_others = _wrapper(method, "vtgrad::getitem")

    def observed(self: Tensor, index: object) -> object:
        if type(index) is int:
            return by_integer(self, index)
        return by_slice(self, index) if type(index) is slice else by_others(self, index)

    update_wrapper(observed, method)
    return observed


def _property(descriptor: property, name: str) -> property:
    """A property whose value is the result of an operator."""

    def read(self: Tensor) -> object:
        return descriptor.__get__(self, type(self))

    def store(self: Tensor, value: object) -> None:
        descriptor.__set__(self, value)

    return property(_wrapper(read, name), store, doc=descriptor.__doc__)


def _after_fork() -> None:
    """Make the tables of the child of a fork fit the threads that it has."""
    _state.lock = RLock()
    adjust_tables()


after_fork(_after_fork)
