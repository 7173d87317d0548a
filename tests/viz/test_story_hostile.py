"""Stories of programs that are written to break them, and what a story refuses."""

from __future__ import annotations

import weakref
from collections import UserDict
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

import vtgrad as vt
from tests.support import collector_off, ones_leaf
from tests.viz.story_states import elements, find, states
from tests.viz.test_story import told
from vtgrad.errors import ArgumentTypeError, ArgumentValueError, ProfilerError
from vtgrad.graph.observer import observers
from vtgrad.viz import Story, StoryStep, story


def test_a_write_of_no_element_writes_none() -> None:
    def program(x: vt.Tensor) -> None:
        x[0] += 1
        x[x > 9] = 0

    assert elements(writes_of(program)[-1].writes[0]["runs"]) == []


def writes_of(program: Callable[[vt.Tensor], None]) -> list[StoryStep]:
    """The steps that write, of the story of a program of two zeros."""
    return [step for step in story(program, vt.zeros(2)).steps if step.writes]


def test_inference_tensors_are_written_without_a_version() -> None:
    def program(x: vt.Tensor) -> None:
        with vt.inference_mode():
            y = x.clone()
            y.mul_(2)

    assert [step.text for step in writes_of(program)] == ["mul_(y, 2) writes 2 elements of y"]


def test_empty_views_have_the_memory_of_their_base() -> None:
    def program(x: vt.Tensor) -> None:
        y = x[:]
        y += 1

    found = story(program, vt.ones(0, 3))
    assert told(found)[1:] == [
        ("view", "x[:] makes y, a view of 0 elements of x"),
        ("write", "add_(y, 1) writes 0 elements of x through y (version 0 to 1)"),
    ]
    assert len(states(found)[-1]["storages"]) == 1


def test_a_counter_that_is_gone_is_no_write() -> None:
    def program(x: vt.Tensor) -> None:
        x.data.mul_(2)
        x + 1

    assert [kind for kind, _ in told(story(program, vt.ones(2)))] == [
        "start",
        "view",
        "write",
        "operator",
    ]


def test_more_elements_than_are_shown_are_counted() -> None:
    found = story(lambda x: (x * x)[::7], ones_leaf(700, 2))
    assert [text for kind, text in told(found)[2:]] == [
        "MulBackward0 saves 1400 elements of x at version 0 as other and self",
        "mul(x, x)[::7] makes a temporary, a view of 200 elements of mul(x, x)",
    ]
    record = find(states(found)[-1], "tensors", "mul(x, x)[::7]")
    assert (record["count"], len(elements(record["runs"]))) == (200, 128)


def test_what_came_and_went_in_steps_that_are_left_out_takes_no_place() -> None:
    def program(x: vt.Tensor) -> None:
        for _ in range(60):
            x * 2

    found = story(program, vt.ones(1), limit=6)
    assert found.left_out == 55
    assert [len(step.gone["tensors"]) for step in found.steps] == [0, 0, 1, 1, 1, 1]
    assert len(states(found)[-1]["tensors"]) == 2


class Faulty:
    """What any method of raises, as of an object that makes another one when it is asked."""

    def __repr__(self) -> str:
        raise RuntimeError("not to be called")

    @property  # type: ignore[misc]  # as proxies have it
    def __class__(self) -> type:
        raise RuntimeError("not to be called")


class FaultyInt(int):
    """A number that cannot be printed."""

    def __repr__(self) -> str:
        raise RuntimeError("not to be called")

    __str__ = __repr__


def test_no_method_of_the_program_is_called() -> None:
    def program(x: vt.Tensor) -> None:
        faulty = Faulty()
        known = {Faulty: x + 1, "here": x + 2}
        known[Faulty] + x[FaultyInt(0) :]
        unusual: dict[object, object] = {"x": x, 5: x, "y": faulty}
        exec("x * 2", unusual, {"z": x})  # type: ignore[arg-type]  # 5 is no name
        exec("x * 3", {}, UserDict(x=x))

    found = story(program, vt.ones(2))
    assert found.error is None
    assert told(found)[1:] == [
        ("operator", "add(x, 1) makes known[type], float32 [2]"),
        ("operator", "add(x, 2) makes known['here'], float32 [2]"),
        ("view", "x[0:] makes a temporary, a view of 2 elements of x"),
        ("operator", "add(known[type], x[0:]) makes a temporary, float32 [2]"),
        ("operator", "mul(x, 2) makes a temporary, float32 [2]"),
        ("operator", "mul(x, 3) makes a temporary, float32 [2]"),
    ]


def test_arguments_of_any_size_are_short() -> None:
    endless: list[object] = []
    endless.append(endless)

    def program(x: vt.Tensor) -> None:
        vt.tensor(list(range(100_000)))
        with suppress(ArgumentValueError):
            x.mul_(10**5000)
        vt.tensor(endless)  # type: ignore[arg-type]  # what is refused

    found = story(program, vt.ones(1))
    # As without a story.
    assert isinstance(found.error, ArgumentValueError)
    texts = [text for _, text in told(found)]
    assert texts[1] == ("tensor([0, 1, 2, 3, 4, 5, ...]) makes a temporary, int64 [100000]")
    assert texts[2].startswith("mul_(x, a large integer) raises")
    assert texts[3].startswith("tensor([[[[...]]]]) raises ArgumentValueError")


class FaultyError(Exception):
    """An error that cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError("not to be called")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            ValueError("</script> \ud800 \0t0\0 \1s0\1 'mine'"),
            r"ValueError: </script> \ud800 \x00t0\x00 \x01s0\x01 'mine'",
        ),
        (FaultyError(), "FaultyError"),
        (ValueError("x" * 100_000), f"ValueError: {'x' * 1000}"),
        (ValueError(), "ValueError"),
    ],
)
def test_any_error_is_told_in_letters_that_can_be_printed(error: Exception, text: str) -> None:
    def program(x: vt.Tensor) -> None:
        (x + 1).name = "\ud800"
        raise error

    found = Story("\ud800 </script>")
    found.run(program, [vt.ones(2)])
    assert found.error is error
    assert told(found)[-1] == ("error", text)
    for whole in (str(found), repr(found), found.html(), found._repr_html_()):
        whole.encode()
    assert "</script> \\ud800" not in found.html()


def test_each_error_is_told() -> None:
    # A later error may be at the place in memory where one was that is gone.
    def program(x: vt.Tensor) -> None:
        for _ in range(3):
            with suppress(RuntimeError):
                x.view(5)
        raise ValueError("mine")

    found = story(program, vt.ones(2))
    assert [kind for kind, _ in told(found)] == ["start", *["refusal"] * 3, "error"]
    assert told(found)[-1] == ("error", "ValueError: mine")


def test_errors_of_a_group_keep_no_tensor_and_errors_from_before_keep_their_variables() -> None:
    kept: list[weakref.ref[vt.Tensor]] = []

    def fail() -> None:
        x = vt.ones(2)
        kept.append(weakref.ref(x))
        raise ValueError("mine")

    def program() -> None:
        try:
            fail()
        except ValueError as error:
            raise ExceptionGroup("several", [error]) from None

    def before() -> None:
        mine = 5
        raise KeyError(mine)

    with collector_off():
        try:
            before()
        except KeyError as error:
            earlier = error.__traceback__
            found = story(program)
        assert isinstance(found.error, ExceptionGroup)
        assert earlier is not None
        assert earlier.tb_next is not None
        assert earlier.tb_next.tb_frame.f_locals == {"mine": 5}
        assert kept[0]() is None


def test_a_story_is_refused_what_it_cannot_tell() -> None:
    def later() -> Iterator[vt.Tensor]:
        yield vt.ones(2)

    async def much_later() -> None:
        vt.ones(2)

    for function in (later, much_later):
        with pytest.raises(ArgumentTypeError, match="runs nothing of it"):
            story(function)
    with pytest.raises(ArgumentTypeError, match="not NoneType"):
        story(None, vt.ones(2))
    for limit in (True, 4.5, None, "5"):
        with pytest.raises(ArgumentTypeError, match="'limit' must be an integer"):
            story(list, limit=limit)  # type: ignore[arg-type]  # what is refused
    with pytest.raises(ArgumentTypeError, match="'title' must be a text"):
        story(list, title=1)  # type: ignore[arg-type]  # what is refused
    with pytest.raises(TypeError, match="unexpected keyword argument 'scale'"):
        story(lambda x, scale: x * scale, vt.ones(2), scale=2)  # type: ignore[call-arg]  # refused


def test_a_story_is_of_one_block() -> None:
    found = story(lambda: vt.ones(2))
    with pytest.raises(ProfilerError, match="of one block"), found:
        raise AssertionError
    with Story() as found:
        with pytest.raises(ProfilerError, match="of one block"), found:
            raise AssertionError
        vt.ones(2)
    assert [kind for kind, _ in told(found)] == ["start", "operator"]
    assert not observers
