"""The rule by which a saved value counts as overwritten."""

from __future__ import annotations

from typing import Final, Literal

from vtgrad.errors import ArgumentValueError
from vtgrad.storage.scope import Scope

__all__ = ["OverwriteRule", "overwrite_rule", "set_overwrite_check"]

_RULES: Final = ("elements", "storage")


class OverwriteRule:
    """The rule in force, for all threads.

    Attributes
    ----------
    exact : bool
        Whether only writes to the saved elements count; otherwise any write to the storage.
    """

    __slots__ = ("exact",)

    exact: bool

    def __init__(self) -> None:
        self.exact = True


overwrite_rule: Final = OverwriteRule()


class set_overwrite_check(Scope):
    """Choose the rule by which a value that was saved for backward counts as overwritten.

    It takes effect at once, for all threads, and is undone at the end of the block when used in
    a ``with``. The rule applies when a backward checks saved values, so it may be changed after
    the program has run: under ``"storage"``, backward refuses what PyTorch would refuse. A
    value that one backward has found intact stays intact.

    Parameters
    ----------
    rule : {"elements", "storage"}
        ``"elements"``, the default: if one of its elements was written after it was saved.
        ``"storage"``, PyTorch's rule: if any element of its storage was written.

    Raises
    ------
    ArgumentValueError
        If `rule` is another value.

    Examples
    --------
    >>> a = vt.tensor(0.5, requires_grad=True)
    >>> x = vt.ones(3)
    >>> for t in range(1, 3):
    ...     x[t] = a * x[t - 1]  # saves x[t - 1], writes beside it
    >>> with vt.autograd.graph.set_overwrite_check("storage"):
    ...     x[2].backward()
    Traceback (most recent call last):
    ...
    vtgrad.errors.StaleSavedError: MulBackward0 needs a value that was overwritten in place: ...
    >>> x[2].backward()
    >>> a.grad
    tensor(1.)
    """

    __slots__ = ("_before",)

    _before: bool

    def __init__(self, rule: Literal["elements", "storage"]) -> None:
        if rule not in _RULES:
            raise ArgumentValueError(
                f'set_overwrite_check takes "elements" or "storage", not {rule!r}'
            )
        super().__init__()
        self._before = overwrite_rule.exact
        overwrite_rule.exact = rule == "elements"

    def restore(self) -> None:
        """Restore the former rule."""
        overwrite_rule.exact = self._before
