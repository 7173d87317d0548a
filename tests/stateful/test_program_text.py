"""A failing program is printed as a script, as its twin, and as data that can be run again."""

from vtgrad.testing import steps as step_module
from vtgrad.testing.program import program_text, script
from vtgrad.testing.steps import Apply, Backward, Leaf, Literal, SetItem, Step, View, Write
from vtgrad.testing.views import ViewCall

PROGRAM: list[Step] = [
    Leaf(0, Literal((2, 2), (1, 2, 3, 4)), requires_grad=True),
    Apply(1, "mul_number", (0,), (2,)),
    View((2, 3), 1, ViewCall("unbind", (0,)), grad=False),
    Write(1, "add", ("t0",)),
    SetItem(1, 5, (0, slice(1, None))),
    Backward(1, Literal((2, 2), (1, 1, 1, 1)), retain=True),
]


def test_a_program_is_a_script_for_either_library() -> None:
    assert script(PROGRAM, "vtgrad").splitlines() == [
        "import vtgrad as vt",
        "",
        "seen = []",
        "t0 = vt.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=vt.float64, requires_grad=True)",
        "t1 = t0.mul(2)",
        "with vt.no_grad(): t2, t3 = t1.unbind(0)",
        "t1.add_(t0)",
        "t1[0, 1:] = 5",
        "w = vt.tensor([[1.0, 1.0], [1.0, 1.0]], dtype=vt.float64)",
        "t1.backward(w, retain_graph=True)",
        "w.zero_()",
    ]
    assert script(PROGRAM, "torch").startswith("import torch as vt\n")
    rule = 'vt.autograd.graph.set_overwrite_check("storage")'
    assert rule in script(PROGRAM, "vtgrad", exact=False).splitlines()
    assert rule not in script(PROGRAM, "torch", exact=False)


def test_a_failure_shows_both_scripts_and_the_steps() -> None:
    text = program_text(PROGRAM, "vtgrad")
    assert text.index("import vtgrad as vt") < text.index("import torch as vt")
    assert "Write(target=1, name='add', others=('t0',)" in text


def test_printed_steps_can_be_run_again() -> None:
    names = {**vars(step_module), "ViewCall": ViewCall}
    again = [eval(repr(step), names) for step in PROGRAM]
    assert again == PROGRAM
