"""What stands behind `vtgrad.random`: the class of generators, and the default one.

Note [numpy.random is loaded at the first draw]

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

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, NotSupportedError, ShapeError
from vtgrad.graph.operators import operators
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import CPU, Device
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

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

    Every operator that draws takes a generator as ``generator=``. The numbers are those of
    PCG64, the default of NumPy; PyTorch draws other ones for the same seed.

    Parameters
    ----------
    device : device or str, default "cpu"
        There is only the CPU.

    Raises
    ------
    NotSupportedError
        For another device.

    Examples
    --------
    >>> g = vt.Generator().manual_seed(7)
    >>> a = vt.rand(3, generator=g)
    >>> b = vt.rand(3, generator=g.manual_seed(7))
    >>> a.equal(b)
    True
    """

    __slots__ = ("__weakref__", "_seed", "_source")

    _seed: int
    # None until the first draw; see Note [numpy.random is loaded at the first draw].
    _source: np.random.Generator | None

    def __init__(self, device: Device | str = "cpu") -> None:
        if str(device) not in ("cpu", "cpu:0"):
            raise NotSupportedError(f"vtgrad knows one device, 'cpu', not {device}", device=device)
        self._start(_FIRST_SEED)

    def _start(self, seed: int, source: np.random.Generator | None = None) -> None:
        changes = this_thread.changes
        if changes is not None:
            changes.generators[id(self)] = self
        self._seed, self._source = seed, source

    @property
    def numpy(self) -> np.random.Generator:
        """NumPy's generator, which draws the numbers.

        Returns
        -------
        numpy.random.Generator
            Drawing from it moves this generator as well.

        Examples
        --------
        >>> g = vt.Generator().manual_seed(7)
        >>> before = g.get_state()
        >>> chosen = g.numpy.choice(["a", "b"])
        >>> g.get_state().equal(before)
        False
        """
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
        """The device of the numbers: the CPU.

        Returns
        -------
        device
            Always ``vt.device("cpu")``.

        Examples
        --------
        >>> vt.Generator().device
        device(type='cpu')
        """
        return CPU

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of a seed.

        Parameters
        ----------
        seed : int
            A number of ``[-2**63, 2**64)``; ``2**64`` is added to a negative one.

        Returns
        -------
        Generator
            The generator itself.

        Raises
        ------
        ArgumentTypeError
            If `seed` is not an integer.
        ArgumentValueError
            If it needs more than 64 bits.

        Examples
        --------
        >>> g = vt.Generator()
        >>> g.manual_seed(7) is g, g.initial_seed()
        (True, 7)
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
        """Start a stream with a seed from the operating system.

        Returns
        -------
        int
            The seed, with which `manual_seed` repeats the stream.

        Examples
        --------
        >>> g = vt.Generator()
        >>> g.seed() == g.initial_seed()
        True
        """
        self._start(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed that the stream was started with.

        Returns
        -------
        int
            The number; drawing does not change it.

        Examples
        --------
        >>> vt.Generator().manual_seed(7).initial_seed()
        7
        """
        return self._seed

    def get_state(self) -> TensorBase:
        """Return the position in the stream.

        Returns
        -------
        Tensor
            45 bytes, to be handed to `set_state`.

        Examples
        --------
        >>> g = vt.Generator()
        >>> state = g.get_state()
        >>> a, b = vt.rand(2, generator=g), vt.rand(2, generator=g.set_state(state))
        >>> a.equal(b)
        True
        """
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
        """Restore a state from `get_state`.

        Parameters
        ----------
        new_state : Tensor
            What `get_state` returned, of this generator or of another one.

        Returns
        -------
        Generator
            The generator itself.

        Raises
        ------
        ArgumentTypeError
            If `new_state` is not a uint8 tensor.
        ShapeError
            If its length is not that of a state.

        Examples
        --------
        >>> g = vt.Generator().manual_seed(7)
        >>> vt.Generator().set_state(g.get_state()).initial_seed()
        7
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
        source = np.random.Generator(np.random.PCG64(0))
        source.bit_generator.state = {
            "bit_generator": "PCG64",
            # PCG64 has no state with an even increment.
            "state": {"state": state, "inc": increment | 1},
            "has_uint32": left & 1,
            "uinteger": rest,
        }
        self._start(first, source)
        return self

    def clone_state(self) -> Generator:
        """Return another generator in the same state.

        Returns
        -------
        Generator
            It draws the same numbers, and does not move this one.

        Examples
        --------
        >>> g = vt.Generator()
        >>> vt.rand(2, generator=g.clone_state()).equal(vt.rand(2, generator=g))
        True
        """
        return Generator().set_state(self.get_state())


default_generator: Final[Generator] = Generator()
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
    """Seed the default generator.

    Parameters
    ----------
    seed : int
        A number of ``[-2**63, 2**64)``, as in `Generator.manual_seed`.

    Returns
    -------
    Generator
        The default generator.

    Raises
    ------
    ArgumentTypeError
        If `seed` is not an integer.
    ArgumentValueError
        If `seed` needs more than 64 bits.

    Examples
    --------
    >>> generator = vt.manual_seed(0)
    >>> a = vt.rand(3)
    >>> generator = vt.manual_seed(0)
    >>> vt.rand(3).equal(a)
    True
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seed the default generator from the operating system.

    Returns
    -------
    int
        The seed, with which `manual_seed` repeats the stream.

    Examples
    --------
    >>> vt.seed() == vt.initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed of the default generator.

    Returns
    -------
    int
        As in `Generator.initial_seed`.

    Examples
    --------
    >>> generator = vt.manual_seed(3)
    >>> vt.initial_seed()
    3
    """
    return default_generator.initial_seed()


def get_rng_state() -> TensorBase:
    """Return the state of the default generator.

    Returns
    -------
    Tensor
        Bytes, to be handed to `set_rng_state`.

    Examples
    --------
    >>> state = vt.get_rng_state()
    >>> a = vt.rand(3)
    >>> vt.set_rng_state(state)
    >>> vt.rand(3).equal(a)
    True
    """
    return default_generator.get_state()


@contextmanager
def fork_rng(enabled: bool = True) -> Iterator[None]:
    """Restore the state of the default generator at the end of a ``with`` block.

    Parameters
    ----------
    enabled : bool, default True
        Whether to restore it.

    Examples
    --------
    >>> with vt.random.fork_rng():
    ...     a = vt.rand(3)
    >>> vt.rand(3).equal(a)
    True
    """
    if not enabled:
        yield
        return
    before = default_generator.clone_state()
    try:
        yield
    finally:
        # Stores without a call, so that nothing interrupts them.
        default_generator._seed, default_generator._source = before._seed, before._source


def set_rng_state(new_state: TensorBase) -> None:
    """Set the state of the default generator.

    Parameters
    ----------
    new_state : Tensor
        What `get_rng_state` or `Generator.get_state` returned.

    Raises
    ------
    ArgumentTypeError, ShapeError
        As `Generator.set_state` does.

    Examples
    --------
    >>> vt.set_rng_state(vt.Generator().manual_seed(5).get_state())
    >>> vt.initial_seed()
    5
    """
    default_generator.set_state(new_state)
