"""Derivatives for gradients and tangents that are zero, partly zero, tiny and huge.

Note [Linear in what enters]

A backward is linear in the gradient that it gets, and forward mode in the tangent. One that looks
at values of it, as ``where(g > 0, g, 0)`` does, is linear in parts only. So the same gradient is
passed with every second element zero and a tiny power of two as factor, with the others zero and
this factor, times a huge negative one, and times zero. The results, divided by the factors, must
be that of the whole, those of the two parts as a sum. So each element is zero, tiny, huge, and of
both signs once: an output of one element is looked at like any other.

``where(g != 0, g, 0)`` gives right gradients for all of these, and yet loses a derivative: that by
`g` itself, where `g` is zero. Double backward, ``functional.jvp`` and ``func.linearize`` take this
derivative, the last two at gradients of zero. It is the same for all gradients, so what it is for
random ones is compared with what it is for zeros, and for mixtures of tiny, huge and zero ones. A
backward that cannot be differentiated is not a fault, and has no such comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Final, NamedTuple

import numpy as np

from vtgrad.autograd.differentiate import grad
from vtgrad.autograd.gradcheck.analytical import Recorded
from vtgrad.autograd.gradcheck.directions import cotangents_of, direction_like
from vtgrad.autograd.gradcheck.forward_run import tangent_gradients, tangents
from vtgrad.autograd.gradcheck.settings import Settings
from vtgrad.autograd.gradcheck.subject import Subject, double_values
from vtgrad.errors import GradcheckError
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.tensor import Tensor

__all__ = ["check_gradients_enter_linearly", "check_over_zero", "check_tangents_enter_linearly"]

_ADVICE: Final = (
    "{mode} must be linear in the incoming {what}, also where that is zero, and must not branch "
    "on its values, as in where(g != 0, g, 0)"
)
_BACKWARD: Final = _ADVICE.format(mode="backward", what="gradient")
_FORWARD: Final = _ADVICE.format(mode="forward mode", what="tangent")


def check_gradients_enter_linearly(recorded: Recorded) -> None:
    """Check a backward for gradients of all kinds; see Note [Linear in what enters].

    Raises
    ------
    GradcheckError
        If its results are not in proportion, or its derivative by the gradients is not the same.
    """
    subject, settings = recorded.subject, recorded.settings
    given = cotangents_of(recorded)
    dtypes = [recorded.outputs[nr]._impl.dtype for nr in given]
    _check_proportions(
        recorded.gradients,
        given,
        _exponent(dtypes),
        settings,
        [f"the gradient of {name}" for name in subject.input_names],
        _BACKWARD,
    )
    weights = [
        direction_like(tuple(x.shape), 5000 + nr, is_complex=x.is_complex())
        for nr, x in enumerate(subject.inputs)
    ]
    _check_derivatives(
        lambda entering: _gradient_derivatives(recorded, entering, weights),
        given,
        _exponent(dtypes),
        settings,
        [f"the gradient of {subject.output_name(nr)}" for nr in given],
        _BACKWARD,
    )


def check_tangents_enter_linearly(
    subject: Subject, settings: Settings, *, over_reverse: bool
) -> None:
    """Check forward mode for tangents of all kinds; see Note [Linear in what enters].

    Raises
    ------
    GradcheckError
        If its results are not in proportion, or its derivative by the tangents is not the same.
    """
    given = {
        nr: direction_like(tuple(x.shape), 2000 + nr, is_complex=x.is_complex())
        for nr, x in enumerate(subject.inputs)
    }
    exponent = _exponent([x._impl.dtype for x in subject.inputs])
    _check_proportions(
        lambda entering: tangents(subject, entering, over_reverse=over_reverse),
        given,
        exponent,
        settings,
        [f"the tangent of {subject.output_name(nr)}" for nr in range(len(subject.outputs()))],
        _FORWARD,
    )
    if not over_reverse:
        _check_derivatives(
            lambda entering: tangent_gradients(subject, entering),
            given,
            exponent,
            settings,
            [f"the tangent of {name}" for name in subject.input_names],
            _FORWARD,
        )


def check_over_zero(
    at_random: Subject, at_zero: Subject, numbers: Sequence[int], settings: Settings
) -> None:
    """Compare tangents of gradients along entering gradients that are random, and that are zero.

    Parameters
    ----------
    at_random, at_zero : Subject
        The gradients of a function, as a function of its arguments and of what enters.
    numbers : sequence of int
        Which inputs are gradients that enter.

    Raises
    ------
    GradcheckError
        If they differ.
    """
    along = {
        nr: direction_like(
            tuple(at_zero.inputs[nr].shape), nr, is_complex=at_zero.inputs[nr].is_complex()
        )
        for nr in numbers
    }
    expected, found = (tangents(s, along, over_reverse=True) for s in (at_random, at_zero))
    for nr, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        _compare(
            ours, theirs, np.abs(theirs), settings, "at zero", at_zero.output_name(nr), _BACKWARD
        )


def _exponent(dtypes: Sequence[np.dtype[np.generic]]) -> int:
    """Of the powers of two by which numbers are made tiny and huge.

    There is room for what they are multiplied by, and for a backward in single precision.
    """
    largest = [float(np.finfo(dtype.char).max) for dtype in dtypes]
    return min([64, *(math.frexp(number)[1] // 5 for number in largest)])


class _Multiple(NamedTuple):
    """What enters, with a part of it zero, times a number."""

    factor: float
    entering: dict[int, Array]


def _masked(given: Mapping[int, Array], factors: Sequence[float]) -> dict[int, Array]:
    """The same, each element times one of the factors, which take turns."""
    found: dict[int, Array] = {}
    seen = 0
    for nr, values in given.items():
        turns = (making.arange(values.size) + seen) % len(factors)
        found[nr] = making.asarray(factors)[turns].reshape(values.shape) * values
        seen += values.size
    return found


def _parts(given: Mapping[int, Array], exponent: int) -> dict[str, list[_Multiple]]:
    """By the kind of values, multiples of parts that make up the whole."""
    tiny, huge = 2.0**-exponent, -(2.0**exponent)
    return {
        "partly zero, else tiny": [
            _Multiple(tiny, _masked(given, m)) for m in ((tiny, 0), (0, tiny))
        ],
        "huge": [_Multiple(huge, _masked(given, (huge,)))],
    }


def _kinds(given: Mapping[int, Array], exponent: int) -> dict[str, dict[int, Array]]:
    """By the kind of values, what enters; each element is huge once, most are tiny."""
    tiny, huge = 2.0**-exponent, -(2.0**exponent)
    return {
        "zero": _masked(given, (0,)),
        "partly zero, tiny or huge": _masked(given, (tiny, huge, 0)),
        "tiny or huge": _masked(given, (huge, tiny, huge)),
    }


def _check_proportions(
    run: Callable[[dict[int, Array]], Sequence[Array | None]],
    given: dict[int, Array],
    exponent: int,
    settings: Settings,
    names: Sequence[str],
    advice: str,
) -> None:
    """Compare what multiples and parts give with multiples and parts of the results."""
    whole = [_or_zero(one) for one in run(given)]
    for kind, parts in _parts(given, exponent).items():
        results = [[_or_zero(one) for one in run(part.entering)] for part in parts]
        for name, all_of_it, *pieces in zip(names, whole, *results, strict=True):
            with np.errstate(all="ignore"):
                ours = [one / part.factor for one, part in zip(pieces, parts, strict=True)]
                total: Array = reduce(np.add, ours)
                scale: Array = reduce(np.add, map(np.abs, ours))
            scale = np.where(np.isfinite(all_of_it), scale, np.inf)
            _compare(total, all_of_it, scale, settings, kind, name, advice)
    for name, all_of_it, found in zip(names, whole, run(_masked(given, (0,))), strict=True):
        zeros = making.zeros_like(all_of_it)
        _compare(_or_zero(found), zeros, np.abs(all_of_it), settings, "zero", name, advice)


def _check_derivatives(
    derive: Callable[[dict[int, Array]], Sequence[Array] | None],
    given: dict[int, Array],
    exponent: int,
    settings: Settings,
    names: Sequence[str],
    advice: str,
) -> None:
    """Compare derivatives by what enters, at all kinds of it, with those at random numbers."""
    try:
        expected = derive(given)
    except Exception:  # noqa: BLE001 - whatever a backward that cannot be differentiated raises
        return
    if expected is None:
        return
    for kind, entering in _kinds(given, exponent).items():
        found = derive(entering) or [making.zeros_like(one) for one in expected]
        for name, ours, theirs in zip(names, found, expected, strict=True):
            told = f"its own derivative by {name}"
            _compare(ours, theirs, np.abs(theirs), settings, kind, told, advice)


def _compare(
    found: Array,
    expected: Array,
    scale: Array,
    settings: Settings,
    kind: str,
    name: str,
    advice: str,
) -> None:
    """Refuse results that are not those of something linear; infinite ones are not compared."""
    with np.errstate(all="ignore"):
        difference = np.abs(found - expected)
        allowed = settings.atol + settings.rtol * scale
        wrong = np.isfinite(scale) & ~(difference <= allowed)
    if not np.any(wrong):
        return
    where = np.unravel_index(int(np.argmax(np.where(wrong, difference, -1))), wrong.shape)
    raise GradcheckError(
        f"{advice}. Where it is {kind}, an element of {name} is {_number(found, where)} and ought "
        f"to be {_number(expected, where)}",
        check="linear",
        kind_of_values=kind,
        difference=float(difference[where]),
        tolerance=float(allowed[where]),
    )


def _number(values: Array, where: tuple[np.intp, ...]) -> str:
    return f"{values[where].item():.6g}"


def _or_zero(found: Array | None) -> Array:
    return making.zeros(()) if found is None else found


def _gradient_derivatives(
    recorded: Recorded, entering: Mapping[int, Array], weights: Sequence[Array]
) -> list[Array] | None:
    """The derivatives of the gradients by those that enter; None if these have none."""
    outputs = [recorded.outputs[nr] for nr in entering]
    given = [_leaf_like(y, w) for y, w in zip(outputs, entering.values(), strict=True)]
    gradients = grad(outputs, recorded.subject.inputs, given, create_graph=True, allow_unused=True)
    pairs = [
        (g, _like(g, w))
        for g, w in zip(gradients, weights, strict=True)
        if g is not None and g.requires_grad
    ]
    if not pairs:
        return None
    found = grad([g for g, _ in pairs], given, [w for _, w in pairs], materialize_grads=True)
    return [double_values(one) for one in found]


def _like(tensor: Tensor, values: Array) -> Tensor:
    return from_numpy(making.asarray(values, tensor._impl.dtype)).to(tensor.device)


def _leaf_like(tensor: Tensor, values: Array) -> Tensor:
    return _like(tensor, values).requires_grad_()
