"""Which arrays the modules of the library keep: run as a program, in a process of its own."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import sys
import types

import numpy as np

import vtgrad as vt
import vtgrad.numpy as vnp
from vtgrad.storage.lasting_arrays import lasting_arrays

# They compute on nothing of a program, or are programs themselves.
_BESIDE = ("vtgrad.codegen", "vtgrad.demo", "vtgrad.testing")


def _modules() -> list[types.ModuleType]:
    """All modules of the library that can be imported here."""
    for found in pkgutil.walk_packages(vt.__path__, "vtgrad."):
        if not found.name.startswith(_BESIDE):
            try:
                importlib.import_module(found.name)
            except ImportError:
                continue  # It needs an extra.
    return [module for name, module in sys.modules.items() if name.split(".")[0] == "vtgrad"]


def _use() -> None:
    """Fill the caches."""
    x = vt.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=vt.float64, requires_grad=True)
    y = (x * 2.5 + 3).t() ** 2
    (vt.lgamma(y) + vt.erfinv(x / 10) + vt.erf(x) * vt.erfc(x) + vt.i0(x)).sum().backward()
    vt.igamma(x.detach(), y.detach())
    vt.linalg.cross(vt.ones(3), vt.ones(3))
    vt.lgamma(vt.ones(2, dtype=vt.float32)).mul_(0.5)
    values = vnp.asarray(x)
    values[[0, 1], [1, 0]] + values[values > 2].sum()


def kept() -> dict[int, str]:
    """The arrays that can be reached from a module, by `id`, and how."""
    found: dict[int, str] = {}
    # The objects stay here, so that no other gets the number of one.
    seen: dict[int, object] = {}
    modules = _modules()
    _use()
    todo: list[tuple[object, str]] = [
        (vars(module), module.__name__)
        for module in modules
        if not module.__name__.startswith(_BESIDE)
    ]
    while todo:
        thing, path = todo.pop()
        if id(thing) in seen:
            continue
        seen[id(thing)] = thing
        if isinstance(thing, np.ndarray):
            found[id(thing)] = path
        elif isinstance(thing, dict):
            if "__spec__" not in thing or path == thing.get("__name__"):
                todo += [(key, path) for key in thing]
                todo += [(value, f"{path} {key}") for key, value in thing.items()]
        elif not _is_of_others(thing):
            todo += [(part, path) for part in gc.get_referents(thing)]
    return found


def _is_of_others(thing: object) -> bool:
    """Whether it is a module, or a class, a function or a generator of NumPy's or Python's."""
    if isinstance(thing, (types.ModuleType, np.random.RandomState)):
        return True
    owner = getattr(thing, "__module__", None)
    made = isinstance(thing, (type, types.FunctionType))
    return made and not str(owner).startswith("vtgrad")


if __name__ == "__main__":
    all_kept = kept()
    known = {id(array) for array in lasting_arrays()}
    unknown = [path for number, path in all_kept.items() if number not in known]
    print(len(known), *sorted(unknown), sep="\n")
