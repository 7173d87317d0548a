# Compiled by mypyc.
"""What the loops have in common, and the interface to those of the layers above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Generic, TypeVar

from vtgrad.engine.graph_task import GraphTask
from vtgrad.engine.input_buffer import InputBuffer
from vtgrad.engine.watch import Watch
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.edge import Edge
from vtgrad.graph.hooks import GradCell
from vtgrad.graph.node import Node
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_state import Settings

__all__ = ["Run", "Runner", "registered"]

A = TypeVar("A")


class Run(Generic[A]):
    """A run of one graph task: what `evaluate_function` asks of a loop.

    ``A`` is the type of a node's gradient for one of its inputs.

    Attributes
    ----------
    task : GraphTask
        The nodes that run, and the gradients that wait for others.
    answer : list of TensorBase or None
        For ``grad``: the gradients to return.
    retained : list
        Gradients for tensors that are no leaves, with their cells; see Note [Leaves are filled
        last].
    watch : Watch or None
        What observers and anomaly mode are given of each node; see Note [Watched passes].
    """

    __slots__ = ("answer", "retained", "task", "watch")

    task: GraphTask
    answer: list[TensorBase | None]
    retained: list[tuple[GradCell, TensorBase]]
    watch: Watch | None

    def __init__(
        self, task: GraphTask, answer: list[TensorBase | None], watch: Watch | None
    ) -> None:
        self.task = task
        self.answer = answer
        self.retained = []
        self.watch = watch

    def fill_leaves(self) -> None:
        """Store all gradients that are kept aside into ``.grad``."""
        raise NotImplementedError

    def accumulate(self, node: AccumulateGrad, inputs: InputBuffer) -> None:
        """Keep a leaf's gradient aside."""
        raise NotImplementedError

    def call(
        self, node: Node, inputs: InputBuffer, shown: bool
    ) -> tuple[Sequence[A], Sequence[int]]:
        """Run the function of a node, and free its saved values.

        Parameters
        ----------
        shown : bool
            Whether hooks want to see the gradients.

        Returns
        -------
        tuple
            The gradients of the inputs, and their ownership, if they have any.
        """
        raise NotImplementedError

    def shown(self, answer: A, edge: Edge | None, node: Node, nr: int) -> TensorBase | None:
        """The gradient of an input as a tensor that a hook may keep and write to."""
        raise NotImplementedError

    def received(self, grad: TensorBase | None) -> A:
        """What a hook has returned in place of the gradient of an input."""
        raise NotImplementedError

    def send(
        self, node: Node, answers: Sequence[A], ownership: Sequence[int], was_owned: bool
    ) -> None:
        """Send gradients along the edges; nodes that become ready go into the queue."""
        raise NotImplementedError


class Runner:
    """Runs passes over arrays in a way of its own, on other threads for example.

    A layer above registers one, see `registered`. The calling thread waits in `run` until the pass
    is over, and gets the error of the pass.
    """

    __slots__ = ()

    def takes(self, task: GraphTask) -> bool:
        """Whether `run` is called for a pass, in place of the loop over arrays.

        It is asked where a tensor has a key and nothing watches the pass.
        """
        raise NotImplementedError

    def run(
        self,
        task: GraphTask,
        answer: list[TensorBase | None],
        gradients: Sequence[TensorBase],
    ) -> None:
        """Run every node of a pass, then fill the leaves.

        Parameters
        ----------
        task : GraphTask
            The nodes, which are checked.
        answer : list of TensorBase or None
            For ``grad``: the gradients to return, which the nodes fill in.
        gradients : sequence of TensorBase
            The gradients of the roots.
        """
        raise NotImplementedError

    def handed_on(self, settings: Settings) -> Settings:
        """The settings of a thread that runs a pass for this one, which waits.

        Parameters
        ----------
        settings : Settings
            Those that all threads take over; what this thread has as its own is added.
        """
        raise NotImplementedError


class _Registered:
    """What layers above have registered.

    Attributes
    ----------
    runner : Runner or None
        None while the library is imported.
    """

    __slots__ = ("runner",)

    runner: Runner | None

    def __init__(self) -> None:
        self.runner = None


registered: Final = _Registered()
