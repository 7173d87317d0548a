"""Random programs whose tensors are spread over lanes.

The programs are those of `vtgrad.testing`. Leaves are made on random devices, and where the
operands of an operator are on different ones, they are moved to one of them, or sometimes to a
third. So a program does the same whenever it runs with the same seed, with threads or without.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

import vtgrad as vt
from vtgrad.engine import backward
from vtgrad.lanes import lane_run
from vtgrad.lanes.lane_run import LaneRun, run_on_lanes
from vtgrad.ops.calling import take_over
from vtgrad.ops.operator import Operator
from vtgrad.storage.key_set import LANE
from vtgrad.storage.on_device import on_device
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.menu.mixtures import MIXTURES
from vtgrad.testing.session import Session
from vtgrad.testing.writer import ModelWriter, last_gradients, write_program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vtgrad.testing.steps import Step

__all__ = ["counted_passes", "program", "run"]

_root_gradients: Final = backward._root_gradients
DEVICES: Final = ("cpu", "lane:0", "lane:1")


def program(seed: int, length: int = 25) -> list[Step]:
    """A program of the menu, which has run without lanes."""
    rng = random.Random(seed)
    session = Session(vtgrad_library(vt))
    write_program(
        session, ModelWriter(rng, session, MIXTURES[rng.choice(sorted(MIXTURES))]), length
    )
    for step in () if session.ended else last_gradients(session.world):
        session.run(step)
    steps = list(session.steps)
    session.finish()
    return steps


def _moved(value: object, device: vt.device) -> object:
    if isinstance(value, vt.Tensor):
        return value.to(device)
    if isinstance(value, (list, tuple)) and any(isinstance(x, vt.Tensor) for x in value):
        return [_moved(x, device) for x in value]
    return value


def _spread(rng: random.Random) -> take_over.Handler:
    """A handler of the key of lanes that moves operands instead of refusing them."""

    def handle(
        operator: Operator,
        function: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        operands = [x for x in args if isinstance(x, TensorBase)]
        operands += [x for value in args if isinstance(value, (list, tuple)) for x in value]
        tensors = [x for x in operands if isinstance(x, vt.Tensor)]
        target = args[0] if operator.name.endswith("_") else kwargs.get("out")
        if isinstance(target, vt.Tensor):
            device = target.device
        elif len({x.device for x in tensors}) == 1:
            return on_device(tensors[0].device, function, *args, **kwargs)
        else:
            devices = [x.device for x in tensors]
            device = rng.choice([*devices, *devices, vt.device(rng.choice(DEVICES))])
        rest = [_moved(x, device) for x in args]
        if isinstance(target, vt.Tensor) and target is args[0]:
            rest[0] = target
        return on_device(device, function, *rest, **kwargs)

    return cast("take_over.Handler", handle)


def run(
    steps: Sequence[Step], seed: int, patch: pytest.MonkeyPatch, *, threads: bool
) -> list[object]:
    """What a program ends with: its errors, what hooks saw, and all bits of all tensors."""
    rng = random.Random(seed)
    patch.setitem(take_over._handlers, LANE, _spread(rng))

    def tensor(data: Any, dtype: vt.dtype | None = None, requires_grad: bool = False) -> vt.Tensor:
        x = vt.tensor(data, dtype=dtype, device=rng.choice(DEVICES))
        if x.is_floating_point():
            # The whole numbers of these programs have the same sum in any order.
            x *= rng.random() + 0.5
        return x.requires_grad_(requires_grad)

    patch.setattr(backward, "_root_gradients", _moved_gradients)
    library = SimpleNamespace(**{name: getattr(vt, name) for name in dir(vt)})
    library.tensor = tensor
    side = Interpreter(vtgrad_library(vt))
    side.names["vt"] = library
    found: list[object] = []
    with vt.autograd.set_multithreading_enabled(threads):
        for step in steps:
            error = side.run(step)
            found.append(None if error is None else f"{type(error).__name__}: {error}")
            gradients = side.names.pop("g", ())
            found += [_bits(x) for x in gradients if isinstance(x, vt.Tensor)]
    found.append(repr(side.names["seen"]))
    for name, x in side.tensors().items():
        found.append((name, _bits(x), _gradient(x)))
    return found


def _moved_gradients(
    roots: Sequence[TensorBase], given: Sequence[TensorBase | None], *, recorded: bool
) -> list[TensorBase]:
    """The gradients of roots, on the device of each."""
    pairs = zip(roots, given, strict=True)
    moved = [g.to(x.device) if isinstance(g, vt.Tensor) else g for x, g in pairs]
    return _root_gradients(roots, moved, recorded=recorded)


def _gradient(x: vt.Tensor) -> object:
    try:
        return _bits(x.grad) if x.is_leaf or x.retains_grad else None
    except vt.errors.VtgradError as error:
        return str(error)


def _bits(x: vt.Tensor | None) -> object:
    if x is None:
        return None
    version = None if x.is_inference() else x._version
    return str(x.device), x.shape, x.stride(), x.dtype, version, x.detach().cpu().numpy().tobytes()


@contextmanager
def counted_passes(patch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Count the passes that run on lanes, by the number of their nodes."""
    counts: list[int] = []

    def counted(run: LaneRun, gradients: Sequence[TensorBase]) -> None:
        counts.append(len(run.task.dependencies))
        original(run, gradients)

    original = run_on_lanes
    patch.setattr(lane_run, "run_on_lanes", counted)
    yield counts
    patch.setattr(lane_run, "run_on_lanes", original)
