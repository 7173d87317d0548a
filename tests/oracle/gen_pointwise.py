"""Steps that create tensors and work on them element by element, in every variant."""

from collections.abc import Sequence

from vtgrad.testing.menu.chooser import Chooser, is_whole
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.menu.operators import BITWISE, LOGICAL
from vtgrad.testing.steps import Step

OPERATORS = ("+", "-", "*", "/", "**", "//", "%", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^")
AUGMENTED = ("+=", "-=", "*=", "/=", "**=", "//=", "%=", "&=", "|=", "^=")


@kind(2, "zeros")
def filled(c: Chooser) -> Sequence[Step] | None:
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
        ("tensor", f"vt.tensor({c.nested(shape, c.one(('float64', 'int64', 'bool')))})"),
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
    return c.make(*c.one(forms))


@kind(3, "bitwise_and")
def bitwise(c: Chooser) -> Sequence[Step] | None:
    """Bitwise and logical functions and operators of integers and booleans."""
    t, b = c.pick(is_whole), c.pick(is_whole)
    if t is None or b is None or not (is_whole(t) and is_whole(b)):
        return None
    other = c.one((b, b, str(c.rng.randint(0, 5)), "True"))
    op = c.one((*BITWISE, *LOGICAL))
    sign = c.one("&|^")
    forms = [
        (op, c.call(op, t, b)),
        (op + "_", f"{t}.{op}_({b})"),
        (f"operator {sign}", f"{t} {sign} {other}"),
        ("bitwise_not", f"~{t}"),
        ("bitwise_not", c.call("bitwise_not", t)),
    ]
    op, text = c.one(forms)
    return c.make(op, text)


@kind(5, "add")
def operator(c: Chooser) -> Sequence[Step] | None:
    """Python's operators, reflected ones included."""
    t = c.pick_tame()
    if t is None:
        return None
    sign = c.one(OPERATORS[:5] if c.chance(0.6) else OPERATORS)
    if c.chance(0.06):
        return c.make("unary operator", f"{c.one('-~+')}{t}")
    b: object = c.scalar() if c.chance(0.35) else c.pick_like(t)
    if b is None:
        return None
    left, right = (b, t) if c.chance(0.4) else (t, b)
    return c.make(f"operator {sign}", f"{left} {sign} {right}")


@kind(4, "add")
def augmented(c: Chooser) -> Sequence[Step] | None:
    """Python's augmented assignments."""
    t = c.pick_target()
    sign = c.one(AUGMENTED[:4] if c.chance(0.7) else AUGMENTED)
    if t is None or (sign[0] in "&|^" and not is_whole(t) and not c.blunder()):
        return None
    b: object = c.scalar() if c.chance(0.35) else c.pick_fitting(t.shape, into=not c.blunder())
    return None if b is None else c.make(f"operator {sign}", f"{t} {sign} {b}", 0)


@kind(6, "where")
def ternary(c: Chooser) -> Sequence[Step] | None:
    """Functions of three operands."""
    t = c.pick_tame()
    if t is None:
        return None
    a, b = c.pick_like(t), c.pick_like(t)
    if a is None or b is None:
        return None
    number = c.number()
    value = f", value={c.scalar()}" if c.chance(0.5) else ""
    low, high = sorted(c.rng.choices((-2.0, -0.5, 0.0, 0.125, 1.5, 2.0, 3.5), k=2))
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
    op, text = c.one(forms)
    return c.make(op, text)
