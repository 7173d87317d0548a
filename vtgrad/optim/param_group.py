"""Parameters with options of their own.

Note [Options that a recording follows]

A recorded step reads no Python number again. So the learning rate of a group is a tensor of one
element, which an assignment ``group["lr"] = rate`` writes; a replay reads it where it is. All other
options are numbers of the recording, and an assignment to one of them moves the number
`ParamGroup.revision`. A step that is being recorded reads it, and it is guarded then: after such an
assignment the step is recorded anew. So it is after a new group, which moves `Optimizer._revision`.
The groups, and the parameters of a group, are tuples, so that nothing is added in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import TypeAlias

from vtgrad.errors import ArgumentTypeError, ArgumentValueError
from vtgrad.graph.grad_mode import no_grad
from vtgrad.storage.dtypes import float64, int64
from vtgrad.tensor.creation import zeros
from vtgrad.tensor.from_data import tensor
from vtgrad.tensor.tensor import Tensor

__all__ = ["ParamGroup", "Slots"]

Slots: TypeAlias = dict[str, Tensor]


class ParamGroup(MutableMapping[str, object]):
    """The options of some parameters; ``group["params"]`` are these.

    Groups are made by optimisers, of dicts, and are used as dicts.

    Parameters
    ----------
    options : mapping of str to object
        The options, with the parameters as ``"params"``.
    make_slots : callable
        Makes the state of a parameter from the parameter and the options.

    Attributes
    ----------
    revision : Tensor
        A number that moves when another option is assigned; see Note [Options that a recording
        follows].

    Examples
    --------
    >>> w = vt.ones(2, requires_grad=True)
    >>> group = vt.optim.SGD([w], lr=0.1).param_groups[0]
    >>> group["lr"] = 0.01
    >>> group["lr"], group["momentum"]
    (0.01, 0)
    """

    revision: Tensor
    _own_rate: Tensor
    _options: dict[str, object]
    _slots: dict[Tensor, Slots]
    _make_slots: Callable[[Tensor, Mapping[str, object]], Slots]

    def __init__(
        self,
        options: Mapping[str, object],
        make_slots: Callable[[Tensor, Mapping[str, object]], Slots],
    ) -> None:
        self._options = dict(options)
        self._make_slots = make_slots
        self._slots = {}
        self.revision = zeros((), dtype=int64)
        given = self._options["lr"]
        self._own_rate = tensor(
            0.0 if isinstance(given, Tensor) else number_of(given, "lr"), dtype=float64
        )
        self._fill_slots()

    @property
    def params(self) -> tuple[Tensor, ...]:
        """The parameters."""
        found = self._options["params"]
        assert isinstance(found, tuple)
        return found

    def slots(self, param: Tensor) -> Slots:
        """The state of a parameter."""
        found = self._slots.get(param)
        if found is None:
            found = self._slots.setdefault(param, self._make_slots(param, self._options))
        return found

    def number(self, name: str) -> float:
        """An option that is a number.

        Raises
        ------
        ArgumentTypeError
            If it is none.
        """
        return number_of(self._options[name], name)

    def flag(self, name: str) -> bool:
        """An option that is true or false."""
        return bool(self._options[name])

    @property
    def rate(self) -> Tensor:
        """The learning rate: the tensor that was given, or the own one."""
        given = self._options["lr"]
        return given if isinstance(given, Tensor) else self._own_rate

    def replace(self, options: Mapping[str, object]) -> None:
        """Take other options, for the same parameters."""
        self._moved()
        self["lr"] = options["lr"]
        self._options = {**options, "params": self.params}
        self._fill_slots()

    def _fill_slots(self) -> None:
        """Make the state that the options need and that is not there, before a step needs it."""
        for param in self.params:
            made = self._make_slots(param, self._options)
            self._slots[param] = {**made, **self._slots.get(param, {})}

    def _moved(self) -> None:
        with no_grad():
            self.revision.add_(1)

    def __getitem__(self, name: str) -> object:
        value = self._options[name]
        if name == "lr" and not isinstance(value, Tensor):
            return self._own_rate.item()
        return value

    def __setitem__(self, name: str, value: object) -> None:
        if name == "params":
            if not isinstance(value, (list, tuple)) or not all(
                isinstance(param, Tensor) for param in value
            ):
                raise ArgumentTypeError(
                    "the parameters of a group are a list or tuple of tensors", argument=name
                )
            value = tuple(value)
        if name == "lr":
            was = self._options["lr"]
            if not isinstance(value, Tensor):
                with no_grad():
                    self._own_rate.fill_(number_of(value, name))
                if not isinstance(was, Tensor):
                    return
            elif value is was:
                return
        # First, so that a recorded step never misses the change.
        self._moved()
        self._options[name] = value
        self._fill_slots()

    def __delitem__(self, name: str) -> None:
        if name in ("lr", "params"):
            raise ArgumentValueError(f"a group needs the option {name!r}", argument=name)
        self._moved()
        del self._options[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def __repr__(self) -> str:
        return repr(dict(self))


def number_of(value: object, name: str) -> float:
    """A number among the options.

    Raises
    ------
    ArgumentTypeError
        If it is no number.
    """
    if not isinstance(value, (int, float)):
        raise ArgumentTypeError(
            f"the option {name!r} must be a number, not {type(value).__name__}", argument=name
        )
    return value
