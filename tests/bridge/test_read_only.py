"""Tensors on read-only arrays; see Note [Read-only memory]."""

from __future__ import annotations

import copy
import io
import mmap
import pickle
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.ops.calls import Case, arguments_of, cases, function_named
from tests.sweeping import sweep
from vtgrad.errors import LeafWriteError, ReadOnlyError, ResizeError

VALUES = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def array() -> Any:
    """A read-only array."""
    a = np.array(VALUES)
    a.flags.writeable = False
    return a


WRITES: dict[str, Callable[[Any], object]] = {
    "ufunc in place": lambda x: x.mul_(2),
    "in place": lambda x: x.erfinv_(),
    "one value": lambda x: x.fill_(1),
    "zero": lambda x: x.zero_(),
    "copy": lambda x: x.copy_(vt.ones(2, 3)),
    "random": lambda x: x.normal_(),
    "function of the user": lambda x: x.apply_(lambda v: v),
    "matrix product": lambda x: x.addmm_(vt.ones(2, 1).double(), vt.ones(1, 3).double()),
    "iadd": lambda x: x.__iadd__(x.clone()),
    "imul": lambda x: x.__imul__(2),
    "row": lambda x: x.__setitem__(0, 1.0),
    "row of a tensor": lambda x: x.__setitem__(0, vt.ones(3).double()),
    "element": lambda x: x.__setitem__((0, 1), 1),
    "slice": lambda x: x.__setitem__((..., slice(1, None)), 1.0),
    "index": lambda x: x.__setitem__(vt.tensor([0]), 1.0),
    "mask": lambda x: x.__setitem__(x > 1, 1.0),
    "out": lambda x: vt.add(x.clone(), 1, out=x),
    "out that is resized": lambda x: vt.add(vt.ones(3).double(), 1, out=x),
    "out of a composite": lambda x: vt.matmul(x.clone(), vt.eye(3).double(), out=x),
    "first out": lambda x: vt.sort(x.clone(), out=(x, vt.empty(0, dtype=vt.int64))),
    "second out": lambda x: vt.max(vt.ones(2, 3, 2), 2, out=(vt.empty(2, 3), x.view(vt.int64))),
    "out of NumPy": lambda x: np.multiply(x, 2, out=x),
    "data": lambda x: x.data.zero_(),
    "detach": lambda x: x.detach().zero_(),
    "transposed": lambda x: x.t().add_(1),
    "diagonal": lambda x: x.diagonal().zero_(),
    "windows": lambda x: x.unfold(1, 2, 1).zero_(),
    "expanded": lambda x: x.expand(4, 2, 3).zero_(),
    "part of expanded": lambda x: x.expand(4, 2, 3)[0].mul_(3),
    "as_strided": lambda x: x.as_strided((2,), (1,)).zero_(),
    "other dtype": lambda x: x.view(vt.int64).zero_(),
    "unbind": lambda x: x.unbind()[0].zero_(),
    "contiguous": lambda x: x.contiguous().zero_(),
    "lazy": lambda x: x.conj().mul_(2),
    "storage": lambda x: x.untyped_storage().fill_(0),
    "byte": lambda x: x.untyped_storage().__setitem__(0, 1),
    "set_": lambda x: vt.ones(2).double().set_(x).mul_(2),
    "memory of set_": lambda x: vt.ones(2).double().set_(x.untyped_storage(), 0, (2,)).mul_(2),
    "copy.copy": lambda x: copy.copy(x).mul_(2),
    "no_grad": lambda x: vt.no_grad()(x.requires_grad_().mul_)(2),
    "inference mode": lambda x: vt.inference_mode()(x.mul_)(2),
    "batch": lambda x: vt.vmap(lambda row: row.mul_(2))(x),
    "element of a batch": lambda x: vt.vmap(lambda row: row.__setitem__(0, 1.0))(x),
    "dual": lambda x: vt.func.jvp(lambda row: row.mul_(2), (x,), (x,)),
    "recorded": lambda x: x.mul_(vt.ones(3, requires_grad=True)),
    "view of recorded": lambda x: x[0].copy_(vt.ones(3, requires_grad=True)),
}


@pytest.mark.parametrize("name", WRITES)
def test_every_write_is_refused_before_anything_has_changed(name: str) -> None:
    a = array()
    x = vt.from_numpy(a)
    for _ in range(2):
        with pytest.raises(ReadOnlyError, match="read-only"):
            WRITES[name](x)
    assert a.tolist() == VALUES
    assert (x._version, x.grad_fn, list(x.shape)) == (0, None, [2, 3])
    assert x.tolist() == VALUES


def test_it_is_an_error_of_numpy_and_of_writes() -> None:
    assert issubclass(ReadOnlyError, ValueError)
    assert issubclass(ReadOnlyError, vt.errors.WriteRefusedError)


@sweep(cases(lambda op: op.inplace is not None or op.returns == "Self"))
def test_no_operator_writes_in_place(case: Case) -> None:
    values, options = arguments_of(case)
    target = values[0]
    assert isinstance(target, vt.Tensor)
    a = target.numpy().copy()
    a.flags.writeable = False
    x = vt.from_numpy(a)
    before = a.tobytes()
    name = case.operator.inplace or case.operator.name
    try:
        function_named(name)(x, *values[1:], **options)
    except vt.errors.VtgradError as error:
        # What has no in-place form for this sample says so first.
        kept = vt.from_numpy(np.array(a))
        if isinstance(error, ReadOnlyError):
            refused = True
        else:
            refused = False
            with pytest.raises(type(error)):
                function_named(name)(kept, *values[1:], **options)
    else:
        refused = False
        assert not a.size, "it has written"
    assert a.tobytes() == before
    assert x._version == 0 or not a.size
    assert refused or not a.size or case.operator.returns != "Self"


@sweep(cases(lambda op: bool(op.out)))
def test_no_operator_stores_in_out(case: Case) -> None:
    values, options = arguments_of(case)
    function = function_named(case.operator.name)
    expected = function(*values, **options)
    if not isinstance(expected, vt.Tensor) or not expected.numel():
        return
    a = np.zeros_like(expected.numpy(force=True))
    a.flags.writeable = False
    x = vt.from_numpy(a)
    with pytest.raises(ReadOnlyError):
        function(*values, **options, out=x)
    assert not a.any()
    assert x._version == 0


@sweep(cases(lambda op: op.returns in ("View", "Views")))
def test_every_view_is_read_only(case: Case) -> None:
    values, options = arguments_of(case)
    target = values[0]
    assert isinstance(target, vt.Tensor)
    a = target.numpy(force=True).copy()
    a.flags.writeable = False
    x = vt.from_numpy(a)
    found = function_named(case.operator.name)(x, *values[1:], **options)
    views = found if isinstance(found, tuple) else (found,)
    for view in views:
        assert isinstance(view, vt.Tensor)
        if view.numel():
            assert not view.numpy(force=True).flags.writeable or view.is_conj() or view.is_neg()
            with pytest.raises(ReadOnlyError):
                view.zero_()
    assert a.tobytes() == target.numpy(force=True).tobytes()
    assert x._version == 0


def test_reading_gradients_and_views() -> None:
    a = array()
    x = vt.from_numpy(a).requires_grad_()
    y = (x[0] * x.t()[:, 1] + x.mean(0)).sum()
    y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[3.5, 4.5, 5.5], [0.5, 1.5, 2.5]]
    x.grad.mul_(2)
    assert (x * x).sum().item() == 55
    with pytest.raises(LeafWriteError):
        x.mul_(2)
    _, tangent = vt.func.jvp(lambda t: t * t, (x.detach(),), (vt.ones_like(x),))
    assert tangent.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert vt.vmap(lambda row: row.sum())(x.detach()).tolist() == [3, 12]


def test_results_and_copies_are_writable(tmp_path: Any) -> None:
    x = vt.from_numpy(array())
    vt.save(x, tmp_path / "x.npz")
    loaded = vt.load(tmp_path / "x.npz")
    assert isinstance(loaded, vt.Tensor)
    copies = [
        x + 0,
        x.clone(),
        x.flip(0).flip(0),
        copy.deepcopy(x),
        pickle.loads(pickle.dumps(x)),
        loaded,
        x.to("lane:0").cpu(),
        vt.tensor(x.numpy()),
    ]
    for y in copies:
        assert y.tolist() == VALUES
        y.mul_(2)
        assert y.numpy().flags.writeable
    assert x.tolist() == VALUES


def test_arrays_of_it_are_read_only() -> None:
    x = vt.from_numpy(array())
    arrays: list[Any] = [x.numpy(), x[0].numpy(), np.asarray(x), x.t().numpy(), np.from_dlpack(x)]
    for a in arrays:
        with pytest.raises(ValueError, match="read-only"):
            a[0] = 1
    # An old version of DLPack has no mark for it.
    with pytest.raises(BufferError):
        x.__dlpack__()


def test_its_geometry_and_its_memory_may_change() -> None:
    x = vt.from_numpy(array())
    assert x.t_().shape == (3, 2)
    with pytest.raises(ResizeError):
        x.resize_(100)
    x.resize_(2)
    assert x.tolist() == [0, 1]
    with pytest.raises(ReadOnlyError):
        x.zero_()
    x.set_(vt.ones(2).double())
    assert x.mul_(2).tolist() == [2, 2]
    y = vt.from_numpy(array())
    y.data = vt.ones(1).double()
    assert y.mul_(3).tolist() == [3]


def test_a_gradient_is_not_added_to_it() -> None:
    x = vt.ones(2, 3, dtype=vt.float64, requires_grad=True)
    x.grad = vt.from_numpy(array())
    with pytest.raises(ReadOnlyError):
        (x * 2).sum().backward()
    assert x.grad.tolist() == VALUES


def test_a_refused_write_makes_no_saved_value_stale() -> None:
    x = vt.from_numpy(array())
    w = vt.ones(2, 3, dtype=vt.float64, requires_grad=True)
    y = w * x
    with pytest.raises(ReadOnlyError):
        x.mul_(2)
    y.sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == VALUES


def test_a_rewind_has_nothing_to_restore() -> None:
    x = vt.from_numpy(array())
    w = vt.ones(2, 3, dtype=vt.float64, requires_grad=True)
    with vt.autograd.graph.allow_mutation_on_saved_tensors():
        y = w * x
        with pytest.raises(ReadOnlyError):
            x.mul_(2)
        y.sum().backward()
    assert w.grad is not None
    assert (w.grad.tolist(), x.tolist()) == (VALUES, VALUES)


def test_an_array_that_is_locked_later_has_a_writable_tensor() -> None:
    a = np.zeros(2)
    x = vt.from_numpy(a)
    a.flags.writeable = False
    assert x.add_(1).tolist() == a.tolist() == [1, 1]


def test_kinds_of_read_only_arrays() -> None:
    a = array()
    for other in (a[:, ::2], a[::-1], a.T, np.broadcast_to(a, (2, 2, 3)), a[:1, :1], a[0, 0:1]):
        x = vt.from_numpy(other)
        assert x.tolist() == other.tolist()
        with pytest.raises(ReadOnlyError):
            x.zero_()
    bytes_: Any = np.frombuffer(b"abcd", np.uint8)
    with pytest.raises(ReadOnlyError):
        vt.from_numpy(bytes_).add_(1)
    with pytest.raises(ReadOnlyError):
        vt.as_tensor(a).add_(1)
    with pytest.raises(ReadOnlyError):
        vt.from_dlpack(a).add_(1)
    with tempfile.TemporaryFile() as file:
        file.write(np.ones(4).tobytes())
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
            mapped = np.frombuffer(memory)
            y = vt.from_numpy(mapped)
            assert y.sum().item() == 4
            with pytest.raises(ReadOnlyError):
                y[0] = 2
            del mapped, y


def test_the_numpy_front_refuses_before_the_version_moves() -> None:
    x = vnp.ones(3)
    wide = vnp.broadcast_to(x, (1, 3))
    version = x._version
    writes: list[Callable[[], object]] = [
        lambda: wide.__setitem__(0, 1),
        lambda: wide.fill(1),
        lambda: wide.__imul__(2.0),
        lambda: vnp.copyto(wide, 2),
    ]
    for write in writes:
        with pytest.raises(ValueError, match="read-only"):
            write()
        assert x._version == version
    assert x.tolist() == [1, 1, 1]


VIEWS: dict[str, Callable[[Any], Any]] = {
    "all": lambda x: x[...],
    "new axis": lambda x: x[None],
    "squeeze": lambda x: x.squeeze(),
    "twice": lambda x: x.T.squeeze()[1:].reshape(-1, 1),
    "split": lambda x: vnp.split(x, 2, axis=-1)[0],
    "diagonal": lambda x: vnp.diagonal(x),
    "einsum": lambda x: vnp.einsum("ij->ji", x),
    "windows": lambda x: vnp.lib.stride_tricks.sliding_window_view(x, (1, 1), writeable=True),
    "class": lambda x: x.view(vnp.ndarray),
    "from_dlpack": lambda x: vnp.from_dlpack(x),
    "detach": lambda x: x.detach(),
    "unfold": lambda x: x.unfold(1, 1, 1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_a_read_only_view_are_read_only(name: str) -> None:
    x = vnp.array([1.0, 2.0, 3.0, 4.0])
    view = VIEWS[name](vnp.broadcast_to(x, (1, 4)))
    assert not view.flags.writeable
    with pytest.raises(ReadOnlyError):
        view[...] = 7.0
    with pytest.raises(ReadOnlyError):
        vnp.fill_diagonal(vnp.broadcast_to(x, (4, 4)), 7.0)
    assert (x.tolist(), x._version) == ([1, 2, 3, 4], 0)


def test_setflags_says_what_can_be_written() -> None:
    x = vnp.ones(3, dtype=vnp.float64).requires_grad_()
    y = x * 2.0
    y += 1.0  # its layout is known
    producer, version = y.grad_fn, y._version
    y.setflags(write=False)
    writes: list[Callable[[], object]] = [
        lambda: y.__iadd__(1.0),
        lambda: y.__setitem__(0, 1.0),
        lambda: y[...].__imul__(2.0),
        lambda: y.sort(),
    ]
    for write in writes:
        with pytest.raises(ReadOnlyError):
            write()
        assert (y._version, y.grad_fn) == (version, producer)
    y.setflags(write=True)
    y *= 2.0
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [4, 4, 4]


def test_text_and_files_read_it() -> None:
    x = vt.from_numpy(array())
    assert "4." in repr(x)
    file = io.BytesIO()
    vt.save({"x": x}, file)
    file.seek(0)
    found: Any = vt.load(file)
    assert found["x"].tolist() == VALUES


def test_views_of_what_is_read_only_on_writable_memory_are_read_only() -> None:
    x = vnp.ones(1)
    wide = vnp.broadcast_to(x, (1, 1))
    views: list[Any] = [
        *(wide[...], wide[0], wide[::-1], wide.T, wide.reshape(1), wide.ravel(), wide.squeeze()),
        *(wide.view(), wide.detach(), vnp.expand_dims(wide, 0), vnp.diagonal(wide)),
        *(vnp.swapaxes(wide, 0, 1), vnp.split(wide, 1)[0]),
    ]
    for view in views:
        with pytest.raises(ReadOnlyError):
            view[...] = 7
        with pytest.raises(ReadOnlyError):
            view[...].reshape(-1)[0:1].fill(7)
    assert x.tolist() == [1.0]
    assert x._version == 0
