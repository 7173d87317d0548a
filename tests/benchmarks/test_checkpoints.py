"""The benchmark of checkpoints computes the same gradient in both of its ways."""

from benchmarks.checkpoints import loops


def test_both_ways_have_one_gradient() -> None:
    ours, plain = loops(60)
    assert ours().detach().numpy().tobytes() == plain().detach().numpy().tobytes()
