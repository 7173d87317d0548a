"""What programs about names are written with. They run in this library and in PyTorch."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["prelude", "said"]


def prelude(torch: ModuleType | Any) -> dict[str, Any]:
    """The names that a program uses, for one library."""

    def z(*sizes: Any, names: Any = None) -> Any:
        return torch.zeros(*sizes, names=names)

    def t(shape: tuple[int, ...], dtype: str, names: str = "") -> Any:
        """A tensor of ones, zeros of integers; a letter for each dimension, ``_`` for none."""
        kind = getattr(torch, dtype)
        make = torch.zeros if dtype.startswith(("int", "uint")) else torch.ones
        x = make(shape, dtype=kind)
        return x.rename_(*[None if name == "_" else name for name in names]) if names else x

    def ip(x: Any, change: Callable[[Any], object]) -> Any:
        change(x)
        return x

    def store(x: Any, index: Any, value: Any) -> Any:
        x[index] = value
        return x

    return {
        "torch": torch,
        "z": z,
        "t": t,
        "ip": ip,
        "si": store,
        "NC": lambda: z(2, 3, names=("N", "C")),
        "N_": lambda: z(2, 3, names=("N", None)),
        "U": lambda: z(2, 3),
        "M": lambda: z(3, 3, names=("A", "B")),
        "X": lambda *names: z(*[2 + i for i in range(len(names))], names=names),
    }


def said(result: Any, tensor: type) -> Any:
    """The names of what a program gives, or what else it gives."""
    if isinstance(result, tensor):
        return list(result.names)  # type: ignore[attr-defined]  # a tensor of either library
    if isinstance(result, (tuple, list)):
        return [said(one, tensor) for one in result]
    return result if isinstance(result, (bool, int, float, str)) else str(type(result).__name__)
