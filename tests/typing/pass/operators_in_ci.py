"""Operators of the project, in random programs of views, in-place writes and backward passes."""

import numpy as np

import vtgrad as vt
from vtgrad.autograd.function import FunctionCtx
from vtgrad.testing.checking import Rule, machine


class Square(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return gradient * 2 * x


def decay_(x: vt.Tensor, rate: vt.Tensor) -> vt.Tensor:
    return x.mul_(0.5).sub_(rate)


TestSquare = machine(Rule("square", Square.apply, np.square, is_function=True)).TestCase
TestDecay = machine(
    Rule("decay_", decay_, lambda x, rate: x * 0.5 - rate, operands=2, result="written")
).TestCase
