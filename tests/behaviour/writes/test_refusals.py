"""Writes that would make gradients wrong are refused, and a refused write changes nothing.

Every test shows the class and the ``kind`` of the error, and that values, version, graph and
geometry of all tensors involved are what they were.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import Unchanged, differs_from_torch, gradients, leaf, node_of, ramp, refused, vt

Write = Callable[[vt.Tensor], object]

# In-place operators of every sort; each fits a tensor of shape (3,) and one of shape (2, 3).
WRITES: dict[str, Write] = {
    "add": lambda x: x.add_(1),
    "augmented multiply": lambda x: x.__imul__(2),
    "exp": lambda x: x.exp_(),
    "zero": lambda x: x.zero_(),
    "fill": lambda x: x.fill_(5.0),
    "copy": lambda x: x.copy_(vt.zeros(3)),
    "clamp": lambda x: x.clamp_(0, 1),
    "masked fill": lambda x: x.masked_fill_(x.detach() > 1, 0.0),
    "index fill": lambda x: x.index_fill_(0, vt.tensor([0]), 9.0),
    "assign all": lambda x: x.__setitem__(..., 1.0),
    "assign a list": lambda x: x.__setitem__([0], 1.0),
    "assign a mask": lambda x: x.__setitem__(x.detach() > 1, 0.0),
    "normal": lambda x: x.normal_(),
    "uniform": lambda x: x.uniform_(),
    "squeeze": lambda x: x.squeeze_(),
    "unsqueeze": lambda x: x.unsqueeze_(0),
    "t": lambda x: x.t_(),
    "transpose": lambda x: x.transpose_(0, -1),
    "swapaxes": lambda x: x.swapaxes_(0, -1),
    "as_strided": lambda x: x.as_strided_((2,), (1,)),
}
every_write = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)


# -- leaves ---------------------------------------------------------------------------------


@every_write
def test_a_leaf_that_requires_grad_is_not_written(write: Write) -> None:
    x = leaf(2, 3)
    sister = x[1]
    with refused(RuntimeError, "leaf-write", [x, sister]):
        write(x)


@every_write
def test_a_view_of_a_leaf_that_requires_grad_is_not_written(write: Write) -> None:
    x = leaf(2, 3)
    v, sister = x[0], x[1]
    with refused(RuntimeError, "view-of-leaf-write", [x, v, sister]):
        write(v)


def test_an_item_of_a_leaf_that_requires_grad_is_not_assigned() -> None:
    x = leaf(2, 3)
    with refused(RuntimeError, "view-of-leaf-write", [x]):
        x[0] = 1.0
    with refused(RuntimeError, "view-of-leaf-write", [x]):
        x[0, 1:] = 1.0


def test_augmented_assignment_does_not_write_a_leaf_that_requires_grad() -> None:
    for x in (leaf(2), leaf()):
        same = x
        with refused(RuntimeError, "leaf-write", [x]):
            x += 1
        assert x is same


def test_a_view_of_a_view_of_a_leaf_is_not_written() -> None:
    x = leaf(2, 3)
    v = x.t()[1:]
    with refused(RuntimeError, "view-of-leaf-write", [x, v]):
        v.mul_(2)


def test_a_view_that_was_made_a_leaf_is_not_written() -> None:
    b = ramp(2, 3)
    v = b[0].requires_grad_()
    with refused(RuntimeError, "view-of-leaf-write", [b, v]):
        v.mul_(2)


def test_a_detached_leaf_that_requires_grad_again_is_not_written() -> None:
    x = leaf(2)
    d = x.detach().requires_grad_()
    with refused(RuntimeError, "leaf-write", [x, d]):
        d.add_(1)


# -- views with several sisters from one operator --------------------------------------------

MULTI: dict[str, Callable[[vt.Tensor], tuple[vt.Tensor, ...]]] = {
    "unbind": lambda b: tuple(b.unbind(0)),
    "split": lambda b: tuple(b.split(1)),
    "split with sizes": lambda b: tuple(b.split([1, 1])),
    "chunk": lambda b: tuple(b.chunk(2)),
}
every_multi = pytest.mark.parametrize("pieces", MULTI.values(), ids=MULTI)


@every_multi
def test_a_piece_of_a_multi_output_view_is_not_written(
    pieces: Callable[[vt.Tensor], tuple[vt.Tensor, ...]],
) -> None:
    b = leaf(2, 3).clone()
    first, second = pieces(b)
    with refused(RuntimeError, "multi-output-view", [b, first, second]):
        first.add_(1)


@every_multi
def test_a_view_of_such_a_piece_is_not_written(
    pieces: Callable[[vt.Tensor], tuple[vt.Tensor, ...]],
) -> None:
    b = leaf(2, 3).clone()
    first, second = pieces(b)
    v = first[..., 1:]
    with refused(RuntimeError, "multi-output-view", [b, first, second, v]):
        v.add_(1)


@every_write
def test_no_operator_writes_a_piece_of_unbind(write: Write) -> None:
    b = leaf(2, 3).clone()
    first, second = b.unbind(0)
    with refused(RuntimeError, "multi-output-view", [b, first, second]):
        write(first)


def test_a_piece_without_gradient_is_not_written_with_an_operand_that_requires_grad() -> None:
    b = ramp(2, 3)
    first, second = b.unbind(0)
    w = leaf(3)
    with refused(RuntimeError, "multi-output-view", [b, first, second, w]):
        first.mul_(w)


def test_a_piece_whose_base_was_written_has_no_gradient_function_any_more() -> None:
    b = leaf(2, 3).clone()
    first = b.unbind(0)[0]
    b.mul_(2)
    with refused(RuntimeError, "multi-output-view", [b]):
        first.grad_fn  # noqa: B018  # reading it is what fails
    with refused(RuntimeError, "multi-output-view", [b]):
        assert first.is_leaf
    with refused(RuntimeError, "multi-output-view", [b]):
        first * 2
    with refused(RuntimeError, "multi-output-view", [b]):
        first[0]
    with refused(RuntimeError, "multi-output-view", [b]):
        first.backward(ramp(3))
    assert first.requires_grad
    assert first.shape == (3,)
    assert first.tolist() == [2, 4, 6]
    assert first._version == 1


# -- views made under no_grad ---------------------------------------------------------------


@every_write
def test_a_view_made_under_no_grad_is_not_written_while_recording(write: Write) -> None:
    b = leaf(2, 3).clone()
    with vt.no_grad():
        v = b[0]
    with refused(RuntimeError, "no-grad-view", [b, v]):
        write(v)


def test_a_no_grad_view_of_a_leaf_is_refused_as_a_no_grad_view() -> None:
    x = leaf(2, 3)
    with vt.no_grad():
        v = x[0]
    with refused(RuntimeError, "no-grad-view", [x, v]):
        v.mul_(2)


def test_a_view_of_a_no_grad_view_is_not_written() -> None:
    b = leaf(2, 3).clone()
    with vt.no_grad():
        v = b[0]
    inner = v[1:]
    with refused(RuntimeError, "no-grad-view", [b, v, inner]):
        inner.mul_(2)


def test_a_piece_made_under_no_grad_is_refused_as_a_no_grad_view() -> None:
    b = leaf(2, 3).clone()
    with vt.no_grad():
        piece = b.unbind(0)[0]
    with refused(RuntimeError, "no-grad-view", [b, piece]):
        piece.mul_(2)


def test_a_no_grad_view_is_not_written_with_an_operand_that_requires_grad() -> None:
    b, w = ramp(2, 3), leaf(3)
    with vt.no_grad():
        v = b[0]
    with refused(RuntimeError, "no-grad-view", [b, v, w]):
        v.mul_(w)


def test_a_no_grad_view_whose_base_was_written_has_no_gradient_function() -> None:
    b = leaf(2, 3).clone()
    with vt.no_grad():
        v = b[0]
    b.mul_(2)
    with refused(RuntimeError, "no-grad-view", [b]):
        v.grad_fn  # noqa: B018  # reading it is what fails
    with vt.no_grad(), refused(RuntimeError, "no-grad-view", [b]):
        v.grad_fn  # noqa: B018  # reading it is what fails
    with refused(RuntimeError, "no-grad-view", [b]):
        v * 2
    assert v.tolist() == [2, 4, 6]


# -- detach_, out=, requires_grad_ ------------------------------------------------------------


def test_a_view_is_not_detached_in_place() -> None:
    b = leaf(2, 3).clone()
    v = b[0]
    with refused(RuntimeError, "detach-view", [b, v]):
        v.detach_()


def test_a_view_without_gradient_is_not_detached_in_place_either() -> None:
    b = ramp(2, 3)
    v = b[0]
    with refused(RuntimeError, "detach-view", [b, v]):
        v.detach_()


def test_out_is_not_written_when_an_operand_requires_grad() -> None:
    x, target = leaf(3), ramp(3)
    with refused(RuntimeError, "out-grad", [x, target]):
        vt.add(x, 1, out=target)


def test_out_is_not_written_when_it_requires_grad_itself() -> None:
    x = ramp(3)
    for target in (leaf(3), leaf(3).clone()):
        with refused(RuntimeError, "out-grad", [x, target]):
            vt.mul(x, x, out=target)


def test_out_is_written_under_no_grad_whatever_requires_grad() -> None:
    x, target = leaf(3), ramp(3)
    with vt.no_grad():
        vt.add(x, 1, out=target)
    assert target.tolist() == [2, 3, 4]
    assert not target.requires_grad


def test_an_operand_does_not_take_on_the_shape_of_the_result() -> None:
    row, number, matrix = ramp(3), vt.tensor(1.0, dtype=vt.float64), ramp(2, 3)
    calls: list[Callable[[], object]] = [
        lambda: vt.add(row, matrix, out=row),
        lambda: vt.mul(matrix, number, out=number),
        lambda: vt.ge(number, row, out=number),
        lambda: vt.where(matrix > 2, row, number, out=row),
    ]
    for call in calls:
        with refused(RuntimeError, "shape", [row, number, matrix]):
            call()


def test_out_has_the_dtype_that_is_asked_for() -> None:
    x, target = ramp(2, 3), vt.zeros(3)
    calls: list[tuple[str, Callable[[], object]]] = [
        ("dtype", lambda: vt.sum(x, 0, dtype=vt.float64, out=target)),
        ("dtype", lambda: vt.mean(x, 0, dtype=vt.float64, out=target)),
        ("dtype", lambda: vt.prod(x, 0, dtype=vt.float64, out=target)),
        ("dtype", lambda: vt.cumsum(x[0], 0, dtype=vt.float64, out=target)),
        ("result-type", lambda: vt.tril(x, out=vt.zeros(2, 3))),
        ("result-type", lambda: vt.sgn(x[0], out=target)),
        ("result-type", lambda: vt.signbit(x[0], out=target)),
    ]
    for kind, call in calls:
        with refused(RuntimeError, kind, [x, target]):
            call()
    assert vt.clamp(x, x, x, out=vt.zeros(2, 3)).tolist() == x.tolist()
    assert vt.max(x, out=vt.zeros(())).tolist() == 6


def test_requires_grad_is_not_taken_from_a_computed_tensor() -> None:
    y = leaf(2) * 2
    with refused(RuntimeError, "requires-grad", [y]):
        y.requires_grad_(False)
    with refused(RuntimeError, "requires-grad", [y]):
        y.requires_grad = False


def test_integers_cannot_require_grad() -> None:
    i = vt.tensor([1])
    with refused(RuntimeError, "requires-grad", [i]):
        i.requires_grad_()
    with refused(RuntimeError, "requires-grad"):
        vt.tensor([1], requires_grad=True)


# -- overlapping memory -----------------------------------------------------------------------

OVERLAP_WRITES: dict[str, Write] = {
    "add": lambda x: x.add_(1),
    "multiply": lambda x: x.mul_(2),
    "copy": lambda x: x.copy_(vt.zeros(3)),
    "relu": lambda x: x.relu_(),
    "exp": lambda x: x.exp_(),
    "cumsum": lambda x: x.cumsum_(0),
}


@pytest.mark.parametrize("write", OVERLAP_WRITES.values(), ids=OVERLAP_WRITES)
def test_an_expanded_tensor_is_not_written(write: Write) -> None:
    b = ramp(1)
    wide = b.expand(3)
    with refused(RuntimeError, "self-overlap", [b, wide]):
        write(wide)


def test_an_expanded_tensor_with_a_graph_is_not_written() -> None:
    b = leaf(2, 1).clone()
    wide = b.expand(2, 3)
    with refused(RuntimeError, "self-overlap", [b, wide]):
        wide.mul_(2)


ONE_VALUE: dict[str, Write] = {
    "masked fill": lambda x: x.masked_fill_(vt.tensor([True, False, False]), 9.0),
    "index fill": lambda x: x.index_fill_(0, vt.tensor([1]), 9.0),
    "assign at a list": lambda x: x.__setitem__([1], 9.0),
    "fill with a tensor": lambda x: x.fill_(leaf(1)[0]),
}


@differs_from_torch("there such a write is made, and its backward is what fails")
@pytest.mark.parametrize("write", ONE_VALUE.values(), ids=ONE_VALUE)
def test_one_value_is_not_stored_in_parts_of_an_expanded_tensor_with_a_graph(write: Write) -> None:
    b = leaf(1).clone()
    wide = b.expand(3)
    with refused(RuntimeError, "self-overlap", [b, wide]):
        write(wide)


@differs_from_torch("there partly overlapping windows are written, with wrong gradients")
def test_overlapping_windows_are_not_written() -> None:
    b = leaf(4).clone()
    windows = b.unfold(0, 2, 1)
    with refused(RuntimeError, "self-overlap", [b, windows]):
        windows.mul_(2)


@differs_from_torch("there partly overlapping strides are written, with unspecified values")
def test_overlapping_strides_are_not_written() -> None:
    b = ramp(3)
    windows = b.as_strided((2, 2), (1, 1))
    with refused(RuntimeError, "self-overlap", [b, windows]):
        windows.add_(1)
    with refused(RuntimeError, "self-overlap", [b, windows]):
        windows.copy_(ramp(2, 2))


def test_a_constant_may_fill_an_expanded_tensor() -> None:
    # Whichever element is written last, the value is the same.
    b = ramp(1)
    b.expand(3).fill_(2.0)
    assert b.tolist() == [2]
    b.expand(3).zero_()
    assert b.tolist() == [0]
    assert b._version == 2


@differs_from_torch("there the gradient of such a fill is an error")
def test_a_constant_that_fills_an_expanded_view_stops_its_gradient() -> None:
    a = leaf(2, 1)
    b = a.clone()
    b.expand(2, 3)[1].zero_()
    assert b.tolist() == [[1], [0]]
    assert gradients(b.sum(), a) == [[[1], [0]]]


def test_windows_and_strides_that_do_not_overlap_are_written() -> None:
    b = ramp(4)
    b.unfold(0, 2, 2).mul_(10)
    assert b.tolist() == [10, 20, 30, 40]
    b.as_strided((2, 2), (1, 2)).add_(1)  # offsets 0, 2, 1, 3: transposed, each cell once
    assert b.tolist() == [11, 21, 31, 41]


def test_a_shifted_operand_is_not_added_in_place() -> None:
    b = ramp(4)
    target, shifted = b[1:], b[:-1]
    with refused(RuntimeError, "input-overlap", [b, target, shifted]):
        target.add_(shifted)


def test_a_shifted_source_is_not_copied_or_assigned() -> None:
    b = ramp(4)
    with refused(RuntimeError, "input-overlap", [b]):
        b[1:].copy_(b[:-1])
    with refused(RuntimeError, "input-overlap", [b]):
        b[1:] = b[:-1]


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_the_same_memory_in_another_dtype_is_read_before_it_is_written() -> None:
    pair = leaf(1, 2) * 1
    number = vt.view_as_complex(pair)
    real = pair.squeeze()
    real.ne_(number)
    assert real.tolist() == [1, 1]


def test_the_transpose_of_a_matrix_is_not_copied_onto_it() -> None:
    m = ramp(2, 2)
    with refused(RuntimeError, "input-overlap", [m]):
        m.copy_(m.t())


# -- what does not fit -------------------------------------------------------------------------

MISFITS: dict[str, tuple[Write, type[Exception], str]] = {
    "shape of add": (lambda x: x.add_(ramp(4, 5)), RuntimeError, "shape"),
    "in-place broadcast up": (lambda x: x.add_(ramp(2, 2, 3)), RuntimeError, "shape"),
    "shape of copy": (lambda x: x.copy_(ramp(4)), RuntimeError, "shape"),
    "shape of an assignment": (lambda x: x.__setitem__(0, ramp(2)), RuntimeError, "shape"),
    "shape behind a mask": (
        lambda x: x.__setitem__(x.detach() > 3, ramp(2)),
        RuntimeError,
        "shape",
    ),
    "index": (lambda x: x.__setitem__(5, 1.0), IndexError, "index"),
    "dimension": (lambda x: x.transpose_(0, 5), IndexError, "dimension"),
    "complex into real": (lambda x: x.mul_(1j), RuntimeError, "result-type"),
    "reach": (lambda x: x.as_strided_((9,), (9,)), RuntimeError, "out-of-bounds"),
}


@pytest.mark.parametrize(("write", "error", "kind"), MISFITS.values(), ids=MISFITS)
def test_a_write_that_does_not_fit_leaves_everything_as_it_was(
    write: Write, error: type[Exception], kind: str
) -> None:
    b = leaf(2, 3).clone()
    v = b[1]
    with refused(error, kind, [b, v]):
        write(b)
    assert node_of(b).name() == "CloneBackward0"


@pytest.mark.parametrize(("write", "error", "kind"), MISFITS.values(), ids=MISFITS)
def test_such_a_write_through_a_view_leaves_the_base_as_it_was(
    write: Write, error: type[Exception], kind: str
) -> None:
    b = leaf(3, 2, 3).clone()
    v, sister = b[1], b[0]
    with refused(error, kind, [b, v, sister]):
        write(v)


LATE_MISFITS: dict[str, tuple[Write, type[Exception], str]] = {
    # The first entry is good: a kernel that writes as it goes has written before it fails.
    "assign a list": (lambda x: x.__setitem__([0, 7], 1.0), IndexError, "index"),
    "index_put": (lambda x: x.index_put_((vt.tensor([0, 7]),), ramp(1)), IndexError, "index"),
    "index_copy": (lambda x: x.index_copy_(0, _bad(), ramp(2, 3)), IndexError, "index"),
    "index_fill": (lambda x: x.index_fill_(0, _bad(), 1.0), IndexError, "index"),
    "index_add": (lambda x: x.index_add_(0, _bad(), ramp(2, 3)), RuntimeError, "index"),
    "scatter": (lambda x: x.scatter_(1, _bad()[None], ramp(1, 2)), RuntimeError, "index"),
    "scatter_add": (lambda x: x.scatter_add_(1, _bad()[None], ramp(1, 2)), RuntimeError, "index"),
}


def _bad() -> vt.Tensor:
    return vt.tensor([0, 7])


@differs_from_torch("there some of these have written before they raise")
@pytest.mark.parametrize(("write", "error", "kind"), LATE_MISFITS.values(), ids=LATE_MISFITS)
def test_a_write_whose_last_index_is_bad_has_not_written_the_first(
    write: Write, error: type[Exception], kind: str
) -> None:
    b = leaf(2, 3).clone()
    v = b[1]
    with refused(error, kind, [b, v]):
        write(b)


INTEGER_MISFITS: dict[str, Write] = {
    "add a fraction": lambda i: i.add_(2.5),
    "true division": lambda i: i.div_(2),
    "exp": lambda i: i.exp_(),
    "multiply by floats": lambda i: i.mul_(ramp(2)),
}


@pytest.mark.parametrize("write", INTEGER_MISFITS.values(), ids=INTEGER_MISFITS)
def test_integers_are_not_written_with_results_that_are_no_integers(write: Write) -> None:
    i = vt.tensor([3, 4])
    with refused(RuntimeError, "result-type", [i]):
        write(i)


def test_booleans_are_not_written_with_integers() -> None:
    b = vt.tensor([True, False])
    with refused(RuntimeError, "result-type", [b]):
        b.add_(2)


def test_a_refused_write_leaves_saved_values_good() -> None:
    a = leaf(3)
    b = a.clone()
    y = (b * b).sum()
    watched = Unchanged(a, b, y)
    with pytest.raises(RuntimeError):
        b.add_(ramp(7))
    watched.check()
    y.backward()
    assert a.grad is not None
    assert a.grad.tolist() == [2, 4, 6]
