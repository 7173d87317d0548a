"""The node of a loop whose steps are computed again in backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from vtgrad.engine.inner_graph import InnerGraphNode
from vtgrad.engine.input_buffer import InputBuffer
from vtgrad.errors import GraphFreedError, NotSupportedError
from vtgrad.graph.edge import Edge
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.next_edges import FIXED_EDGES
from vtgrad.graph.node import Node
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.utils.checkpoint.rng import kept_random_state
from vtgrad.utils.checkpoint.snapshots import Snapshot
from vtgrad.utils.checkpoint.tape import LoopPlan, Tape, in_mode

__all__ = ["CheckpointLoopBackward"]


class CheckpointLoopBackward(InnerGraphNode):
    """Runs the steps of a loop again, and each of them backward.

    The first edges are those of the tensors of the initial state; the others lead to values that
    steps have used from outside.

    Attributes
    ----------
    plan : LoopPlan or None
        The loop; None after it was freed.
    initial : Snapshot or None
        The initial state, for a second backward.
    tapes : list of Tape
        What forward has left for the first backward, which takes it out.
    """

    __slots__ = ("_state_edges", "initial", "plan", "tapes")

    edge_rule: ClassVar[int] = FIXED_EDGES

    plan: LoopPlan | None
    initial: Snapshot | None
    tapes: list[Tape]
    _state_edges: tuple[Edge | None, ...]

    @staticmethod
    def of(
        tape: Tape,
        initial: Snapshot,
        edges: tuple[Edge | None, ...],
        metadata: tuple[InputMetadata, ...],
    ) -> CheckpointLoopBackward:
        """The node of a loop that has run forward.

        Parameters
        ----------
        tape : Tape
            The run.
        initial : Snapshot
            The initial state.
        edges : tuple of Edge or None
            The edges of its tensors.
        metadata : tuple of InputMetadata
            Shape and dtype of the tensors of the last state.
        """
        node = CheckpointLoopBackward((*edges, *tape.plan.captured.values()))
        node.start_as_users_code()
        node.input_metadata = metadata
        node.plan = tape.plan
        node.initial = initial
        node.tapes = [tape]
        node._state_edges = edges
        return node

    def check_saved(self) -> None:
        """Raise if the loop was freed, or a value that its last step has saved was overwritten.

        Raises
        ------
        VtgradError
            As `Node.check_saved` does.
        """
        if self.plan is None:
            raise GraphFreedError(
                f"{self.name()} has already been run backward and what it needs was freed; pass "
                "retain_graph=True to the first backward to be able to run a second",
                node=self.name(),
            )
        for tape in tuple(self.tapes):
            tape.check_saved()

    def release_variables(self) -> None:
        """Free all that is kept."""
        self.plan = None
        self.initial = None
        self.tapes = []

    def run_inside(self, incoming: InputBuffer, sums: dict[Node, InputBuffer]) -> None:
        """Run the steps backward."""
        plan, initial = self.plan, self.initial
        if plan is None or initial is None:
            self.check_saved()
            return
        results = [incoming.at(nr) for nr in range(len(self.input_metadata))]
        try:
            tape: Tape | None = self.tapes.pop()
        except IndexError:
            # It was used before, or another thread runs the same node.
            tape = None

        def run() -> None:
            with kept_random_state(plan.keeps_random_state):
                left = tape
                if left is None:
                    left = Tape(plan, initial.restored(plan.keeps_random_state))
                    left.run_forward(first=False)
                left.run_backward(results, self.input_metadata, self._state_edges, sums)

        in_mode(False, run)

    def apply_tensors(
        self, grads: Sequence[TensorBase | None], needs: int
    ) -> Sequence[TensorBase | None]:
        """Raise, because the steps that are computed again are not recorded.

        Raises
        ------
        NotSupportedError
            Always.
        """
        raise NotSupportedError(
            "checkpoint_loop cannot be differentiated twice (create_graph=True), and its node "
            "cannot be called: its steps are freed as soon as they were run backward. Use a plain "
            "loop over the steps",
            node=self.name(),
        )
