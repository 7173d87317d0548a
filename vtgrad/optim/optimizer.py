"""What all optimisers have in common.

Note [A step is whole]

The update of one parameter writes several tensors: the parameter, its averages, its counter. All
new values are computed first, in memory of their own. Then the pairs of tensors and values are
stored in `Optimizer._unfinished`, by one store, and written, the parameter first. Values, not
changes, are written, so that a write may be made twice: if an interrupt comes in between, the
handler writes all of them again, and then the exception goes on. So a parameter and its state are
both before the update, or both behind it. If a second interrupt breaks this off, the next call of
any method of the optimiser does it. A write of the parameter that is refused, which is the first,
leaves everything as before.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Final, TypeAlias, TypeVar, cast

from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    NotSupportedError,
    RecordingError,
    WriteRefusedError,
)
from vtgrad.graph.grad_mode import enable_grad, no_grad
from vtgrad.graph.hooks import HookDict, RemovableHandle
from vtgrad.jit.state import is_tracing
from vtgrad.ops.generated import functional as F
from vtgrad.optim.param_group import ParamGroup, Slots, number_of
from vtgrad.storage.dtypes import float64, int64
from vtgrad.storage.warn import warn
from vtgrad.tensor.creation import zeros
from vtgrad.tensor.tensor import Tensor

__all__ = ["Closure", "Optimizer", "Params", "Write"]

Params: TypeAlias = Iterable[Tensor] | Iterable[Mapping[str, object]] | Iterable[tuple[str, Tensor]]
Closure: TypeAlias = Callable[[], Tensor | float]
#: A tensor, and its new value.
Write: TypeAlias = tuple[Tensor, Tensor]
PreHook: TypeAlias = Callable[
    ["Optimizer", tuple[object, ...], dict[str, object]],
    tuple[tuple[object, ...], dict[str, object]] | None,
]
PostHook: TypeAlias = Callable[["Optimizer", tuple[object, ...], dict[str, object]], None]
H = TypeVar("H")

# PyTorch's ways to run a step, with the values that ask for the one that is here.
_WAYS: Final = {
    "foreach": (None, False),
    "fused": (None, False),
    "capturable": (False,),
    "differentiable": (False,),
}


class Optimizer:
    """Base class of optimisers, which write parameters by their gradients.

    Parameters
    ----------
    params : iterable
        Leaf tensors, or pairs of a name and a tensor, or dicts: the parameters of a group as
        ``"params"``, with options of the group.
    defaults : dict
        The options of groups that do not have them.

    Attributes
    ----------
    param_groups : tuple of ParamGroup
        The groups: dicts of options, which may be assigned.
    defaults : dict of str to object
        The options of groups that do not have them.

    Raises
    ------
    ArgumentTypeError
        If a parameter is no tensor.
    ArgumentValueError
        If there is no parameter, one is no leaf, or one is in two groups; or for an option that is
        out of its range.
    NotSupportedError
        If an option asks for another of PyTorch's ways to run a step.
    """

    #: The names in `state_dict` of what a step keeps, without those that are its own.
    _own_slots: ClassVar[frozenset[str]] = frozenset()
    #: Whether the state is shown before the first step.
    _shows_new_state: ClassVar[bool] = False

    param_groups: tuple[ParamGroup, ...]
    _revision: Tensor
    defaults: dict[str, object]
    _unfinished: tuple[Sequence[Write], Sequence[tuple[ParamGroup, Mapping[str, object]]]]

    def __init__(self, params: Params, defaults: Mapping[str, object]) -> None:
        given: object = params
        if isinstance(given, Tensor):
            raise ArgumentTypeError(
                "an optimiser takes an iterable of tensors or dicts, not one tensor",
                argument="params",
            )
        self._unfinished = (), ()
        self._pre_hooks: HookDict[PreHook] = HookDict()
        self._post_hooks: HookDict[PostHook] = HookDict()
        self.defaults = dict(defaults)
        self._check(self.defaults)
        self.param_groups = ()
        self._revision = zeros((), dtype=int64)
        found = list(params)
        if not found:
            raise ArgumentValueError("an optimiser needs at least one parameter", argument="params")
        groups = found if isinstance(found[0], Mapping) else [{"params": found}]
        for group in groups:
            self.add_param_group(cast("Mapping[str, object]", group))

    # -- what a subclass says -----------------------------------------------------------

    @classmethod
    def _check(cls, options: Mapping[str, object]) -> None:
        """Raise for options out of their range."""
        raise NotImplementedError

    @staticmethod
    def _make_slots(param: Tensor, options: Mapping[str, object]) -> Slots:
        """The state of a parameter before its first step."""
        raise NotImplementedError

    def _update(self, param: Tensor, grad: Tensor, group: ParamGroup, slots: Slots) -> list[Write]:
        """The new values, that of the parameter first. Complex tensors are seen as real ones."""
        raise NotImplementedError

    # -- steps --------------------------------------------------------------------------

    def step(self, closure: Closure | None = None) -> Tensor | float | None:
        """Change each parameter that has a gradient, in place.

        Parameters
        ----------
        closure : callable, optional
            Computes the loss again, and its gradients; it is called first, with gradients on.

        Returns
        -------
        Tensor, float or None
            What `closure` returned.

        Raises
        ------
        WriteRefusedError
            If a parameter cannot be written. It and those behind it, with their states, are as
            before then.
        """
        with _Hooked(self, closure) as call:
            return self._step(call)

    def _step(self, closure: Closure | None) -> Tensor | float | None:
        loss = _called(closure)
        self._finish()
        records = is_tracing()
        with no_grad():
            if records:
                # See Note [Options that a recording follows].
                self._revision.item()
            for group in self.param_groups:
                if records:
                    group.revision.item()
                for param in group.params:
                    grad = param.grad
                    if grad is not None:
                        slots = group.slots(param)
                        self._write(self._new_values(param, grad, group, slots))
        return loss

    def _new_values(
        self, param: Tensor, grad: Tensor, group: ParamGroup, slots: Slots
    ) -> list[Write]:
        if group.flag("maximize"):
            grad = F.neg(grad)
        if param.is_complex():
            seen = {name: _as_real(value) for name, value in slots.items()}
            return self._update(_as_real(param), _as_real(grad), group, seen)
        return self._update(param, grad, group, slots)

    def _write(
        self,
        writes: Sequence[Write],
        options: Sequence[tuple[ParamGroup, Mapping[str, object]]] = (),
    ) -> None:
        """Write all of it; see Note [A step is whole]."""
        try:
            self._unfinished = writes, options
            self._finish()
        except BaseException:
            self._finish()
            raise

    def _finish(self) -> None:
        """Write what an interrupt has left; see Note [A step is whole]."""
        writes, options = self._unfinished
        if not writes and not options:
            return
        with no_grad():
            for target, value in writes:
                try:
                    target.copy_(value)
                except WriteRefusedError:
                    self._unfinished = (), ()
                    raise
        for group, taken in options:
            group.replace(taken)
        self._unfinished = (), ()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Empty the gradients of all parameters.

        Parameters
        ----------
        set_to_none : bool, default True
            Whether ``.grad`` is None afterwards, or zeros in its own memory.
        """
        for group in self.param_groups:
            for param in group.params:
                grad = param.grad
                if grad is None:
                    continue
                if set_to_none:
                    param.grad = None
                    continue
                if grad.grad_fn is not None:
                    grad.detach_()
                else:
                    grad.requires_grad_(False)
                grad.zero_()

    # -- groups and state ---------------------------------------------------------------

    def add_param_group(self, param_group: Mapping[str, object]) -> None:
        """Add parameters, with options of their own.

        Parameters
        ----------
        param_group : mapping of str to object
            The parameters as ``"params"``, a tensor or an iterable, and options.

        Raises
        ------
        ArgumentTypeError
            If it is no mapping, or a parameter no tensor.
        ArgumentValueError
            If a parameter is no leaf, is there already, or an option is out of its range.
        """
        self._finish()
        given: object = param_group
        if not isinstance(given, Mapping):
            raise ArgumentTypeError(
                f"a group must be a mapping, not {type(given).__name__}", argument="param_group"
            )
        params, names = _parameters(param_group["params"])
        options = {**self.defaults, **param_group, "params": tuple(params)}
        if names is not None:
            options["param_names"] = names
        self._check(options)
        if len(set(params)) != len(params):
            warn("a group of parameters has the same parameter twice", UserWarning)
        known = {param for group in self.param_groups for param in group.params}
        if known & set(params):
            raise ArgumentValueError(
                "a parameter is in more than one group of the optimiser", argument="params"
            )
        if self.param_groups and (names is None) != ("param_names" not in self.param_groups[0]):
            raise ArgumentValueError(
                "either all groups have names of parameters, or none has", argument="params"
            )
        group = ParamGroup(options, self._make_slots)
        with no_grad():
            self._revision.add_(1)
        self.param_groups = (*self.param_groups, group)

    @property
    def state(self) -> Mapping[Tensor, Mapping[str, Tensor]]:
        """What the steps have kept, by parameter and name.

        Returns
        -------
        mapping of Tensor to mapping of str to Tensor
            The tensors themselves, which may be written, of the parameters that took a step. They
            stay the same objects.
        """
        self._finish()
        found: dict[Tensor, Mapping[str, Tensor]] = {}
        for group in self.param_groups:
            for param in group.params:
                slots = group.slots(param)
                if slots and (self._shows_new_state or slots["step"].item() > 0):
                    found[param] = MappingProxyType(self._shown(slots))
        return MappingProxyType(found)

    def _shown(self, slots: Slots) -> Slots:
        return {name: value for name, value in slots.items() if name not in self._own_slots}

    def state_dict(self) -> dict[str, object]:
        """The state and the options, with numbers in place of parameters.

        Returns
        -------
        dict
            ``"state"``, by number and name, tensors that later steps write; ``"param_groups"``, the
            options.
        """
        state = self.state
        numbers: dict[Tensor, int] = {}
        for group in self.param_groups:
            for param in group.params:
                numbers.setdefault(param, len(numbers))
        return {
            "state": {numbers[param]: dict(slots) for param, slots in state.items()},
            "param_groups": [
                {
                    **{name: value for name, value in group.items() if name != "params"},
                    "params": [numbers[param] for param in group.params],
                }
                for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: Mapping[str, object]) -> None:
        """Take over what `state_dict` has returned, by copies.

        The tensors of the state are written, not replaced, so a recorded step goes on with it.

        Parameters
        ----------
        state_dict : mapping
            Of an optimiser of the same class, with as many parameters.

        Raises
        ------
        ArgumentValueError
            If the groups have other numbers of parameters, or a tensor another shape. Then nothing
            has changed.
        """
        self._finish()
        groups = copy.deepcopy(
            list(cast("Iterable[dict[str, object]]", state_dict["param_groups"]))
        )
        state = cast("Mapping[int, Mapping[str, object]]", state_dict["state"])
        if len(groups) != len(self.param_groups):
            raise ArgumentValueError(
                f"the loaded state has {len(groups)} groups, and the optimiser "
                f"{len(self.param_groups)}",
                argument="state_dict",
            )
        writes: list[Write] = []
        options: list[tuple[ParamGroup, Mapping[str, object]]] = []
        for group, loaded in zip(self.param_groups, groups, strict=True):
            numbers = cast("list[int]", loaded["params"])
            if len(numbers) != len(group.params):
                raise ArgumentValueError(
                    f"a group of the loaded state has {len(numbers)} parameters, and that of the "
                    f"optimiser {len(group.params)}",
                    argument="state_dict",
                )
            # An older state may lack an option.
            taken = {**self.defaults, **loaded, "params": group.params}
            self._check(taken)
            options.append((group, taken))
            for param, number in zip(group.params, numbers, strict=True):
                slots = {**self._make_slots(param, taken), **group.slots(param)}
                fresh = self._make_slots(param, taken)
                kept = state.get(number, {})
                writes += self._loaded(param, slots, fresh, kept)
                group.slots(param).update(slots)
        self._write(writes, options)

    def _loaded(
        self, param: Tensor, slots: Slots, fresh: Slots, kept: Mapping[str, object]
    ) -> list[Write]:
        """The writes that bring the state of a parameter to the loaded one."""
        writes: list[Write] = []
        for name, target in slots.items():
            value = kept.get(name, fresh.get(name))
            if name in self._own_slots and kept:
                value = F.ones_like(target)
            if value is None:
                continue
            if not isinstance(value, Tensor):
                value = F.full_like(target, number_of(value, name))
            if value.shape != target.shape:
                raise ArgumentValueError(
                    f"the loaded {name!r} has the shape {list(value.shape)}, and that of the "
                    f"parameter is {list(target.shape)}",
                    argument="state_dict",
                )
            writes.append((target, value.detach().clone()))
        return writes

    # -- hooks --------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: PreHook) -> RemovableHandle:
        """Call a function before each step; a replay of a recorded step does not call it.

        Parameters
        ----------
        hook : callable
            Gets the optimiser, and the arguments of `step` as a tuple and a dict. It may return
            others, as such a pair.

        Returns
        -------
        RemovableHandle
            Removes the hook.
        """
        return self._pre_hooks.add(hook)

    def register_step_post_hook(self, hook: PostHook) -> RemovableHandle:
        """Call a function after each step; a replay of a recorded step does not call it.

        Parameters
        ----------
        hook : callable
            Gets the optimiser, and the arguments of `step` as a tuple and a dict.

        Returns
        -------
        RemovableHandle
            Removes the hook.
        """
        return self._post_hooks.add(hook)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])


class _Hooked:
    """Calls the hooks of an optimiser before and after a step.

    Parameters
    ----------
    optimizer : Optimizer
        The optimiser.
    closure : callable or None
        The argument of its step.
    """

    def __init__(self, optimizer: Optimizer, closure: Closure | None) -> None:
        self._optimizer = optimizer
        self._args: tuple[object, ...] = (closure,) if closure is not None else ()
        self._kwargs: dict[str, object] = {}

    def __enter__(self) -> Closure | None:
        for hook in [*self._optimizer._pre_hooks.entries.values()]:
            found = hook(self._optimizer, self._args, self._kwargs)
            if found is not None:
                self._args, self._kwargs = found
        closure = self._args[0] if self._args else self._kwargs.get("closure")
        return cast("Closure | None", closure)

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            for hook in [*self._optimizer._post_hooks.entries.values()]:
                hook(self._optimizer, self._args, self._kwargs)


def _called(closure: Closure | None) -> Tensor | float | None:
    if closure is None:
        return None
    with enable_grad():
        return closure()


def _as_real(x: Tensor) -> Tensor:
    return F.view_as_real(x) if x.is_complex() else x


def _parameters(given: object) -> tuple[list[Tensor], list[str] | None]:
    """The parameters of a group, and their names, if they have such."""
    if isinstance(given, Tensor):
        given = [given]
    if isinstance(given, (set, frozenset)):
        raise ArgumentTypeError(
            "parameters need an order, which a set does not have", argument="params"
        )
    params: list[Tensor] = []
    names: list[str] = []
    entries = list(cast("Iterable[object]", given))
    for entry in entries:
        param: object = entry
        if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str):
            names.append(entry[0])
            param = entry[1]
        if not isinstance(param, Tensor):
            raise ArgumentTypeError(
                f"an optimiser changes tensors, and got {type(param).__name__}", argument="params"
            )
        if not (param.is_leaf or param.retains_grad):
            raise ArgumentValueError(
                "an optimiser changes leaves, and got the result of an operator", argument="params"
            )
        params.append(param)
    if names and len(names) != len(entries):
        raise ArgumentValueError("either all parameters have names, or none has", argument="params")
    return params, names or None


def counter() -> Tensor:
    """A new counter of steps."""
    return zeros((), dtype=float64)


def zeros_of(param: Tensor) -> Tensor:
    """Zeros like a parameter, which take no part in a graph."""
    with no_grad():
        return F.zeros_like(param)


def refuse_in_recording(name: str) -> None:
    """Raise while a function is recorded.

    Raises
    ------
    RecordingError
        For an optimiser that decides by values.
    """
    if is_tracing():
        raise RecordingError(
            f"{name} decides by values what it evaluates next, so its step cannot be recorded: "
            "record the closure instead",
            reason="optimizer",
            library=None,
            line=None,
        )


def check_rate(options: Mapping[str, object]) -> None:
    """Raise unless the learning rate is a tensor of one element or is not negative."""
    rate = options["lr"]
    if isinstance(rate, Tensor):
        if rate.numel() != 1:
            raise ArgumentValueError(
                f"a learning rate that is a tensor has one element, not {rate.numel()}",
                argument="lr",
            )
    else:
        check_not_negative(options, "lr")


def check_not_negative(options: Mapping[str, object], *names: str) -> None:
    """Raise if one of these options is negative, or no number."""
    for name in names:
        value = number_of(options[name], name)
        if not value >= 0:
            raise ArgumentValueError(f"{name} must not be negative, as {value} is", argument=name)


def check_ways(options: Mapping[str, object]) -> None:
    """Raise if an option asks for a way to run a step that is not here.

    Raises
    ------
    NotSupportedError
        For the first one.
    """
    for name, known in _WAYS.items():
        if name in options and options[name] not in known:
            raise NotSupportedError(
                f"{name}={options[name]!r} asks for a way to run a step that is not here: steps "
                "are NumPy's calls for one parameter after another, without a graph, and "
                "vt.jit.replay records them"
            )


def average(old: Tensor, new: Tensor, share: float) -> Tensor:
    """``share old + (1 - share) new``, in new memory."""
    return F.mul(new, 1 - share).add_(F.mul(old, share))


def average_of_squares(old: Tensor, new: Tensor, share: float) -> Tensor:
    """``share old + (1 - share) new^2``, in new memory."""
    return F.mul(new, new).mul_(1 - share).add_(F.mul(old, share))


def moved(param: Tensor, direction: Tensor, rate: Tensor) -> Tensor:
    """``param - rate direction``, in new memory.

    The product is written in place, because a second large array at a time costs more than the
    arithmetic: the system hands out its memory page by page.
    """
    return F.mul(direction, real_scalar(F.neg(rate), direction)).add_(param)


def real_scalar(value: Tensor, like: Tensor) -> Tensor:
    """A number in a tensor, such that a product with `like` has the dtype of that."""
    value = F.reshape(value, ()) if value.ndim else value
    return value.to(like.dtype) if not like.ndim else value
