"""What makes arrays during a recording, in the place of the functions of `storage/making.py`.

NumPy's functions `asarray`, `array`, `zeros`, `empty`, `ones`, `full` and `arange` are replaced for
the user's code too. They are attributes of NumPy, which other threads and NumPy itself call
meanwhile: so each looks at the thread and at the file of its caller.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from vtgrad.jit.callers import is_users
from vtgrad.jit.recorder import Recorder, recording
from vtgrad.jit.recording_array import RecordingArray, RecordingNumber, stripped
from vtgrad.jit.values import arrays_in
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.thread_state import changed, run_with

__all__ = ["MAKERS", "users_functions_replaced"]

Maker = Callable[..., Any]

# Called with numbers they make numbers that are the same in each run.
_FILLED: Final = frozenset(
    """
    arange array asarray asanyarray ascontiguousarray atleast_1d bartlett blackman block
    diag_indices eye fftfreq full geomspace hamming hanning identity indices ix_ kaiser linspace
    logspace ones rfftfreq tri tril_indices triu_indices vander zeros
    """.split()
)
_LIKE: Final = frozenset({"empty_like", "full_like", "ones_like", "zeros_like"})
# They return views of an array.
_VIEWS: Final = frozenset({"as_strided", "broadcast_to"})
_REFUSED: Final = frozenset({"from_dlpack", "frombuffer", "fromiter", "fromstring"})
_USERS: Final = (
    "arange",
    "array",
    "asarray",
    "ascontiguousarray",
    "empty",
    "full",
    "ones",
    "zeros",
)


def _recorder() -> Recorder:
    recorder = recording.recorder
    assert recorder is not None
    return recorder


def _like_arguments(recorder: Recorder, value: Any) -> None:
    """Refuse an argument that does not say which numbers it has."""
    if isinstance(value, (bytes, bytearray, memoryview)) or hasattr(value, "__next__"):
        raise recorder.refuse(
            f"an array made of an object of type {type(value).__name__} is not known",
            "unknown argument",
        )


def _filled(name: str, numpys: Maker) -> Maker:
    def make(*args: Any, **kwargs: Any) -> Any:
        recorder = _recorder()
        values = (*args, *kwargs.values())
        if name in ("asarray", "asanyarray", "array", "ascontiguousarray") and args:
            first = args[0]
            if isinstance(first, RecordingNumber) and not kwargs.get("copy"):
                found = _of_number(recorder, first, args[1:], kwargs)
                if found is not None:
                    return found
            if hasattr(first, "__array__") and not isinstance(first, (np.ndarray, np.generic)):
                # NumPy returns a plain array on the memory of a tensor, whose use is not seen.
                memory = np.asarray(first)
                if recorder.place_if_known(memory) is not None:
                    args = np.ndarray.view(memory, RecordingArray), *args[1:]
                    values = (*args, *kwargs.values())
        if any(isinstance(x, (np.ndarray, np.generic)) for x in values) or any(
            True for x in arrays_in(values)
        ):
            found = recorder.call(numpys, args, kwargs)
            if type(found) is np.ndarray and recorder.place_if_known(found) is not None:
                # A constant of the library, whose methods are seen from here on.
                return np.ndarray.view(found, RecordingArray)
            return found
        for x in values:
            _like_arguments(recorder, x)
        if args and hasattr(args[0], "__array__"):
            return numpys(*args, **kwargs)
        found = numpys(*args, **kwargs)
        if isinstance(found, (tuple, list)):
            return type(found)(recorder.all_filled(found))
        if isinstance(found, np.ndarray):
            return recorder.filled(found)
        return found

    return make


def _of_number(
    recorder: Recorder, number: RecordingNumber, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """The array of a number of NumPy, on the number's memory where nothing else is."""
    dtype = args[0] if args else kwargs.get("dtype")
    if (
        len(args) > 1
        or set(kwargs) - {"dtype"}
        or (dtype is not None and np.dtype(dtype) != number.dtype)
    ):
        return None
    found = recorder.known(number)
    if found is None or found[0].taken:
        return recorder.call(np.ndarray.copy, (number,), {})
    found[0].taken = True
    array: Array = np.ndarray.view(number, RecordingArray)
    array.setflags(write=True)
    return array


def _like(name: str, numpys: Maker) -> Maker:
    def make(*args: Any, **kwargs: Any) -> Any:
        recorder = _recorder()
        found = numpys(*[stripped(x) for x in args], **{k: stripped(x) for k, x in kwargs.items()})
        if name == "empty_like":
            return recorder.created(found)
        fill = args[1] if len(args) > 1 else kwargs.get("fill_value")
        if name == "full_like" and isinstance(fill, (np.ndarray, np.generic)):
            return recorder.call(numpys, args, kwargs)
        return recorder.filled(found)

    return make


def _empty(*args: Any, **kwargs: Any) -> Any:
    return _recorder().created(np.empty(*args, **kwargs))


def _view(numpys: Maker) -> Maker:
    def make(*args: Any, **kwargs: Any) -> Any:
        recorder = _recorder()
        if isinstance(args[0], np.ndarray):
            if isinstance(args[0], RecordingNumber) or type(args[0]) is np.ndarray:
                recorder.place(args[0])
            return recorder.call(numpys, args, kwargs)
        return recorder.filled(np.array(numpys(*args, **kwargs)))

    return make


def _ndarray(
    shape: Any,
    dtype: Any = float,
    buffer: Any = None,
    offset: int = 0,
    strides: Any = None,
    order: Any = None,
) -> Any:
    recorder = _recorder()
    if buffer is None:
        return recorder.created(np.ndarray(shape, dtype, strides=strides, order=order))
    if not isinstance(buffer, np.ndarray):
        raise recorder.refuse("memory that is no array is not known", "unknown argument")
    found: Array = np.ndarray(shape, dtype, stripped(buffer), offset, strides, order)
    recorder.place(found)
    return np.ndarray.view(found, RecordingArray)


def _of_numbers(made: Any) -> Any:
    recorder = _recorder()
    if isinstance(made, (tuple, list)):
        new = [isinstance(x, np.ndarray) and recorder.place_if_known(x) is None for x in made]
        if made and all(new):
            return type(made)(recorder.all_filled(made))
        return type(made)([_of_numbers(x) for x in made])
    if not isinstance(made, np.ndarray) or recorder.place_if_known(made) is not None:
        return made
    return recorder.filled(made)


def _plain_view(array: Array) -> Array:
    found: Array = np.ndarray.view(array, np.ndarray)
    recorder = _recorder()
    if recorder.place_if_known(found) is None:
        return found
    return np.ndarray.view(found, RecordingArray)


# A function of another library calls NumPy too, which is no part of the program.
_UNRECORDED: Final = changed(makers=None, recorder=None)


class OfAnotherLibrary:
    """A function of another library, as of SciPy, which is one step of a recording.

    Numbers in its result, as LAPACK's ``info``, are scalars of NumPy: a number that the program
    asks for is then guarded.

    Attributes
    ----------
    function : callable
        The function.
    """

    __slots__ = ("function",)

    function: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    @property
    def __name__(self) -> str:
        """The function's name; LAPACK's wrappers are of no module, and say what they are first."""
        name = str(getattr(self.function, "__name__", self.function)).rpartition(" ")[2]
        module = getattr(self.function, "__module__", None)
        return f"{module or 'scipy.linalg.lapack'}.{name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Its result."""
        found = run_with(_UNRECORDED, self.function, *args, **kwargs)
        if not isinstance(found, tuple):
            return found
        return tuple([np.asarray(x)[()] if isinstance(x, (int, float)) else x for x in found])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OfAnotherLibrary) and self.function == other.function

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return f"OfAnotherLibrary({self.__name__})"


def _call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return _recorder().call(OfAnotherLibrary(function), args, kwargs)


def _refusing(name: str) -> Maker:
    def make(*args: Any, **kwargs: Any) -> Any:
        raise _recorder().refuse(f"{name} cannot be recorded", "refused function")

    return make


def _makers() -> dict[str, Maker]:
    makers: dict[str, Maker] = {}
    for name, numpys in making.NUMPYS.items():
        if name == "empty":
            makers[name] = _empty
        elif name in _FILLED:
            makers[name] = _filled(name, numpys)
        elif name in _LIKE:
            makers[name] = _like(name, numpys)
        elif name in _VIEWS:
            makers[name] = _view(numpys)
        elif name == "call":
            makers[name] = _call
        elif name == "ndarray":
            makers[name] = _ndarray
        elif name == "plain_view":
            makers[name] = _plain_view
        elif name == "of_numbers":
            makers[name] = _of_numbers
        else:
            makers[name] = _refusing(name)
    return makers


MAKERS: Final[Mapping[str, Maker]] = _makers()

_lock: Final = threading.RLock()
_count = [0]
_numpys: Final[dict[str, Maker]] = {name: getattr(np, name) for name in _USERS}


def _for_users(name: str) -> Maker:
    numpys, maker = _numpys[name], MAKERS[name]

    def make(*args: Any, **kwargs: Any) -> Any:
        if recording.recorder is None or not is_users():
            return numpys(*args, **kwargs)
        return maker(*args, **kwargs)

    make.__name__ = name
    return make


@contextmanager
def users_functions_replaced() -> Iterator[None]:
    """NumPy's creators see the user's calls of this thread."""
    try:
        with _lock:
            _count[0] += 1
            vars(np).update({name: _for_users(name) for name in _USERS})
        yield
    finally:
        with _lock:
            _count[0] -= 1
            if not _count[0]:
                vars(np).update(_numpys)
