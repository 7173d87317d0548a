"""Stories: what the steps say, beside what the program does."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest

import vtgrad as vt
from tests.support import leaf, ones_leaf
from tests.viz.story_states import elements, find, states
from vtgrad.errors import LeafWriteError, ProfilerError, StaleSavedError
from vtgrad.graph.observer import observers
from vtgrad.viz import Story, story


def told(found: Story) -> list[tuple[str, str]]:
    """The kinds and the sentences of the steps."""
    return [(step.kind, step.text) for step in found.steps]


def stale_view(w: vt.Tensor) -> None:
    x = w.clone()
    row = x[0]
    y = row * row
    x[1].mul_(2)
    x[0, 1] = 5
    assert row.grad_fn is not None
    y.sum().backward()


def test_each_step_is_told_in_a_sentence() -> None:
    found = story(stale_view, ones_leaf(2, 3))
    *steps, (kind, last) = told(found)
    line = stale_view.__code__.co_firstlineno
    assert steps == [
        ("start", "the program begins with w"),
        ("operator", "clone(w) makes x, float64 [2, 3]"),
        ("view", "x[0] makes row, a view of 3 elements of x"),
        ("operator", "mul(row, row) makes y, float64 [3]"),
        ("save", "MulBackward0 saves 3 elements of x at version 0 as other and self"),
        ("view", "x[1] makes a temporary, a view of 3 elements of x"),
        (
            "write",
            "mul_(x[1], 2) writes 3 elements of x through x[1] (version 0 to 1); "
            "the grad_fn of row is stale now",
        ),
        (
            "write",
            "x[0, 1] = 5 writes 1 element of x (version 1 to 2); "
            "this overwrites what MulBackward0 saved as other and self",
        ),
        (
            "rebuild",
            "the grad_fn of row was stale: it is rebuilt as AsStridedBackward0 "
            f"between lines {line + 5} and {line + 7}",
        ),
        ("operator", "sum(y) makes a temporary, float64 []"),
    ]
    assert kind == "refusal"
    assert last.startswith(
        "backward is refused before any node runs: StaleSavedError: MulBackward0"
    )
    assert isinstance(found.error, StaleSavedError)


def test_the_states_are_those_of_the_program() -> None:
    after = states(story(stale_view, ones_leaf(2, 3)))
    x = find(after[1], "storages", "x")
    assert (x["elements"], x["version"], x["values"]) == (6, 0, ["1"] * 6)
    row = find(after[2], "tensors", "row")
    assert (row["runs"], row["shape"], row["stale"]) == ([[0, 3, 1]], [3], False)
    assert after[2]["tensors"][row["base"]]["name"] == "x"
    assert [saved["state"] for saved in after[4]["saved"].values()] == ["intact"] * 2
    # The other row is written: what was saved is intact, and the view is stale.
    x = find(after[6], "storages", "x")
    assert (x["version"], x["values"][3:], x["marked"]) == (1, ["2"] * 3, [[3, 6, 1]])
    assert find(after[6], "tensors", "row")["stale"]
    assert {saved["state"] for saved in after[6]["saved"].values()} == {"intact"}
    x = find(after[7], "storages", "x")
    assert (x["version"], x["values"][:3]) == (2, ["1", "5", "1"])
    assert elements(x["marked"]) == [1, 3, 4, 5]
    assert {(s["state"], s["write"]) for s in after[7]["saved"].values()} == {("overwritten", 7)}
    before, rebuilt = find(after[7], "tensors", "row"), find(after[8], "tensors", "row")
    assert before["stale"]
    assert not rebuilt["stale"]
    assert after[8]["nodes"][rebuilt["grad_fn"]]["name"] == "AsStridedBackward0"
    # The refused backward has changed nothing.
    assert {node["state"] for node in after[-1]["nodes"].values()} == {"recorded"}
    assert find(after[-1], "tensors", "w")["grad"] is None


def test_steps_know_the_lines_and_the_elements_that_they_write() -> None:
    found = story(stale_view, ones_leaf(2, 3))
    first = stale_view.__code__.co_firstlineno
    lines = [None if step.place is None else step.place.lineno - first for step in found.steps]
    assert lines == [None, 1, 2, 3, 3, 4, 4, 5, 5, 7, 7]
    assert {step.place.filename for step in found.steps if step.place} == {__file__}
    writes = [step.writes for step in found.steps if step.kind == "write"]
    assert [[write["runs"] for write in part] for part in writes] == [[[[3, 6, 1]]], [[[1, 2, 1]]]]
    (file,) = found.data()["files"]
    assert file["lines"][str(first + 5)] == "    x[0, 1] = 5"


def test_each_node_and_the_gradients_are_steps() -> None:
    def program(w: vt.Tensor) -> None:
        y = (w * 3).sum()
        y.backward(retain_graph=True)
        y.backward()

    found = story(program, ones_leaf(2))
    assert [kind for kind, _ in told(found)[3:]] == [*["backward"] * 3, "grad"] * 2
    line = program.__code__.co_firstlineno + 1
    assert [text for _, text in told(found)[3:6]] == [
        f"SumBackward0 runs, which line {line} recorded; its gradient is 1.",
        f"MulBackward0 runs, which line {line} recorded; its gradient is [1., 1.]",
        "the gradient of w is complete: [3., 3.]",
    ]
    texts = [text for kind, text in told(found) if kind == "grad"]
    assert texts == ["w.grad is stored", "the gradients are added to w.grad"]
    after = states(found)
    names = "SumBackward0", "MulBackward0", "AccumulateGrad"
    ran = [[find(state, "nodes", name)["state"] for name in names] for state in after[2:]]
    assert ran[1] == ["running", "recorded", "recorded"]
    assert ran[2] == ["ran", "running", "recorded"]
    assert ran[4] == ["ran", "ran", "ran"]
    assert find(after[6], "storages", "w.grad")["values"] == ["3", "3"]
    assert find(after[-1], "storages", "w.grad")["values"] == ["6", "6"]
    assert found.steps[-1].writes[0]["runs"] == [[0, 2, 1]]


def test_rewind_keeps_what_is_overwritten() -> None:
    def program(w: vt.Tensor) -> None:
        with vt.autograd.graph.allow_mutation_on_saved_tensors():
            x = w.clone()
            y = (x * x).sum()
            x[0] = 7
            y.backward()

    found = story(program, ones_leaf(3))
    assert found.error is None
    assert [text for kind, text in told(found) if kind == "write"] == [
        "x[0] = 7 writes 1 element of x (version 0 to 1); "
        "rewind keeps what MulBackward0 saved as other and self"
    ]
    after = states(found)[5]
    assert {(saved["state"], saved["write"]) for saved in after["saved"].values()} == {("kept", 5)}


class Square(vt.autograd.Function):
    """The square, whose forward and backward call operators."""

    @staticmethod
    def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: vt.autograd.function.FunctionCtx, *grads: vt.Tensor | None) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        assert grads[0] is not None
        return grads[0] * 2 * x


def test_what_a_custom_function_calls_is_a_step_with_its_line() -> None:
    def program(w: vt.Tensor) -> None:
        y = Square.apply(w).sum()
        y.backward()

    found = story(program, ones_leaf(3))
    assert [step.kind for step in found.steps] == [
        "start",
        "operator",
        "operator",
        "operator",
        "save",
        "operator",
        "backward",
        "backward",
        "operator",
        "operator",
        "backward",
        "grad",
    ]
    assert found.steps[1].text == "Square.apply(w) calls its forward"
    assert (
        found.steps[4].text
        == "SquareBackward saves 3 elements of w at version 0 as saved_tensors[0]"
    )
    functions = [step.place.function for step in found.steps if step.place is not None]
    assert functions.count("Square.forward") == 1
    assert functions.count("Square.backward") == 2


def test_hooks_are_told_where_they_run() -> None:
    def program(w: vt.Tensor) -> None:
        y = w * 2
        y.register_hook(lambda g: g * 10)
        y.sum().backward()

    found = story(program, ones_leaf(2))
    texts = [text for _, text in told(found)]
    assert "mul(g, 10) makes a temporary, float64 [2]" in texts
    assert find(states(found)[-1], "storages", "w.grad")["values"] == ["20", "20"]


def test_the_profile_of_a_refused_pass_has_an_event() -> None:
    w = ones_leaf(2)
    x = w.clone()
    y = x * x
    x.add_(1)
    with vt.autograd.profiler.profile() as profile, suppress(RuntimeError):
        y.sum().backward()
    assert profile.function_events is not None
    assert "vtgrad::refused_backward" in [event.name for event in profile.function_events]


def test_refusals_that_the_program_catches_are_steps() -> None:
    def program(w: vt.Tensor) -> None:
        x = w.clone()
        y = x * x
        x.add_(1)
        for call in (lambda: w.add_(1), y.sum().backward):
            with suppress(RuntimeError):
                call()
        w + 1

    found = story(program, ones_leaf(2))
    refusals = [text for kind, text in told(found) if kind == "refusal"]
    assert len(refusals) == 2
    assert refusals[0].startswith("add_(w, 1) raises LeafWriteError: cannot write to a leaf")
    assert refusals[1].startswith("backward is refused before any node runs: StaleSavedError")
    assert found.error is None
    assert found.steps[-1].kind == "operator"


def test_an_error_ends_the_story_of_a_function_and_is_kept() -> None:
    def program(w: vt.Tensor) -> None:
        w * 2
        int("x")

    found = story(program, ones_leaf(2))
    assert isinstance(found.error, ValueError)
    last = found.steps[-1]
    assert (last.kind, last.text) == (
        "error",
        "ValueError: invalid literal for int() with base 10: 'x'",
    )
    assert last.place is not None
    assert last.place.lineno == program.__code__.co_firstlineno + 2


def test_an_error_that_an_operator_raised_is_told_once() -> None:
    def program(w: vt.Tensor) -> None:
        w.add_(1)

    found = story(program, ones_leaf(2))
    assert isinstance(found.error, LeafWriteError)
    assert [step.kind for step in found.steps] == ["start", "refusal"]


def test_an_error_leaves_a_block() -> None:
    found = story()
    with pytest.raises(ValueError, match="mine"), found:
        raise_from(vt.ones(2), ValueError("mine"))
    assert found.steps[-1].text == "ValueError: mine"
    assert found.error is None
    assert not observers


def raise_from(_: vt.Tensor, error: BaseException) -> None:
    """Raise an error."""
    raise error


def test_a_user_backward_that_raises_is_told() -> None:
    class Bad(vt.autograd.Function):
        @staticmethod
        def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
            return x * 1

        @staticmethod
        def backward(ctx: vt.autograd.function.FunctionCtx, *grads: vt.Tensor | None) -> vt.Tensor:
            raise ValueError("bad")

    def program(w: vt.Tensor) -> None:
        y = Bad.apply(w).sum()
        with suppress(ValueError):
            y.backward()

    found = story(program, ones_leaf(2))
    assert found.steps[-1].kind == "error"
    assert found.steps[-1].text == "BadBackward raises ValueError: bad"
    assert {n["state"] for n in states(found)[-1]["nodes"].values()} == {"ran", "recorded"}


def test_writes_without_an_operator_are_told() -> None:
    def program(w: vt.Tensor) -> None:
        w.numpy()[0] = 7
        w + 1
        vt.autograd.graph.increment_version(w)

    found = story(program, vt.ones(2))
    assert [text for kind, text in told(found) if kind == "write"] == [
        "the memory of w changes without a version: no counter sees it",
        "the memory of w changes without an operator",
    ]


@pytest.mark.parametrize(
    ("write", "places"),
    [
        (lambda x: x.masked_fill_(x > 3, 0), [4, 5]),
        (lambda x: x[:, 1].mul_(2), [1, 4]),
        (lambda x: x.t()[0].zero_(), [0, 3]),
        (lambda x: x.__setitem__((slice(None), vt.tensor([0, 2])), 0), [0, 2, 3, 5]),
        (lambda x: x.__setitem__(x > 4, 0), [5]),
        (lambda x: x.view(-1).index_fill_(0, vt.tensor([1, 5]), 9), [1, 5]),
        (lambda x: x[0].expand(1, 3).add_(1), [0, 1, 2]),
        (lambda x: x.view(vt.int64)[1, 2:].zero_(), [5]),
        (lambda x: vt.add(x, 1, out=x), [0, 1, 2, 3, 4, 5]),
        (lambda x: vt.add(x[1], 1, out=x[1]), [3, 4, 5]),
        (lambda x: x[:0].add_(1), []),
    ],
)
@pytest.mark.parametrize("saved", [False, True])
def test_the_elements_of_a_write_are_exact(write: object, places: list[int], saved: bool) -> None:
    x = vt.arange(6.0, dtype=vt.float64).view(2, 3)
    kept = (x * ones_leaf(1)) if saved else None
    assert callable(write)
    found = story(write, x)
    assert found.error is None
    step = next(step for step in reversed(found.steps) if step.kind == "write")
    assert [elements(part["runs"]) for part in step.writes] == [places]
    after = states(found)[-1]
    # No tensor that was seen leads to the node that has saved `x`.
    assert find(after, "storages", "x")["marked"] == []
    with story() as seen:
        if kept is not None:
            kept + 1
        write(x)
    after = states(seen)[-1]
    assert elements(find(after, "storages", "x")["marked"]) == (places if saved else [])


def test_several_storages_are_written_by_one_step() -> None:
    def program(x: vt.Tensor, a: vt.Tensor, b: vt.Tensor) -> None:
        vt.max(x, 0, out=(a, b[1:]))

    found = story(program, vt.ones(3, 2), vt.zeros(2), vt.zeros(3, dtype=vt.int64))
    data = found.data()["steps"][-1]
    assert [elements(part["runs"]) for part in data["writes"]] == [[0, 1], [1, 2]]
    assert data["write"] == data["writes"][0]


def test_tensors_have_the_names_of_variables() -> None:
    def program(w: vt.Tensor) -> None:
        parts = [w + 1, w + 2]
        table = {"a": parts[0] * 2}
        total = parts[1] + table["a"]
        total = total * 2
        total.sum()

    texts = [text for _, text in told(story(program, vt.ones(2)))]
    assert texts[1:] == [
        "add(w, 1) makes parts[0], float32 [2]",
        "add(w, 2) makes parts[1], float32 [2]",
        "mul(parts[0], 2) makes table['a'], float32 [2]",
        "add(parts[1], table['a']) makes total, float32 [2]",
        "mul(total, 2) makes total (2), float32 [2]",
        "sum(total (2)) makes a temporary, float32 []",
    ]


def test_what_a_loop_takes_is_called_as_a_part() -> None:
    def program() -> None:
        for row in vt.ones(2, 3, requires_grad=True).detach():
            row.add_(1)

    texts = [text for _, text in told(story(program))]
    assert texts[1] == "ones(2, 3) makes a temporary, float32 [2, 3]"
    assert texts[3] == "detach(ones(2, 3))[0] makes row, a view of 3 elements of ones(2, 3)"


def test_what_the_library_makes_inside_of_a_call_is_not_named_after_its_result() -> None:
    def program(w: vt.Tensor) -> None:
        optimizer = vt.optim.Adam([w], lr=0.1)
        other = vt.zeros(1)
        other.add_(len(optimizer.param_groups))

    found = story(program, ones_leaf(2))
    assert found.error is None
    texts = [text for _, text in told(found)]
    assert not any("makes optimizer" in text for text in texts)
    assert any(text.startswith("zeros(1) makes other") for text in texts)


def test_other_memory_and_other_geometry_are_told() -> None:
    def program(x: vt.Tensor) -> None:
        x.resize_(6)
        x.data = vt.ones(2)
        x * 2

    texts = [text for _, text in told(story(program, vt.zeros(4)))]
    line = program.__code__.co_firstlineno
    assert texts[1] == "resize_(x, 6) writes 0 elements of x (version 0 to 1)"
    assert texts[3] == f"x shows other memory between lines {line + 2} and {line + 3}"


def test_long_names_are_replaced() -> None:
    def program(x: vt.Tensor, index: vt.Tensor) -> None:
        x[index[0], index[1], index[2]].exp().sin().cos().tan().abs().neg()

    found = story(program, vt.ones(2, 2, 2), vt.zeros(3, dtype=vt.int64))
    assert found.steps[4].text.startswith("x[index[0], index[1], index[2]] makes a temporary")
    assert found.steps[5].text == "exp(a tensor) makes a temporary, float32 []"
    assert found.steps[-1].text == "neg(abs(...)) makes a temporary, float32 []"
    states(found)


def test_a_name_that_a_tensor_has_is_used() -> None:
    with story() as found:
        vt.ones(2).add_(1)
        (lambda: _named("weight") * 2)()
    assert found.steps[-1].text == "mul(weight, 2) makes a temporary, float32 [2]"


def test_the_name_of_a_tensor_is_put_in_place_of_its_variable() -> None:
    with story() as found:
        y = vt.ones(2).sin()
        y.name = "angle"
        y.mul_(2)
    assert found.steps[-1].text.startswith("mul_(angle, 2) writes 2 elements of angle ")


def _named(name: str) -> vt.Tensor:
    x = vt.ones(2)
    x.name = name
    return x


def test_transforms_and_other_modes_are_told_without_an_error() -> None:
    def program(x: vt.Tensor) -> None:
        vt.func.grad(lambda a: (a * a).sum())(x)
        vt.func.vmap(lambda a: (a * 2).sum())(x)
        vt.func.jvp(lambda a: a.sin(), (x,), (vt.ones(2, 3),))
        vt.func.hessian(lambda a: (a**3).sum())(x)
        vt.func.vmap(lambda a: a.clone().mul_(2))(x)
        with vt.inference_mode():
            y = x * 2
            y.add_(1)
        with vt.autograd.set_detect_anomaly(True):
            z = x.clone().requires_grad_()
            (z * z).sum().backward()
        g = vt.autograd.grad((z**3).sum(), z, create_graph=True)[0]
        g.sum().backward()
        with vt.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), vt.from_numpy):
            (z * z).sum().backward()
        vt.ones(2, dtype=vt.complex64).conj() * 2
        vt.empty(0).add_(1)
        vt.tensor(3)[()]
        vt.ones(2, 3)[0].flip(0).unfold(0, 2, 1)

    found = story(program, vt.ones(2, 3))
    assert found.error is None
    states(found)
    assert any("what hooks have packed" in step.text for step in found.steps)


def test_a_long_story_leaves_out_the_middle() -> None:
    def program(w: vt.Tensor) -> None:
        x = w.clone()
        y = x * x
        for _ in range(30):
            x.add_(1)
        y.sum().backward()

    found = story(program, ones_leaf(2), limit=10)
    assert len(found.steps) == 10
    assert found.left_out == 26
    assert found.steps[-1].kind == "refusal"
    assert found.data()["left_out"]["steps"] == 26
    assert "(26 steps are left out)" in str(found)
    after = states(found)
    assert find(after[-1], "storages", "x")["version"] == 30
    # The write that made the values stale is the first one, which is there.
    assert {saved["write"] for saved in after[-1]["saved"].values()} == {4}
    assert found.steps[4].text.startswith("add_(x, 1) writes 2 elements of x (version 0 to 1)")


def test_two_hundred_steps_on_ten_storages_are_small() -> None:
    def program(w: vt.Tensor) -> None:
        tables = [w.clone() for _ in range(9)]
        for number in range(80):
            table = tables[number % 9]
            table[number % 8] = number / 7
            tables[(number + 1) % 9].mul_(table)
        tables[0].sum().backward()

    found = story(program, leaf(8, 8))
    assert len(found.steps) == 200
    assert len(json.dumps(found.data())) < 600_000
    assert len(found.html()) < 1_000_000


def test_large_buffers_are_cut_and_counted() -> None:
    found = story(lambda x: x[::2, 1:3].add_(1), vt.zeros(1000, 4))
    data = found.data()
    after = states(found)[-1]
    x = find(after, "storages", "x")
    assert (x["elements"], len(x["values"])) == (4000, 64)
    assert "writes 1000 elements of x" in found.steps[-1].text
    assert len(found.steps[-1].writes[0]["runs"]) == 64
    assert data["left_out"]["elements"] >= 4000 - 64


def test_many_buffers_are_counted() -> None:
    def program() -> None:
        made = [vt.zeros(1) for _ in range(70)]
        made[-1].add_(1)

    found = story(program)
    states(found)
    assert found.data()["left_out"]["storages"] == 10


def test_long_graphs_are_cut_and_counted() -> None:
    def program(w: vt.Tensor) -> None:
        x = w
        for _ in range(320):
            x = x * 2
        x.sum()

    found = story(program, ones_leaf(1), limit=10)
    after = states(found)[-1]
    assert len(after["nodes"]) == 300
    assert found.data()["left_out"]["nodes"] == 22


def test_only_one_observer_at_a_time() -> None:
    with story(), pytest.raises(ProfilerError, match="another story"), story():
        pass
    assert not observers
    with pytest.raises(vt.errors.ArgumentValueError, match="at least 4 steps"):
        story(limit=3)
    with pytest.raises(vt.errors.ArgumentTypeError, match="story runs a function, not int"):
        story(3)  # type: ignore[arg-type]  # the error is what is tested


def test_the_page_is_saved_and_shown_by_notebooks(tmp_path: Path) -> None:
    found = story(stale_view, ones_leaf(2, 3), title="A stale <view>")
    path = found.save(tmp_path / "story.html")
    assert path.read_text("utf-8") == found.html()
    assert found.data()["title"] == "A stale <view>"
    assert found._repr_html_().startswith("<iframe")
    assert repr(found) == "<story of A stale <view>: 11 steps>"
    assert (
        str(found)
        .splitlines()[1]
        .endswith(f"(test_story.py:{stale_view.__code__.co_firstlineno + 1})")
    )


def test_show_prints_the_map_and_the_writes(capsys: pytest.CaptureFixture[str]) -> None:
    x = vt.zeros(4)
    x[1:].add_(1)
    vt.viz.show(x=x)
    printed = capsys.readouterr().out
    assert printed == f"{vt.viz.storage_map(x=x)}\n"
    assert "version 1: add_" in printed
