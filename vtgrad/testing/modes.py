"""Modes of a library, which an operator of the user's must leave as it has found them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final

import numpy as np

from vtgrad.engine.current_graph_task import running
from vtgrad.graph.packing import packing
from vtgrad.storage.mode import switched
from vtgrad.storage.thread_mode import settle, thread
from vtgrad.testing.libraries import Library

__all__ = ["RANDOM", "changed", "modes_kept", "modes_of", "restore"]

#: Moved by what draws random numbers, as an operator may do that says so.
RANDOM: Final = "the state of the default generator"

# Modes that both libraries have, by the expression that gives one; and how one is set.
_COMMON: Final[Mapping[str, Callable[[ModuleType, Any], object]]] = {
    "vt.is_grad_enabled()": lambda vt, value: vt.set_grad_enabled(value),
    "vt.is_inference_mode_enabled()": lambda vt, value: None,  # see `_OWN`
    "vt.is_anomaly_enabled()": lambda vt, value: vt.autograd.set_detect_anomaly(value),
    "vt.get_default_dtype()": lambda vt, value: vt.set_default_dtype(value),
}
# Compiled once: they are evaluated before and after each step.
_EXPRESSIONS: Final = {text: compile(text, "<mode>", "eval") for text in _COMMON}


def _set_mode(value: Any) -> None:
    ident = thread.ident
    thread.mode = switched.silent[ident] = switched.inference[ident] = value
    settle(ident)


def _set_excluded(value: Any) -> None:
    thread.excluded_keys = value


def _set_pair(value: Any) -> None:
    packing.pair = value


def _set_disabled(value: Any) -> None:
    packing.disabled = value


def _set_multithreading(value: Any) -> None:
    running.multithreading = value


# Modes of vtgrad that have no expression, or whose setter does not set all.
_OWN: Final[Mapping[str, tuple[Callable[[], object], Callable[[Any], None]]]] = {
    "the grad mode of the thread": (lambda: thread.mode, _set_mode),
    "forward mode, off or on": (lambda: thread.excluded_keys, _set_excluded),
    "the hooks of saved values": (lambda: packing.pair, _set_pair),
    "whether such hooks are refused": (lambda: packing.disabled, _set_disabled),
    "whether backward may use threads": (lambda: running.multithreading, _set_multithreading),
}
# The error state of NumPy, in which an operator computes.
_NUMPY: Final = "np.geterr()"


def modes_of(library: Library, *, random: bool = False) -> dict[str, object]:
    """The modes of this thread, by expression or in words.

    Parameters
    ----------
    random : bool
        Whether to look at the default generator too.
    """
    names = {"vt": library.module}
    found: dict[str, object] = {text: eval(code, names) for text, code in _EXPRESSIONS.items()}
    found[_NUMPY] = np.geterr()
    if library.name == "vtgrad":
        found.update((name, read()) for name, (read, _) in _OWN.items())
    if random:
        found[RANDOM] = library.module.get_rng_state().tolist()
    return found


def restore(library: Library, modes: Mapping[str, Any]) -> None:
    """Set modes as they were; those of the generator stay."""
    for name, value in modes.items():
        if name in _COMMON:
            _COMMON[name](library.module, value)
        elif name in _OWN:
            _OWN[name][1](value)
        elif name == _NUMPY:
            np.seterr(**value)


def changed(
    before: Mapping[str, object], after: Mapping[str, object]
) -> dict[str, tuple[object, object]]:
    """The modes that differ, each with its value before and after."""
    return {
        name: (value, after[name]) for name, value in before.items() if value != after.get(name)
    }


@contextmanager
def modes_kept(library: Library) -> Iterator[None]:
    """A block after which the modes are as before, whatever ran in it."""
    before = modes_of(library)
    try:
        yield
    finally:
        if changed(before, modes_of(library)):
            restore(library, before)
