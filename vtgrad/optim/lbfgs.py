"""L-BFGS: steps by a few differences of gradients."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, cast

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, OptionValueError
from vtgrad.graph.grad_mode import enable_grad, no_grad
from vtgrad.ops.generated import functional as F
from vtgrad.optim.line_search import Trial, strong_wolfe
from vtgrad.optim.optimizer import (
    Closure,
    Optimizer,
    Params,
    Write,
    check_rate,
    refuse_in_recording,
)
from vtgrad.optim.param_group import ParamGroup, Slots, number_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["LBFGS"]

# Differences with less curvature are left out.
_LEAST_CURVATURE: Final = 1e-10


class _Memory(NamedTuple):
    """What the iterations have kept, as `LBFGS.state_dict` names it; it is never changed."""

    func_evals: int = 0
    n_iter: int = 0
    d: Tensor | None = None
    t: float = 0.0
    old_dirs: tuple[Tensor, ...] = ()
    old_stps: tuple[Tensor, ...] = ()
    ro: tuple[float, ...] = ()
    H_diag: float = 1.0
    prev_flat_grad: Tensor | None = None
    prev_loss: float = math.nan


class LBFGS(Optimizer):
    """L-BFGS: a quasi-Newton method that keeps a few differences of gradients.

    A step makes up to `max_iter` iterations, and evaluates the function by the closure as often as
    needed. There is one group of parameters.

    Parameters
    ----------
    params : iterable
        Leaf tensors, or pairs of a name and a tensor.
    lr : float or Tensor, default 1
        The length of a step, or with a line search of the first one that is tried.
    max_iter : int, default 20
        The most iterations of a step.
    max_eval : int, optional
        The most evaluations of a step; 5/4 of `max_iter` by default.
    tolerance_grad : float, default 1e-7
        A step ends when no element of the gradient is larger.
    tolerance_change : float, default 1e-9
        A step ends when the function or no element of the parameters changes by more.
    history_size : int, default 100
        How many differences are kept.
    line_search_fn : {None, "strong_wolfe"}, optional
        The line search.

    Raises
    ------
    ArgumentValueError
        If there are several groups, or an option is out of its range.
    OptionValueError
        If there is no such line search.

    Notes
    -----
    Nocedal and Wright, "Numerical Optimization" (2006), algorithm 7.5; see Note [The line search of
    LBFGS]. If the closure raises, or an interrupt comes, the parameters are those of the last
    iteration that came to its end, and so is the state.

    Examples
    --------
    >>> x = vt.tensor([-1.5, 2.0], dtype=vt.float64, requires_grad=True)
    >>> optimizer = vt.optim.LBFGS([x], max_iter=100, line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    ...     loss.backward()
    ...     return loss
    >>> first = optimizer.step(closure)
    >>> vt.allclose(x, vt.ones(2, dtype=vt.float64), atol=1e-6)
    True
    """

    #: The memory, and the parameters with the values that belong to it while a step runs.
    _settled: tuple[_Memory, Sequence[Write]]

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        self._settled = _Memory(), ()
        self._runs = False
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )

    @classmethod
    def _check(cls, options: Mapping[str, object]) -> None:
        check_rate(options)
        found = options["line_search_fn"]
        if found not in (None, "strong_wolfe"):
            raise OptionValueError(f'the line search is "strong_wolfe" or None, not {found!r}')

    @staticmethod
    def _make_slots(param: Tensor, options: Mapping[str, object]) -> Slots:
        return {}

    def _update(self, param: Tensor, grad: Tensor, group: ParamGroup, slots: Slots) -> list[Write]:
        raise NotImplementedError

    def add_param_group(self, param_group: Mapping[str, object]) -> None:
        """Take the parameters; there is one group.

        Parameters
        ----------
        param_group : mapping of str to object
            The parameters as ``"params"``.

        Raises
        ------
        ArgumentValueError
            If there is a group already.
        """
        if self.param_groups:
            raise ArgumentValueError("LBFGS has one group of parameters", argument="param_group")
        super().add_param_group(param_group)

    def _step(self, closure: Closure | None) -> Tensor | float | None:
        """Iterate.

        Raises
        ------
        ArgumentTypeError
            Without a closure.
        RecordingError
            While a function is recorded.
        """
        refuse_in_recording("LBFGS")
        if closure is None:
            raise ArgumentTypeError("a step of LBFGS needs a closure", argument="closure")
        self._runs = False
        self._finish()
        memory = self._settled[0]
        self._settled = memory, self._point()
        try:
            self._runs = True
            first, memory = _Iterations(self, closure).run(memory)
            self._settled = memory, ()
            return first
        finally:
            self._runs = False
            # Nothing after a step that came to its end.
            self._finish()

    def _settle(self, memory: _Memory) -> None:
        """An iteration has come to its end."""
        self._settled = memory, self._point()

    def _point(self) -> list[Write]:
        with no_grad():
            return [(p, p.clone()) for p in self.param_groups[0].params]

    def _finish(self) -> None:
        super()._finish()
        memory, writes = self._settled
        if writes and not self._runs:
            with no_grad():
                for param, value in writes:
                    param.copy_(value)
            self._settled = memory, ()

    @property
    def state(self) -> Mapping[Tensor, Mapping[str, Tensor]]:
        """What the iterations have kept, as 0-d tensors and vectors of all parameters.

        Returns
        -------
        mapping of Tensor to mapping of str to Tensor
            Under the first parameter, after the first step: copies of the numbers, and the vectors
            ``"d"`` and ``"prev_flat_grad"``, ``"old_dirs"`` and ``"old_stps"`` as rows.
        """
        self._finish()
        memory = self._settled[0]
        if memory.d is None or memory.prev_flat_grad is None:
            return MappingProxyType({})
        like = memory.d
        with no_grad():
            found = {
                name: like.new_tensor(getattr(memory, name))
                for name in ("func_evals", "n_iter", "t", "H_diag", "prev_loss")
            }
            found["d"], found["prev_flat_grad"] = like.clone(), memory.prev_flat_grad.clone()
            found["ro"] = like.new_tensor(list(memory.ro))
            for name in ("old_dirs", "old_stps"):
                rows = getattr(memory, name)
                found[name] = F.stack(list(rows)) if rows else like.new_empty((0, like.numel()))
        first = self.param_groups[0].params[0]
        return MappingProxyType({first: MappingProxyType(found)})

    def load_state_dict(self, state_dict: Mapping[str, object]) -> None:
        """Take over what `state_dict` has returned, by copies.

        Parameters
        ----------
        state_dict : mapping
            Of an LBFGS with as many elements, of this library or of PyTorch.

        Raises
        ------
        ArgumentValueError
            If the groups or the vectors have other sizes. Then nothing has changed.
        """
        memory = self._memory_of(cast("Mapping[int, object]", state_dict["state"]))
        super().load_state_dict({**state_dict, "state": {}})
        self._settled = memory, ()

    def _memory_of(self, state: Mapping[int, object]) -> _Memory:
        if not state:
            return _Memory()
        kept = cast("Mapping[str, object]", state[0])
        like = _flat(self.param_groups[0].params)

        def number(name: str) -> float:
            value = kept[name]
            return number_of(value.item() if isinstance(value, Tensor) else value, name)

        def vector(value: object, name: str) -> Tensor:
            if not isinstance(value, Tensor) or value.shape != like.shape:
                raise ArgumentValueError(
                    f"the loaded {name!r} is no vector of {like.numel()} elements",
                    argument="state_dict",
                )
            return value.detach().to(like.dtype).clone()

        def vectors(name: str) -> tuple[Tensor, ...]:
            rows = kept[name]
            found = [*rows] if isinstance(rows, (Tensor, list, tuple)) else []
            return tuple([vector(row, name) for row in found])

        ro = kept["ro"]
        return _Memory(
            int(number("func_evals")),
            int(number("n_iter")),
            vector(kept["d"], "d"),
            number("t"),
            vectors("old_dirs"),
            vectors("old_stps"),
            tuple([float(r) for r in ro] if isinstance(ro, (list, tuple, Tensor)) else ()),
            number("H_diag"),
            vector(kept["prev_flat_grad"], "prev_flat_grad"),
            number("prev_loss"),
        )


class _Iterations:
    """The iterations of one step.

    Parameters
    ----------
    optimizer : LBFGS
        The optimiser.
    closure : callable
        Computes the loss and its gradients.
    """

    def __init__(self, optimizer: LBFGS, closure: Closure) -> None:
        self._optimizer = optimizer
        self._closure = closure
        self._group = optimizer.param_groups[0]

    def run(self, memory: _Memory) -> tuple[Tensor | float, _Memory]:
        """Iterate from a memory. Returns what the closure returned first, and the new memory."""
        number = self._group.number
        most, tolerance = int(number("max_iter")), number("tolerance_grad")
        first, loss, gradient = self._evaluate()
        evaluations = 1
        memory = memory._replace(func_evals=memory.func_evals + 1)
        if _largest(gradient) <= tolerance:
            return first, memory
        for iteration in range(1, most + 1):
            memory = self._direction(memory, gradient)._replace(prev_loss=loss)
            assert memory.d is not None
            slope = _dot(gradient, memory.d)
            if slope > -number("tolerance_change"):
                break
            start = Trial(0.0, loss, gradient, slope)
            with no_grad():
                left = int(number("max_eval")) - evaluations
                loss, gradient, length, more = self._move(memory, start, left, iteration == most)
            evaluations += more
            direction = memory.d
            memory = memory._replace(t=length, func_evals=memory.func_evals + more)
            self._optimizer._settle(memory)
            if evaluations >= number("max_eval") or _largest(gradient) <= tolerance:
                break
            if _largest(direction) * length <= number("tolerance_change"):
                break
            if abs(loss - memory.prev_loss) < number("tolerance_change"):
                break
        return first, memory

    def _direction(self, memory: _Memory, gradient: Tensor) -> _Memory:
        """The memory with the direction, and the first length, of the next iteration."""
        rate = float(self._group.rate.item())
        memory = memory._replace(n_iter=memory.n_iter + 1)
        with no_grad():
            if memory.n_iter == 1 or memory.d is None or memory.prev_flat_grad is None:
                length = min(1.0, 1.0 / gradient.abs().sum().item()) * rate
                memory = memory._replace(d=F.neg(gradient), H_diag=1.0, t=length)
            else:
                change = F.sub(gradient, memory.prev_flat_grad)
                step = F.mul(memory.d, memory.t)
                curvature = _dot(change, step)
                if curvature > _LEAST_CURVATURE:
                    size = int(self._group.number("history_size"))
                    memory = memory._replace(
                        old_dirs=(*memory.old_dirs, change)[-size:],
                        old_stps=(*memory.old_stps, step)[-size:],
                        ro=(*memory.ro, 1.0 / curvature)[-size:],
                        H_diag=curvature / _dot(change, change),
                    )
                memory = memory._replace(d=_two_loops(memory, gradient), t=rate)
            return memory._replace(prev_flat_grad=gradient.clone())

    def _move(
        self, memory: _Memory, start: Trial, left: int, is_last: bool
    ) -> tuple[float, Tensor, float, int]:
        """Go along the direction: the loss, the gradient, the length, and how many evaluations.

        A line search tries up to `left` lengths behind the first.
        """
        assert memory.d is not None
        direction, params = memory.d, self._group.params
        if self._group["line_search_fn"] is None:
            _add_along(params, direction, memory.t)
            if is_last:
                return start.value, start.gradient, memory.t, 0
            _, loss, gradient = self._evaluate()
            return loss, gradient, memory.t, 1
        origin = [p.clone() for p in params]

        def at(step: float) -> Trial:
            _add_along(params, direction, step)
            _, value, gradient = self._evaluate()
            for param, value_there in zip(params, origin, strict=True):
                param.copy_(value_there)
            return Trial(step, value, gradient, _dot(gradient, direction))

        found, count = strong_wolfe(at, start, memory.t, _largest(direction), left)
        _add_along(params, direction, found.step)
        return found.value, found.gradient, found.step, count

    def _evaluate(self) -> tuple[Tensor | float, float, Tensor]:
        """What the closure returns, as a number too, and the gradient as a vector."""
        with enable_grad():
            returned = self._closure()
        with no_grad():
            params = self._group.params
            flat = _flat([F.zeros_like(p) if p.grad is None else p.grad for p in params])
        value = returned.item() if isinstance(returned, Tensor) else returned
        return returned, float(value), flat


def _two_loops(memory: _Memory, gradient: Tensor) -> Tensor:
    """The direction, by algorithm 7.4 of Nocedal and Wright."""
    pairs = list(zip(memory.old_dirs, memory.old_stps, memory.ro, strict=True))
    rest = F.neg(gradient)
    shares = []
    for change, step, ro in reversed(pairs):
        share = _dot(step, rest) * ro
        shares.append(share)
        rest = rest.add(change, alpha=-share)
    found = F.mul(rest, memory.H_diag)
    for (change, step, ro), share in zip(pairs, reversed(shares), strict=True):
        found = found.add(step, alpha=share - _dot(change, found) * ro)
    return found


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    """The elements of all tensors in a vector."""
    return F.cat([F.reshape(_real(x.detach()), (-1,)) for x in tensors])


def _add_along(params: Sequence[Tensor], direction: Tensor, length: float) -> None:
    at = 0
    for param in params:
        seen = _real(param)
        part = direction[at : at + seen.numel()]
        seen.add_(F.reshape(part, tuple(seen.shape)), alpha=length)
        at += seen.numel()


def _real(x: Tensor) -> Tensor:
    return F.view_as_real(x) if x.is_complex() else x


def _dot(x: Tensor, y: Tensor) -> float:
    return float(F.sum(F.mul(x, y)).item())


def _largest(x: Tensor) -> float:
    return float(x.abs().max().item())
