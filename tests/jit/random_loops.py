"""Random programs of steps: views, writes in place, loops of several kinds, several dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from tests.jit.building import Builder
from vtgrad.jit.steps import Place, Program
from vtgrad.storage.arrays import Array

_DTYPES = (np.float64, np.float64, np.float32, np.int64, np.complex128)
_BINARY = (np.add, np.subtract, np.multiply, np.add)
_UNARY = (np.negative, np.absolute, np.square, np.positive)
_T = TypeVar("_T")


class RandomProgram:
    """One program that is written at random.

    Parameters
    ----------
    seed : int
        The program is the same for the same seed.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.builder = Builder()
        self.dtype = np.dtype(self.pick(_DTYPES))
        self.shape = tuple(self.rng.integers(1, 5, self.rng.integers(0, 4)).tolist())
        if self.shape and self.chance(0.03):
            self.shape = (0, *self.shape[1:])
        # What can be read, and of these what can be written.
        self.places: list[Place] = []
        self.targets: list[Place] = []
        # For each earlier loop, the values that its repetitions kept.
        self.kept: list[list[Place]] = []

    def pick(self, items: Sequence[_T]) -> _T:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, of: float) -> bool:
        return bool(self.rng.random() < of)

    def values(self, *shape: int) -> Array:
        numbers = self.rng.integers(-3, 4, shape) + (self.rng.integers(0, 4, shape) / 4)
        return np.asarray(numbers).astype(self.dtype)

    def write(self) -> Program:
        b = self.builder
        for _ in range(int(self.rng.integers(1, 3))):
            self.places.append(b.argument(self.values(*self.shape), self.pick(("x", "if", "y"))))
        if self.chance(0.4):
            self.places.append(b.constant(self.values(*self.shape)))
        if self.chance(0.4):
            self.places.append(b.outside(self.values(*self.shape), "w"))
        self.targets = [x for x in self.places if b.program.buffers[x.buffer].content is None]
        self.rows = self.stack()
        for _ in range(int(self.rng.integers(1, 5))):
            if self.chance(0.6):
                self.loop(0)
            else:
                self.places.append(self.statement(self.places))
            if self.chance(0.15):
                b.guard(np.ndarray.all, self.pick(self.places))
        results = [self.pick(self.places) for _ in range(int(self.rng.integers(1, 4)))]
        return b.returns(*results)

    def stack(self) -> Place:
        """An array with rows of the program's shape, for loops to read and write."""
        array = self.values(int(self.rng.integers(4, 8)), *self.shape)
        if self.chance(0.5):
            return self.builder.argument(array, "rows")
        rows = self.builder.empty(array.shape, array.dtype, "rows")
        self.builder.set(rows, self.pick((0, 1)))
        return rows

    def loop(self, depth: int) -> None:
        """A body that is written again and again, with what each repetition names."""
        seed, count = int(self.rng.integers(2**32)), int(self.rng.integers(2, 7))
        carried = self.pick(self.places)
        saved = self.pick(self.kept) if self.kept and self.chance(0.6) else None
        reverse, kept = self.chance(0.4), []
        after = self.rng
        outer, targets = list(self.places), list(self.targets)
        for n in range(count):
            # Each repetition makes the same choices.
            self.rng = np.random.default_rng(seed)
            self.places, self.targets = [*outer, carried], list(targets)
            t = count - 1 - n if reverse else n
            if t < self.rows.shape[0]:
                self.places.append(self.builder.at(self.rows, t))
                self.targets.append(self.places[-1])
            if saved is not None:
                self.places.append(saved[t % len(saved)])
            local = []
            for _ in range(int(self.rng.integers(1, 5))):
                if depth == 0 and self.chance(0.15):
                    self.loop(1)
                place = self.statement(self.places)
                self.places.append(place)
                local.append(place)
            carried = self.pick(local)
            kept.append(self.pick(local))
        self.rng = after
        self.places, self.targets = [*outer, carried], targets
        self.kept.append(kept)

    def statement(self, readable: Sequence[Place]) -> Place:
        """One call, to a new buffer or in place, and what can be read after it."""
        b, a, c = self.builder, self.pick(readable), self.pick(readable)
        kind = int(self.rng.integers(11))
        if kind == 0:
            return b.call(self.pick(_UNARY), self.turned(a)) if self.is_real() else a
        if kind == 1:
            target = self.pick(self.targets)
            b.set(target, self.pick((0, 1, 2)) if self.chance(0.5) else a)
            return target
        if kind == 2:
            target = self.pick(self.targets)
            b.call(self.pick(_BINARY), a, c, out=target)
            return target
        if kind == 3 and self.shape:
            return self.part_written(a)
        if kind == 4:
            total = b.call(np.add.reduce, a, axis=None)
            return b.call(np.multiply, total, c)
        if kind == 5 and self.shape:
            both = b.call(np.concatenate, [a, c], 0)
            size = self.shape[0]
            return b.at(both, slice(None, None, 2) if size > 1 else slice(size))
        if kind == 6:
            copy = b.call(np.ndarray.copy, a)
            self.targets.append(copy)
            return copy
        if kind == 7:
            self.repeated(a)
        if kind == 8:
            copy = b.empty(self.shape, self.dtype)
            b.run(np.copyto, copy, a, writes=[copy])
            return copy
        if kind == 9:
            return b.call(np.multiply, a, self.factor())
        return b.call(self.pick(_BINARY), a, self.turned(c) if self.is_square() else c)

    def repeated(self, place: Place) -> None:
        """Write a number to all elements of a place, as a view that repeats it."""
        total = self.builder.call(np.add.reduce, place, axis=None)
        many = self.builder.view(total, lambda array: np.broadcast_to(array, self.shape))
        made = self.builder.empty(self.shape, self.dtype)
        self.builder.run(np.copyto, made, many, writes=[made])
        self.builder.call(np.add, many, place, out=made)
        self.places.append(made)

    def is_real(self) -> bool:
        return self.dtype.kind != "c"

    def is_square(self) -> bool:
        return len(set(self.shape)) == 1

    def turned(self, place: Place) -> Place:
        """The place with its axes in another order, if its shape stays the same."""
        if not self.is_square() or self.chance(0.5):
            return place
        return self.builder.view(place, lambda array: array.T)

    def factor(self) -> object:
        if self.dtype.kind == "i":
            return int(self.rng.integers(-2, 3))
        return float(self.pick((0.5, -0.0, 2.0, 0.1)))

    def part_written(self, value: Place) -> Place:
        """A new buffer that is written in two parts, one of which is seen turned around."""
        b = self.builder
        made = b.empty(self.shape, self.dtype)
        b.run(np.ndarray.fill, made, 1, writes=[made])
        flat = b.view(made, lambda array: array.reshape(-1)[::-1])
        half = b.at(flat, slice(0, (flat.shape[0] + 1) // 2))
        first = b.view(value, lambda array: array[..., :1] if array.ndim else array)
        if int(np.prod(first.shape)) == 1:
            b.set(half, b.view(first, lambda array: array.reshape(())))
        else:
            b.call(np.add, half, half, out=half)
        self.targets.append(made)
        return made
