"""One side of the comparison: a library, the program's variables, and what its hooks saw."""

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from types import CodeType, ModuleType
from typing import Any

from tests.oracle.functions import FUNCTIONS
from tests.oracle.program import PREAMBLE, Step
from vtgrad.autograd.graph import (
    allow_mutation_on_saved_tensors,
    set_audit,
    set_overwrite_check,
)

# The two libraries are driven through text and compared by attribute names, so their objects are
# dynamic here on purpose.
TensorLike = Any

_CODE: dict[str, CodeType] = {}


def compiled(source: str) -> CodeType:
    """Compile a step once for both sides."""
    code = _CODE.get(source)
    if code is None:
        if len(_CODE) > 20_000:
            _CODE.clear()
        code = _CODE[source] = compile(source, "<step>", "exec")
    return code


_HELPERS: dict[tuple[ModuleType, str, bool], dict[str, Any]] = {}


def helpers(library: ModuleType, saving: str, audit: bool) -> dict[str, Any]:
    """What programs call, made once for each side: PyTorch never frees a Function's class."""
    made = _HELPERS.get((library, saving, audit))
    if made is None:
        made = _HELPERS[library, saving, audit] = {"L": library}
        exec(compiled(PREAMBLE), made)
        exec(compiled(FUNCTIONS), made)
    # Where they record from now on what they see.
    made["OPAQUE"], made["LOG"] = [], []
    return made


class World:
    """Runs steps against one library and holds the program's state.

    Parameters
    ----------
    library : str
        Importable by this name.
    saving : str
        What becomes of a value that is saved for backward and overwritten. ``"storage"``: PyTorch's
        own rule, which vtgrad is run under wherever it is compared with PyTorch as it is.
        ``"elements"``: vtgrad's exact rule. ``"rewind"``: vtgrad goes back to what was overwritten.
        ``"clones"``: every value is cloned when it is saved, in PyTorch, and no write can be
        refused.
    audit : bool
        Whether vtgrad looks for writes that no counter sees.
    """

    lib: ModuleType
    env: dict[str, Any]
    previous_grads: dict[str, TensorLike]
    saving: str
    audit: bool

    def __init__(self, library: str, saving: str = "storage", audit: bool = False) -> None:
        self.lib = importlib.import_module(library)
        self.saving = saving
        self.audit = audit
        if library == "torch":
            # Tensors here are tiny, and several processes may run the comparison at once.
            self.lib.set_num_threads(1)
        self.env = dict(helpers(self.lib, saving, audit))
        self.previous_grads = {}

    @property
    def log(self) -> list[Any]:
        """What hooks recorded, in order."""
        entries: list[Any] = self.env["LOG"]
        return entries

    @property
    def opaque(self) -> list[Any]:
        """Graph nodes made by differentiating: their shape is each library's own affair."""
        nodes: list[Any] = self.env["OPAQUE"]
        return nodes

    def run(self, step: Step) -> Exception | None:
        """Execute one step; the exception that it raised, or None."""
        try:
            with self._rule():
                exec(compiled(step.source), self.env)
        except Exception as error:
            error.__traceback__ = None
            error.__context__ = None
            return error
        return None

    def _rule(self) -> AbstractContextManager[object]:
        """The rule for saved values, while a step runs."""
        if self.saving == "clones":
            hooks: Callable[..., AbstractContextManager[object]]
            hooks = self.lib.autograd.graph.saved_tensors_hooks
            return hooks(lambda saved: saved.detach().clone(), lambda kept: kept)
        if self.lib.__name__ != "vtgrad":
            return nullcontext()
        rule = ExitStack()
        rule.enter_context(
            set_overwrite_check("storage" if self.saving == "storage" else "elements")
        )
        if self.saving == "rewind":
            rule.enter_context(allow_mutation_on_saved_tensors())
        if self.audit:
            rule.enter_context(set_audit(True))
        return rule

    def variables(self) -> dict[str, Any]:
        """Everything that the program has bound, by name, oldest first."""
        return {
            name: value
            for name, value in self.env.items()
            if name[0] == "t" and name[1:].isdigit() and value is not None
        }

    def tensors(self) -> dict[str, TensorLike]:
        """The program's live tensors by name, oldest first."""
        cls: type = self.lib.Tensor
        return {name: value for name, value in self.variables().items() if isinstance(value, cls)}
