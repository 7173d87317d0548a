"""What `BatchedWriteError` tells: the operator, and the lines that are concerned."""

import inspect
from collections.abc import Callable

import pytest

import vtgrad as vt
from vtgrad.errors import BatchedWriteError

X = vt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
HINTS = (
    "\nOne of these helps:"
    "\n  - make the tensor inside of the function, by zeros(sizes), or from a tensor of one "
    "sample: x.new_zeros(sizes), zeros_like(x)"
    "\n  - write out of place: add for add_, where or cat in place of an assignment"
)


def line(function: Callable[..., object], mark: str) -> tuple[int, str]:
    """The number and text of the line in `function` that ends with a comment of one word."""
    lines, first = inspect.getsourcelines(function)
    (found,) = [
        (first + nr, text.strip()) for nr, text in enumerate(lines) if text.endswith(f"# {mark}\n")
    ]
    return found


def place(what: str, function: Callable[..., object], mark: str) -> str:
    number, text = line(function, mark)
    return f"\n  {what} at {__file__}:{number} in {function.__qualname__}\n      {text}"


def error_of(function: Callable[..., object]) -> BatchedWriteError:
    with pytest.raises(BatchedWriteError) as caught:
        vt.vmap(function)(X)  # call
    return caught.value


def shared(tensor: vt.Tensor) -> vt.Tensor:
    """A tensor whose memory NumPy shares, so that it cannot get samples."""
    tensor.numpy()
    return tensor


def a_table(x: vt.Tensor) -> vt.Tensor:
    table = vt.zeros(2, 3)  # made
    shared(table)[0] = x  # written
    return table


def test_the_text_names_the_lines_that_made_and_wrote_and_that_of_vmap() -> None:
    error = error_of(a_table)
    assert str(error) == (
        "__setitem__ would write a value for each of 2 samples into one tensor of shape [3], which "
        "has no samples"
        + place("written", a_table, "written")
        + place("made", a_table, "made")
        + place("vmap called", error_of, "call")
        + HINTS
    )
    facts = error.facts
    assert facts["operator"] == "__setitem__"
    assert facts["shape"] == (3,)
    made, written = facts["made_at"], facts["written_at"]
    assert isinstance(made, vt.CallSite)
    assert isinstance(written, vt.CallSite)
    assert (made.filename, made.lineno) == (__file__, line(a_table, "made")[0])
    assert (written.filename, written.lineno) == (__file__, line(a_table, "written")[0])


def captured(table: vt.Tensor) -> Callable[[vt.Tensor], vt.Tensor]:
    def function(x: vt.Tensor) -> vt.Tensor:
        return table.add_(x)  # written

    return function


def test_what_was_made_outside_has_no_line() -> None:
    function = captured(vt.zeros(3))
    error = error_of(function)
    assert str(error) == (
        "add_ would write a value for each of 2 samples into one tensor of shape [3], which has no "
        "samples"
        + place("written", function, "written")
        + place("vmap called", error_of, "call")
        + HINTS
    )
    assert error.facts["made_at"] is None


def made_in_an_inner_call(x: vt.Tensor) -> vt.Tensor:
    def inner(y: vt.Tensor) -> vt.Tensor:
        return shared(vt.full((3,), 2.0)).mul_(x) * y

    found = vt.vmap(inner)(vt.ones(4))
    assert isinstance(found, vt.Tensor)
    return found


@pytest.mark.parametrize(
    "make",
    [
        lambda: vt.ones(3),
        lambda: vt.tensor([1.0, 2.0, 3.0]),
        lambda: vt.arange(3.0),
        lambda: vt.linspace(0, 1, 3),
        lambda: vt.empty(3),
        lambda: vt.eye(3)[0],
        lambda: vt.full((3,), 1.0),
    ],
)
def test_the_line_is_known_whatever_function_made_the_tensor(
    make: Callable[[], vt.Tensor],
) -> None:
    error = error_of(lambda x: shared(make()).add_(x))
    assert isinstance(error.facts["made_at"], vt.CallSite)
    assert error.facts["made_at"].function == "<lambda>"


def test_a_tensor_that_an_inner_call_made_is_known_to_the_outer_one() -> None:
    site = error_of(made_in_an_inner_call).facts["made_at"]
    assert isinstance(site, vt.CallSite)
    assert site.function.endswith("inner")


def test_nothing_is_noted_of_tensors_that_are_gone() -> None:
    def function(x: vt.Tensor) -> vt.Tensor:
        for _ in range(100):
            vt.zeros(3)
        # Its memory may be where one of the others was; the captured one has no line.
        return kept[0].add_(x)

    kept = [vt.zeros(3)]
    assert error_of(function).facts["made_at"] is None
