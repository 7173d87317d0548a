"""Steps about gradients that only text can say: attributes, roots that are expressions."""

from collections.abc import Sequence

from vtgrad.testing.menu.chooser import Chooser, is_whole
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.menu.passes import root
from vtgrad.testing.menu.state import TensorState
from vtgrad.testing.steps import Line, Step


@kind(3)
def attributes(c: Chooser) -> Sequence[Step] | None:
    """Assignments to .requires_grad, .data and .grad; new leaves; writes to gradients."""
    t = c.pick()
    if t is None:
        return None
    forms = [
        ("requires_grad=", f"{t}.requires_grad = {c.chance(0.7)}"),
        (".grad=", f"{t}.grad = None"),
    ]
    if t.has_gradient:
        forms += [(".grad", f"{t}.grad.zero_()"), (".grad", f"{t}.grad.mul_(2)")] * 2
    if t.dtype == "float64" and c.chance(0.3):
        forms.append((".grad=", f"{t}.grad = vt.ones({t.shape}, dtype=vt.float64)"))
        forms.append((".data=", f"{t}.data = {c.tensor(t.shape, 'float64')}"))
    if not is_whole(t) and c.chance(0.3):
        return c.make("clone", f"{t}.detach().clone().requires_grad_()")
    op, text = c.one(forms)
    return c.make(op, text, 0)


def _output(c: Chooser, t: TensorState) -> str:
    """A number that is made of a tensor."""
    return c.one((f"{t}.sum()", f"({t} * {t}).sum()", f"({t} * {t} * {t}).sum()"))


@kind(4, "backward")
def backward_of_sum(c: Chooser) -> Sequence[Step] | None:
    """``backward`` of a number that is made for it, with its options."""
    t = root(c)
    if t is None:
        return None
    options = ["retain_graph=True"] if c.chance(0.65) else []
    if c.chance(0.08):
        options.append("create_graph=True")
    output = _output(c, t)
    if t.shape in ((), (1,)) or c.blunder():
        output = c.one((output, str(t)))
    elif c.blunder():
        output, options = str(t), [c.tensor(c.shape(), t.dtype), *options]
    text = f"{output}.backward({', '.join(options)})"
    return [c.in_mode(Line(text, (), "", "backward", backward=True))]


@kind(6, "grad")
def grad(c: Chooser) -> Sequence[Step] | None:
    """``autograd.grad`` of one or two inputs, first or second order."""
    t = root(c)
    inputs = [c.pick(lambda t: t.requires_grad) for _ in range(c.one((1, 1, 2)))]
    names = [str(n) for n in inputs if n is not None]
    if not names or t is None:
        return None
    wanted = f"[{', '.join(names)}]"
    arguments = [_output(c, t), wanted]
    if c.chance(0.2):
        arguments = [str(t), wanted, f"grad_outputs={c.tensor(t.shape, t.dtype)}"]
    for share, option in ((0.6, "retain_graph"), (0.8, "allow_unused"), (0.1, "materialize_grads")):
        arguments += [f"{option}=True"] if c.chance(share) else []
    second = c.chance(0.3)
    arguments += ["create_graph=True"] if second else []
    first = _gradients(c, ", ".join(arguments), len(names))
    if not second:
        return [c.in_mode(first)]
    again = _gradients(c, f"{first.defs[0]}.sum(), {wanted}, allow_unused=True", len(names))
    return [c.in_mode(first), again]


def _gradients(c: Chooser, arguments: str, count: int) -> Line:
    """A call of grad whose result unpacks into one name for each input."""
    text = f"[dense(g) for g in vt.autograd.grad({arguments})]" + "[0]" * (count == 1)
    return Line(text, tuple(f"t{c.fresh()}" for _ in range(count)), "", "grad", backward=True)
