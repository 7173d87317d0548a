"""The two libraries as sides of the comparison, under each way to keep saved values."""

import atexit
import importlib
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import cache, partial
from types import ModuleType
from typing import Any

from tests.oracle.kinds import kind_of
from tests.oracle.prelude import PRELUDE
from vtgrad.autograd.graph import (
    allow_mutation_on_saved_tensors,
    save_to_disk,
    set_audit,
    set_overwrite_check,
)
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.libraries import Library
from vtgrad.testing.model import Manners

__all__ = ["TensorLike", "log_of", "opaque_of", "side"]

# The two libraries are driven through text and compared by attribute names, so their objects are
# dynamic here on purpose.
TensorLike = Any


def side(name: str, saving: str = "storage", audit: bool = False) -> Library:
    """A library as one side of the comparison.

    Parameters
    ----------
    name : str
        Importable by this name.
    saving : str
        What becomes of a value that is saved for backward and overwritten. ``"storage"``: PyTorch's
        own rule, which vtgrad is run under wherever it is compared with PyTorch as it is.
        ``"elements"``: vtgrad's exact rule. ``"rewind"``: vtgrad goes back to what was overwritten.
        ``"clones"``: every value is cloned when it is saved, in either library, and no write can
        be refused. In vtgrad also ``"disk"``: it is written to a file, and ``"itself"`` and
        ``"detached"``: hooks keep the tensor, or an alias of it, under the exact rule.
    audit : bool
        Whether vtgrad looks for writes that no counter sees.
    """
    return _side(importlib.import_module(name), saving, audit)


def _unchanged(value: TensorLike) -> TensorLike:
    return value


def _clone(value: TensorLike) -> TensorLike:
    return value.detach().clone()


#: What hooks keep.
_PACKED: dict[str, Callable[[TensorLike], TensorLike]] = {
    "clones": _clone,
    "itself": _unchanged,
    "detached": lambda value: value.detach(),
}


@cache
def _folder() -> str:
    """A folder that is removed when the process ends."""
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    return folder.name


@cache
def _side(module: ModuleType, saving: str, audit: bool) -> Library:
    is_torch = module.__name__ == "torch"
    if is_torch:
        # Tensors here are tiny, and several processes may run the comparison at once.
        module.set_num_threads(1)
    # Made once for each side: PyTorch never frees a Function's class.
    helpers: dict[str, Any] = {"vt": module}
    for part in PRELUDE:
        exec(part, helpers)

    def names() -> dict[str, object]:
        # Where the helpers record from now on what they see.
        helpers["OPAQUE"], helpers["seen"] = [], []
        return dict(helpers)

    return Library(
        module.__name__,
        module,
        kind_of,
        Manners(exact=saving != "storage"),
        careful=is_torch,
        names=names,
        prelude=PRELUDE,
        around=_rule(module, saving, audit),
    )


def _rule(
    module: ModuleType, saving: str, audit: bool
) -> Callable[[], AbstractContextManager[object]]:
    """What every step of a side runs in."""
    hooks: Callable[..., AbstractContextManager[object]]
    hooks = module.autograd.graph.saved_tensors_hooks
    if module.__name__ != "vtgrad":
        return partial(hooks, _clone, _unchanged) if saving == "clones" else nullcontext

    def rule() -> AbstractContextManager[object]:
        together = ExitStack()
        together.enter_context(
            set_overwrite_check("storage" if saving == "storage" else "elements")
        )
        if saving in _PACKED:
            together.enter_context(hooks(_PACKED[saving], _unchanged))
        if saving == "disk":
            together.enter_context(save_to_disk(_folder()))
        if saving == "rewind":
            together.enter_context(allow_mutation_on_saved_tensors())
        if audit:
            together.enter_context(set_audit(True))
        return together

    return rule


def log_of(interpreter: Interpreter, since: int) -> list[Any]:
    """What hooks recorded, in order, without the first `since` records."""
    return [
        (name, value.tolist() if isinstance(value, interpreter.library.module.Tensor) else value)
        for name, value in interpreter.names["seen"][since:]
    ]


def opaque_of(interpreter: Interpreter) -> list[Any]:
    """Graph nodes made by differentiating: their shape is each library's own affair."""
    nodes: list[Any] = interpreter.names.get("OPAQUE", [])
    return nodes
