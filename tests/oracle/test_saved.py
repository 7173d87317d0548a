"""Nothing that PyTorch lets be overwritten is refused: our nodes save no more than PyTorch's.

What breaks it: a derivative written with the result where PyTorch's has the operand, or the other
way round. That it refuses what we allow is no fault: nodes here may save less.
"""

from tests.oracle.cases import Case
from tests.oracle.sweep import groups
from tests.oracle.torch_judge import replay
from vtgrad.testing.steps import Line

PEER = "vtgrad"
#: Calls of each group: they differ in operands and options, seldom in what is saved.
CALLS = 3
WITHOUT_GRADIENTS = ("creation", "random", "bridge")
#: PyTorch multiplies what it takes for no views of the operands: see `hidden_views_of_kron`.
HIDDEN_VIEWS = ("kron structure", "kron calls")


def overwritten(one: Case) -> list[tuple[Line, ...]]:
    """The program up to its first gradient, with each operand, and the result, overwritten."""
    steps = one.program
    backward = next((k for k, step in enumerate(steps) if step.backward), None)
    if backward is None:
        return []
    *operands, call = steps[:backward]
    names = sorted(name for step in operands for name in step.defs if name in call.uses)
    return [
        (
            *operands,
            call,
            Line(f"{name}.mul_(1)", ("written",), "no_grad()", "write"),
            steps[backward],
        )
        for name in (*names, *call.defs)
    ]


def test_nothing_that_pytorch_lets_be_overwritten_is_refused() -> None:
    refused, compared = [], 0
    for name, cases in groups().items():
        if name in WITHOUT_GRADIENTS or name in HIDDEN_VIEWS:
            continue
        for program in (p for one in list(cases)[:CALLS] for p in overwritten(one)):
            run = replay(program, PEER, "never")
            compared += 1
            if "raises no error / " in (run.signature if run.divergences else ""):
                refused.append(f"{program[-1].op}, {program[-2].text}: {run.signature}")
    assert compared > 500
    assert not refused, "\n".join(refused)
