"""The comparison itself finds what it is there to find, shrinks it, and excuses nothing else."""

import sys
from types import ModuleType
from typing import cast

import pytest
import torch

from tests.oracle.cases import case, failures
from tests.oracle.fuzz import Fuzzer
from tests.oracle.situation import Situation, overlaps_itself
from tests.oracle.torch_judge import replay
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.program import script, without_orphans
from vtgrad.testing.steps import Line

PROGRAM = (
    Line("vt.tensor([1.0, 2.0], dtype=vt.float64, requires_grad=True)", ("t0",), "", "tensor"),
    Line("t0.clone()", ("t1",), "", "clone"),
    Line("vt.zeros(3)", ("t2",), "", "zeros"),
    Line("t1[0]", ("t3",), "", "getitem"),
    Line("t2 + 1", ("t4",), "", "add"),
    Line("t3.mul_(2)", (), "", "mul_"),
    Line("t1.sum().backward()", (), "", "backward", backward=True),
)


class Faulty(ModuleType):
    """PyTorch with one wrong operator."""

    def __init__(self, name: str, **replaced: object) -> None:
        super().__init__(name)
        self.__dict__.update({key: getattr(torch, key) for key in dir(torch) if key[:2] != "__"})
        self.__dict__.update(replaced)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> str:
    def zeros(*size: int, dtype: torch.dtype | None = None) -> torch.Tensor:
        made = torch.zeros(*size, dtype=dtype)
        made.add_(0)
        return made

    monkeypatch.setitem(sys.modules, "faulty_peer", Faulty("faulty_peer", zeros=zeros))
    return "faulty_peer"


def test_pytorch_agrees_with_itself() -> None:
    run = replay(PROGRAM, "torch", "always")
    assert run.divergences == ()
    assert len(run.steps) == len(PROGRAM)


def test_a_moved_version_is_found_and_shrunk_to_the_step_that_moved_it(faulty: str) -> None:
    run = replay(PROGRAM, faulty, "last")
    assert run.signature == "zeros: _version"
    small = Fuzzer(faulty).smallest("last", run)
    assert [step.line().text for step in small.steps] == ["vt.zeros(3)"]


def test_random_programs_find_the_fault(faulty: str) -> None:
    fuzzer = Fuzzer(faulty, seed=1)
    signatures = {fuzzer.run(index)[1].signature for index in range(200)}
    assert any("_version" in signature for signature in signatures)


def test_a_wrong_gradient_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def exp(x: torch.Tensor) -> torch.Tensor:
        return torch.exp(x).detach() + 0 * x

    monkeypatch.setitem(sys.modules, "faulty_peer", Faulty("faulty_peer", exp=exp))
    ((_, run),) = failures([case("vt.exp({a})")], "faulty_peer")
    assert run.divergences[0].what == "grad_fn"


def test_an_error_on_one_side_only_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(x: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("no")

    monkeypatch.setitem(sys.modules, "faulty_peer", Faulty("faulty_peer", exp=refuse))
    ((_, run),) = failures([case("vt.exp({a})")], "faulty_peer")
    assert run.divergences[0].what == "raises"


def test_dropping_a_step_drops_what_reads_it() -> None:
    kept = without_orphans(PROGRAM[:1] + PROGRAM[2:])
    assert [step.line().text for step in kept] == [PROGRAM[0].text, "vt.zeros(3)", "t2 + 1"]


def test_a_rendered_program_runs() -> None:
    namespace: dict[str, torch.Tensor] = {}
    exec(script(PROGRAM, "torch"), namespace)
    assert namespace["t0"].grad is not None
    assert namespace["t0"].grad.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("size", "stride", "overlaps"),
    [((2, 2), (1, 1), True), ((2, 2), (2, 1), False), ((3,), (0,), True), ((1,), (0,), False)],
)
def test_self_overlap_is_told_exactly(
    size: tuple[int, ...], stride: tuple[int, ...], overlaps: bool
) -> None:
    assert overlaps_itself(torch.zeros(6).as_strided(size, stride)) is overlaps


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ("t1", (True, False)),  # the sum itself
        ("t3", (False, False)),  # a gradient of something else
        ("t5", (True, True)),  # a gradient of the sum
        ("t6", (True, True)),  # what such a gradient was written to
        ("t0", (False, False)),
    ],
)
def test_a_difference_is_that_of_an_operator_only_where_it_follows_from_it(
    root: str, expected: tuple[bool, bool]
) -> None:
    def gradient(of: str, made: str) -> Line:
        text = f"vt.autograd.grad({of}.sum(), [t0], create_graph=True)[0]"
        return Line(text, (made,), "", "grad", backward=True)

    earlier = (
        Line("vt.ones(2, requires_grad=True)", ("t0",), "", "ones"),
        Line("t0.logcumsumexp(0)", ("t1",), "", "logcumsumexp"),
        Line("t0 * t0", ("t2",), "", "mul"),
        gradient("t2", "t3"),
        Line("t1 * t1", ("t4",), "", "mul"),
        gradient("t4", "t5"),
        Line("t2.clone()", ("t6",), "", "clone"),
        Line("t6.add_(t5)", (), "", "add_"),
    )
    step = Line(f"{root}.sum().backward()", (), "", "backward", backward=True)
    situation = Situation(step, earlier, cast("Interpreter", None), None, None, None)

    def is_sum(step: Line) -> bool:
        return "logcumsumexp(" in step.text

    def is_recorded(step: Line) -> bool:
        return "create_graph=True" in step.text

    assert (situation.follows(is_sum), situation.follows(is_sum, is_recorded)) == expected
