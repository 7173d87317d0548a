# Compiled by mypyc.
"""What is observed of a pass: anomaly mode's checks, and the events of a profiler.

Note [Watched passes]

Whether a pass is watched is decided once, when it begins, so that a pass that is not watched pays
nothing for each node. In a watched pass every node has its turn in `evaluate_function`, which calls
the methods below. For each node that is

    enter             its first hook is called, or it runs, or the leaf's gradient is kept
    begin, applied    around its function
    check             after its hooks, before its gradients are sent on
    leave             all is done

A node that is entered ends the one before it. An error leaves `current` as it is: `explain` then
knows the node that failed.

Note [Where NaN comes from]

As every node's answers are checked, no node gets NaN from another node. NaN still comes in with the
gradient that was passed to backward, from a hook, and where infinite gradients are added. As in
PyTorch, the check fails at the next node that answers with NaN, but the error says where it came
from. For this, `look` counts the NaN of a node's gradients when they have arrived, and again when
hooks have changed them; for hooks after the node, `applied` counts those of its own answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from vtgrad.errors import NanGradientError
from vtgrad.graph.anomaly import anomaly, made_at, parent_of, traceback_of
from vtgrad.graph.batch import value_of
from vtgrad.graph.edge import Edge
from vtgrad.graph.node import Node
from vtgrad.graph.observer import (
    FUNCTION,
    NO_SEQUENCE_NR,
    Observer,
    begin_node,
    observer_of_thread,
    observers,
)
from vtgrad.graph.region import Region
from vtgrad.graph.saved_variable import SavedVariable
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.recent_writes import Write, quoted
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.warn import warn

__all__ = ["Watch", "explain_node", "new_watch"]

_EVALUATE = "autograd::engine::evaluate_function: "

# What an error says by where NaN comes from, and the `origin` that it states.
_MADE: Final = "node", "{name} has made {nan}"
_HOOK_BEFORE: Final = (
    "hook",
    "{name} passes on {nan}: a hook has put NaN into the gradient that the node got",
)
_HOOK_AFTER: Final = "hook", "a hook of {name} has put {nan}"
_ROOT: Final = "root", "{name} passes on {nan}: the gradient that was given to backward contains it"
_SUM: Final = (
    "sum",
    "{name} passes on {nan}: the gradient that the node got contained it once its parts had been "
    "added, as inf and -inf add up to NaN",
)


def new_watch(roots: Sequence[Edge], gradients: Sequence[TensorBase]) -> Watch | None:
    """What observes a pass that begins now on this thread; None if nothing does.

    Parameters
    ----------
    roots : sequence of Edge
        Where the pass starts.
    gradients : sequence of TensorBase
        The gradients of the roots, which are not changed by the pass.
    """
    observer = observer_of_thread() if observers else None
    if observer is None and not anomaly.enabled:
        return None
    return Watch(observer, roots, gradients)


class Watch:
    """The observed state of one pass; see Note [Watched passes].

    Attributes
    ----------
    observer : Observer or None
        The profiler of the thread.
    current : Node or None
        The node that was entered last.
    outer : Node or None
        The node that was running when the pass began.
    """

    __slots__ = (
        "_answered",
        "_came_in",
        "_evaluation",
        "_function",
        "_gradients",
        "_roots",
        "_saved",
        "current",
        "observer",
        "outer",
    )

    observer: Observer | None
    current: Node | None
    outer: Node | None
    # The events of the current node, and of its function.
    _evaluation: object
    _function: object
    _saved: Sequence[tuple[str, SavedVariable]]
    _roots: Sequence[Edge]
    _gradients: Sequence[TensorBase]
    # Numbers of NaN; see Note [Where NaN comes from].
    _came_in: list[int]
    _answered: int | None

    def __init__(
        self, observer: Observer | None, roots: Sequence[Edge], gradients: Sequence[TensorBase]
    ) -> None:
        self.observer = observer
        self.current = None
        self.outer = this_thread.running_node
        self._evaluation = None
        self._function = None
        self._saved = ()
        self._roots = roots
        self._gradients = gradients
        self._came_in = []
        self._answered = None

    @property
    def checks(self) -> bool:
        """Whether NaN is looked for."""
        return anomaly.enabled and anomaly.check_nan

    def enter(self, node: Node) -> None:
        """A node's turn begins, unless it has begun already."""
        if self.current is node:
            return
        self.leave()
        self.current = node
        self._came_in = []
        self._answered = None
        observer = self.observer
        if observer is not None:
            number = NO_SEQUENCE_NR if node.is_leaf_node else node.sequence_nr
            thread = 0 if node.is_leaf_node else node.thread_id
            self._evaluation = observer.begin(_EVALUATE + node.name(), FUNCTION, number, thread, ())

    def look(self, gradients: Sequence[object]) -> None:
        """The current node's gradients have arrived, or hooks have changed them.

        Parameters
        ----------
        gradients : sequence of object
            The gradients, in any form that the engine has.
        """
        if self.checks:
            self._came_in.append(_count_nan(gradients))

    def begin(self, node: Node, gradients: Sequence[object]) -> None:
        """The node's function is called next.

        Parameters
        ----------
        node : Node
            The node.
        gradients : sequence of object
            The incoming gradients; only their shapes are looked at.
        """
        self.enter(node)
        if anomaly.enabled:
            this_thread.running_node = node
            self._saved = node.saved_values()
        observer = self.observer
        if observer is not None:
            self._function = begin_node(observer, node, gradients)

    def applied(self, answers: Sequence[object]) -> None:
        """The node's function has returned."""
        this_thread.running_node = self.outer
        if self.checks and _has_hooks_after(self.current):
            self._answered = _count_nan(answers)
        observer = self.observer
        if observer is not None and self._function is not None:
            observer.end(self._function, answers)
            self._function = None

    def check(self, node: Node, answers: Sequence[object]) -> None:
        """Raise if a gradient contains NaN, in anomaly mode.

        Raises
        ------
        NanGradientError
            For the first such gradient.
        """
        if self.checks:
            for nr, answer in enumerate(answers):
                for array in _arrays(answer):
                    count = _nan_in(array)
                    if count:
                        raise _nan_error(node, nr, array, count, self._saved, self._source(node))
        self._saved = ()

    def _source(self, node: Node) -> tuple[str, str]:
        """Where the NaN in a node's answers comes from: `origin`, and what the error says."""
        came_in = self._came_in
        if self._answered == 0:
            return _HOOK_AFTER
        if not came_in or came_in[-1] == 0:
            return _MADE
        if came_in[0] == 0:
            return _HOOK_BEFORE
        for edge, gradient in zip(self._roots, self._gradients, strict=False):
            if edge.function is node and _count_nan((gradient,)):
                return _ROOT
        return _SUM

    def leave(self) -> None:
        """The turn of the current node is over."""
        if self.current is None:
            return
        self.current = None
        observer = self.observer
        if observer is not None and self._evaluation is not None:
            observer.end(self._evaluation)
            self._evaluation = None

    def explain(self, error: Exception) -> None:
        """Warn where the node was made that has raised, in anomaly mode."""
        if anomaly.enabled and self.current is not None:
            explain_node(self.current, error)


def explain_node(node: Node, error: Exception) -> None:
    """Warn where a node was made, and those in whose backward it was made.

    Parameters
    ----------
    node : Node
        The node that failed.
    error : Exception
        Its error. The texts become notes of it where filters turn warnings into errors, which would
        hide it.
    """
    for text in _origins(node):
        try:
            warn(text)
        except Warning:
            error.add_note(text)


def _origins(node: Node) -> Sequence[str]:
    """Where a node was made, and those in whose backward it was made."""
    stack = traceback_of(node)
    if stack is None:
        return (
            f"{node.name()} failed in backward. Where it was made is not known, because anomaly "
            "mode was off then: switch it on around the forward program too",
        )
    texts = [f"{node.name()} failed in backward; it was made here:\n{stack}"]
    child, parent = node, parent_of(node)
    while isinstance(parent, Node):
        stack = traceback_of(parent)
        where = (
            "of which it is not known where it was made, because anomaly mode was off then"
            if stack is None
            else f"which was made here:\n{stack}"
        )
        texts.append(f"{child.name()} was made while {parent.name()} ran, {where}")
        child, parent = parent, parent_of(parent)
    return texts


def _arrays(answer: object) -> Sequence[Array]:
    """The arrays of a gradient, in whichever form the engine has it."""
    if isinstance(answer, TensorBase):
        # Of a batch all samples are looked at.
        return (resolved(value_of(answer)._impl.array),)
    if isinstance(answer, np.ndarray):
        return (resolved(answer),)
    if isinstance(answer, Region):
        return answer.arrays()
    return ()


def _nan_in(array: Array) -> int:
    return int(np.isnan(array).sum()) if array.dtype.kind in "fc" else 0


def _count_nan(gradients: Sequence[object]) -> int:
    return sum([_nan_in(array) for gradient in gradients for array in _arrays(gradient)])


def _has_hooks_after(node: Node | None) -> bool:
    hooks = None if node is None else node.hooks
    return hooks is not None and bool(hooks.post.entries)


def _nan_error(
    node: Node,
    nr: int,
    array: Array,
    count: int,
    saved: Sequence[tuple[str, SavedVariable]],
    source: tuple[str, str],
) -> NanGradientError:
    name, maker = node.name(), made_at(node)
    origin, story = source
    nan = (
        f"NaN in {count} of the {array.size} elements of the gradient of its input {nr}, of shape "
        f"{list(array.shape)}"
    )
    text = story.format(name=name, nan=nan)
    if maker is not None:
        text += quoted(f"{name} was made at {maker}", maker)
    writes: list[Write] = []
    for field, value in saved:
        write = value.last_write_before()
        if write is not None:
            writes.append(write)
            text += quoted(
                f"the memory of its {field} was last written by {write.described} "
                f"(version {write.version})",
                write.place,
            )
    return NanGradientError(
        text,
        node=name,
        index=nr,
        count=count,
        shape=array.shape,
        origin=origin,
        made_at=maker,
        writes=tuple(writes),
    )
