"""The kind of an error: vtgrad's errors say theirs, PyTorch's are told by their messages."""

import builtins

from vtgrad.testing.torch_errors import told_kind


def builtin_of(error: Exception) -> str:
    """The built-in exception that a user would catch, such as ``RuntimeError``."""
    for cls in type(error).__mro__:
        if getattr(builtins, cls.__name__, None) is cls:
            return cls.__name__
    return "Exception"


def kind_of(error: Exception) -> str | None:
    """The kind, or None where PyTorch's message has none of its own."""
    kind: str | None = getattr(error, "kind", None)
    if kind is not None:
        return kind
    if not type(error).__module__.startswith(("builtins", "torch")):
        return None
    return told_kind(error)


def is_ours(error: Exception) -> bool:
    """Whether vtgrad raised this on purpose: its errors carry their kind."""
    return getattr(error, "kind", None) is not None
