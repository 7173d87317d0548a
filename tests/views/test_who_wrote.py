"""Errors and `writes` name the line of the program that wrote; see Note [Who wrote].

Lines are found by the comments that mark them. The texts are compared as a whole.
"""

from __future__ import annotations

import _thread
import ast
import copy
import inspect
import pickle
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import FunctionType

import pytest

import vtgrad as vt
from tests.ops.calls import Case, arguments_of, cases, function_named, results_of, tensors_in
from tests.project.tree import PACKAGE, parsed_files_with
from tests.support import collector_off, needs_global_lock
from tests.sweeping import by_table, sweep
from vtgrad.autograd.function import FunctionCtx
from vtgrad.autograd.graph import set_overwrite_check
from vtgrad.errors import (
    MultiOutputViewError,
    NoGradViewError,
    StaleSavedError,
    ViewInvalidError,
    VtgradError,
)
from vtgrad.graph.anomaly import anomaly
from vtgrad.storage import record_write


def line(function: object, mark: str) -> int:
    """The number of the line in `function` that ends with a comment of one word."""
    assert isinstance(function, FunctionType)
    lines, first = inspect.getsourcelines(function)
    (found,) = [first + nr for nr, text in enumerate(lines) if text.endswith(f"# {mark}\n")]
    return found


def at(function: Callable[..., object], mark: str) -> str:
    """A line as messages tell it."""
    return f"{__file__}:{line(function, mark)} in {function.__qualname__}"


def source(function: Callable[..., object], mark: str) -> str:
    """The text of a line."""
    lines, first = inspect.getsourcelines(function)
    return lines[line(function, mark) - first].strip()


@pytest.fixture
def anomaly_mode() -> Iterator[None]:
    """Remember where nodes are made."""
    with vt.autograd.set_detect_anomaly(True, check_nan=False):
        yield
    assert not anomaly.enabled


def stale(program: Callable[[], vt.Tensor]) -> StaleSavedError:
    """What backward raises."""
    y = program()
    with pytest.raises(StaleSavedError) as caught:
        y.sum().backward()
    return caught.value


REWIND = (
    "keep what is overwritten: run the program under "
    "`with vt.autograd.graph.allow_mutation_on_saved_tensors():`"
)

TO_SEE_SAVER = (
    "The line that saved the value is named too if the program runs under "
    "`with vt.autograd.set_detect_anomaly(True):`"
)


# -- the whole text -----------------------------------------------------------------------------


def result_is_assigned() -> vt.Tensor:
    x = vt.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y[0] = 0.0  # write
    return y


def test_the_text_about_a_result_that_was_written_through_a_view() -> None:
    program = result_is_assigned
    n = line(program, "write")
    assert str(stale(program)) == (
        "ExpBackward0 needs a value that was overwritten in place: a float32 tensor of shape [2], "
        "result 0 of ExpBackward0, was intact at version 0 and is now at version 1; 1 of its 2 "
        "elements was overwritten, in [0]\n"
        f"  written by __setitem__ at {at(program, 'write')}, through a view of shape [] at "
        "offset 0 made by select (version 1)\n"
        f"      {source(program, 'write')}\n"
        "One of these helps:\n"
        f"  - at line {n}, make a new tensor instead, for example with where() or cat(), or run "
        "backward before it\n"
        f"  - put y = y.clone() before line {n} for the result y of exp, and write to that\n"
        f"  - {REWIND}\n"
        f"{TO_SEE_SAVER}"
    )


def factor_is_written_often() -> vt.Tensor:
    x = vt.ones(2, 3, requires_grad=True)
    w = vt.ones(2, 3)
    y = x * w  # save
    w.mul_(2)  # first
    for row in range(2):
        w[row] = 5.0  # second
    w[1].neg_()  # third
    return y


def test_the_text_about_an_input_and_several_writes() -> None:
    program = factor_is_written_often
    n = line(program, "first")
    assert str(stale(program)) == (
        "MulBackward0 needs a value that was overwritten in place: a float32 tensor of shape "
        "[2, 3], a leaf, was intact at version 0 and is now at version 4; all its 6 elements were "
        "overwritten\n"
        f"  written by mul_ at {at(program, 'first')} (version 1)\n"
        f"      {source(program, 'first')}\n"
        f"  last written by neg_ at {at(program, 'third')}, through a view of shape [3] at "
        "offset 3 (version 4)\n"
        f"      {source(program, 'third')}\n"
        "One of these helps:\n"
        f"  - at line {n}, use the out-of-place mul instead of mul_, or run backward before it\n"
        f"  - pass x.clone() to mul for the x that line {n} changes\n"
        f"  - {REWIND}\n"
        f"{TO_SEE_SAVER}"
    )


@pytest.mark.usefixtures("anomaly_mode")
def test_the_text_in_anomaly_mode_names_the_line_that_saved() -> None:
    program = factor_is_written_often
    n, saver = line(program, "first"), line(program, "save")
    error = stale(program)
    saved = f"  saved by MulBackward0 at {at(program, 'save')}\n      {source(program, 'save')}\n"
    assert saved in str(error)
    assert TO_SEE_SAVER not in str(error)
    assert error.facts["ways_out"] == (
        f"at line {n}, use the out-of-place mul instead of mul_, or run backward before it",
        f"pass x.clone() to mul at line {saver} for the x that line {n} changes",
        REWIND,
    )
    place = error.facts["saved_at"]
    assert isinstance(place, vt.CallSite)
    assert (place.lineno, place.function) == (saver, program.__qualname__)


def view_is_written() -> vt.Tensor:
    y = vt.ones(3, requires_grad=True) * 2
    part = y[1:]  # view
    z = y.sin()
    part.mul_(2)  # write
    return z


@pytest.mark.usefixtures("anomaly_mode")
def test_in_anomaly_mode_the_line_that_made_the_view_is_named() -> None:
    program = view_is_written
    place = f"{__file__}:{line(program, 'view')}"
    expected = f"through a view of shape [2] at offset 1 made by slice at {place} (version 1)"
    assert expected in str(stale(program))


def rebuilt_views_are_written() -> tuple[vt.Write, ...]:
    y = vt.ones(4, requires_grad=True) * 2
    head, part, row = y[:2], y[1:], y[0]  # view
    head.mul_(2)
    part.mul_(3)  # its producer is built again before the write
    part.mul_(5)  # its producer is that of the written part
    assert row.grad_fn is not None
    assert "AsStrided" in row.grad_fn.name()
    row.mul_(7)
    return y.writes()


@pytest.mark.parametrize("anomaly", [False, True])
def test_a_view_was_made_by_the_operator_that_the_program_called(anomaly: bool) -> None:
    # Not by `as_strided`, which a producer that was stale is built of.
    with vt.autograd.set_detect_anomaly(anomaly, check_nan=False):
        views = [w.view for w in rebuilt_views_are_written() if w.view is not None]
    assert [view.operator for view in views] == ["slice", "slice", "slice", "select"]
    lines = {None if view.made_at is None else view.made_at.lineno for view in views}
    assert lines == ({line(rebuilt_views_are_written, "view")} if anomaly else {None})


def test_what_made_a_view_that_was_not_recorded_is_not_known() -> None:
    y = vt.ones(4)
    part = y[1:]
    part.mul_(vt.ones((), requires_grad=True))
    part.mul_(2)
    y.mul_(3)
    part.mul_(2)
    assert [w.view.operator for w in y.writes() if w.view is not None] == [None, None, None]


def pieces() -> vt.Tensor:
    y = vt.ones(4, requires_grad=True) * 1
    first, _ = y.chunk(2)  # view
    return first


def under_no_grad() -> vt.Tensor:
    y = vt.ones(4, requires_grad=True) * 1
    with vt.no_grad():
        v = y[1:]  # view
    return v[1:]


def test_the_text_about_a_piece_names_the_line_that_made_it() -> None:
    with pytest.raises(MultiOutputViewError) as caught:
        pieces().mul_(2)
    assert str(caught.value) == (
        "a view (result 0 of SplitBackward0) cannot be written in place while recording: it is one "
        "of several views that a single operator returned. Use select, narrow or tensor_split, "
        "whose results may be written, or clone it first\n"
        f"  made at {at(pieces, 'view')}\n"
        f"      {source(pieces, 'view')}"
    )
    assert caught.value.facts["filename"] == __file__
    assert caught.value.facts["lineno"] == line(pieces, "view")
    assert caught.value.facts["write"] is None


def test_the_text_about_an_invalid_view_names_the_write_too() -> None:
    v = under_no_grad()
    base = v._base
    assert base is not None
    base.mul_(2)  # write
    base.mul_(3)
    with pytest.raises(NoGradViewError) as caught:
        _ = v.grad_fn
    this = test_the_text_about_an_invalid_view_names_the_write_too
    assert str(caught.value) == (
        "a view (result 0 of SliceBackward0) cannot be used any more, because its base, or "
        "another view of it, was written in place: it was made under no_grad, so its base does not "
        "know of it. Make the view with recording on, or write under no_grad as well\n"
        f"  made at {at(under_no_grad, 'view')}\n"
        f"      {source(under_no_grad, 'view')}\n"
        f"  written by mul_ at {at(this, 'write')}\n"
        f"      {source(this, 'write')}"
    )
    write = caught.value.facts["write"]
    assert isinstance(write, vt.Write)
    assert (write.operator, write.lineno) == ("mul_", line(this, "write"))


def transposed() -> vt.Tensor:
    y = vt.ones(2, 2, requires_grad=True) * 1
    with vt.no_grad():
        return y.t()  # view


def test_the_line_that_made_a_view_is_not_that_of_the_function_around_it() -> None:
    """`t` makes the view itself, without other functions of the library in between."""
    for write in (vt.Tensor.mul_, vt.Tensor.add_):
        with pytest.raises(NoGradViewError, match="made at") as caught:
            write(transposed(), 2)
        assert caught.value.facts["lineno"] == line(transposed, "view")


def test_a_saved_piece_that_is_gone_is_told_of_in_the_same_way() -> None:
    y = vt.ones(4, requires_grad=True) * 1
    w = y.chunk(2)[0].exp() * y.chunk(2)[1]  # view
    y.mul_(2)  # write
    with pytest.raises(ViewInvalidError) as caught:
        w.sum().backward()
    this = test_a_saved_piece_that_is_gone_is_told_of_in_the_same_way
    assert caught.value.facts["lineno"] == line(this, "view")
    assert f"written by mul_ at {at(this, 'write')}" in str(caught.value)


# -- three ways out ---------------------------------------------------------------------------


AS_WELL = ", or run backward before it"


def first_way(write: Callable[[vt.Tensor], object]) -> str:
    """What the error about a factor that is written proposes first, without the line."""

    def program() -> vt.Tensor:
        w = vt.ones(3)
        y = vt.ones(3, requires_grad=True) * w
        write(w)
        return y

    ways = stale(program).facts["ways_out"]
    assert isinstance(ways, tuple)
    assert len(ways) == 3
    return str(ways[0]).rpartition(f"at line {first_way_line()}, ")[2].removesuffix(AS_WELL)


def first_way_line() -> int:
    """The line of the writes in the test below; all of them are on one line."""
    return line(test_the_first_way_out_fits_the_write, "write")


def test_the_first_way_out_fits_the_write() -> None:
    x = vt.ones(3)
    # fmt: off
    writes = [lambda w: w.mul_(x), lambda w: w.zero_(), lambda w: vt.add(x, x, out=w), lambda w: w[:2].exp_(), lambda w: vt.autograd.graph.increment_version(w)]  # noqa: E501  # write
    # fmt: on
    assert [first_way(write) for write in writes] == [
        "use the out-of-place mul instead of mul_",
        "make a new tensor instead, for example with where() or cat()",
        "call add without out=, which makes a new tensor",
        "use the out-of-place exp instead of exp_, and make the whole tensor anew from its result",
        "let what writes by other means write to a copy",
    ]


def test_backward_is_the_writer_of_what_is_added_to_grad() -> None:
    x = vt.ones(3, requires_grad=True)
    x.sum().backward()
    gradient = x.grad
    assert gradient is not None
    y = x * gradient
    x.sum().backward()  # write
    with pytest.raises(StaleSavedError) as caught:
        y.sum().backward()
    n = line(test_backward_is_the_writer_of_what_is_added_to_grad, "write")
    assert (caught.value.facts["operator"], caught.value.facts["lineno"]) == ("backward", n)
    assert f"set .grad to None before line {n}, so that backward makes a new one" in str(
        caught.value
    )
    (write,) = gradient.writes()
    assert (write.operator, write.lineno) == ("backward", n)


def test_of_many_writes_of_one_line_the_first_known_and_the_last_are_told() -> None:
    def program() -> vt.Tensor:
        w = vt.ones(3)
        y = vt.ones(3, requires_grad=True) * w
        for _ in range(20):
            w.add_(1)  # write
        return y

    error = stale(program)
    assert f"written by add_ at {at(program, 'write')} (version 13, last at version 20)\n" in str(
        error
    )
    assert error.facts["operator"] == "add_"


def test_under_the_rule_of_the_storage_writes_beside_the_value_are_told_and_counted() -> None:
    w = vt.ones(4)
    y = vt.ones(3, requires_grad=True) * w[:3]
    for _ in range(20):
        w[3] = 2.0  # write
    with set_overwrite_check("storage"), pytest.raises(StaleSavedError) as caught:
        y.sum().backward()
    assert "was intact at version 0 and is now at version 20\n" in str(caught.value)
    assert "\n  (only the last 8 of 20 writes are remembered)\n" in str(caught.value)
    assert "(versions 13 to 20)" in str(caught.value)
    assert caught.value.facts["elements"] is None


def test_a_write_that_left_no_record_is_an_error_without_a_line() -> None:
    w = vt.ones(3)
    y = vt.ones(3, requires_grad=True) * w
    w._impl.counter.value += 1
    with set_overwrite_check("storage"), pytest.raises(StaleSavedError) as caught:
        y.sum().backward()
    assert "\n  (who wrote is not remembered)\n" in str(caught.value)
    assert caught.value.facts["filename"] is None
    assert caught.value.facts["ways_out"] == (
        "use out-of-place operators, which make new tensors",
        "run backward before the write, or write before mul",
        "pass x.clone() to mul for the x that the write changes",
    )


def test_the_error_about_a_leaf_that_became_a_result_names_the_write() -> None:
    w = vt.ones(3, requires_grad=True)
    x = vt.ones(3, requires_grad=True)
    y = x * 1
    x.requires_grad_(False)
    x.mul_(w)  # write
    with pytest.raises(StaleSavedError) as caught:
        y.sum().backward()
    this = test_the_error_about_a_leaf_that_became_a_result_names_the_write
    assert f"\n  last written by mul_ at {at(this, 'write')}\n" in str(caught.value)
    assert caught.value.facts["lineno"] == line(this, "write")


def test_errors_can_be_copied_and_pickled_with_their_writes() -> None:
    error = stale(result_is_assigned)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert str(again) == str(error)
        assert again.facts == error.facts


def test_writes_of_one_line_are_told_together_with_their_views() -> None:
    def program() -> vt.Tensor:
        w = vt.ones(4, 3)
        y = vt.ones(3, requires_grad=True) * w
        for row in w:
            row.div_(2)  # write
        return y

    told = (
        f"\n  written by div_ at {at(program, 'write')}, through a view of shape [3] at offset 0 "
        "(version 1), last through a view of shape [3] at offset 9 (version 4)\n"
        f"      {source(program, 'write')}\nOne of these helps"
    )
    assert told in str(stale(program))


# -- every way to write -----------------------------------------------------------------------


def here() -> int:
    """The line that calls this."""
    return sys._getframe(1).f_lineno


def last(x: vt.Tensor) -> vt.Write:
    """The last write, which must have made the present version, here."""
    write = x.writes()[-1]
    assert write.version == x._version
    assert write.filename == __file__
    return write


@pytest.mark.parametrize("recorded", [False, True])
def test_every_way_to_write_names_its_line(recorded: bool) -> None:
    x = vt.ones(2, 3)
    if recorded:
        x = vt.ones(2, 3, requires_grad=True) * 1
    # What is on one line, and the number of that.
    statements: list[tuple[Callable[[], object], int, str]] = [
        (lambda: x.mul_(2), here(), "mul_"),
        (lambda: x.copy_(vt.ones(3)), here(), "copy_"),
        (lambda: x.clamp_(min=0), here(), "clamp_"),
        (lambda: x.masked_fill_(x > 5, 1.0), here(), "masked_fill_"),
        (lambda: x.__setitem__((0, 1), 2.0), here(), "__setitem__"),
        (lambda: x.__setitem__(x > 1, 2.0), here(), "__setitem__"),
        (lambda: x.__setitem__([0, 1], vt.zeros(2, 3)), here(), "__setitem__"),
        (lambda: x.__setitem__(..., vt.zeros(3)), here(), "__setitem__"),
        (lambda: x.__iadd__(1), here(), "add_"),
        (lambda: x.__imul__(x.detach().clone()), here(), "mul_"),
        (lambda: x.__isub__(1), here(), "sub_"),
        (lambda: x.__itruediv__(2), here(), "div_"),
        (lambda: x.unsqueeze_(0), here(), "unsqueeze_"),
        (lambda: vt.autograd.graph.increment_version([x]), here(), "increment_version"),
        (lambda: x.detach().zero_(), here(), "zero_"),
        (lambda: x.uniform_(), here(), "uniform_"),
        (lambda: x.__setitem__(slice(0, 1), 1.0), here(), "__setitem__"),
    ]
    for nr, (statement, number, name) in enumerate(statements, 1):
        statement()
        write = last(x)
        assert (write.version, write.lineno, write.operator) == (nr, number, name)


def test_out_names_its_line() -> None:
    x, out = vt.ones(3), vt.zeros(3)
    vt.add(x, x, out=out)
    assert (last(out).operator, last(out).lineno) == ("add", here() - 1)
    vt.matmul(x, x, out=(dot := vt.zeros(())))
    assert (last(dot).operator, last(dot).lineno) == ("matmul", here() - 1)
    vt.zeros(3, out=out)
    assert (last(out).operator, last(out).lineno) == ("zeros", here() - 1)
    vt.clamp(x, 0, 1, out=out)
    assert (last(out).operator, last(out).lineno) == ("clamp", here() - 1)
    square = vt.zeros(1, 1)
    vt.tensordot(x[None], x[:, None], 1, out=square)
    vt.inner(x[None], x[None], out=square)
    vt.kron(x[:1], x[None, :1], out=square)
    assert last(square).lineno == here() - 1
    assert [write.operator for write in square.writes()] == ["tensordot", "inner", "kron"]


def test_a_statement_over_several_lines_is_named_by_the_line_of_its_call() -> None:
    x = vt.ones(3)
    number = here() + 1
    x.add_(
        vt.ones(
            3,
        ),
    )
    assert last(x).lineno == number


def users_name(name: str) -> str:
    """What users call an operator of the table: the longest method or function with its words."""
    end = "_" if name.endswith("_") else ""
    plain = name.rstrip("_")
    words = {"true_divide": "div", "linalg_vector_norm": "norm"}.get(plain, plain).split("_")
    for count in range(len(words), 0, -1):
        shorter = "_".join(words[:count]) + end
        if hasattr(vt.Tensor, shorter) or callable(getattr(vt, shorter, None)):
            return shorter
    return name


@sweep(cases(lambda op: op.inplace is not None), row=by_table)
def test_every_operator_in_place_has_the_name_that_users_know(case: Case) -> None:
    assert case.operator.inplace is not None
    values, options = arguments_of(case)
    target = tensors_in(values, options)[0]
    try:
        function_named(case.operator.inplace)(*values, **options)
    except VtgradError:
        assert target.writes() == ()
        return
    assert last(target).operator == users_name(case.operator.inplace)


@pytest.mark.slow
@sweep(cases(lambda op: op.returns in {"Self", "Geometry"} or op.out), row=by_table)
def test_every_other_writing_operator_has_the_name_that_users_know(case: Case) -> None:
    values, options = arguments_of(case)
    function = function_named(case.operator.name)
    if not case.operator.out:
        function(*values, **options)
        targets = tensors_in(values, options)[:1]
    else:
        targets = [vt.zeros(0, dtype=y.dtype) for y in results_of(function(*values, **options))]
        out = targets[0] if len(targets) == 1 else tuple(targets)
        function(*values, **options, out=out)
    for target in targets:
        assert last(target).operator == users_name(case.operator.name)


# -- writes() ---------------------------------------------------------------------------------


def test_writes_tell_what_where_and_through_which_view() -> None:
    x = vt.zeros(2, 3)
    assert x.writes() == ()
    x.add_(1)  # whole
    x[1, 1:].mul_(2)  # part
    this = test_writes_tell_what_where_and_through_which_view
    whole, part = x.writes()
    assert whole == vt.Write(
        version=1,
        operator="add_",
        place=vt.CallSite(__file__, line(this, "whole"), this.__qualname__),
        view=None,
        thread=threading.get_ident(),
    )
    assert part.view == vt.WrittenView((2,), 4, None, None)
    assert (part.filename, part.lineno) == (__file__, line(this, "part"))
    assert part.function == this.__qualname__
    assert str(whole) == f"version 1: add_ at {at(this, 'whole')}"
    assert str(part) == (
        f"version 2: mul_ at {at(this, 'part')}, through a view of shape [2] at offset 4"
    )
    with pytest.raises(AttributeError):
        part.version = 3  # type: ignore[misc]  # that it cannot be set is the point


@pytest.mark.parametrize("view", ["t", "strided", "0-d", "empty"])
def test_the_view_of_a_write_is_told_whatever_its_layout(view: str) -> None:
    x = vt.ones(4, 6)
    part = {"t": x.t()[1:], "strided": x[1:, ::2], "0-d": x[2, 3], "empty": x[4:]}[view]
    part.add_(1)
    told = x.writes()[-1].view
    assert told is not None
    assert (told.shape, told.storage_offset) == (part.shape, part.storage_offset())


def test_all_aliases_have_the_same_writes_except_data() -> None:
    x = vt.ones(3)
    x.detach().add_(1)
    x[1:].add_(1)
    x.data.add_(1)
    assert [write.version for write in x.writes()] == [1, 2]
    assert x.detach().writes() == x[0].writes() == x.writes()
    assert x.data.writes() == ()


def test_the_last_eight_are_remembered_by_their_versions() -> None:
    x = vt.ones(3)
    for count in range(1, 30):
        x.add_(1)
        versions = [write.version for write in x.writes()]
        assert versions == list(range(max(1, count - 7), count + 1))


def test_a_pickled_or_copied_tensor_has_no_writes() -> None:
    x = vt.ones(3).add_(1)
    assert pickle.loads(pickle.dumps(x)).writes() == ()
    assert copy.deepcopy(x).writes() == ()
    assert x.clone().writes() == ()


def test_a_refused_write_leaves_no_record() -> None:
    x = vt.ones(3).add_(1)
    before = x.writes()
    for wrong in (lambda: x.add_(vt.ones(4)), lambda: x.__setitem__(7, 1.0)):
        with pytest.raises(VtgradError):
            wrong()
    assert x.writes() == before


def test_line_is_of_the_program_and_not_of_a_library_folder_of_another_name() -> None:
    scope: dict[str, object] = {"vt": vt}
    # No `__name__` at all, and then one like this library's.
    for name in (None, "vtgrad.storage.elsewhere"):
        if name is not None:
            scope["__name__"] = name
        exec(compile("\n\nx = vt.ones(2)\nx.add_(1)\nx += 1", "<typed>", "exec"), scope)
        x = scope["x"]
        assert isinstance(x, vt.Tensor)
        assert [(w.filename, w.lineno) for w in x.writes()] == [("<typed>", 4), ("<typed>", 5)]
        assert "<typed>:4" in str(x.writes()[0])


# -- nothing is kept alive --------------------------------------------------------------------


def test_locals_of_the_function_that_wrote_are_not_kept() -> None:
    class Local:
        pass

    def write(x: vt.Tensor) -> weakref.ref[Local]:
        local = Local()
        x.add_(1)
        x[0] = 1.0
        x += 1
        x[1:].mul_(vt.ones(2))
        return weakref.ref(local)

    with collector_off():
        x = vt.ones(3)
        assert write(x)() is None
        y = vt.ones(3, requires_grad=True) * 1
        assert write(y)() is None
        assert len(x.writes()) == len(y.writes()) == 4


def test_a_view_that_was_written_is_not_kept() -> None:
    with collector_off():
        x = vt.ones(3)
        view = x[1:]
        dies = weakref.ref(view)
        view.add_(1)
        del view
        assert dies() is None
        assert len(x.writes()) == 1


# -- threads ----------------------------------------------------------------------------------


@needs_global_lock
def test_threads_that_write_their_own_tensors_do_not_disturb_each_other() -> None:
    tensors = [vt.ones(3) for _ in range(4)]
    idents: dict[int, int] = {}

    def first(x: vt.Tensor) -> None:
        for _ in range(500):
            x.add_(1)  # write

    def second(x: vt.Tensor) -> None:
        for _ in range(500):
            x += 1  # write

    def third(x: vt.Tensor) -> None:
        for _ in range(500):
            x[0:2][0] = vt.ones(())  # write

    def fourth(x: vt.Tensor) -> None:
        x.requires_grad_()
        x.sum().backward()
        gradient = x.grad
        assert gradient is not None
        for _ in range(50):
            x.sum().backward()  # write
        assert {w.operator for w in gradient.writes()} == {"backward"}
        assert {w.lineno for w in gradient.writes()} == {line(fourth, "write")}

    functions: list[Callable[[vt.Tensor], None]] = [first, second, third, fourth]
    failures: list[BaseException] = []

    def run(nr: int) -> None:
        idents[nr] = threading.get_ident()
        try:
            functions[nr](tensors[nr])
        except BaseException as error:  # raised again below
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(nr,)) for nr in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if failures:
        raise failures[0]
    for nr, function in enumerate(functions[:3]):
        writes = tensors[nr].writes()
        assert {w.lineno for w in writes} == {line(function, "write")}
        assert {w.thread for w in writes} == {idents[nr]}
        assert str(writes[0]).endswith(f", on thread {idents[nr]}")
    assert not record_write.on_behalf


@needs_global_lock
def test_a_write_that_no_python_code_called_has_no_line() -> None:

    x = vt.ones(3)
    done = threading.Event()
    _thread.start_new_thread(x.add_, (1,))
    for _ in range(1000):
        if x._version:
            break
        done.wait(0.01)
    done.wait(0.05)
    (write,) = x.writes()
    assert write.place is None
    assert write.filename is None
    assert write.lineno is None
    assert write.function is None
    assert str(write).startswith("version 1: add_, on thread ")


# -- where the stack ends ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1.0),
        lambda x: x.mul_(vt.ones(2)),
        lambda x: x.__setitem__(0, float(x._version + 7)),
        lambda x: x.fill_(float(x._version + 7)),
        lambda x: x.__iadd__(1.0),
    ],
    ids=["add_", "mul_", "brackets", "fill_", "iadd"],
)
def test_a_write_near_the_end_of_the_stack_is_seen_if_it_happens(
    write: Callable[[vt.Tensor], object],
) -> None:
    x = vt.full((2,), 3.0)
    outcomes = set()

    def at_depth(depth: int) -> None:
        if depth:
            at_depth(depth - 1)
        else:
            write(x)

    used = len(inspect.stack())
    limit = sys.getrecursionlimit()
    for forgotten in (False, True):
        for depth in range(30, 110):
            if forgotten:
                record_write.last_caller.code = None
            version, values = x._version, x.tolist()
            sys.setrecursionlimit(used + 100)
            try:
                at_depth(depth)
            except RecursionError:
                sys.setrecursionlimit(limit)
                outcomes.add("raised")
                # The version may have moved; the elements only together with it.
                assert x._version in (version, version + 1)
                assert x.tolist() == values or x._version == version + 1
            else:
                sys.setrecursionlimit(limit)
                outcomes.add("written")
                assert x._version == version + 1
            finally:
                sys.setrecursionlimit(limit)
    assert outcomes == {"raised", "written"}


# -- anomaly mode -----------------------------------------------------------------------------


def is_on() -> bool:
    """Whether anomaly mode is."""
    return anomaly.enabled


def test_anomaly_mode_is_switched_like_in_pytorch() -> None:
    assert not is_on()
    vt.autograd.set_detect_anomaly(True, check_nan=False)
    assert is_on()
    with vt.autograd.set_detect_anomaly(False):
        assert not is_on()
    assert is_on()
    vt.autograd.set_detect_anomaly(False)
    assert not is_on()
    with pytest.warns(UserWarning, match="anomaly"):
        scope = vt.autograd.detect_anomaly(check_nan=False)
    with scope:
        assert is_on()
    assert not is_on()


def test_nodes_remember_their_line_in_anomaly_mode_only() -> None:
    x = vt.ones(2, requires_grad=True)
    with vt.autograd.set_detect_anomaly(True, check_nan=False):
        y = x.exp()  # node
    z = x.exp()
    assert y.grad_fn is not None
    assert z.grad_fn is not None
    place = y.grad_fn.metadata["made_at"]
    this = test_nodes_remember_their_line_in_anomaly_mode_only
    assert place == vt.CallSite(__file__, line(this, "node"), this.__qualname__)
    assert z.grad_fn.metadata == {}


# -- the library itself -------------------------------------------------------------------------


# What records a write; a replay stores the records of all its writes in the call that writes.
_RECORDING = {"record_write", "stores.append"}


def _moves_on(node: ast.stmt) -> bool:
    """Whether a version moves here. One that takes a step back does so as nothing was written."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Add) and ast.unparse(node.target) == "counter.value"
    return isinstance(node, ast.Assign) and any(
        ast.unparse(target) == "counter.value" for target in node.targets
    )


def test_whatever_moves_a_version_says_who_did_it() -> None:
    moving = set()
    for path, tree in parsed_files_with("counter.value"):
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            moves = [
                node.lineno
                for node in ast.walk(function)
                if isinstance(node, ast.stmt) and _moves_on(node)
            ]
            if not moves:
                continue
            tells = [
                node.lineno
                for node in ast.walk(function)
                if isinstance(node, ast.Call) and ast.unparse(node.func) in _RECORDING
            ]
            moving.add(path.relative_to(PACKAGE).as_posix())
            # Once in a function, and told after it.
            assert len(moves) == len(tells) == 1, (path, function.name)
            assert moves[0] < tells[0], (path, function.name)
    # See Note [The write funnel].
    assert moving == {
        "jit/commit.py",
        "storage/record_write.py",
        "views/write.py",
        "views/write_at_index.py",
        "views/write_out.py",
        "views/write_recorded_part.py",
    }


def test_nothing_is_remembered_of_inference_tensors() -> None:
    with vt.inference_mode():
        x, y = vt.zeros(3), vt.zeros(3)
        x.add_(1)
        x[0] = 2
        assert x.writes() == () == y.writes()


# -- custom Functions -----------------------------------------------------------------------------


class SavesBoth(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        y = x * 2
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx: FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
        return grad * len(ctx.saved_tensors)


class WritesMemory(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx: FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
        return grad


def function_saves() -> vt.Tensor:
    x = vt.ones(2, requires_grad=True).clone()
    y = SavesBoth.apply(x)
    x.mul_(2)  # write
    return y


def function_writes() -> vt.Tensor:
    x = vt.ones(2, requires_grad=True).clone()
    y = x.sin()
    WritesMemory.apply(x)  # write
    return y


def test_the_ways_out_call_custom_functions_by_their_names() -> None:
    n = line(function_saves, "write")
    assert stale(function_saves).facts["ways_out"] == (
        f"at line {n}, use the out-of-place mul instead of mul_, or run backward before it",
        f"pass x.clone() to SavesBoth.apply for the x that line {n} changes",
        REWIND,
    )
    n = line(function_writes, "write")
    assert stale(function_writes).facts["ways_out"] == (
        f"at line {n}, pass x.clone() to WritesMemory.apply for the x that it writes",
        f"run backward before line {n}, or write before sin",
        f"pass x.clone() to sin for the x that line {n} changes",
    )


def test_the_error_is_raised_once() -> None:
    assert stale(result_is_assigned).__context__ is None


@pytest.mark.parametrize("named", ["the saved tensor", "an alias", "the result"])
def test_the_error_names_the_tensor(named: str) -> None:
    x = vt.ones(3, requires_grad=True) * 2
    y = x.exp() if named == "the result" else x * x
    alias = x.detach()
    tensor = {"the saved tensor": x, "an alias": alias, "the result": y}[named]
    tensor.name = "level"
    z = y * 1
    tensor.add_(1)
    with pytest.raises(StaleSavedError, match=r"of shape \[3\] with the name 'level', ") as caught:
        z.sum().backward()
    assert caught.value.facts["name"] == "level"


@pytest.mark.parametrize("why", ["dead", "other elements", "other memory"])
def test_no_other_tensor_lends_its_name_to_the_error(why: str) -> None:
    x = vt.ones(3, requires_grad=True) * 2
    y = x * x
    other = {"dead": x.detach(), "other elements": x.detach()[1:], "other memory": vt.ones(3)}[why]
    other.name = "other"
    if why == "dead":
        del other
    x.add_(1)
    with pytest.raises(StaleSavedError) as caught:
        y.sum().backward()
    assert caught.value.facts["name"] is None
    assert "with the name" not in str(caught.value)
