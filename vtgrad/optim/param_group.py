"""Parameters with options of their own.

Note [Options that a recording follows]

A recorded step reads no Python number again. So the learning rate of a group is a tensor of one
element, which an assignment ``group["lr"] = rate`` writes; a replay reads it where it is. All other
options are numbers of the recording, and an assignment to one of them moves the number
`ParamGroup.revision`. A step that is being recorded reads it, and it is guarded then: after such an
assignment the step is recorded anew.
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
    """The options of some parameters; ``group["params"]`` is the list of them.

    Groups are made by optimisers, of dicts, and are used as dicts.

    Parameters
    ----------
    options : mapping of str to object
        The options, with the list of parameters as ``"params"``.
    make_slots : callable
        Makes the state of a parameter from the parameter and the options.

    Attributes
    ----------
    rate : Tensor
        The learning rate, 0-d or of one element.
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

    rate: Tensor
    revision: Tensor
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
        self.rate = self._rate_of(self._options["lr"])
        self._fill_slots()

    @property
    def params(self) -> list[Tensor]:
        """The parameters, the object that ``group["params"]`` is."""
        found = self._options["params"]
        assert isinstance(found, list)
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

    def replace(self, options: Mapping[str, object]) -> None:
        """Take other options, for the same parameters."""
        rate = self._rate_of(options["lr"])
        self._options = {**options, "params": self.params}
        self.rate = rate
        self._fill_slots()
        self._moved()

    def _rate_of(self, given: object) -> Tensor:
        """The tensor of a learning rate: the own one, written, or that of the user."""
        if isinstance(given, Tensor):
            return given
        value = number_of(given, "lr")
        own = self.__dict__.get("rate")
        if not isinstance(own, Tensor) or own is self._options.get("lr"):
            return tensor(value, dtype=float64)
        with no_grad():
            own.fill_(value)
        return own

    def _fill_slots(self) -> None:
        """Make the state that the options need and that is not there, before a step needs it."""
        for param in self.params:
            made = self._make_slots(param, self._options)
            self._slots[param] = {**made, **self._slots.get(param, {})}

    def _moved(self) -> None:
        with no_grad():
            self.revision.add_(1)

    def __getitem__(self, name: str) -> object:
        return self._options[name]

    def __setitem__(self, name: str, value: object) -> None:
        if name == "params" and not isinstance(value, list):
            raise ArgumentTypeError("the parameters of a group are a list", argument=name)
        if name == "lr":
            rate = self._rate_of(value)
            if rate is not self.rate:
                self.rate = rate
                self._moved()
            self._options["lr"] = value
            return
        self._options[name] = value
        self._fill_slots()
        self._moved()

    def __delitem__(self, name: str) -> None:
        if name in ("lr", "params"):
            raise ArgumentValueError(f"a group needs the option {name!r}", argument=name)
        del self._options[name]
        self._moved()

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def __repr__(self) -> str:
        return repr(self._options)


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
