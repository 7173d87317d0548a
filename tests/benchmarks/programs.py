"""Every program of the benchmarks, at a size that finite differences can be taken at."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from benchmarks import (
    chains,
    factorisations,
    filling,
    large_arrays,
    lstm,
    mlp,
    peak_memory,
    reading_back,
    rewinding,
    slices_of_one_base,
    stencil,
    views_and_writes,
)
from benchmarks.bench import prepared
from benchmarks.libraries import Body, Library, Real


@dataclass(frozen=True)
class Case:
    """A program with tiny inputs."""

    section: str
    name: str
    body: Body
    arrays: Sequence[Real]
    constants: Sequence[Real] = field(default_factory=tuple)
    writes: bool = False

    def gradients(self, library: Library) -> list[Real]:
        """By the backward pass of a library."""
        if library.name == "autograd":
            # Which returns gradients, and has no leaves to leave them at.
            found = prepared(library, self.body, self.arrays, "backward", self.constants)()()
            assert isinstance(found, tuple)
            return [np.asarray(grad) for grad in found]
        leaves = [library.leaf(array) for array in self.arrays]
        constants = [library.constant(array) for array in self.constants]
        self.body(library, *leaves, *constants).backward()
        # An input that the program leaves alone has no gradient.
        return [
            np.zeros_like(array) if leaf.grad is None else np.asarray(leaf.grad)
            for leaf, array in zip(leaves, self.arrays, strict=True)
        ]


def _with_copies(
    section: str, programs: Mapping[str, Body], arrays: Sequence[Real]
) -> Iterator[Case]:
    """Programs that every library can run, which is not so without the copies."""
    for name, body in programs.items():
        yield Case(section, name, partial(body, length=6, clone=True), arrays, writes=True)


def _cases() -> list[Case]:
    vector = [np.linspace(-1.0, 1.0, 6)]
    return [
        Case("chains", "chain", partial(chains.chain, nodes=7), chains.inputs()),
        *(
            Case(
                "views_and_writes",
                name,
                views_and_writes.summed(body),
                views_and_writes.inputs(),
                writes=writes,
            )
            for name, (body, writes) in views_and_writes.PROGRAMS.items()
        ),
        *(
            Case("filling", name, partial(body, length=5), filling.inputs(), writes=True)
            for name, body in filling.PROGRAMS.items()
        ),
        *(
            Case(
                "slices_of_one_base",
                name,
                partial(body, count=5),
                slices_of_one_base.inputs(),
                writes=True,
            )
            for name, body in (slices_of_one_base.PROGRAMS | slices_of_one_base.READS).items()
        ),
        *(
            Case("factorisations", name, body, factorisations.inputs(4), writes=True)
            for name, body in factorisations.PROGRAMS.items()
        ),
        Case("stencil", "heat", stencil.heat, stencil.inputs(6), writes=True),
        Case("mlp", "step", mlp.step, mlp.inputs(3, 4, 5), mlp.samples(2, 3)),
        Case("lstm", "loop", lstm.loop, lstm.inputs(3), lstm.sequence(4, 2, 3)),
        *(
            Case(
                "large_arrays",
                name,
                pair.body,
                vector,
                large_arrays.constants(pair, 6),
                writes=pair.writes,
            )
            for name, pair in large_arrays.PAIRS.items()
        ),
        Case("peak_memory", "net", peak_memory.net, vector),
        *_with_copies("reading_back", reading_back.PROGRAMS, reading_back.inputs()),
        *_with_copies("rewinding", rewinding.PROGRAMS, rewinding.inputs()),
        Case("peak_memory", "swing", partial(peak_memory.swing, clone=True), vector, writes=True),
    ]


CASES = _cases()
