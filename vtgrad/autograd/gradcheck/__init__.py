"""Comparing the gradients of a function with central differences."""

from ...errors import GradcheckError as GradcheckError
from .first_order import gradcheck as gradcheck
from .second_order import gradgradcheck as gradgradcheck
