"""Random programs of views and in-place writes: index sets against the dense Jacobian of the model.

The programs are those of `vtgrad.testing`. They run a second time while a tracer follows them, in
which each element of a leaf is a column. Then every element of every tensor must have all columns
in which the model's Jacobian has an entry, and every gradient those of the model's Hessian.

What breaks it: a write whose sets are stored elsewhere than its values, a view that looks at other
sets than its elements, sets that get lost between saving a value and backward.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.graph.forward_grad import new_level_number
from vtgrad.graph.tracer import run_traced
from vtgrad.ops.rules.patterns.index_sets import IndexSets, IntArray
from vtgrad.ops.rules.patterns.sparsity_tracer import SparsityTracer
from vtgrad.storage.arrays import Array
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.session import Session
from vtgrad.testing.writer import ModelWriter, write_program

if TYPE_CHECKING:
    from vtgrad.testing.model import ModelTensor
    from vtgrad.testing.world import World

# Without passes into ``.grad`` and changes of the memory, which cannot be followed.
MIXTURE = (
    "leaf", "view", "view", "region", "region", "pieces", "apply", "apply", "apply", "saving",
    "saving_part", "detach", "write", "write", "write", "fill", "set_item", "set_item", "beside",
    "rearrange", "delete",
)  # fmt: skip


class Traced:
    """A program that has run while a tracer followed it.

    Attributes
    ----------
    missing : list of str
        What index sets lack.
    entries, extra : int
        How many entries the model has, and how many the sets have besides.
    """

    def __init__(self, seed: int, length: int = 25) -> None:
        session = Session(vtgrad_library(vt))
        write_program(session, ModelWriter(random.Random(seed), session, MIXTURE), length)
        self.world: World = session.world
        self.columns = len(self.world.variables.leaf_columns)
        self.missing: list[str] = []
        self.entries = self.extra = 0
        self.sets = IndexSets(self.columns, 2**20)
        self.tracer = SparsityTracer(new_level_number(), self.sets)
        self.side = Interpreter(vtgrad_library(vt))
        self.leaves: list[vt.Tensor] = []
        library = SimpleNamespace(**{name: getattr(vt, name) for name in dir(vt)})
        library.tensor = self._tensor
        self.side.names["vt"] = library
        run_traced(self.tracer, lambda: self._run(session))
        session.finish()

    def _tensor(
        self, data: Any, dtype: vt.dtype | None = None, requires_grad: bool = False
    ) -> vt.Tensor:
        made = vt.tensor(data, dtype=dtype, requires_grad=requires_grad)
        if requires_grad:
            start = sum(x.numel() for x in self.leaves)
            ids = self.sets.singletons(start, start + made.numel())
            self.tracer.begin(made, ids.reshape(made.shape))
            self.leaves.append(made)
        return made

    def _run(self, session: Session) -> None:
        plain = Interpreter(vtgrad_library(vt))
        for step in session.steps:
            found = self.side.run(step)
            assert type(found) is type(plain.run(step)), found
        for nr, model in self.world.tensors.items():
            tensor = self.side.names.get(f"t{nr}")
            if isinstance(tensor, vt.Tensor):
                self._compare(f"t{nr}", model, tensor)

    def _compare(self, name: str, model: ModelTensor, tensor: vt.Tensor) -> None:
        leaves = self.world.variables.leaf_columns
        history = model.root.history
        cells = model.cells.ravel()
        jac = self.world.variables.wide(history.jac)[cells][:, leaves]
        self._count(name, jac, self.tracer.sets_of(tensor))
        if model.node is None or not tensor.is_floating_point():
            return
        weights = np.arange(1.0, tensor.numel() + 1)
        cotangent = vt.tensor(weights.reshape(tensor.shape), dtype=tensor.dtype)
        try:
            gradients = vt.autograd.grad(
                tensor, self.leaves, cotangent, retain_graph=True, allow_unused=True
            )
        except vt.errors.VtgradError:
            return  # a value that was overwritten, or a view that became invalid
        hessian = np.tensordot(weights, self.world.variables.deep(history.hes)[cells], axes=1)
        start = 0
        for leaf, gradient in zip(self.leaves, gradients, strict=True):
            rows = hessian[start : start + leaf.numel()]
            start += leaf.numel()
            # No gradient flows out of a view that was made under ``no_grad``.
            if gradient is not None:
                self._count(f"gradient of {name}", rows, self.tracer.sets_of(gradient))

    def _count(self, name: str, wanted: Array, ids: IntArray | None) -> None:
        found = np.zeros(wanted.shape, np.bool_)
        if ids is not None:
            members, lengths = self.sets.members(ids.reshape(-1))
            found[np.repeat(np.arange(lengths.size), lengths), members] = True
        entries = wanted != 0
        self.entries += int(entries.sum())
        self.extra += int((found & ~entries).sum())
        if (entries & ~found).any():
            self.missing.append(f"{name}: {np.argwhere(entries & ~found).tolist()}")


def missing_of(seeds: range) -> list[str]:
    """What the sets of some programs lack."""
    return [f"seed {seed}, {text}" for seed in seeds for text in Traced(seed).missing]


@pytest.mark.parametrize(
    "block", [0, 1, *[pytest.param(nr, marks=pytest.mark.slow) for nr in range(2, 10)]]
)
def test_sets_have_every_entry_of_the_model(block: int) -> None:
    assert missing_of(range(12 * block, 12 * block + 12)) == []


@pytest.mark.slow
def test_sets_have_few_entries_besides() -> None:
    """The model sees zeros by chance, as of a product with zero; sets do not."""
    runs = [Traced(seed) for seed in range(40)]
    entries, extra = sum(run.entries for run in runs), sum(run.extra for run in runs)
    assert entries > 500
    assert extra < entries
