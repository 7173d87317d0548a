"""Steps that run operators, out of place and in place."""

import math
from collections.abc import Sequence
from dataclasses import replace

from vtgrad.testing import steps
from vtgrad.testing.menu.chooser import Chooser
from vtgrad.testing.menu.indices import positions
from vtgrad.testing.menu.kinds import KINDS, kind
from vtgrad.testing.menu.state import TensorState
from vtgrad.testing.steps import Inference, Leaf, Step
from vtgrad.testing.steps.base import Extras

__all__ = ["applied", "beginning", "with_out"]

UNARY = (
    "neg abs sign exp expm1 exp2 log log1p log2 log10 sqrt rsqrt reciprocal square sin cos tan"
    " asin acos atan sinh cosh tanh sigmoid relu floor ceil round trunc frac asinh acosh atanh"
    " sinc erf erfc erfinv i0 lgamma digamma logit nan_to_num deg2rad rad2deg absolute negative fix"
).split()
TESTS = "isnan isinf isfinite logical_not bitwise_not signbit isposinf isneginf isreal".split()
BINARY = (
    "add sub mul div pow atan2 maximum minimum remainder fmod floor_divide copysign hypot xlogy"
    " ldexp float_power fmax fmin logaddexp logaddexp2 multiply subtract divide arctan2"
).split()
COMPARISONS = "eq ne lt le gt ge".split()
LOGICAL = "logical_and logical_or logical_xor".split()
BITWISE = "bitwise_and bitwise_or bitwise_xor".split()
OVER_DIMS = "sum mean amax amin any all var std logsumexp norm".split()
OVER_ONE = "prod argmax argmin".split()
ALONG = "cumsum cumprod softmax log_softmax logcumsumexp diff".split()
COPIES = (
    "clone clone to copied_to double float long int bool repeat roll flip tril triu tril_ triu_"
).split()
NO_INPLACE = frozenset(
    "maximum minimum fmax fmin logaddexp logaddexp2 isnan isinf isfinite signbit isposinf isneginf"
    " isreal".split()
)
#: Operators whose backward needs a value that a user can overwrite.
SAVING = "mul square relu prod maximum abs exp sin".split()


@kind(4)
def leaf(c: Chooser) -> Sequence[Step] | None:
    """A new tensor with literal values; often one that requires grad."""
    dtype, shape = c.dtype(), c.shape()
    floating = dtype.startswith(("float", "complex"))
    grad = (floating and c.chance(0.5)) or (c.free and c.chance(0.02))
    grad = grad and c.state.has_room(math.prod(shape))
    return (c.in_mode(Leaf(c.fresh(), c.literal(shape, dtype), grad)),)


def axis(c: Chooser, t: TensorState) -> int:
    """Draw a dimension for an operator; the model wants it counted from the front."""
    return c.dim(t) if c.free else c.rng.randrange(max(len(t.shape), 1))


def beginning(c: Chooser) -> list[Step]:
    """The first steps: leaves that require grad, and copies that may be written."""
    made: list[Step] = []
    for _ in range(c.rng.randint(1, 2) if c.free else 1):
        dtype = "float64" if c.chance(0.85) or not c.free else "float32"
        shape = c.shape() if c.free else c.one(((3,), (2, 2), (2, 3), (4,), (2, 2, 2)))
        leaf = Leaf(c.fresh(), c.literal(shape, dtype), requires_grad=True)
        made.append(leaf)
        if c.chance(0.8) or not c.free:
            made.append(steps.Apply(c.fresh(), "clone", (leaf.out,)))
    return made


def applied(
    c: Chooser, name: str, operands: Sequence[TensorState | None], extra: Extras = ()
) -> Sequence[Step] | None:
    """Run an operator, out of place; see `steps.Apply`."""
    found = [t for t in operands if t is not None]
    if len(found) < len(operands) or not c.abilities.fits_together([t.shape for t in found]):
        return None
    method = name.removesuffix("_number")
    shape = found[0].shape
    numbers = tuple(t.index for t in found)
    step = steps.Apply(c.fresh(), name, numbers, extra, shape, is_function=c.is_function(method))
    return c.under(step)


def written(
    c: Chooser, name: str, target: TensorState, *others: object, extra: Extras = ()
) -> Sequence[Step] | None:
    """Run an operator in place; its result, the same tensor, is now and then named too."""
    step = steps.Write(target.index, name, tuple(map(str, others)), extra, target.shape)
    if c.free and c.chance(0.15):
        return c.make(step.line().op, step.line().text)
    return c.under(step)


@kind(7, "neg")
def unary(c: Chooser) -> Sequence[Step] | None:
    """A function of one tensor."""
    t, names = c.pick_tame(), c.known(UNARY if c.chance(0.9) else TESTS)
    if t is None or not names:
        return None
    name = c.one(names)
    if c.free and c.chance(0.06):
        return with_out(c, name, f"vt.{name}({t}")
    return applied(c, name, [t])


@kind(10, "neg")
def unary_inplace(c: Chooser) -> Sequence[Step] | None:
    """The same, written over its input."""
    t = c.pick_target()
    names = [name for name in c.known(UNARY) if c.can(name + "_")]
    return None if t is None else written(c, c.one(names), t)


def _binary_name(c: Chooser) -> str:
    """A binary operator, the arithmetic ones most often."""
    names = c.rng.choices((BINARY[:4], BINARY, COMPARISONS, LOGICAL, BITWISE), (50, 30, 10, 5, 5))
    return c.one(c.known(names[0]) or c.known(BINARY))


def _options(c: Chooser, name: str) -> Extras:
    """The options of add, sub and div."""
    if c.free and name in ("add", "sub") and c.chance(0.25):
        return (f"alpha={c.number('float64' if c.chance(0.7) else 'int64')}",)
    if c.free and name == "div" and c.chance(0.25):
        return (f"rounding_mode={c.one(('None', repr('floor'), repr('trunc')))}",)
    return ()


def _is_unfit(c: Chooser, name: str, t: TensorState) -> bool:
    """Whether a bitwise operator would meet a floating tensor (which is a blunder)."""
    bitwise = name in BITWISE or name[0] in "&|^"
    return bitwise and t.dtype.startswith(("float", "complex")) and not c.blunder()


@kind(10, "add")
def binary(c: Chooser) -> Sequence[Step] | None:
    """A function of two operands."""
    t, name = c.pick_tame(), _binary_name(c)
    if t is None or _is_unfit(c, name, t):
        return None
    if c.chance(0.35) and c.can(f"{name}_number"):
        return applied(c, f"{name}_number", [t], (_text(c), *_options(c, name)))
    other = c.pick_like(t)
    if other is not None and c.free and c.chance(0.06):
        return with_out(c, name, f"vt.{name}({t}, {other}")
    return applied(c, name, [t, other], _options(c, name))


def _text(c: Chooser) -> int | str:
    """A number as an argument."""
    number = c.scalar()
    return number if isinstance(number, int) and not c.free else str(number)


@kind(14, "add")
def binary_inplace(c: Chooser) -> Sequence[Step] | None:
    """A function of two operands, written over the first."""
    t, name = c.pick_target(), _binary_name(c)
    if t is None or name in NO_INPLACE or not c.can(name + "_") or _is_unfit(c, name, t):
        return None
    if c.chance(0.35) and c.can(f"{name}_number"):
        number = _text(c)
        return written(c, f"{name}_number", t, extra=(number, *_options(c, name)))
    other = c.pick_fitting(t.shape, into=not c.blunder())
    if other is None:
        return None
    if name in LOGICAL and (t.requires_grad or other.requires_grad):
        # PyTorch forgets to record this write, and its gradients are wrong from here on.
        return None
    return written(c, name, t, other, extra=_options(c, name))


@kind(9, "sum")
def reduction(c: Chooser) -> Sequence[Step] | None:
    """Reductions over everything, one dimension or several, and what runs along one."""
    t = c.pick_tame()
    if t is None:
        return None
    share = c.rng.random()
    keep = c.one(("", "", "keepdim=True", "keepdim=False")) if c.free else ""
    options = (keep,) if keep else ()
    if share < 0.35:
        names = (
            ["sum", "sum", "mean"] if share < 0.25 else [*OVER_ONE, *OVER_DIMS[:6], "max", "min"]
        )
        return applied(c, c.one(c.known(names)), [t])
    d = axis(c, t)
    if share < 0.5 and c.can("max"):
        name = c.one(("max", "min"))
        return c.make(name, f"{t}.{name}({', '.join((str(d), *options))})", 2)
    if share < 0.75 and c.free:
        dims = c.dims(t) if c.chance(0.5) else d
        return _summed(c, c.one(OVER_DIMS), t, (f"dim={dims}", *options))
    if share < 0.85:
        name = c.one(c.known((*OVER_ONE, "sum")))
        return applied(c, name, [t], (d, *options) if t.shape or c.free else ())
    name = c.one(c.known(ALONG))
    if not t.shape and not c.free:
        return None
    if name.startswith("cum") and c.can(name + "_") and c.chance(0.3):
        return c.make(name + "_", f"{t}.{name}_({d})")
    return applied(c, name, [t], (f"dim={d}" if name == "diff" else d,))


def _summed(c: Chooser, name: str, t: TensorState, options: Extras) -> Sequence[Step] | None:
    if name == "sum" and c.chance(0.06):
        return with_out(c, name, f"vt.sum({t}, {options[0]}")
    return applied(c, name, [t], options)


@kind(5, "clone")
def copy(c: Chooser) -> Sequence[Step] | None:
    """Copies and casts."""
    t, name = c.pick(), c.one(c.known(COPIES))
    if t is None or (not t.shape and name == "flip" and not c.free):
        return None
    d = axis(c, t)
    match name:
        case "to":
            return applied(c, name, [t], (f"vt.{c.dtype()}",))
        case "copied_to":
            return c.make("to", f"{t}.to(vt.{c.dtype()}, copy=True)")
        case "repeat":
            repeats = tuple(c.rng.randint(1, 2) for _ in range(len(t.shape) + c.chance(0.2)))
            return c.make(name, f"{t}.repeat({repeats})")
        case "roll":
            dims = str(d) if c.chance(0.7) else "None"
            return applied(c, name, [t], (str(c.rng.randint(-2, 3)), dims))
        case "flip":
            return applied(c, name, [t], (d,))
        case "tril" | "triu" | "tril_" | "triu_":
            if len(t.shape) < 2 and c.chance(0.9):
                return None
            return c.make(name, f"{t}.{name}({c.rng.randint(-1, 1)})")
        case _:
            return applied(c, name, [t])


@kind(5, "cat")
def join(c: Chooser) -> Sequence[Step] | None:
    """Cat and stack."""
    t = c.pick()
    if t is None:
        return None
    stacks, shape = c.chance(0.45) or not t.shape, t.shape
    rank = len(shape) + stacks
    d = rank if c.free and c.blunder() else c.rng.randrange(rank)

    def fits(o: TensorState) -> bool:
        if stacks or not c.free:
            return o.shape == shape
        at = d % max(len(shape), 1)
        return len(o.shape) == len(shape) and all(
            a == b for k, (a, b) in enumerate(zip(shape, o.shape, strict=True)) if k != at
        )

    parts = [t, *(c.pick(fits) for _ in range(c.rng.randint(1, 2)))]
    d = d - rank if c.free and c.chance(0.3) else d
    return applied(c, "stack" if stacks else "cat", [p for p in parts if p is not None], (d,))


@kind(2, "index_select")
def picks(c: Chooser) -> Sequence[Step] | None:
    """Rows taken, or elements replaced, by an index or a mask."""
    t = c.pick(lambda t: bool(t.shape) and 0 not in t.shape)
    if t is None or not t.shape or (0 in t.shape and not c.free):
        return None
    if c.chance(0.5):
        mask = tuple(c.chance(0.5) for _ in range(math.prod(t.shape)))
        extra: Extras = (mask, c.one((0, 5)))
        if c.chance(0.5) and not t.is_protected:
            return written(c, "masked_fill", t, extra=extra)
        return applied(c, "masked_fill", [t], extra)
    rows = positions(c, t.shape[0], c.rng.randint(1, 3), unique=False)
    rows = rows if c.free else [k % t.shape[0] for k in rows]
    return applied(c, "index_select", [t], (0, tuple(rows)))


@kind(0, "mm")
def matrices(c: Chooser) -> Sequence[Step] | None:
    """A product of two matrices, which may not fit each other."""
    one, other = (c.pick(lambda t: len(t.shape) == 2) for _ in range(2))
    return applied(c, "mm", [one, other])


@kind(0)
def apply(c: Chooser) -> Sequence[Step] | None:
    """An operator out of place, of any kind."""
    return KINDS[c.one(_OUT_OF_PLACE)].maker(c)


@kind(0)
def write(c: Chooser) -> Sequence[Step] | None:
    """An operator in place, or a copy."""
    return KINDS[c.one(("unary_inplace", "binary_inplace", "binary_inplace", "overwrite"))].maker(c)


_OUT_OF_PLACE = (
    *("unary", "unary", "binary", "binary", "binary", "reduction", "reduction", "copy", "copy"),
    *("join", "picks", "matrices"),
)


@kind(0)
def saving(c: Chooser) -> Sequence[Step] | None:
    """An operator whose backward needs a value that a user can overwrite."""
    return _saved(c, c.pick())


@kind(2)
def saving_part(c: Chooser) -> Sequence[Step] | None:
    """An operator that keeps a part of what may be written; if there is none, make one."""
    parts = [t for t in c.tensors() if t.is_part and t.requires_grad and t.dtype == "float64"]
    return _saved(c, c.one(parts)) if parts else KINDS["region"].maker(c)


def _saved(c: Chooser, t: TensorState | None) -> Sequence[Step] | None:
    name = c.one(c.known(SAVING))
    if t is None:
        return None
    return applied(c, name, [t, c.pick_like(t)] if name in BINARY else [t])


@kind(6, "fill_")
def overwrite(c: Chooser) -> Sequence[Step] | None:
    """A value from elsewhere, over all elements."""
    t = c.pick_target()
    if t is None:
        return None
    if c.chance(0.5):
        other = c.pick_like(t, into=True)
        return None if other is None else written(c, "copy", t, other)
    return fill(c)


@kind(0, "fill_")
def fill(c: Chooser) -> Sequence[Step] | None:
    """One number over all elements."""
    t = c.pick_target()
    if t is None:
        return None
    number = c.one((0, 2, 7)) if not c.free or c.chance(0.3) else c.scalar()
    scalars = [o for o in c.tensors() if not o.shape]
    if c.free and c.chance(0.4):
        made = c.tensor((), c.dtype())
        return c.make("fill_", f"{t}.fill_({c.one(scalars) if scalars else made})", 0)
    return c.under(steps.Fill(t.index, number))


@kind(1)
def count(c: Chooser) -> Sequence[Step] | None:
    """What says that a tensor was written by other means."""
    t = c.pick_target()
    return None if t is None or t.is_protected else (steps.Count(t.index),)


@kind(0, "inference")
def inference(c: Chooser) -> Sequence[Step] | None:
    """A step in inference mode."""
    names = ("view", "write", "apply", "region", "leaf", "set_item", "fill", "detach", "rearrange")
    (step, *_) = KINDS[c.one(names)].maker(c) or (None,)
    if isinstance(step, Leaf):
        step = replace(step, requires_grad=False)
    return None if step is None else (Inference(step),)


def with_out(c: Chooser, op: str, call: str) -> Sequence[Step] | None:
    """The call, unclosed, with ``out=``: an existing tensor of the result's shape, or a new one."""
    found = c.state.look(call + ")")
    if found is None:
        # The call itself is wrong: an out= that does not fit either would be a second fault.
        return c.make(op, call + ")")
    shape, dtype = found
    fitting = [t for t in c.tensors() if t.shape == shape]
    # In grad mode PyTorch refuses out= as soon as one argument requires grad.
    mode = "no_grad()" if c.chance(0.7) else ""

    def written(out: object) -> list[Step]:
        made = c.make(op + " out=", f"{call}, out={out})") or ()
        return [replace(step.line(), mode=mode) for step in made]

    if fitting and c.chance(0.7):
        return written(c.one(fitting))
    if c.chance(0.1):
        dtype = c.dtype()
    out = f"t{c.fresh()}"
    sizes = shape if c.chance(0.8) else (0,)
    return [steps.Line(f"vt.zeros({sizes}, dtype=vt.{dtype})", (out,), "", "zeros"), *written(out)]
