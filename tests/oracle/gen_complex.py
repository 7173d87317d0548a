"""Steps that look at memory in another way: complex parts, conjugates, negatives, other dtypes."""

from collections.abc import Sequence

from vtgrad.testing.menu.chooser import Chooser, is_complex, is_floating
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.steps import Step


@kind(3, "conj")
def make_complex(c: Chooser) -> Sequence[Step] | None:
    """A complex tensor, where there are few: from real pairs, or by a product."""
    pairs = c.pick(lambda t: t.shape[-1:] == (2,) and t.dtype in ("float32", "float64"))
    if pairs is not None and c.chance(0.5):
        return c.make("view_as_complex", f"vt.view_as_complex({pairs})")
    if c.chance(0.3):
        shape = (*c.shape()[:2], 2)
        text = c.tensor(shape, "float64", c.chance(0.5))
        return c.make("view_as_complex", f"vt.view_as_complex({text}.clone())")
    t = c.pick(is_floating)
    return None if t is None else c.make("mul", f"{t} * {c.number('complex128')}")


@kind(9, "conj")
def complex_view(c: Chooser) -> Sequence[Step] | None:
    """A view of a complex tensor, or what undoes it."""
    t = c.pick(is_complex)
    if t is None:
        return None
    forms = [
        ("conj", c.call("conj", t)),
        ("conj", c.call("conj", t)),
        ("real", f"{t}.real"),
        ("real", f"vt.real({t})"),
        ("imag", f"{t}.imag"),
        ("imag", f"vt.imag({t})"),
        ("view_as_real", f"vt.view_as_real({t})"),
        ("view_as_real", f"vt.view_as_real({t})"),
        ("resolve_conj", c.call("resolve_conj", t)),
        ("conj_physical", c.call("conj_physical", t)),
        ("mH", f"{t}.mH"),
        ("adjoint", c.call("adjoint", t)),
        ("H", f"{t}.H"),
    ]
    op, text = c.one(forms)
    return c.make(op, text)


@kind(2, "_neg_view")
def negative_view(c: Chooser) -> Sequence[Step] | None:
    """A lazy negative, or what undoes it."""
    t = c.pick(lambda t: t.dtype != "bool")
    if t is None:
        return None
    forms = [
        ("_neg_view", f"{t}._neg_view()"),
        ("resolve_neg", c.call("resolve_neg", t)),
        ("conj", c.call("conj", t)),
        ("real", f"{t}.real"),
    ]
    op, text = c.one(forms)
    return c.make(op, text)


@kind(2, "view")
def other_dtype(c: Chooser) -> Sequence[Step] | None:
    """The same bytes as elements of another dtype."""
    t = c.pick(lambda t: not t.is_lazy)
    if t is None:
        return None
    # Not integers as floating numbers, which may be anything, nor the other way round, which shows
    # the last bit of each rounding.
    dtypes = ["int32", "int64", "int16", "uint8", "int8"]
    if is_floating(t) or is_complex(t) or t.dtype == "bool":
        dtypes = [t.dtype]
    if is_complex(t):
        dtypes += ["float64" if t.dtype == "complex128" else "float32"] * 4
    if is_floating(t) and t.dtype != "float16":
        dtypes += ["complex128" if t.dtype == "float64" else "complex64"] * 4
    return c.make("view", f"{t}.view(vt.{c.one(dtypes)})")


@kind(3, "conj")
def set_part(c: Chooser) -> Sequence[Step] | None:
    """Assignments to ``.real`` and ``.imag``."""
    t = c.pick(lambda t: is_complex(t) or c.chance(0.1))
    if t is None or (t.is_protected and c.chance(0.9)):
        return None
    value: object = c.number() if c.chance(0.4) else c.pick_like(t, into=True)
    if value is None:
        return None
    part = c.one(("real", "imag"))
    return c.make(f"{part}=", f"{t}.{part} = {value}", 0)


@kind(3, "conj")
def write_through(c: Chooser) -> Sequence[Step] | None:
    """An in-place operator on a tensor that is lazy, or on a part of a complex one."""
    t = c.pick(lambda t: t.is_lazy or is_complex(t))
    if t is None or (t.is_protected and c.chance(0.9)):
        return None
    target = str(t)
    if is_complex(t) and c.chance(0.5):
        target += c.one((".real", ".imag", ".conj()", ".mH", ".conj().imag", "[..., 0].conj()"))
    other = c.pick_like(t, into=True) if c.chance(0.5) else None
    value = c.number(t.dtype) if other is None else other
    op = c.one(("mul_", "add_", "copy_", "sub_", "fill_"))
    if op in ("copy_", "fill_") and (other is None) is (op == "copy_"):
        op = "mul_"
    return c.make(op, f"{target}.{op}({value})", 0)
