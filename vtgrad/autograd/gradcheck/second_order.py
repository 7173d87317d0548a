"""The public function `gradgradcheck`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast, overload

from vtgrad.autograd.differentiate import grad
from vtgrad.autograd.gradcheck.check import check, check_first_derivatives
from vtgrad.autograd.gradcheck.directions import direction_like
from vtgrad.autograd.gradcheck.forward import check_forward
from vtgrad.autograd.gradcheck.linearity import check_over_zero
from vtgrad.autograd.gradcheck.settings import Settings, require_a_mode, require_tolerances
from vtgrad.autograd.gradcheck.subject import (
    Inputs,
    Outputs,
    S,
    Subject,
    T,
    Ts,
    inputs_of,
    listed_outputs,
    refuse_overlap,
    subject_of,
)
from vtgrad.errors import ArgumentTypeError, GradcheckError, NoDerivativeError
from vtgrad.storage import making
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.tensor import Tensor

__all__ = ["gradgradcheck"]


# See Note [Signatures that know the arguments].
@overload
def gradgradcheck(
    func: Callable[[T], Outputs],
    inputs: T,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool: ...
@overload
def gradgradcheck(
    func: Callable[[*Ts], Outputs],
    inputs: tuple[*Ts],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool: ...
@overload
def gradgradcheck(
    func: Callable[..., Outputs],
    inputs: list[S],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool: ...
def gradgradcheck(
    func: Callable[..., Outputs],
    inputs: Inputs,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare the second derivatives of a function with central differences of its gradients.

    The gradients are a function of the inputs and of the gradients that enter, and that function
    is checked as by `gradcheck`. Before that, the gradients themselves are compared with central
    differences along random directions: derivatives of wrong gradients are not second ones.

    Parameters
    ----------
    func : callable
        As in `gradcheck`.
    inputs : Tensor or sequence
        As in `gradcheck`.
    grad_outputs : Tensor or sequence, optional
        A gradient for each output that requires grad. Where they require grad they are varied too.
        By default they are random, of a generator that belongs to the check, and require grad.
    eps, atol, rtol : float
        As in `gradcheck`.
    gen_non_contig_grad_outputs : bool, default False
        Whether the random gradients lie in memory with gaps.
    raise_exception : bool, default True
        As in `gradcheck`.
    nondet_tol : float, default 0.0
        As in `gradcheck`.
    check_undefined_grad, check_grad_dtypes, check_batched_grad : bool
        As in `gradcheck`, about the backward of the gradients.
    check_fwd_over_rev : bool, default False
        Whether to check the tangents of the gradients.
    check_rev_over_rev : bool, default True
        Whether to check the backward of the gradients.
    fast_mode : bool, default False
        As in `gradcheck`.
    masked : bool, default False
        Has no effect; it is about sparse tensors, which vtgrad has not.

    Returns
    -------
    bool
        True; or False if something is wrong and `raise_exception` is off.

    Raises
    ------
    GradcheckError
        If something is wrong, or a first derivative cannot be differentiated again.
    ArgumentValueError, SelfOverlapError, OutputTypeError, ShapeError, DTypeError, ForwardModeError
        As in `gradcheck`.
    ArgumentTypeError, GradientError, ImplicitGradientError
        If `grad_outputs` does not fit the outputs.
    CheckOptionError
        If nothing is to be checked.
    OptionValueError
        If a tolerance is negative.

    Examples
    --------
    >>> x = vt.tensor([0.5, 2.0], dtype=vt.float64, requires_grad=True)
    >>> vt.autograd.gradgradcheck(vt.log, x)
    True
    """
    require_a_mode(
        {"check_rev_over_rev": check_rev_over_rev, "check_fwd_over_rev": check_fwd_over_rev}
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
    )
    require_tolerances(settings)
    subject = subject_of(func, inputs_of(inputs))
    try:
        check_first_derivatives(subject, settings._replace(fast_mode=True))
        outputs = [y for y in subject.outputs() if y.requires_grad]
        if outputs:
            given = _given_or_random(outputs, grad_outputs, gaps=gen_non_contig_grad_outputs)
            gradients = _gradients_of(subject, given)
            if check_rev_over_rev:
                check(gradients, settings)
            if check_fwd_over_rev:
                check_forward(gradients, settings, over_reverse=True)
                at_zero = _gradients_of(subject, tuple(map(_zeros_like, given)))
                entering = range(len(subject.inputs), len(at_zero.inputs))
                if entering:
                    check_over_zero(gradients, at_zero, entering, settings)
    except NoDerivativeError as error:
        if raise_exception:
            raise GradcheckError(
                f"the gradients of the function cannot be differentiated: {error}",
                check="no-derivative",
            ) from error
        return False
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _given_or_random(
    outputs: Sequence[Tensor],
    given: Tensor | Sequence[Tensor | None] | None,
    *,
    gaps: bool,
) -> tuple[Tensor | None, ...]:
    """The gradients that enter: the caller's, or random ones that require grad."""
    if given is not None:
        listed: Sequence[object] = given if isinstance(given, (tuple, list)) else (given,)
        return tuple(_tensor_or_none(gradient, nr) for nr, gradient in enumerate(listed))
    return tuple(_random_like(output, nr, gaps=gaps) for nr, output in enumerate(outputs))


def _tensor_or_none(gradient: object, nr: int) -> Tensor | None:
    if gradient is None or isinstance(gradient, Tensor):
        return gradient
    raise ArgumentTypeError(
        f"gradient {nr} must be a tensor or None, not {type(gradient).__name__}", index=nr
    )


def _random_like(output: Tensor, nr: int, *, gaps: bool) -> Tensor:
    """A random gradient of an output; with gaps, every second element of a longer memory."""
    shape = (*output.shape, 2) if gaps else tuple(output.shape)
    values = direction_like(shape, nr, is_complex=output.is_complex())
    whole = from_numpy(values.astype(output._impl.dtype)).to(output.device)
    return (whole.select(-1, 0) if gaps else whole).requires_grad_()


def _zeros_like(given: Tensor | None) -> Tensor | None:
    """Zeros that require grad if the gradient does."""
    if given is None:
        return None
    zeros = from_numpy(making.zeros(tuple(given.shape), given._impl.dtype)).to(given.device)
    return zeros.requires_grad_(given.requires_grad)


def _gradients_of(subject: Subject, given: tuple[Tensor | None, ...]) -> Subject:
    """The gradients of a function, as a function of its arguments and of what enters."""
    count = len(subject.arguments)

    def gradients(*arguments: object) -> tuple[Tensor, ...]:
        outputs = listed_outputs(subject.function(*arguments[:count]))
        return grad(
            [y for y in outputs if y.requires_grad],
            subject.inputs,
            # Those of `given`, or duals of them.
            cast("tuple[Tensor | None, ...]", arguments[count:]),
            create_graph=True,
            materialize_grads=True,
        )

    entering = {f"grad_output {nr}": g for nr, g in enumerate(given) if g is not None}
    varied = {name: g for name, g in entering.items() if g.requires_grad}
    for name, g in varied.items():
        refuse_overlap(g, name)
    return Subject(
        gradients,
        (*subject.arguments, *given),
        (*subject.inputs, *varied.values()),
        (*subject.input_names, *varied),
        tuple(f"the gradient of {name}" for name in subject.input_names),
    )
