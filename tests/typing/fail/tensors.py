"""Each line marked `E` must be refused, with the code that it names, and no other line."""

import vtgrad as vt

x = vt.zeros(3)

x + "1"  # E: operator
x.shape = vt.Size((1, 3))  # E: misc
x.grad.sum()  # E: union-attr
x.no_such_method()  # E: attr-defined
x.requires_grad_("yes")  # E: arg-type
x.contiguous(memory_format="channels_last")  # E: arg-type
length: str = x.ndim  # E: assignment
