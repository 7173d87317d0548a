"""The public function `gradcheck`."""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

from vtgrad.autograd.gradcheck.check import check
from vtgrad.autograd.gradcheck.forward import check_forward
from vtgrad.autograd.gradcheck.settings import Settings, require_a_mode, require_tolerances
from vtgrad.autograd.gradcheck.subject import Inputs, Outputs, S, T, Ts, inputs_of, subject_of
from vtgrad.autograd.gradcheck.writes import check_with_writes
from vtgrad.errors import CheckOptionError, GradcheckError, NotSupportedError

__all__ = ["gradcheck"]


# See Note [Signatures that know the arguments].
@overload
def gradcheck(
    func: Callable[[T], Outputs | None],
    inputs: T,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
    check_inplace: bool = False,
) -> bool: ...
@overload
def gradcheck(
    func: Callable[[*Ts], Outputs | None],
    inputs: tuple[*Ts],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
    check_inplace: bool = False,
) -> bool: ...
@overload
def gradcheck(
    func: Callable[..., Outputs | None],
    inputs: list[S],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
    check_inplace: bool = False,
) -> bool: ...
def gradcheck(
    func: Callable[..., Outputs | None],
    inputs: Inputs,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
    check_inplace: bool = False,
) -> bool:
    """Compare the gradients of a function with central differences.

    Every entry of the Jacobian of each output by each input that requires grad is compared. Beyond
    that, backward must give the same twice, be linear in the gradient that it gets, also where that
    is zero, and take a missing gradient for zeros. A complex number counts as its two parts.

    Parameters
    ----------
    func : callable
        From `inputs` to a tensor, or a tuple or list of tensors. It may be called many times: two
        for each element of the inputs that require grad (four if complex), and two more.
    inputs : Tensor or sequence
        The arguments. The very objects are passed, and their elements are changed in memory and
        back while `func` runs. Only tensors that require grad are checked; float64 or complex128.
        None may be computed from another.
    eps : float, default 1e-6
        The step of the differences.
    atol, rtol : float
        The allowed difference, absolute and relative to the numerical derivative.
    raise_exception : bool, default True
        Whether a wrong gradient raises `GradcheckError`; otherwise the result is False.
    nondet_tol : float, default 0.0
        The allowed difference between two runs of one backward.
    check_undefined_grad : bool, default True
        Whether to run backward without gradients of all outputs, and of each output alone; and
        forward mode with tangents of single inputs.
    check_grad_dtypes : bool, default False
        Whether each gradient must have the dtype of its input.
    check_batched_grad : bool, default False
        Whether backward for a batch of gradients of each output, as that of
        ``grad(is_grads_batched=True)``, must give what it gives for each of them.
    check_batched_forward_grad : bool, default False
        The same of forward mode, for a batch of tangents of each input.
    check_forward_ad : bool, default False
        Whether to check forward mode: each entry, and tangents of all inputs together.
    check_backward_ad : bool, default True
        Whether to check backward.
    fast_mode : bool, default False
        Compare along one random direction for each input, which takes two calls of `func` however
        large the input is. Only if this differs all entries are compared.
    masked : bool, optional
        Has no effect; it is about sparse tensors, which vtgrad has not.
    check_inplace : bool, default False
        Check `func` as a function that may write to its arguments, and may return nothing. It then
        gets copies, and copies that lie in a larger memory: with gaps, with an offset and
        transposed. Their memory counts as an output, and what lies beside them as an input. A
        version must move if and only if memory was written. A written argument is also expanded, so
        that its elements share memory: that must be refused, or the gradients must be right all
        the same, as where one constant is stored.

    Returns
    -------
    bool
        True; or False if something is wrong and `raise_exception` is off.

    Raises
    ------
    GradcheckError
        If something is wrong. It tells which derivative differs most, and how many do.
    ArgumentValueError
        If no input requires grad.
    SelfOverlapError
        If elements of an input share memory.
    OutputTypeError
        If `func` returns other objects than tensors.
    ShapeError, DTypeError
        If the outputs of a later call have other shapes or dtypes.
    CheckOptionError
        If nothing is to be checked, or batches of a mode that is off.
    OptionValueError
        If a tolerance is negative.
    NotSupportedError
        If forward mode is checked together with `check_inplace`.
    ForwardModeError
        If forward mode is checked inside of a `dual_level`, as in PyTorch: `func` is called at a
        level which it sees as such a block.

    Examples
    --------
    >>> x = vt.tensor([0.5, 2.0], dtype=vt.float64, requires_grad=True)
    >>> vt.autograd.gradcheck(vt.log, x)
    True
    >>> def doubled(x):
    ...     return x + x.detach()
    >>> try:
    ...     vt.autograd.gradcheck(doubled, x)
    ... except vt.errors.GradcheckError as error:
    ...     print(error.output_index, error.input_index, error.analytic, round(error.numeric, 6))
    (0,) (0,) 1.0 2.0
    >>> vt.autograd.gradcheck(vt.Tensor.mul_, (x, vt.ones(2)), check_inplace=True)
    True
    """
    _refuse_modes(
        check_backward_ad=check_backward_ad,
        check_forward_ad=check_forward_ad,
        check_batched_grad=check_batched_grad,
        check_batched_forward_grad=check_batched_forward_grad,
    )
    if check_forward_ad and check_inplace:
        raise NotSupportedError(
            "check_inplace is about backward; check forward mode without it, of a function that "
            "returns what it wrote",
            argument="check_forward_ad",
        )
    settings = Settings(
        eps,
        atol,
        rtol,
        nondet_tol,
        fast_mode,
        check_undefined_grad,
        check_grad_dtypes,
        check_batched_grad,
        check_batched_forward_grad,
    )
    require_tolerances(settings)
    subject = subject_of(func, inputs_of(inputs))
    try:
        if check_inplace:
            check_with_writes(subject, settings)
        elif check_backward_ad:
            check(subject, settings)
        if check_forward_ad:
            check_forward(subject, settings)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _refuse_modes(
    *,
    check_backward_ad: bool,
    check_forward_ad: bool,
    check_batched_grad: bool,
    check_batched_forward_grad: bool,
) -> None:
    """Refuse modes that leave nothing to check, or do not fit together."""
    require_a_mode({"check_backward_ad": check_backward_ad, "check_forward_ad": check_forward_ad})
    for batched, mode, is_on in (
        ("check_batched_grad", "check_backward_ad", not check_batched_grad or check_backward_ad),
        (
            "check_batched_forward_grad",
            "check_forward_ad",
            not check_batched_forward_grad or check_forward_ad,
        ),
    ):
        if not is_on:
            raise CheckOptionError(f"{batched} is about {mode}, which is off")
