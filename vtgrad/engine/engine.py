"""Running a graph backward.

NOTE [ Backward inside backward ]

A hook may run another backward. All state is in its `GraphTask`, so that is an ordinary call;
only the interpreter's stack grows. Every `_NESTING_PER_THREAD` levels the work moves to a fresh
thread, whose stack is empty, while this one waits.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Final

from ..graph.edge import Edge
from ..graph.recording import is_grad_enabled, set_mode
from ..storage.tensor_base import TensorBase
from .array_run import run_arrays
from .depth import depth
from .graph_task import GraphTask
from .tensor_run import run_recorded

__all__ = ["execute"]

_NESTING_PER_THREAD: Final = 20


def execute(
    roots: Sequence[Edge],
    gradients: Sequence[TensorBase],
    *,
    inputs: Sequence[Edge | None] | None = None,
    accumulate: bool = True,
    allow_unused: bool = True,
    keep_graph: bool = False,
    create_graph: bool = False,
) -> list[TensorBase | None]:
    """Run backward from `roots`.

    Parameters
    ----------
    roots : sequence of Edge
        Where to start.
    gradients : sequence of TensorBase
        The gradient that enters at each root, of its shape and dtype.
    inputs : sequence of Edge or None, optional
        Restrict the run to what leads to these; None entries have no gradient.
    accumulate : bool
        With `inputs`: True to fill their ``.grad``, False to return their gradients.
    allow_unused : bool
        With `inputs`: False to raise if the roots do not lead to one of them.
    keep_graph : bool
        Keep saved values for another backward.
    create_graph : bool
        Record the backward itself.

    Returns
    -------
    list of TensorBase or None
        With `inputs` and not `accumulate`, the gradient of each input, None where nothing
        arrived; else empty.

    Raises
    ------
    VtgradError
        Before anything has run, if a saved value was overwritten or freed; see
        Note [Backward is all or nothing].
    """
    task = GraphTask(roots, keep_graph, create_graph)
    task.count_dependencies()
    if inputs is not None:
        task.restrict_to(inputs, accumulate=accumulate)
    task.check_saved()
    if inputs is not None and not allow_unused:
        task.check_all_reached(inputs)
    answer: list[TensorBase | None] = [None] * (0 if inputs is None else len(inputs))

    def run() -> None:
        before = set_mode(create_graph)
        depth.value += 1
        try:
            if create_graph:
                run_recorded(task, gradients, answer)
            else:
                run_arrays(task, gradients, answer)
        finally:
            depth.value -= 1
            set_mode(before)

    if depth.value and depth.value % _NESTING_PER_THREAD == 0:
        _run_on_fresh_thread(run)
    else:
        run()
    return answer


def _run_on_fresh_thread(run: Callable[[], None]) -> None:
    failure: list[BaseException] = []
    mode = is_grad_enabled()
    context = contextvars.copy_context()

    def work() -> None:
        set_mode(mode)
        try:
            context.run(run)
        except BaseException as error:  # noqa: BLE001  # raised again on the waiting thread
            failure.append(error)

    thread = threading.Thread(target=work, name="vtgrad-nested-backward")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
