"""Random programs of steps: ufuncs, reductions, assignments, views, in place, of all dtypes.

A program is made by running it: the maker has arrays, calls NumPy on some of them, and writes down
what it did as places in its buffers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vtgrad.jit.steps import Buffer, Fixed, Group, Guard, Kind, Operand, Place, Program, Step

__all__ = ["Maker", "new_values", "random_program"]

Values = NDArray[Any]

DTYPES: Final = "?bBhHiIlLqQefdgFDGdddfd"
SPECIAL: Final = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 1e-310, 1.0, -1.0, 88.7, 709.0, 0.5]
UNARY: Final = [
    getattr(np, name)
    for name in """
    absolute arctan ceil conjugate cos cosh exp exp2 expm1 floor isfinite isinf isnan invert log
    log1p logical_not negative positive reciprocal rint sign signbit sin sqrt square tan tanh trunc
    """.split()
]
BINARY: Final = [
    getattr(np, name)
    for name in """
    add add add subtract subtract multiply multiply multiply true_divide true_divide arctan2
    copysign equal floor_divide fmax fmin fmod greater greater_equal hypot less less_equal logaddexp
    logical_and logical_or logical_xor maximum minimum not_equal power remainder bitwise_and
    bitwise_or bitwise_xor left_shift
    """.split()
]
METHODS: Final[list[Callable[..., object]]] = [
    np.ndarray.sum,
    np.ndarray.mean,
    np.ndarray.cumsum,
    np.ndarray.copy,
    np.ndarray.max,
    np.ndarray.argmax,
    np.ndarray.all,
    np.ndarray.round,
    np.sort,
    np.flip,
]
NUMBERS: Final[list[object]] = [
    *(2, 0.5, 3.0, -1, 0, True, 1.5 + 1j, 300),
    *(np.float32(0.1), np.int8(3), np.float64(0.1)),
]
# Calls that NumPy refuses or warns of are no steps.
REFUSED: Final = (
    TypeError,
    ValueError,
    IndexError,
    OverflowError,
    np.exceptions.ComplexWarning,
    DeprecationWarning,
)
SHAPES: Final = [(), (1,), (2,), (3,), (4,), (7,), (17,), (40,), (1, 1), (2, 3), (3, 2), (3, 3)]
SHAPES_OF_MORE: Final = [(1, 5), (4, 1), (8, 6), (3, 17), (2, 3, 4), (1, 3, 2), (20, 9), (5, 4, 3)]


def new_values(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Values:
    """Numbers of all sizes, and special ones."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if kind in "iu":
        if rng.random() < 0.7:
            return rng.integers(0, 5, shape).astype(dtype)
        size = np.dtype(dtype).itemsize
        return rng.integers(0, 256, (*shape, size), np.uint8).view(dtype)[..., 0]
    found = np.asarray(rng.normal(size=shape) * 10.0 ** rng.integers(-3, 3, shape))
    chosen = rng.random(shape) < 0.05
    found[chosen] = rng.choice(SPECIAL, int(chosen.sum()))
    with np.errstate(all="ignore"):
        if kind == "c":
            found = found + 1j * np.flip(found)
        whole: Values = np.asarray(found).astype(dtype)
    return whole


class Maker:
    """A program while it is made, and the arrays that it has so far."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.program = Program()
        self.memory: list[Values] = []
        self.arrays: list[Values] = []
        # How many buffers of each kind have a position.
        self.positions = {Kind.ARGUMENT: 0, Kind.OUTSIDE: 0}

    def own(self, values: Values, kind: Kind) -> Values:
        """An array in a new buffer with these values and strides as if it were new."""
        memory = np.empty(values.nbytes, np.uint8)
        strides = np.empty_like(values).strides
        array: Values = np.ndarray(values.shape, values.dtype, memory, 0, strides)
        array[...] = values
        position = -1
        if kind in self.positions:
            position = self.positions[kind]
            self.positions[kind] += 1
        content = memory.copy() if kind is Kind.CONSTANT else None
        self.program.buffers.append(Buffer(kind, values.nbytes, position, content))
        if kind is Kind.CONSTANT:
            memory.flags.writeable = False
            array.flags.writeable = False
        self.memory.append(memory)
        self.arrays.append(array)
        return array

    def place(self, array: Values) -> Place:
        """Where an array is."""
        address = array.__array_interface__["data"][0]
        for number, memory in enumerate(self.memory):
            start = memory.__array_interface__["data"][0]
            if start <= address < start + max(memory.nbytes, 1) and memory.nbytes:
                return Place(number, array.dtype, array.shape, array.strides, address - start)
        raise AssertionError("an array of no buffer")

    def pick(self, writeable: bool = False) -> Values:
        """An array of the program, often a view of it."""
        found = [x for x in self.arrays if x.flags.writeable or not writeable]
        array: Values = found[int(len(found) * self.rng.random() ** 0.7)]
        return self.view(array) if self.rng.random() < 0.5 else array

    def view(self, array: Values) -> Values:
        """A part of an array that has elements."""
        rng = self.rng
        for _ in range(3):
            found = array
            choice = rng.integers(0, 5)
            if choice == 0:
                found = array.T
            elif choice == 1 and array.ndim:
                found = array[rng.integers(0, array.shape[0])]
            elif choice == 2 and array.ndim:
                axis = int(rng.integers(0, array.ndim))
                step = int(rng.choice([1, 1, 2, -1, -2, 3]))
                key = [slice(None)] * array.ndim
                key[axis] = slice(*sorted(rng.integers(0, array.shape[axis] + 1, 2).tolist()))
                found = array[tuple(key)]
                key[axis] = slice(None, None, step)
                found = found[tuple(key)]
            elif choice == 3:
                found = array[None] if rng.random() < 0.3 else array[..., None]
            elif choice == 4 and array.flags.c_contiguous:
                found = array.reshape(-1)
            if found.size and np.shares_memory(found, array):
                return found
        return array

    def beside(self, array: Values) -> Values | None:
        """An array that broadcasts with another one."""
        for _ in range(8):
            found = self.pick()
            try:
                np.broadcast_shapes(found.shape, array.shape)
            except ValueError:
                continue
            return found
        return None

    def operand(self, array: object) -> Operand:
        if isinstance(array, np.ndarray):
            return self.place(array)
        if isinstance(array, list):
            return Group(list, tuple([self.operand(x) for x in array]))
        return Fixed(array)

    def call(
        self,
        function: Callable[..., object],
        *inputs: object,
        out: Values | None = None,
        **keywords: object,
    ) -> None:
        """Call a function, and write it down, if NumPy can do it."""
        operands = tuple([self.operand(x) for x in inputs])
        named = tuple([(name, self.operand(x)) for name, x in keywords.items()])
        try:
            if out is None:
                found = function(*inputs, **keywords)
            else:
                found = function(*inputs, out=(out,), **keywords)
        except REFUSED:
            return
        target = out
        if target is None:
            target = self.own(np.asarray(found), Kind.FRESH)
            if not target.size:
                self.arrays.pop()
                return
        self.program.steps.append(Step(function, operands, named, (self.place(target),)))

    def assign(self, target: Values, key: Any, value: object) -> None:
        operands = (self.place(target), self.operand(key), self.operand(value))
        try:
            target[key] = value
        except REFUSED:
            return
        self.program.steps.append(Step(operator.setitem, operands, writes=(operands[0],)))

    def number(self) -> object:
        choices: list[object] = [
            2,
            0.5,
            3.0,
            -1,
            0,
            True,
            1.5 + 1j,
            np.float32(0.1),
            np.int8(3),
            300,
        ]
        return choices[self.rng.integers(0, len(choices))]

    def step(self) -> None:
        """Add one step of some kind."""
        rng = self.rng
        kind = rng.integers(0, 21)
        a = self.pick()
        if kind < 3:
            self.call(UNARY[rng.integers(0, len(UNARY))], a, out=self.maybe_out(a))
        elif kind < 10:
            b = self.number() if rng.random() < 0.25 else self.beside(a)
            if b is not None:
                function = BINARY[rng.integers(0, len(BINARY))]
                pair = (a, b) if rng.random() < 0.7 else (b, a)
                # NumPy 2.1 crashes if a comparison with a number beyond the dtype has an `out`.
                out = None if isinstance(b, int) else self.maybe_out(a)
                self.call(function, *pair, out=out)
        elif kind < 12:
            target = self.pick(writeable=True)
            value = self.number() if rng.random() < 0.3 else self.beside(target)
            key: Any = ...
            if rng.random() < 0.3 and target.ndim:
                n = target.shape[0]
                keys: list[object] = [
                    slice(0, n // 2),
                    0,
                    (slice(None), ...),
                    slice(None, None, -1),
                ]
                key = keys[rng.integers(0, 4)]
            elif rng.random() < 0.2 and target.ndim:
                key = self.own(rng.integers(0, target.shape[0], 3), Kind.CONSTANT)
            self.assign(target, key, value)
        elif kind < 14:
            axes: list[object] = [None, 0, -1, (0,), *range(a.ndim)]
            axis = axes[rng.integers(0, len(axes))]
            function = [np.add, np.add, np.add, np.maximum, np.multiply][rng.integers(0, 5)]
            self.call(function.reduce, a, axis=axis, keepdims=bool(rng.integers(0, 2)))
        elif kind < 16:
            self.call(METHODS[rng.integers(0, len(METHODS))], a)
        elif kind == 16:
            b = self.beside(a)
            if b is not None:
                self.call(np.concatenate, [a, b])
        elif kind == 17:
            other = self.pick()
            self.call(np.matmul, a, a.T if rng.random() < 0.5 else other)
            self.call(np.vecdot, a, other)
        elif kind == 18:
            target = self.pick(writeable=True)
            value = self.number()
            try:
                np.ndarray.fill(target, value)
            except REFUSED:
                return
            place = self.place(target)
            self.program.steps.append(Step(np.ndarray.fill, (place, Fixed(value)), writes=(place,)))
        elif kind == 19:
            self.cumulate(a)
        else:
            self.call(np.ndarray.astype, a, np.dtype(str(rng.choice(list(DTYPES)))))

    def cumulate(self, array: Values) -> None:
        """Write running sums or products into an array, as an argument with or without a name."""
        target = self.pick(writeable=True)
        if target.shape != array.shape or not array.ndim or np.shares_memory(target, array):
            return
        function = [np.ndarray.cumsum, np.ndarray.cumprod][self.rng.integers(0, 2)]
        place, inputs = self.place(target), (self.place(array), Fixed(0))
        try:
            function(array, 0, out=target)
        except REFUSED:
            return
        if self.rng.random() < 0.5:
            step = Step(function, inputs, (("out", place),), writes=(place,))
        else:
            step = Step(function, (*inputs, Fixed(None), place), writes=(place,))
        self.program.steps.append(step)

    def maybe_out(self, like: Values) -> Values | None:
        """An array to write a result to, or None for a new one."""
        if self.rng.random() < 0.6:
            return None
        for _ in range(6):
            found = self.pick(writeable=True)
            if found.shape == like.shape:
                return found
        return None

    def guard(self) -> None:
        array = self.pick()
        # The bytes behind the numbers of long doubles have no meaning.
        function: Callable[[Values], object] = np.ndarray.tobytes
        if self.rng.random() < 0.5 or array.dtype.char in "gG":
            function = np.ndarray.any
        place, number = self.place(array), len(self.program.steps)
        self.program.guards.append(Guard(number, function, (place,), function(array)))


def random_program(rng: np.random.Generator, steps: int, guards: int = 0) -> Maker:
    """A program of about so many steps."""
    maker = Maker(rng)
    shapes = SHAPES + SHAPES_OF_MORE
    some = rng.choice(list(DTYPES), int(rng.integers(1, 4)))
    for kind in (Kind.ARGUMENT, Kind.ARGUMENT, Kind.OUTSIDE, Kind.CONSTANT, Kind.CONSTANT):
        shape = shapes[rng.integers(0, len(shapes))]
        maker.own(new_values(rng, str(rng.choice(some)), shape), kind)
    with np.errstate(all="ignore"):
        for _ in range(steps):
            maker.step()
        for _ in range(guards):
            maker.guard()
    for _ in range(int(rng.integers(1, 4))):
        maker.program.results.append(maker.place(maker.pick()))
    return maker
