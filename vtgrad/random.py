"""Sources of random numbers: generators, their seeds and their states.

The numbers differ from PyTorch's for the same seed; the distributions do not. Every operator that
draws takes ``generator=``; without it the default generator is used, which is seeded from the
operating system when the package is imported, or by `manual_seed`.

NOTE [ numpy.random is loaded at the first draw ]

NumPy loads its `random` module on first access, and with it a dozen extension modules and the
standard library's cryptography: that was a quarter of the cost of ``import vtgrad``. So a vtgrad
generator has its seed at once, and NumPy's generator only from the first draw or the first read of
its state. See also Note [Annotations are not evaluated].
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np

from .errors import ArgumentTypeError, ArgumentValueError, NotSupportedError, ShapeError
from .graph.operators import operators
from .storage.arrays import Array
from .storage.device import CPU, Device
from .storage.tensor_base import TensorBase
from .storage.tensor_impl import TensorImpl

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

# The seed of a generator that was not seeded, so that it is reproducible too.
_FIRST_SEED: Final = 20_260_101
_WORD: Final = 2**64
# A state: seed, the two words of PCG64, and a flag and the unused half of a 64-bit number.
_FIELDS: Final = (8, 16, 16, 1, 4)


class Generator:
    """A stream of random numbers with a state of its own.

    Parameters
    ----------
    device : Device or str
        There is only the CPU.

    Examples
    --------
    >>> import vtgrad as vt
    >>> g = vt.Generator().manual_seed(7)
    >>> a = vt.rand(3, generator=g)
    >>> b = vt.rand(3, generator=g.manual_seed(7))
    >>> (a == b).tolist()
    [True, True, True]
    """

    __slots__ = ("_seed", "_source")

    _seed: int
    # None until the first draw; see Note [numpy.random is loaded at the first draw].
    _source: np.random.Generator | None

    def __init__(self, device: Device | str = "cpu") -> None:
        if str(device) not in ("cpu", "cpu:0"):
            raise NotSupportedError(f"vtgrad knows one device, 'cpu', not {device}", device=device)
        self._start(_FIRST_SEED)

    def _start(self, seed: int) -> None:
        self._seed = seed
        self._source = None

    @property
    def numpy(self) -> np.random.Generator:
        """NumPy's generator on the bits of PCG64, which draws the numbers."""
        source = self._source
        while source is None:
            # Threads that draw at the same time for the first time get one stream; see Note [Made
            # once].
            seed = self._seed
            fresh = np.random.Generator(np.random.PCG64(seed))
            source = self._source
            if source is None and self._seed == seed:
                source = self._source = fresh
        return source

    @property
    def device(self) -> Device:
        """The device of the numbers: the CPU."""
        return CPU

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of a seed; returns the generator itself.

        Raises
        ------
        ArgumentTypeError
            If `seed` is not an integer.
        ArgumentValueError
            If it is not in ``[-2**63, 2**64)``; negative seeds count from the top.
        """
        try:
            number = operator.index(seed)
        except TypeError:
            raise ArgumentTypeError(
                f"a seed is an integer, not {type(seed).__name__}", argument="seed"
            ) from None
        if not -(_WORD // 2) <= number < _WORD:
            raise ArgumentValueError(f"the seed {number} needs more than 64 bits", seed=number)
        self._start(number % _WORD)
        return self

    def seed(self) -> int:
        """Start a stream with a seed from the operating system, and return the seed."""
        self._start(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def initial_seed(self) -> int:
        """The seed of the stream."""
        return self._seed

    def get_state(self) -> TensorBase:
        """The position in the stream, as a tensor of bytes."""
        state = self.numpy.bit_generator.state
        words = state["state"]
        numbers = (
            self._seed,
            int(words["state"]),
            int(words["inc"]),
            int(state["has_uint32"]),
            int(state["uinteger"]),
        )
        content = b"".join(
            n.to_bytes(size, "little") for n, size in zip(numbers, _FIELDS, strict=True)
        )
        array: Array = np.frombuffer(content, np.uint8).copy()
        return operators().wrap(TensorImpl(array))

    def set_state(self, new_state: TensorBase) -> Generator:
        """Restore a state from `get_state`; returns the generator itself.

        Raises
        ------
        ArgumentTypeError
            If `new_state` is not a tensor of bytes.
        ShapeError
            If its length is not that of a state.
        """
        given: object = new_state
        if not isinstance(given, TensorBase) or given._impl.dtype != np.uint8:
            raise ArgumentTypeError("a generator's state is a uint8 tensor", argument="new_state")
        content = given._impl.array.tobytes()
        if len(content) != sum(_FIELDS) or given.ndim != 1:
            raise ShapeError(
                f"a generator's state has {sum(_FIELDS)} bytes, not {len(content)}",
                expected=sum(_FIELDS),
                found=len(content),
            )
        numbers: list[int] = []
        start = 0
        for size in _FIELDS:
            numbers.append(int.from_bytes(content[start : start + size], "little"))
            start += size
        first, state, increment, left, rest = numbers
        self._start(first)
        self.numpy.bit_generator.state = {
            "bit_generator": "PCG64",
            # PCG64 has no state with an even increment.
            "state": {"state": state, "inc": increment | 1},
            "has_uint32": left & 1,
            "uinteger": rest,
        }
        return self

    def clone_state(self) -> Generator:
        """Another generator in the same state."""
        return Generator().set_state(self.get_state())


default_generator: Final = Generator()
default_generator.seed()


def source_of(generator: Generator | None) -> np.random.Generator:
    """The NumPy generator from which an operator draws.

    Raises
    ------
    ArgumentTypeError
        If `generator` is not a `Generator`.
    """
    if generator is None:
        generator = default_generator
    elif not isinstance(generator, Generator):
        raise ArgumentTypeError(
            f"argument 'generator' must be a Generator, not {type(generator).__name__}",
            argument="generator",
        )
    source = generator._source
    return generator.numpy if source is None else source


def manual_seed(seed: int) -> Generator:
    """Seed the default generator, and return it.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.manual_seed(0).initial_seed()
    0
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator from the operating system; returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> TensorBase:
    """The state of the default generator."""
    return default_generator.get_state()


@contextmanager
def fork_rng(enabled: bool = True) -> Iterator[None]:
    """Restore the state of the default generator at the end of the block.

    Parameters
    ----------
    enabled : bool
        Whether to restore it.
    """
    if not enabled:
        yield
        return
    state = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(state)


def set_rng_state(new_state: TensorBase) -> None:
    """Set the state of the default generator."""
    default_generator.set_state(new_state)
