"""What user code sees on the thread of a lane is what it sees on the CPU.

Each mode is on while backward is called; hooks, a custom backward and the rerun of a checkpoint
note all that they see. What breaks it: state of a thread that a pass does not take to lanes.
"""

import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.engine.current_graph_task import running
from vtgrad.graph.packing import packing
from vtgrad.storage.thread_mode import thread
from vtgrad.storage.thread_state import carried
from vtgrad.utils.checkpoint import checkpoint
from vtgrad.utils.checkpoint.settings import settings

Seen: TypeAlias = dict[str, object]

# The rerun of a checkpoint has its own hooks of saved values; each pass is a task of its own.
OWN: Final = {"pair", "task", "running_node"}

VARIABLE: Final[contextvars.ContextVar[str]] = contextvars.ContextVar("variable", default="")


def drawn() -> object:
    """A random number, which depends on the generator's state, or how it is refused."""
    try:
        found = vt.rand(2)
    except RuntimeError as error:
        return type(error).__name__
    return type(found._impl.array).__name__, tuple(found.shape)


def fields() -> Seen:
    """All settings of the thread, those apart that differ by design."""
    return {name: value for name, value in carried().values.items() if name not in OWN}


def look() -> Seen:
    """What a program can see."""
    return fields() | {
        "grad": vt.is_grad_enabled(),
        "inference": vt.is_inference_mode_enabled(),
        "anomaly": vt.is_anomaly_enabled(),
        "settings": (settings.early_stop, settings.debug),
        "variable": VARIABLE.get(),
        "errstate": np.geterr(),
        "hooks of saved values": None if packing.pair is None else type(packing.pair.pack),
        "drawn": drawn(),
        "recorded": (vt.ones(1, requires_grad=True) * 2).requires_grad,
    }


class Noting(vt.autograd.Function):
    """Notes what its backward sees."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, note: Callable[[str], None]) -> vt.Tensor:
        ctx.note = note
        ctx.save_for_backward(x)
        return x * 3

    @staticmethod
    def backward(ctx: Any, grad: vt.Tensor) -> tuple[vt.Tensor, None]:
        ctx.note("backward")
        return grad * 3, None


Graph: TypeAlias = tuple[vt.Tensor, list[tuple[str, Seen]], set[int]]


def graph_on(device: str) -> Graph:
    """A result, what the user code of its graph will have seen, and on which threads."""
    seen: list[tuple[str, Seen]] = []
    threads: set[int] = set()

    def note(where: str) -> None:
        if running.task is not None:
            threads.add(threading.get_ident())
            seen.append((where, look()))

    def noting(where: str) -> Callable[..., None]:
        return lambda *_: note(where)

    def region(x: vt.Tensor) -> vt.Tensor:
        note("checkpoint")
        return x.sin()

    leaf = vt.ones(3, device=device).requires_grad_()
    leaf.register_post_accumulate_grad_hook(noting("after the leaf"))
    x = leaf * 2
    x.register_hook(noting("tensor"))
    assert x.grad_fn is not None
    x.grad_fn.register_prehook(noting("before the node"))
    x.grad_fn.register_hook(noting("after the node"))
    y = checkpoint(region, Noting.apply(x, note), use_reentrant=False)

    def unpack(kept: vt.Tensor) -> vt.Tensor:
        note("unpack")
        return kept

    with vt.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        z = y.exp()
    return z.sum(), seen, threads


Mode: TypeAlias = Callable[[Callable[[], None]], object]


def within(scope: Callable[[], contextlib.AbstractContextManager[object]]) -> Mode:
    def run(body: Callable[[], None]) -> None:
        with scope():
            body()

    return run


def returning(body: Callable[[], None]) -> Callable[[vt.Tensor], vt.Tensor]:
    def function(x: vt.Tensor) -> vt.Tensor:
        body()
        return x * 2

    return function


@contextlib.contextmanager
def state(holder: Any, name: str, value: object) -> Iterator[None]:
    before = getattr(holder, name)
    setattr(holder, name, value)
    try:
        yield
    finally:
        setattr(holder, name, before)


@contextlib.contextmanager
def variable() -> Iterator[None]:
    token = VARIABLE.set("set")
    try:
        yield
    finally:
        VARIABLE.reset(token)


def both(*modes: Mode) -> Mode:
    """Modes inside of each other."""

    def run(body: Callable[[], None]) -> None:
        inner = body
        for mode in reversed(modes):
            inner = lambda mode=mode, inner=inner: mode(inner)  # type: ignore[misc]  # noqa: E731
        inner()

    return run


def batch(randomness: Any) -> Mode:
    return lambda body: vt.vmap(returning(body), randomness=randomness)(vt.ones(2))


def differentiated(body: Callable[[], None]) -> object:
    return vt.func.grad(lambda x: returning(body)(x))(vt.ones(()))


MODES: Final[dict[str, Mode]] = {
    "none": lambda body: body(),
    "no_grad": within(vt.no_grad),
    "grad": within(vt.enable_grad),
    "inference": within(vt.inference_mode),
    "vmap": batch("error"),
    "vmap that draws": batch("different"),
    "vmap that draws once": batch("same"),
    "nested vmap": both(batch("different"), batch("same")),
    "grad transform": differentiated,
    "vmap of grad": both(batch("error"), differentiated),
    "grad of vmap": both(differentiated, batch("different")),
    "vjp": lambda body: vt.func.vjp(returning(body), vt.ones(())),
    "jvp": lambda body: vt.func.jvp(returning(body), (vt.ones(()),), (vt.ones(()),)),
    "functional": lambda body: vt.autograd.functional.jacobian(returning(body), vt.ones(2)),
    "dual level": within(vt.autograd.forward_ad.dual_level),
    "saved hooks": within(lambda: vt.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)),
    "no saved hooks": within(lambda: vt.autograd.graph.disable_saved_tensors_hooks("no")),
    "mutation": within(vt.autograd.graph.allow_mutation_on_saved_tensors),
    "anomaly": within(vt.autograd.detect_anomaly),
    "profiler": within(vt.profiler.profile),
    "one thread": within(lambda: vt.autograd.set_multithreading_enabled(False)),
    "early stop": within(lambda: vt.utils.checkpoint.set_checkpoint_early_stop(False)),
    "debug": within(lambda: vt.utils.checkpoint.set_checkpoint_debug_enabled(True)),
    "variable": within(variable),
    "errstate": within(lambda: np.errstate(divide="raise")),
    "excluded keys": within(lambda: state(thread, "excluded_keys", 1 << 9)),
    "limit of forward mode": within(lambda: state(thread, "forward_limit", 5)),
}
# Where a pass runs on one thread.
ON_ONE_THREAD: Final = {
    "jvp",
    "dual level",
    "saved hooks",
    "mutation",
    "anomaly",
    "profiler",
    "one thread",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODES)
def test_user_code_sees_the_same_on_a_lane(name: str) -> None:
    found: dict[str, Graph] = {}

    def body() -> None:
        for device, graph in found.items():
            before = look()
            graph[0].backward(vt.ones((), device=device))
            assert look() == before

    outside = look()
    for device in ("cpu", "lane:0"):
        found[device] = graph_on(device)
    MODES[name](body)
    assert look() == outside
    on_cpu, on_lane = found["cpu"], found["lane:0"]
    places = [where for where, _ in on_cpu[1]]
    assert {"tensor", "backward", "checkpoint", "unpack", "after the leaf"} <= set(places)
    assert [where for where, _ in on_lane[1]] == places
    for (where, one), (_, other) in zip(on_cpu[1], on_lane[1], strict=True):
        differ = {key: (one[key], other[key]) for key in one if one[key] != other[key]}
        assert not differ, where
    assert on_cpu[2] == {threading.get_ident()}
    assert (on_lane[2] == on_cpu[2]) == (name in ON_ONE_THREAD)


def test_the_thread_of_a_lane_is_left_as_it_was() -> None:
    loss, seen, _ = graph_on("lane:0")
    vt.vmap(returning(lambda: loss.backward(vt.ones((), device="lane:0"))))(vt.ones(2))
    assert all(one["batch_levels"] for _, one in seen)
    loss, seen, _ = graph_on("lane:0")
    loss.backward(vt.ones((), device="lane:0"))
    assert not any(one["batch_levels"] for _, one in seen)
