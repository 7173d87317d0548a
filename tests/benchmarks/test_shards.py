"""The likelihood of the benchmark of shards."""

import vtgrad as vt
from benchmarks import shards


def test_the_gradient_of_the_likelihood_is_right() -> None:
    p, (x, *_) = shards.data(3)

    def by(shares: vt.Tensor, means: vt.Tensor) -> vt.Tensor:
        return shards.likelihood({"shares": shares, "means": means}, x)

    inputs = [p["shares"].requires_grad_(), p["means"].requires_grad_()]
    assert vt.autograd.gradcheck(by, inputs)
