"""Programs that a type checker must accept as they stand."""

import vtgrad as vt


def fill(drive: vt.Tensor, steps: int) -> vt.Tensor:
    level = vt.zeros(steps)
    for t in range(1, steps):
        level[t] = 0.5 * level[t - 1] + drive
    return level


def arithmetic(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
    z = 2 * x + y / 3.0 - 1
    z += x
    z *= 2
    return -(z**2) @ y


def views(x: vt.Tensor) -> list[vt.Tensor]:
    row: vt.Tensor = x[0]
    strided: vt.Tensor = x[:, ::2]
    new_axis: vt.Tensor = x[None, ..., 1]
    masked: vt.Tensor = x[x > 0]
    return [row, strided, new_axis, masked, x.t(), x.view(-1), x.reshape(2, 3)]


def gradients(x: vt.Tensor) -> vt.Tensor:
    x.requires_grad_().sum().backward()
    grad = x.grad
    assert grad is not None
    return grad


def without_recording(x: vt.Tensor) -> None:
    with vt.no_grad():
        x.mul_(0.9).add_(1.0)
