"""Custom Functions that random programs call, as text that runs on both sides.

Their names begin with ``F_``; they return one tensor, or the tuple that `RESULTS` says. All that
PyTorch gets wrong is left out: undeclared writes, a written view that is not the first argument.
"""

RESULTS = {
    "F_rows": 2,
    "F_mixed": 3,
    "F_constant": 2,
    "F_partial": 2,
    "F_boxed": 2,
    "F_none": 3,
    "F_twice": 2,
    "F_both_": 2,
}
ONE = "F_scale F_exp F_same F_view F_inner F_row F_steps F_recorded F_alias".split()
TWO = "F_mul F_first".split()
WRITE_ONE = "F_triple_ F_exp_ F_late_".split()
WRITE_TWO = "F_mul_ F_store_".split()
# The nodes whose `apply` takes one gradient of the result's shape and returns one tensor.
APPLIED = "Scale Exp Same View Inner Recorded Alias Triple".split()

FUNCTIONS = """\
def function(forward, backward, setup_context=None, base=vt.autograd.Function, jvp=None, **options):
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward), **options}
    if jvp is not None:
        methods["jvp"] = staticmethod(jvp)
    if setup_context is not None:
        methods["setup_context"] = staticmethod(setup_context)
    name = forward.__name__[8:].title().strip("_")  # which the nodes show
    return type(name, (base,), methods).apply

def forward_scale(ctx, x):
    ctx.factor = 2
    return x * 2
F_scale = function(forward_scale, lambda ctx, g: g * ctx.factor, jvp=lambda ctx, t: t * ctx.factor)

def forward_exp(ctx, x):
    y = x.clamp(-3, 3).exp()
    ctx.save_for_backward(y)
    ctx.save_for_forward(y)
    return y
def backward_exp(ctx, g):
    y, = ctx.saved_tensors
    return g * y
F_exp = function(forward_exp, backward_exp, jvp=backward_exp)

def forward_same(ctx, x):
    return x
F_same = function(forward_same, lambda ctx, g: g)

def forward_view(ctx, x):
    return x.unsqueeze(0)
F_view = function(forward_view, lambda ctx, g: g.squeeze(0), jvp=lambda ctx, t: t.unsqueeze(0))

def forward_inner(ctx, x):
    return (x * 2).unsqueeze(0)
F_inner = function(forward_inner, lambda ctx, g: g.squeeze(0) * 2,
                   jvp=lambda ctx, t: (t * 2).unsqueeze(0))

def forward_row(ctx, x):
    ctx.shape, ctx.dtype = tuple(x.shape), x.dtype
    return x[-1]
def backward_row(ctx, g):
    z = vt.zeros(ctx.shape, dtype=ctx.dtype)
    z[-1] = g
    return z
F_row = function(forward_row, backward_row, jvp=lambda ctx, t: t[-1])

def forward_steps(x, n=3):
    return x * n
def setup_steps(ctx, inputs, output):
    ctx.n = inputs[1]
F_steps = function(forward_steps, lambda ctx, g: (g * ctx.n, None), setup_steps,
                   jvp=lambda ctx, t, _: t * ctx.n)

def forward_recorded(ctx, x):
    with vt.enable_grad():
        y = x.detach().requires_grad_() * 2
    return y.detach()
F_recorded = function(forward_recorded, lambda ctx, g: g * 2)

def forward_alias(ctx, x):
    ctx.save_for_backward(x)
    return x.detach()
def backward_alias(ctx, g):
    x, = ctx.saved_tensors
    return g * x * 0 + g
F_alias = function(forward_alias, backward_alias)

def forward_mul(ctx, x, y):
    ctx.save_for_backward(x, y)
    ctx.save_for_forward(x, y)
    return x * y
def backward_mul(ctx, g):
    x, y = ctx.saved_tensors
    return g * y, g * x
def jvp_mul(ctx, t, u):
    x, y = ctx.saved_tensors
    return t * y + u * x
F_mul = function(forward_mul, backward_mul, jvp=jvp_mul)

def forward_first(ctx, x, y):
    return x, None, y * 2
def backward_first(ctx, g, _, h):
    return g, h * 2
_first = function(forward_first, backward_first)
def F_first(x, y):
    return _first(x, y)[0]

def forward_rows(ctx, x):
    ctx.shape, ctx.dtype = tuple(x.shape), x.dtype
    return x[0], x[-1]
def backward_rows(ctx, g, h):
    z = vt.zeros(ctx.shape, dtype=ctx.dtype)
    z[0] = g
    z[-1] = z[-1] + h
    return z
F_rows = function(forward_rows, backward_rows, jvp=lambda ctx, t: (t[0], t[-1]))

def forward_mixed(ctx, x):
    return x.unsqueeze(0), 5, x * 3
F_mixed = function(forward_mixed, lambda ctx, g, _, h: g.squeeze(0) + h * 3,
                   jvp=lambda ctx, t: (t.unsqueeze(0), None, t * 3))

def forward_constant(ctx, x):
    s = x.sign()
    ctx.mark_non_differentiable(s)
    return x * 2, s
F_constant = function(forward_constant, lambda ctx, g, h: g * 2 + h,
                      jvp=lambda ctx, t: (t * 2, None))

def forward_partial(ctx, x):
    ctx.set_materialize_grads(False)
    return x * 2, x * 3
def backward_partial(ctx, g, h):
    seen.append(("partial", [float(g is None), float(h is None)]))
    if g is None:
        return None if h is None else h * 3
    return g * 2 if h is None else g * 2 + h * 3
F_partial = function(forward_partial, backward_partial)

def forward_boxed(ctx, x):
    ctx.save_for_backward(x)
    return x * 2, x * x
def backward_boxed(ctx, grads):
    x, = ctx.saved_tensors
    h = grads.pop()
    return grads.pop() * 2 + h * x * 2
F_boxed = function(forward_boxed, backward_boxed, boxed_grads_call=True,
                   clear_saved_tensors_on_access=True)

def forward_none(ctx, x):
    ctx._materialize_non_diff_grads = False
    s = x.sign()
    ctx.mark_non_differentiable(s)
    return x * 2, s, x * 3
def backward_none(ctx, g, h, i):
    seen.append(("none", [float(k is None) for k in (g, h, i)]))
    return g * 2 + i * 3
F_none = function(forward_none, backward_none, base=vt.autograd.NestedIOFunction)

def forward_twice(ctx, x):
    y = x * 2
    return y, y
F_twice = function(forward_twice, lambda ctx, g, h: (g + h) * 2)

def forward_triple_(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(3)
F_triple_ = function(forward_triple_, lambda ctx, g: g * 3,
                     base=vt.autograd.function.InplaceFunction, jvp=lambda ctx, t: t.mul_(3))

def forward_exp_(ctx, x):
    ctx.mark_dirty(x)
    x.clamp_(-3, 3)
    x.exp_()
    ctx.save_for_backward(x)
    return x
F_exp_ = function(forward_exp_, backward_exp)

def forward_late_(x):
    return x.mul_(3)
def setup_late(ctx, inputs, output):
    ctx.mark_dirty(inputs[0])
F_late_ = function(forward_late_, lambda ctx, g: g * 3, setup_late)

def forward_mul_(ctx, x, y):
    ctx.mark_dirty(x)
    old = x.clone()
    x.mul_(y)
    ctx.save_for_backward(old, y)
    ctx.save_for_forward(old, y)
    return x
def backward_mul_(ctx, g):
    old, y = ctx.saved_tensors
    return g * y, g * old
def jvp_mul_(ctx, t, u):
    old, y = ctx.saved_tensors
    return t.mul_(y).add_(u * old)
F_mul_ = function(forward_mul_, backward_mul_, jvp=jvp_mul_)

def forward_store_(ctx, x, y):
    ctx.mark_dirty(x)
    return x.copy_(y)
def backward_store_(ctx, g):
    return g * 0, g  # not None: of a view, PyTorch would lose the gradient of the rest of its base
F_store_ = function(forward_store_, backward_store_, jvp=lambda ctx, t, u: t.copy_(u))

def forward_both_(ctx, x):
    ctx.mark_dirty(x)
    x.mul_(3)
    return x, x * 2
F_both_ = function(forward_both_, lambda ctx, g, h: (g + h * 2) * 3)
"""
