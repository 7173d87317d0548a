"""What the text of random programs calls: definitions that run on both sides.

Nothing can get lost between the program that failed and the program that is shown: a printed
program has the definitions above it that it calls.
"""

from tests.oracle.functions import FUNCTIONS

__all__ = ["PRELUDE"]

_HELPERS = '''\
OPAQUE, seen = [], []

def dense(g):
    """A contiguous copy of a gradient: layouts of gradients are no part of the comparison."""
    if g is None:
        return None
    g = (vt.zeros(tuple(g.shape), dtype=g.dtype) + g).clone(memory_format=vt.contiguous_format)
    OPAQUE.append(g.grad_fn)
    return g

def ramp(t):
    """Weights that differ from element to element, in the shape and dtype of a result."""
    numbers = [k / 4 + 0.5 for k in range(t.numel())]
    return vt.tensor(numbers, dtype=t.dtype).reshape(tuple(t.shape))

def without_forward(run):
    """What a function returns that runs with forward mode off."""
    forward = vt.autograd.forward_ad
    switch = getattr(forward, "_set_fwd_grad_enabled", None)
    with (forward.set_fwd_grad_enabled if switch is None else switch)(False):
        return run()

def hook(tag, factor=None):
    """A tensor hook that records what it sees and may scale it."""
    def run(g):
        seen.append((tag, None if g is None else g.detach().tolist()))
        return None if factor is None or g is None else g * factor
    return run
'''

#: In order: later parts use earlier ones.
PRELUDE = (_HELPERS, FUNCTIONS)
