"""Steps about gradients: flags, detaching, hooks, backward and grad."""

from tests.oracle.generator import Context, rule
from tests.oracle.side import TensorLike
from vtgrad.testing.steps import Line


@rule(4, "detach_")
def flags(c: Context) -> list[Line] | None:
    """requires_grad_, detach_, deletion of names, assignment of .data and .grad."""
    name = c.pick()
    if name is None:
        return None
    t = c.get(name)
    forms = [
        ("requires_grad_", f"{name}.requires_grad_()"),
        ("requires_grad_", f"{name}.requires_grad_({c.chance(0.7)})"),
        ("requires_grad=", f"{name}.requires_grad = {c.chance(0.7)}"),
        ("detach_", f"{name}.detach_()"),
        ("retain_grad", f"{name}.retain_grad()"),
        ("retain_grad", f"{name}.retain_grad()"),
        (".grad=", f"{name}.grad = None"),
        ("clone", f"{name}.detach().clone().requires_grad_()"),
        ("del", f"del {name}"),
    ]
    if c.accumulated(name):
        forms += [(".grad", f"{name}.grad.zero_()"), (".grad", f"{name}.grad.mul_(2)")] * 2
    if t.dtype == c.torch.float64 and c.chance(0.3):
        forms.append((".grad=", f"{name}.grad = vt.ones({tuple(t.shape)}, dtype=vt.float64)"))
        forms.append((".data=", f"{name}.data = {c.tensor(tuple(t.shape), 'float64')}"))
    op, text = c.rng.choice(forms)
    if op == "del" and len(c.names()) < 6:
        return None
    if op == "retain_grad" and (_may_crash(t) or (not t.requires_grad and c.chance(0.9))):
        return None
    if not c.has(op):
        return None
    if op == "clone" or "requires_grad" in op:
        if op == "clone" and not (t.is_floating_point() or t.is_complex()):
            return None
        steps = c.make(op, text, 1 if op == "clone" else 0)
        c.leaves.add(steps[0].defs[0] if op == "clone" else name)
        return steps
    return c.make(op, text, 0)


def _may_crash(t: TensorLike) -> bool:
    """Whether PyTorch crashes if the tensor retains its gradient and a part of it is written."""
    return bool(t.output_nr)


@rule(4, "register_hook")
def hook(c: Context) -> list[Line] | None:
    """A tensor hook, or the removal of one.

    The graph is read first: PyTorch crashes when a hook is registered on a view whose graph is
    out of date.
    """
    name = c.pick(lambda t: t.requires_grad)
    if name is None:
        return None
    c.hooks += 1
    factor = c.rng.choice(("None", "None", "2.0", "-1.0"))
    tag = f"h{c.hooks}"
    if c.hooks > 1 and c.chance(0.2):
        earlier = f"h{c.rng.randint(1, c.hooks - 1)}"
        if earlier in c.side.names:
            return [Line(f"{earlier}.remove()", (), "", "hook.remove")]
    text = f"{name}.grad_fn; {tag} = {name}.register_hook(hook('{tag}', {factor}))"
    return [Line(text, (), "", "register_hook")]


def root(c: Context) -> tuple[str, str] | None:
    """A tensor to start from and the expression of a scalar made of it."""
    name = c.pick(lambda t: t.requires_grad and not t.is_complex())
    if name is None:
        return None
    return name, f"{name}.sum()"


@rule(6, "backward")
def backward(c: Context) -> list[Line] | None:
    """``backward`` with its options."""
    found = root(c)
    if found is None:
        return None
    name, scalar = found
    t = c.get(name)
    options = ["retain_graph=True"] if c.chance(0.65) else []
    if c.chance(0.08):
        options.append("create_graph=True")
    if c.chance(0.2):
        chosen = [
            c.pick(lambda t: t.requires_grad and not _may_crash(t))
            for _ in range(c.rng.randint(1, 2))
        ]
        options.append("inputs=[" + ", ".join(n for n in chosen if n) + "]")
    joined = ", ".join(options)
    dtype = str(t.dtype).rsplit(".", 1)[-1]
    weights = c.tensor(tuple(t.shape), dtype)
    forms = [
        f"{scalar}.backward({joined})",
        f"({name} * {name}).sum().backward({joined})",
        f"{name}.backward({', '.join((weights, *options))})",
    ]
    if t.numel() == 1 or c.blunder():
        forms.append(f"{name}.backward({joined})")
    if c.blunder():
        forms.append(f"{name}.backward({', '.join((c.tensor(c.shape(), dtype), *options))})")
    return [Line(c.rng.choice(forms), (), c.mode(), "backward", backward=True)]


@rule(6, "grad")
def grad(c: Context) -> list[Line] | None:
    """``autograd.grad`` of one or two inputs, first or second order."""
    found = root(c)
    if found is None:
        return None
    name, scalar = found
    inputs = [c.pick(lambda t: t.requires_grad) for _ in range(c.rng.choice((1, 1, 2)))]
    names = [n for n in inputs if n]
    if not names:
        return None
    options = []
    if c.chance(0.6):
        options.append("retain_graph=True")
    if c.chance(0.8):
        options.append("allow_unused=True")
    if c.chance(0.1):
        options.append("materialize_grads=True")
    second = c.chance(0.3)
    if second:
        options.append("create_graph=True")
    output = scalar if c.chance(0.5) else f"({name} * {name} * {name}).sum()"
    if c.chance(0.2):
        dtype = str(c.get(name).dtype).rsplit(".", 1)[-1]
        weights = c.tensor(tuple(c.get(name).shape), dtype)
        output = f"{name}, grad_outputs={weights}"
    wanted = f"[{', '.join(names)}]"
    if "grad_outputs" in output:
        start, _, extra = output.partition(", ")
        inner = f"{start}, {wanted}, {', '.join((extra, *options))}"
    else:
        inner = ", ".join((output, wanted, *options))
    defs = tuple(c.fresh() for _ in names)
    steps = [Line(_gradients(inner, names), defs, c.mode(), "grad", backward=True)]
    if second:
        again = f"{defs[0]}.sum(), {wanted}, allow_unused=True"
        more = tuple(c.fresh() for _ in names)
        steps.append(Line(_gradients(again, names), more, "", "grad", backward=True))
    return steps


def _gradients(arguments: str, names: list[str]) -> str:
    """A call of grad whose result unpacks into one name for each input."""
    text = f"[dense(g) for g in vt.autograd.grad({arguments})]"
    return text + "[0]" if len(names) == 1 else text
