"""The rows of a Jacobian: one gradient for each element of an output."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.autograd.reverse_call import InputEdge, gradients_by
from vtgrad.autograd.zero_derivative import zero_derivative
from vtgrad.graph.batch import BatchLevel, batched
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.entering import expanded
from vtgrad.ops.rules.batches.run_in_batch import run_in_batch
from vtgrad.storage.excluded_keys import run_excluding
from vtgrad.storage.key_set import NAMED
from vtgrad.tensor.tensor import Tensor

__all__ = ["jacobian_in_batches", "jacobian_in_loop"]

# What a Jacobian consists of: for each input a tensor of the output's shape and then the input's,
# or None if the output does not depend on it.
Blocks = list[Tensor | None]


def jacobian_in_loop(
    output: Tensor,
    edges: Sequence[InputEdge],
    inputs: Sequence[Tensor],
    *,
    recorded: bool,
    keep_graph: bool,
) -> Blocks:
    """The Jacobian of one output by some inputs, with a pass for each element.

    Parameters
    ----------
    output : Tensor
        A real tensor.
    edges : sequence of InputEdge
        The values to differentiate by.
    inputs : sequence of Tensor
        Tensors like them.
    recorded : bool
        Whether to record the passes.
    keep_graph : bool
        Whether the graph is still needed after the last of them.
    """
    count = output.numel()
    rows: list[Blocks] = []
    for nr in range(count if output.requires_grad else 0):
        basis = zero_derivative(output).reshape(-1)
        basis[nr] = 1
        rows.append(
            gradients_by(
                edges,
                [output],
                [basis.reshape(output.shape)],
                recorded=recorded,
                keep_graph=keep_graph or nr + 1 < count,
            )
        )
    blocks: Blocks = []
    for nr, like in enumerate(inputs):
        column = [row[nr] for row in rows]
        if all(gradient is None for gradient in column):
            blocks.append(None)
            continue
        # Rows may differ in whether they depend on an input only after an error in a hook.
        parts = [zero_derivative(like) if gradient is None else gradient for gradient in column]
        blocks.append(F.stack(parts).reshape((*output.shape, *like.shape)))
    return blocks


def jacobian_in_batches(
    output: Tensor,
    edges: Sequence[InputEdge],
    inputs: Sequence[Tensor],
    *,
    recorded: bool,
    keep_graph: bool,
    chunk_size: int | None = None,
) -> Blocks:
    """As `jacobian_in_loop`, with one pass for all elements, or for each `chunk_size` of them.

    The gradients of the output are a batch: one for each row of the identity.
    """
    count = output.numel()
    if not count or not output.requires_grad:
        return [None] * len(inputs)
    parts: list[Blocks] = []
    step = count if chunk_size is None else chunk_size
    for start in range(0, count, step):
        length = min(step, count - start)
        basis = run_excluding(NAMED, F.zeros_shaped, output, (length, count))
        F.fill_Scalar_(F.diagonal_default(basis, start), 1)
        rows = F.view_shape(basis, (length, *output.shape))

        def passed(level: BatchLevel, rows: Tensor = rows, start: int = start) -> Blocks:
            found = gradients_by(
                edges,
                [output],
                [batched(rows, level)],
                recorded=recorded,
                keep_graph=keep_graph or start + step < count,
            )
            return [None if gradient is None else expanded(gradient, level) for gradient in found]

        parts.append(run_in_batch(passed, length))
    blocks: Blocks = []
    for nr, like in enumerate(inputs):
        column = [part[nr] for part in parts if part[nr] is not None]
        if not column:
            blocks.append(None)
            continue
        whole = column[0] if len(column) == 1 else F.cat([x for x in column if x is not None])
        assert whole is not None
        blocks.append(whole.reshape((*output.shape, *like.shape)))
    return blocks
