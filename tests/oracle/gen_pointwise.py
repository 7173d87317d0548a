"""Steps that create tensors and work on them element by element, in every variant."""

from dataclasses import replace

from tests.oracle.generator import Context, rule
from tests.oracle.side import TensorLike
from vtgrad.testing.steps import Line

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
OPERATORS = ("+", "-", "*", "/", "**", "//", "%", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^")
AUGMENTED = ("+=", "-=", "*=", "/=", "**=", "//=", "%=", "&=", "|=", "^=")
NO_INPLACE = set(
    "maximum minimum fmax fmin logaddexp logaddexp2 isnan isinf isfinite signbit isposinf isneginf"
    " isreal".split()
)


@rule(4, "tensor")
def leaf(c: Context) -> list[Line] | None:
    """A new tensor with literal values; often one that requires grad."""
    dtype = c.dtype()
    floating = dtype.startswith(("float", "complex"))
    grad = (floating and c.chance(0.5)) or c.chance(0.02)
    steps = c.make("tensor", c.tensor(c.shape(), dtype, grad))
    if grad:
        c.leaves.add(steps[0].defs[0])
    return steps


@rule(2, "zeros")
def filled(c: Context) -> list[Line] | None:
    """Creation operators with deterministic values."""
    shape, dtype = c.shape(), c.dtype()
    t = c.pick()
    n = c.rng.randint(0, 5)
    forms = [
        ("zeros", f"vt.zeros({shape}, dtype=vt.{dtype})"),
        ("zeros", f"vt.zeros{shape if shape else '(())'}"),
        ("ones", f"vt.ones({shape}, dtype=vt.{dtype})"),
        ("full", f"vt.full({shape}, {c.number(dtype)}, dtype=vt.{dtype})"),
        ("full", f"vt.full({shape}, {c.scalar()})"),
        ("arange", f"vt.arange({n})"),
        ("arange", f"vt.arange({c.number()}, {c.rng.randint(2, 5)}, dtype=vt.{dtype})"),
        ("arange", f"vt.arange({n}, 6.0, 0.5)"),
        ("linspace", f"vt.linspace({c.number()}, {c.number()}, {n}, dtype=vt.float64)"),
        ("eye", f"vt.eye({n})"),
        ("eye", f"vt.eye({n}, {c.rng.randint(0, 4)}, dtype=vt.{dtype})"),
        ("tensor", f"vt.tensor({c.nested(shape, c.rng.choice(('float64', 'int64', 'bool')))})"),
    ]
    if t is not None:
        forms += [
            ("zeros_like", f"vt.zeros_like({t})"),
            ("ones_like", f"vt.ones_like({t}, dtype=vt.{dtype})"),
            ("full_like", f"vt.full_like({t}, {c.scalar()})"),
            ("new_zeros", f"{t}.new_zeros({shape})"),
            ("new_ones", f"{t}.new_ones({shape}, dtype=vt.{dtype})"),
            ("new_full", f"{t}.new_full({shape}, {c.scalar()})"),
            ("new_tensor", f"{t}.new_tensor({c.nested(shape, 'float64')})"),
        ]
    forms = [form for form in forms if c.has(form[0])]
    return c.make(*c.rng.choice(forms)) if forms else None


@rule(7, "exp")
def unary(c: Context) -> list[Line] | None:
    """A function of one tensor."""
    t = c.pick_tame()
    op = c.rng.choice(UNARY if c.chance(0.9) else TESTS)
    if t is None or not c.has(op):
        return None
    if c.chance(0.06):
        return with_out(c, op, f"vt.{op}({t}")
    return c.make(op, c.call(op, t))


@rule(10, "exp")
def unary_inplace(c: Context) -> list[Line] | None:
    """The same, written over its input."""
    t = c.pick_target()
    op = c.rng.choice(UNARY) + "_"
    if t is None or not c.has(op):
        return None
    return c.make(op, f"{t}.{op}()", 0 if c.chance(0.8) else 1)


def operand(c: Context, t: str, into: bool) -> str | None:
    """A second operand: a number or a tensor that fits."""
    return c.scalar() if c.chance(0.35) else c.pick_like(t, into=into)


def binary_name(c: Context) -> str:
    """A binary operator, the arithmetic ones most often."""
    return c.rng.choice(
        c.rng.choices((BINARY[:4], BINARY, COMPARISONS, LOGICAL, BITWISE), (50, 30, 10, 5, 5))[0]
    )


def binary_arguments(c: Context, op: str, b: str) -> list[str]:
    """Operands and the options of add, sub and div."""
    arguments = [b]
    if op in ("add", "sub") and c.chance(0.25):
        arguments.append(f"alpha={c.number('float64' if c.chance(0.7) else 'int64')}")
    if op == "div" and c.chance(0.25):
        arguments.append(f"rounding_mode={c.rng.choice(('None', repr('floor'), repr('trunc')))}")
    return arguments


def unfit(c: Context, op: str, t: str) -> bool:
    """Whether a bitwise operator would meet a floating tensor (which is a blunder)."""
    bitwise_op = op in BITWISE or op[0] in "&|^"
    return bitwise_op and not whole(c.get(t)) and not c.blunder()


def whole(t: TensorLike) -> bool:
    """Whether it has an integer or boolean dtype."""
    return not (t.is_floating_point() or t.is_complex())


@rule(3, "bitwise_and")
def bitwise(c: Context) -> list[Line] | None:
    """Bitwise and logical functions and operators of integers and booleans."""
    t, b = c.pick(whole), c.pick(whole)
    if t is None or b is None or not (whole(c.get(t)) and whole(c.get(b))):
        return None
    other = c.rng.choice((b, b, str(c.rng.randint(0, 5)), "True"))
    op = c.rng.choice(BITWISE + LOGICAL)
    sign = c.rng.choice("&|^")
    forms = [
        (op, c.call(op, t, b)),
        (op + "_", f"{t}.{op}_({b})"),
        (f"operator {sign}", f"{t} {sign} {other}"),
        ("bitwise_not", f"~{t}"),
        ("bitwise_not", c.call("bitwise_not", t)),
    ]
    op, text = c.rng.choice(forms)
    return c.make(op, text) if op[0] == "o" or c.has(op) else None


@rule(10, "add")
def binary(c: Context) -> list[Line] | None:
    """A function of two operands."""
    t, op = c.pick_tame(), binary_name(c)
    if t is None or not c.has(op) or unfit(c, op, t):
        return None
    b = operand(c, t, into=False)
    if b is None:
        return None
    if c.chance(0.06):
        return with_out(c, op, f"vt.{op}({t}, {b}")
    return c.make(op, c.call(op, t, *binary_arguments(c, op, b)))


@rule(5, "add")
def operator(c: Context) -> list[Line] | None:
    """Python's operators, reflected ones included."""
    t = c.pick_tame()
    if t is None:
        return None
    sign = c.rng.choice(OPERATORS[:5] if c.chance(0.6) else OPERATORS)
    if c.chance(0.06):
        return c.make("unary operator", f"{c.rng.choice('-~+')}{t}")
    b = operand(c, t, into=False)
    if b is None:
        return None
    left, right = (b, t) if c.chance(0.4) else (t, b)
    return c.make(f"operator {sign}", f"{left} {sign} {right}")


@rule(14, "add")
def binary_inplace(c: Context) -> list[Line] | None:
    """A function of two operands, written over the first."""
    t = c.pick_target()
    if t is None:
        return None
    b = operand(c, t, into=not c.blunder())
    if b is None:
        return None
    if c.chance(0.3):
        sign = c.rng.choice(AUGMENTED[:4] if c.chance(0.7) else AUGMENTED)
        if unfit(c, sign, t):
            return None
        return c.make(f"operator {sign}", f"{t} {sign} {b}", 0)
    op = binary_name(c)
    if op in NO_INPLACE or not c.has(op + "_") or unfit(c, op, t):
        return None
    if op in LOGICAL and (c.get(t).requires_grad or (b in c.names() and c.get(b).requires_grad)):
        # PyTorch forgets to record this write, and its gradients are wrong from here on.
        return None
    text = f"{t}.{op}_({', '.join(binary_arguments(c, op, b))})"
    return c.make(op + "_", text, 0 if c.chance(0.85) else 1)


@rule(6, "where")
def ternary(c: Context) -> list[Line] | None:
    """Functions of three operands."""
    t = c.pick_tame()
    if t is None:
        return None
    a, b = c.pick_like(t), c.pick_like(t)
    if a is None or b is None:
        return None
    number = c.number()
    value = f", value={c.scalar()}" if c.chance(0.5) else ""
    low, high = sorted((float(c.number()), float(c.number())))
    forms = [
        ("where", f"vt.where({t} > {number}, {a}, {b})"),
        ("where", f"vt.where({t} > {number}, {a}, {c.scalar()})"),
        ("where", f"{a}.where({t} > {number}, {b})"),
        ("lerp", f"vt.lerp({t}, {a}, {number})"),
        ("lerp", f"{t}.lerp({a}, {b})"),
        ("addcmul", f"vt.addcmul({t}, {a}, {b}{value})"),
        ("addcdiv", f"{t}.addcdiv({a}, {b}{value})"),
        ("clamp", f"{t}.clamp({low}, {high})"),
        ("clamp", f"vt.clamp({t}, min={number})"),
        ("clamp", f"{t}.clamp(max={number})"),
        ("clamp", f"{t}.clamp({a}, {b})"),
        ("nan_to_num", f"{t}.nan_to_num({number}, posinf=2.0)"),
        ("logit", f"{t}.logit(0.25)"),
        ("logit_", f"{t}.logit_(0.125)"),
        ("renorm", f"{t}.renorm(2, 0, 1.5)"),
        ("renorm_", f"{t}.renorm_(1, -1, 2.0)"),
        ("lerp_", f"{t}.lerp_({a}, {number})"),
        ("lerp_", f"{t}.lerp_({a}, {b})"),
        ("addcmul_", f"{t}.addcmul_({a}, {b}{value})"),
        ("addcdiv_", f"{t}.addcdiv_({a}, {b}{value})"),
        ("clamp_", f"{t}.clamp_({low}, {high})"),
        ("clamp_", f"{t}.clamp_(min={number})"),
        ("clamp_", f"{t}.clamp_(max={a})"),
    ]
    op, text = c.rng.choice(forms)
    return c.make(op, text) if c.has(op) else None


@rule(6, "fill_")
def overwrite(c: Context) -> list[Line] | None:
    """In-place operators that forget the old value."""
    t = c.pick_target()
    if t is None:
        return None
    b = c.pick_like(t, into=True)
    forms = [
        ("fill_", f"{t}.fill_({c.scalar()})"),
        ("fill_", f"{t}.fill_(vt.tensor({c.number()}, dtype=vt.{c.dtype()}))"),
        ("zero_", f"{t}.zero_()"),
    ]
    scalars = [n for n in c.names() if c.get(n).dim() == 0]
    if scalars:
        forms.append(("fill_", f"{t}.fill_({c.rng.choice(scalars)})"))
    if b is not None:
        forms += [("copy_", f"{t}.copy_({b})")] * 3
    op, text = c.rng.choice(forms)
    return c.make(op, text, 0) if c.has(op) else None


def with_out(c: Context, op: str, call: str) -> list[Line] | None:
    """The call, unclosed, with ``out=``: an existing tensor of the result's shape, or a new one."""
    result = c.try_eval(call + ")")
    if result is None:
        # The call itself is wrong: an out= that does not fit either would be a second fault.
        return c.make(op, call + ")")
    shape = tuple(getattr(result, "shape", ()))
    dtype = str(getattr(result, "dtype", "torch.float64")).rsplit(".", 1)[-1]
    fitting = [n for n in c.names() if tuple(c.get(n).shape) == shape]
    # In grad mode PyTorch refuses out= as soon as one argument requires grad.
    mode = "no_grad()" if c.chance(0.7) else ""

    def written(out: str) -> list[Line]:
        return [replace(s, mode=mode) for s in c.make(op + " out=", f"{call}, out={out})")]

    if fitting and c.chance(0.7):
        return written(c.rng.choice(fitting))
    if c.chance(0.1):
        dtype = c.dtype()
    out = c.fresh()
    sizes = shape if c.chance(0.8) else (0,)
    make = f"vt.zeros({sizes}, dtype=vt.{dtype})"
    return [Line(make, (out,), "", "zeros"), *written(out)]
