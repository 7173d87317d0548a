"""The modules of adopted code: where they are found, and what they import.

Note [Copies of modules]

A copy of the module ``pkg.part`` is a module with the name ``_vtgrad_adopted_1_pkg.part``. Python's
own import machinery loads it, since a finder in `sys.meta_path` knows such names: locks, circular
imports and what is removed after an error are Python's. `sys.modules` has it, where dataclasses,
pickle and circular imports look for a module by its name. Nothing of it has the module's real name,
so that other users of the real module, on any thread, see nothing.

Its globals have ``__builtins__`` of their own, whose ``__import__`` gives

- copies of the modules of its own package and of those of ``also=``;
- the namespace for `numpy`, recorded functions for `math` and `scipy.special`;
- a `sys` of its own: a package that assigns ``sys.modules["pkg.part"]`` must reach the copy. For
  the same reason `importlib.import_module` is its own.

A copy is an attribute of its package before its source is executed: ``import pkg.part as part`` in
a circle looks there first.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, ModuleSpec, PathFinder
from importlib.readers import NamespaceReader
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from vtgrad.errors import NotSupportedError
from vtgrad.numpy.adopted_calls import entries
from vtgrad.numpy.adopted_math import make_math
from vtgrad.numpy.adopted_numbers import CALLS, METHODS, matched
from vtgrad.numpy.adopted_numpy import NumpyParts
from vtgrad.numpy.adopted_source import PREFIX, compiled
from vtgrad.numpy.adopted_special import make_special
from vtgrad.numpy.adopted_sys import Modules, Stand, is_private, parts_of_private

__all__ = ["Adoption"]

_numbers: Final = count(1)
_adoptions: Final[dict[str, Adoption]] = {}


class Adoption:
    """A set of modules that are copied together.

    Parameters
    ----------
    packages : set of str
        The packages, and modules outside of packages, that are copied when they are imported.
    without : sequence of str
        Modules that cannot be imported.
    rewind : bool
        Whether calls run under rewind.
    """

    prefix: str
    packages: frozenset[str]
    target: str
    without: Sequence[str]
    numpy: NumpyParts
    builtins: dict[str, Any]
    replaced: dict[str, ModuleType]
    modules: Modules

    def __init__(self, packages: frozenset[str], without: Sequence[str], rewind: bool) -> None:
        self.prefix = f"_vtgrad_adopted_{next(_numbers)}_"
        self.packages = packages
        self.without = without
        self.numpy = NumpyParts()
        self.replaced = {
            "math": make_math(),
            "importlib": Stand(importlib, import_module=self.import_module),
        }
        self.modules = Modules(self.prefix, packages, self.numpy.part, self.replaced)
        self.replaced["sys"] = Stand(sys, modules=self.modules)
        self.builtins = vars(builtins) | {"__import__": self.import_}
        methods = {f".{name}": x for name, x in METHODS.items()}
        helpers = entries(rewind) | CALLS | methods | {"matched": matched}
        self.builtins |= {PREFIX + name: helper for name, helper in helpers.items()}

    def load(self, name: str) -> ModuleType:
        """The copy of a module.

        Raises
        ------
        Exception
            What the source of a module raises. No copy is left then.
        """
        _adoptions[self.prefix] = self
        self.target = name
        if _FINDER not in sys.meta_path:
            sys.meta_path.insert(0, _FINDER)
        try:
            return importlib.import_module(self.prefix + name)
        except BaseException:
            for private in [x for x in list(sys.modules) if x.startswith(self.prefix)]:
                sys.modules.pop(private, None)
            _adoptions.pop(self.prefix, None)
            raise

    # -- what adopted code imports ---------------------------------------------------------------

    def import_(
        self,
        name: str,
        globals: dict[str, Any] | None = None,
        locals: dict[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        """The function ``__import__`` of adopted code."""
        if level:
            # The name of the copy is part of the name.
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        self.check(name)
        top = name.partition(".")[0]
        if top in self.packages:
            return builtins.__import__(self.prefix + name, globals, locals, fromlist or (), 0)
        if top == "numpy":
            part = self.numpy.part(name)
            return part if fromlist else self.numpy.part("numpy")
        if name in self.modules.own:
            return self.modules.own[name] if fromlist else self.import_module(top)
        for part_name in fromlist or ():
            if self.refuses(f"{name}.{part_name}"):
                raise ImportError(f"cannot import name {part_name!r} from {name!r}", name=name)
        if name in self.replaced and (fromlist or name == top):
            return self.replaced[name]
        found = builtins.__import__(name, globals, locals, fromlist or (), 0)
        self.replace_special(top)
        return self.replaced.get(name if fromlist else top, found)

    def replace_special(self, package: str) -> None:
        """Make `scipy.special` a module that records, once the code has imported SciPy."""
        if package != "scipy" or "scipy" in self.replaced or self.refuses("scipy.special"):
            return
        special = importlib.import_module("scipy.special")
        whole, recorded = make_special(sys.modules["scipy"], special)
        self.replaced["scipy.special"] = recorded
        self.replaced["scipy"] = whole

    def import_module(self, name: str, package: str | None = None) -> Any:
        """The function `importlib.import_module` of adopted code."""
        if name.startswith("."):
            name = importlib.util.resolve_name(name, package)
        if is_private(name):
            return importlib.import_module(name)
        self.check(name)
        top = name.partition(".")[0]
        if top in self.packages:
            return importlib.import_module(self.prefix + name)
        if top == "numpy":
            return self.numpy.part(name)
        found = self.modules.own.get(name) or self.replaced.get(name)
        if found is not None:
            return found
        real = importlib.import_module(name)
        self.replace_special(top)
        return self.replaced.get(name, real)

    def refuses(self, name: str) -> bool:
        """Whether a module is one of ``without=``, or a part of one."""
        return any(name == x or name.startswith(f"{x}.") for x in self.without)

    def check(self, name: str, private: str | None = None) -> None:
        """Raise the error of a module that is not there, for one of ``without=``."""
        if self.refuses(name):
            raise ModuleNotFoundError(f"No module named {name!r}", name=private or name)

    # -- where copies are found ------------------------------------------------------------------

    def find(self, name: str, path: Sequence[str] | None) -> ModuleSpec:
        """How to load the copy of a module.

        Parameters
        ----------
        name : str
            The real name.
        path : sequence of str, optional
            Where the copy of its package says that its parts are.

        Raises
        ------
        ModuleNotFoundError
            If there is no such module.
        """
        private = self.prefix + name
        self.check(name, private)
        # Where folders without an ``__init__`` are, Python asks their package, which is a copy.
        real = None if path is None else PathFinder.find_spec(private, path)
        if real is None:
            real = _real_spec(name, path)
        if real is not None and _is_in_c(real):
            # What was compiled from Python has its source beside it.
            source = Path(real.origin or "").with_name(f"{name.rpartition('.')[2]}.py")
            if source.exists():
                real = importlib.util.spec_from_file_location(private, source)
        if real is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=private)
        spec = ModuleSpec(private, _Loader(self, name, real), origin=real.origin)
        spec.has_location = real.has_location
        if real.submodule_search_locations is not None:
            spec.submodule_search_locations = list(real.submodule_search_locations)
        return spec


def _real_spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """How Python would load the real module, without loading it."""
    for finder in sys.meta_path:
        if finder is not _FINDER and name != "__main__":
            spec = finder.find_spec(name, path)
            if spec is not None:
                return spec
    # The program itself, or a module that another program has loaded in its own way.
    real = sys.modules.get(name)
    spec = getattr(real, "__spec__", None)
    file = getattr(real, "__file__", None)
    if spec is None and file is not None:
        spec = importlib.util.spec_from_file_location(name, file)
    return spec


def _is_in_c(spec: ModuleSpec) -> bool:
    return (spec.origin or "").endswith(tuple(EXTENSION_SUFFIXES))


class _Finder:
    """The finder of copies, in `sys.meta_path`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """How to load a module, if its name is that of a copy."""
        parts = parts_of_private(fullname)
        if parts is None or parts[0] not in _adoptions:
            return None
        return _adoptions[parts[0]].find(parts[1], path)


_FINDER: Final[Any] = _Finder()


class _Loader(Loader):
    """Executes the source of a module anew.

    Parameters
    ----------
    adoption : Adoption
        What the copy belongs to.
    name : str
        The real name.
    real : ModuleSpec
        How the real module would be loaded.
    """

    def __init__(self, adoption: Adoption, name: str, real: ModuleSpec) -> None:
        self.adoption = adoption
        self.name = name
        self.real = real

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """A module as Python makes it."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Execute the source in the copy."""
        private = module.__name__
        in_c = _is_in_c(self.real)
        if in_c and self.name != self.adoption.target:
            # It is shared.
            sys.modules[private] = importlib.import_module(self.name)
            return
        module.__dict__["__builtins__"] = self.adoption.builtins
        code = None
        if self.real.loader is not None:
            source = None if in_c else self.get_source(private)
            if source is None:
                raise NotSupportedError(
                    f"the module {self.name} has no source in Python, which adopt() executes anew",
                    module=self.name,
                )
            code = compiled(source, self.real.origin or f"<{self.name}>")
        parent_name, _, child = private.rpartition(".")
        parent = vars(sys.modules[parent_name]) if parent_name else {}
        missing = object()
        before = parent.get(child, missing)
        parent[child] = module
        try:
            if code is not None:
                exec(code, module.__dict__)
        except BaseException:
            if parent.get(child) is module:
                del parent[child]
                if before is not missing:
                    parent[child] = before
            raise

    # What tools and `importlib.resources` ask.

    def get_source(self, fullname: str) -> str | None:
        """The source as it was written."""
        read = getattr(self.real.loader, "get_source", None)
        found: str | None = None if read is None else read(self.real.name)
        if found is None and (self.real.origin or "").endswith(tuple(SOURCE_SUFFIXES)):
            # A loader of another tool, as that of pytest.
            found = importlib.util.decode_source(Path(self.real.origin or "").read_bytes())
        return found

    def is_package(self, fullname: str) -> bool:
        """Whether it has parts."""
        return self.real.submodule_search_locations is not None

    def get_data(self, path: str) -> bytes:
        """The bytes of a file of the package."""
        loader: Any = self.real.loader
        data: bytes = loader.get_data(path)
        return data

    def get_resource_reader(self, fullname: str) -> Any:
        """What reads the files of the package."""
        if self.real.loader is None:
            return NamespaceReader(self.real.submodule_search_locations or ())
        read = getattr(self.real.loader, "get_resource_reader", None)
        return None if read is None else read(self.real.name)
