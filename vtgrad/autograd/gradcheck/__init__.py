"""Comparing the gradients of a function with central differences."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from vtgrad.errors import GradcheckError as GradcheckError

__all__ = [
    "GradcheckError",
    "gradcheck",
    "gradgradcheck",
]

if TYPE_CHECKING:
    from vtgrad.autograd.gradcheck.first_order import gradcheck as gradcheck
    from vtgrad.autograd.gradcheck.second_order import gradgradcheck as gradgradcheck
else:
    # See Note [Tools come at first use].

    _HOMES = {"gradcheck": "first_order", "gradgradcheck": "second_order"}

    def __getattr__(name):
        """The two functions; their modules load all others of this package."""
        if name in _HOMES:
            return getattr(_import_module(f"{__name__}.{_HOMES[name]}"), name)
        raise AttributeError(f"module 'vtgrad.autograd.gradcheck' has no attribute {name!r}")

    def __dir__():
        """What is here, and what would be found."""
        return sorted({*globals(), *__all__})
