"""The names of the events of operators: PyTorch's where there is one."""

from __future__ import annotations

from typing import Final

__all__ = ["CREATION", "PROPERTIES", "PYTHON_OPERATORS", "event_name"]

# What makes tensors, beside the operators.
CREATION: Final = """
    arange empty empty_strided eye full linspace normal ones rand randint randn randperm tensor
    zeros
""".split()

# Operators of Python, in their plain, reflected and in-place forms.
_ARITHMETIC: Final = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}
PYTHON_OPERATORS: Final = {
    **{f"__{name}__": f"aten::{operator}" for name, operator in _ARITHMETIC.items()},
    **{f"__r{name}__": f"aten::{operator}" for name, operator in _ARITHMETIC.items()},
    **{f"__i{name}__": f"aten::{operator}_" for name, operator in _ARITHMETIC.items()},
    **{
        f"__{name}__": f"aten::{name}"
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "abs")
    },
    "__rsub__": "aten::rsub",
    "__matmul__": "aten::matmul",
    "__rmatmul__": "aten::matmul",
    "__invert__": "aten::bitwise_not",
    "__setitem__": "vtgrad::setitem",
}

# Properties of tensors that are operators.
PROPERTIES: Final = {
    "T": "aten::permute",
    "mT": "aten::transpose",
    "H": "aten::adjoint",
    "mH": "aten::adjoint",
    "real": "aten::real",
    "imag": "aten::imag",
}

# Functions that answer a question at once, or only choose an operator.
_NO_EVENTS: Final = frozenset(
    """
    counted_indices getitem has_power_of_zero is_complex is_conj is_floating_point is_neg
    is_same_size is_set_to is_signed is_tensor numel repeated_index
    """.split()
)

_OTHER_NAMES: Final = {
    "alias": "aten::alias",
    "index_at": "aten::index",
    "lazy_conj": "aten::conj",
    "linalg_cholesky": "aten::linalg_cholesky",
    "linalg_cross": "aten::linalg_cross",
    "linalg_det": "aten::linalg_det",
    "linalg_eigh": "aten::linalg_eigh",
    "linalg_inv": "aten::linalg_inv",
    "linalg_qr": "aten::linalg_qr",
    "linalg_slogdet": "aten::linalg_slogdet",
    "linalg_solve": "aten::linalg_solve",
    "linalg_svd": "aten::linalg_svd",
    "linalg_vector_norm": "aten::linalg_vector_norm",
    "normal_Tensor_Tensor": "aten::normal",
    "normal_Tensor_float": "aten::normal",
    "normal_float_Tensor": "aten::normal",
    "setitem": "vtgrad::setitem",
    "slice": "aten::slice",
    "special_i1": "aten::special_i1",
    "sum_to": "aten::sum_to_size",
    "sum_to_size": "aten::sum_to_size",
    "tensor": "vtgrad::tensor",
    "to_dtype": "aten::_to_copy",
    "true_divide": "aten::div",
    "true_divide_": "aten::div_",
    "zeros_shaped": "aten::zeros",
}


def event_name(name: str, public: set[str]) -> str | None:
    """The name of an operator's events; None if it has no events.

    An overload, such as ``pow_Tensor_Scalar_``, has the name of its operator, ``aten::pow_``.

    Parameters
    ----------
    name : str
        What the library calls the operator.
    public : set of str
        The names that users know.
    """
    if name in _NO_EVENTS:
        return None
    known = _OTHER_NAMES.get(name)
    if known is not None:
        return known
    if name in public or name in CREATION or name.endswith("_backward"):
        return f"aten::{name}"
    ending = "_" if name.endswith("_") else ""
    stem = name.removesuffix("_")
    while "_" in stem:
        stem = stem.rpartition("_")[0]
        if stem + ending in public:
            return f"aten::{stem}{ending}"
    return f"vtgrad::{name}"
