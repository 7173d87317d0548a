"""What a differing step looked like.

The questions that the allowlist asks about it are in the files `*_situations.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.oracle.side import TensorLike
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.judging import Divergence
from vtgrad.testing.steps import Line

# Operators that change sizes and strides in place.
METADATA = frozenset("t_ transpose_ swapaxes_ squeeze_ unsqueeze_ as_strided_".split())


@dataclass(frozen=True)
class Situation:
    """A step in which the libraries differed.

    Attributes
    ----------
    step : Line
        The step.
    earlier : tuple of Line
        The steps before it.
    torch : Interpreter
        PyTorch's side after it.
    torch_error, our_error : Exception or None
        What each side raised.
    divergence : Divergence or None
        The observable that differs, when both accepted the step or both refused it.
    """

    step: Line
    earlier: tuple[Line, ...]
    torch: Interpreter
    torch_error: Exception | None
    our_error: Exception | None
    divergence: Divergence | None

    def tensors_used(self) -> list[TensorLike]:
        """PyTorch's tensors that the step names."""
        env = self.torch.names
        return [env[name] for name in sorted(self.step.uses) if env.get(name) is not None]

    def follows(self, *starts: Callable[[Line], bool]) -> bool:
        """Whether the step uses what comes from a step of each kind, one after the other.

        The first kind is met anywhere; each further one only where it uses what comes from the
        kind before it.
        """
        names: set[str] | None = None
        for begins in starts:
            names = _results(self.earlier, begins, names)
        return names is not None and bool(names & set(self.step.uses))


def _results(
    steps: tuple[Line, ...], begins: Callable[[Line], bool], among: set[str] | None
) -> set[str]:
    """The names that come from steps of a kind, which use one of some names.

    A step that defines nothing, and one in place, writes to what it uses.
    """
    found: set[str] = set()
    for step in steps:
        uses = set(step.uses)
        if uses & found or (begins(step) and (among is None or uses & among)):
            found.update(step.defs)
            if not step.defs or step.op.endswith("_"):
                found |= uses
    return found


def locations(tensor: TensorLike) -> list[int]:
    """The address of every element."""
    found = [int(tensor.data_ptr())] if tensor.numel() else []
    item = int(tensor.element_size())
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        found = [offset + k * stride * item for offset in found for k in range(size)]
    return found


def overlaps_itself(tensor: TensorLike) -> bool:
    """Whether two elements of the tensor are one memory location."""
    found = locations(tensor)
    return len(set(found)) < len(found)
