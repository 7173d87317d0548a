"""Every public name, with the topic that its entry stands under.

The topic of a function is the module that defines it, so that a new operator appears in the
reference under the family of its table, and nothing has to be listed by hand.
"""

import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec

import vtgrad as vt
from vtgrad.later import METHODS

__all__ = [
    "MODULES",
    "Entry",
    "all_entries",
    "is_error_of_another",
    "public_names",
    "tensor_members",
]

# What users import; a module that a version does not have is left out.
MODULES = tuple(
    name
    for name in (
        "vtgrad",
        "vtgrad.fft",
        "vtgrad.linalg",
        "vtgrad.nn",
        "vtgrad.nn.functional",
        "vtgrad.autograd",
        "vtgrad.autograd.forward_ad",
        "vtgrad.autograd.functional",
        "vtgrad.func",
        "vtgrad.autograd.graph",
        "vtgrad.autograd.function",
        "vtgrad.autograd.profiler",
        "vtgrad.profiler",
        "vtgrad.random",
        "vtgrad.distributed",
        "vtgrad.interpolate",
        "vtgrad.jit",
        "vtgrad.optim",
        "vtgrad.overrides",
        "vtgrad.return_types",
        "vtgrad.signal",
        "vtgrad.special",
        "vtgrad.utils",
        "vtgrad.viz",
        "vtgrad.utils.checkpoint",
        "vtgrad.utils.pytree",
        "vtgrad.testing.checking",
        "vtgrad.testing.strategies",
        "vtgrad.errors",
    )
    if find_spec(name) is not None
)

# Modules beside the operators that belong to a topic with another name.
_TOPIC_OF_MODULE = {
    "arguments": "overrides",
    "complex_transforms": "fft",
    "convolution": "sampled_functions",
    "convolutions": "signal",
    "covariances": "statistics",
    "cubic_spline": "interpolate",
    "disable": "overrides",
    "dispatch": "overrides",
    "distances": "linalg",
    "frequencies": "fft",
    "function_mode": "overrides",
    "hermitian_transforms": "fft",
    "lfilter": "signal",
    "real_transforms": "fft",
    "shifts": "fft",
    "short_time": "fft",
    "windows": "fft",
    "wrap": "overrides",
    "from_data": "creation",
    "from_memory": "creation",
    "file_reader": "files",
    "file_writer": "files",
    "gradients_of_samples": "sampled_functions",
    "histograms": "statistics",
    "integrals": "sampled_functions",
    "interp1d": "interpolate",
    "interpolation": "sampled_functions",
    "logspace": "creation",
    "msort": "sorting",
    "multinomial": "random",
    "names": "overrides",
    "nonzero_static": "indexing",
    "padding": "structure",
    "print_options": "files",
    "quantiles": "statistics",
    "ranges": "creation",
    "reflections": "linalg",
    "older_names": "linalg",
    "generator": "random",
    "vmap": "func",
    "sampling": "random",
    "searching": "sorting",
    "triangle_indices": "creation",
    "uniques": "sorting",
    "unravel_index": "indexing",
    "size": "shapes",
    "dtype_info": "dtypes",
    "memory_format": "dtypes",
    "device": "dtypes",
    "tensor_types": "dtypes",
    "typed_storage": "memory",
    "untyped_storage": "memory",
    "grad_mode": "modes",
    "anomaly_mode": "autograd",
    "recording": "modes",
    "inference_tensors": "modes",
    "recent_writes": "writes",
    "written_elements": "writes",
}
# What these modules define stands together, wherever the library keeps it.
_TOPIC_OF_PUBLIC_MODULE = {
    "vtgrad.distributed": "distributed",
    "vtgrad.jit": "jit",
    "vtgrad.linalg": "linalg",
    "vtgrad.nn.functional": "layers",
    "vtgrad.optim": "optim",
    "vtgrad.autograd": "autograd",
    "vtgrad.autograd.forward_ad": "forward_ad",
    "vtgrad.autograd.functional": "functional",
    "vtgrad.func": "func",
    "vtgrad.autograd.graph": "graph",
    "vtgrad.autograd.function": "functions",
    "vtgrad.autograd.profiler": "profiler",
    "vtgrad.profiler": "profiler",
    "vtgrad.random": "random",
    "vtgrad.return_types": "types",
    "vtgrad.special": "special",
    "vtgrad.utils": "utils",
    "vtgrad.viz": "viz",
    "vtgrad.utils.checkpoint": "checkpoint",
    "vtgrad.utils.pytree": "pytree",
    "vtgrad.testing.checking": "testing",
    "vtgrad.testing.strategies": "testing",
    "vtgrad.errors": "errors",
}


@dataclass
class Entry:
    """One entry of the reference: a thing, and every public name of it."""

    name: str
    thing: object
    topic: str
    kind: str
    also: list[str] = field(default_factory=list)
    """Other names of the same thing."""
    methods: list[str] = field(default_factory=list)
    """Members of `Tensor` that do the same to the tensor itself."""
    inplace: list[str] = field(default_factory=list)
    """Names, of functions or members of `Tensor`, that write the result into the tensor."""

    @property
    def names(self) -> list[str]:
        """Every name that the entry is found by."""
        return [self.name, *self.also, *self.methods, *self.inplace]


def public_names(module: types.ModuleType) -> list[str]:
    """What a module gives to users, modules left out."""
    listed = getattr(module, "__all__", None) or [n for n in dir(module) if n[0] != "_"]
    return [
        name
        for name in sorted(listed)
        if not isinstance(thing := getattr(module, name), types.ModuleType)
        and not is_error_of_another(module, thing)
        and getattr(thing, "__module__", "vtgrad").split(".")[0] == "vtgrad"
        and type(thing).__module__ not in ("__future__", "typing")
    ]


def is_error_of_another(module: types.ModuleType, thing: object) -> bool:
    """Whether an exception is also found here; its entry is that of `vtgrad.errors`."""
    is_error = isinstance(thing, type) and issubclass(thing, vt.errors.VtgradError)
    return is_error and module is not vt.errors


def tensor_members() -> list[str]:
    """Attributes and methods of a tensor, those for operators of Python left out."""
    return [name for name in dir(vt.Tensor) if name[0] != "_"]


def member(name: str) -> object:
    """A member of `Tensor` as its class holds it: a property is one."""
    if name in METHODS:
        return getattr(vt.Tensor, name)
    return inspect.getattr_static(vt.Tensor, name)


def all_entries() -> list[Entry]:
    """The whole reference, in the order of names."""
    entries: dict[str, Entry] = {}
    by_thing: dict[int, Entry] = {}
    for module_name in MODULES:
        module = import_module(module_name)
        for name in public_names(module):
            _add(entries, by_thing, module_name, name, getattr(module, name))
    for entry in list(entries.values()):
        _choose_name(entries, entry)
    for name in tensor_members():
        _add_member(entries, by_thing, name)
    return sorted(entries.values(), key=lambda entry: entry.name.lower())


def _add(
    entries: dict[str, Entry],
    by_thing: dict[int, Entry],
    module: str,
    name: str,
    thing: object,
) -> None:
    full = f"{module}.{name}"
    known = by_thing.get(id(thing)) if _may_have_other_names(thing) else None
    outside = entries.get(f"vtgrad.{name[:-1]}") if name.endswith("_") else None
    if known is not None:
        writes = name.endswith("_") and not known.name.endswith("_")
        (known.inplace if writes else known.also).append(full)
    elif outside is not None and callable(thing):
        outside.inplace.append(full)
        by_thing[id(thing)] = outside
        return
    else:
        known = Entry(full, thing, _topic(module, thing), _kind(thing))
        entries[full] = known
        by_thing[id(thing)] = known


def _choose_name(entries: dict[str, Entry], entry: Entry) -> None:
    """Let the entry stand under the name that the thing gives itself, the others are aliases."""
    own = getattr(entry.thing, "__name__", None) or repr(entry.thing)
    for other in entry.also:
        if other == own or other == f"vtgrad.{own}":
            del entries[entry.name]
            entry.also[entry.also.index(other)] = entry.name
            entry.also.sort()
            entry.name = other
            entries[other] = entry
            return


def _may_have_other_names(thing: object) -> bool:
    return callable(thing) or getattr(type(thing), "__module__", "").startswith("vtgrad")


def _add_member(entries: dict[str, Entry], by_thing: dict[int, Entry], name: str) -> None:
    full = f"vtgrad.Tensor.{name}"
    thing = member(name)
    same = entries.get(f"vtgrad.{name}")
    if name.endswith("_") and same is None:
        same = _by_any_name(entries, f"vtgrad.{name}")
        if same is None and hasattr(vt.Tensor, name[:-1]):
            same = _by_any_name(entries, f"vtgrad.{name[:-1]}")
        if same is not None:
            same.inplace.append(full)
            return
    if same is None:
        same = _by_any_name(entries, f"vtgrad.{name}")
    if same is not None and same.kind == "function":
        same.methods.append(full)
        return
    known = by_thing.get(id(thing))
    if known is not None and callable(thing):
        known.also.append(full)
        return
    kind = "property" if isinstance(thing, property) else "method"
    entries[full] = Entry(full, thing, _topic_of_member(name, thing), kind)
    by_thing[id(thing)] = entries[full]


def _by_any_name(entries: dict[str, Entry], name: str) -> Entry | None:
    return next((entry for entry in entries.values() if name in entry.names), None)


def _kind(thing: object) -> str:
    if inspect.isclass(thing):
        return "exception" if issubclass(thing, BaseException) else "class"
    return "function" if callable(thing) else "data"


def _topic(module: str, thing: object) -> str:
    if module in _TOPIC_OF_PUBLIC_MODULE:
        return _TOPIC_OF_PUBLIC_MODULE[module]
    if thing is vt.Tensor:
        return "tensor"
    home = getattr(thing, "__module__", None) or type(thing).__module__
    return _topic_of_home(home) or "constants"


def _topic_of_home(home: str) -> str | None:
    parts = home.split(".")
    if parts[0] != "vtgrad":
        return None
    if parts[1] == "ops":
        return parts[3]
    return _TOPIC_OF_MODULE.get(parts[-1], parts[-1])


def _topic_of_member(name: str, thing: object) -> str:
    function = thing.fget if isinstance(thing, property) else thing
    home = getattr(function, "__module__", "")
    return (_topic_of_home(home) or "tensor") if ".ops." in home else "tensor"


def operators_of_python() -> Iterator[tuple[str, Callable[..., object]]]:
    """The special methods that vtgrad's own classes give to a tensor, for use in programs."""
    for name in sorted(dir(vt.Tensor)):
        thing = member(name)
        hidden = name in ("__init__", "__getstate__", "__setstate__")
        if name.startswith("__") and callable(thing) and not hidden:
            if (getattr(thing, "__module__", None) or "").startswith("vtgrad"):
                yield name, thing
