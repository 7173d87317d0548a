"""Sharing memory with NumPy, and where NumPy is kept out."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import ArgumentTypeError, ArgumentValueError, NumpyConversionError
from vtgrad.storage.arrays import Array


def test_from_numpy_shares_memory_both_ways() -> None:
    a = np.arange(6.0).reshape(2, 3)
    t = vt.from_numpy(a)
    assert t.data_ptr() == a.ctypes.data
    assert t.dtype is vt.float64
    t.mul_(2)
    assert a.tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]
    a[0, 0] = 7
    assert t[0, 0].item() == 7.0


def test_from_numpy_keeps_strides() -> None:
    a = np.zeros((4, 6))
    assert vt.from_numpy(a[::2, ::3]).stride() == (12, 3)
    assert vt.from_numpy(a.T).stride() == (1, 6)
    assert vt.from_numpy(np.array(2.0)).shape == ()


def test_a_shape_given_to_the_array_later_does_not_reach_the_tensor() -> None:
    a = np.zeros((2, 3))
    t = vt.from_numpy(a)
    a.resize((3, 2), refcheck=False)
    assert t.shape == (2, 3)


def test_from_numpy_refuses_what_tensors_cannot_look_at() -> None:
    wrong: list[Any] = [[1], np.float64(3), np.array(["a"]), np.array([None]), np.zeros(2, "u4")]
    for value in wrong:
        with pytest.raises(ArgumentTypeError):
            vt.from_numpy(value)
    record = np.zeros(3, [("a", "f4"), ("b", "i1")])
    unfit: list[Any] = [np.zeros(2, ">f4"), record["a"]]
    for array in unfit:
        with pytest.raises(ArgumentValueError):
            vt.from_numpy(array)


def test_arrays_that_walk_backwards_are_shared() -> None:
    a = np.arange(6.0).reshape(2, 3)
    t = vt.from_numpy(a[::-1, ::-2])
    assert t.tolist() == [[5, 3], [2, 0]]
    assert t.stride() == (-3, -2)
    assert t.storage_offset() == 5
    t[0, 0] = 7.0
    assert a[1, 2] == 7.0
    row = t.detach()[1]
    row.mul_(2)
    assert a[0].tolist() == [0, 1, 4]
    w = vt.ones(2, dtype=vt.float64, requires_grad=True)
    (w * t[0]).sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [7, 3]
    copy = vt.tensor(a[::-1])
    assert copy.stride() == (3, 1)
    assert copy.tolist() == a[::-1].tolist()


class Column:
    """What a column of a data frame looks like: an array whose elements come as Python numbers."""

    def __init__(self, values: Array) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> object:
        return self._values.tolist()[index]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self._values


def test_columns_of_data_frames_keep_their_dtype() -> None:
    column: Any = Column(np.array([1.0, 2.0]))
    assert vt.tensor(column).dtype is vt.float64
    assert vt.tensor([column, column]).dtype is vt.float64
    mixed: Any = Column(np.array([1, 2.5], object))
    assert vt.tensor(mixed).tolist() == [1, 2.5]


def test_numpy_shares_memory() -> None:
    t = vt.zeros(2, 3)
    a = t.t().numpy()
    assert a.strides == (4, 12)
    a[0, 1] = 5
    assert t[1, 0].item() == 5.0
    t.zero_()
    assert a[0, 1] == 0


def test_the_array_and_the_tensor_have_shapes_of_their_own() -> None:
    t = vt.zeros(6)
    a = t.numpy().reshape(2, 3)
    with warnings.catch_warnings():
        # NumPy is about to do without it.
        warnings.simplefilter("ignore", DeprecationWarning)
        a.shape = (3, 2)
    assert t.shape == (6,)


def test_numpy_refuses_tensors_that_require_grad() -> None:
    leaf = vt.ones(2, requires_grad=True)
    for t in [leaf, leaf * 2]:
        with pytest.raises(NumpyConversionError, match="detach"):
            t.numpy()
        with pytest.raises(NumpyConversionError):
            np.asarray(t)
        assert t.detach().numpy().tolist() == t.numpy(force=True).tolist()
        with vt.no_grad():
            assert t.numpy().tolist() == t.tolist()
            assert np.asarray(t).shape == (2,)


def test_asarray_converts_and_copies_as_asked() -> None:
    t = vt.zeros(2)
    shared = np.asarray(t)
    shared[0] = 1
    assert t.tolist() == [1.0, 0.0]
    assert np.asarray(t, np.float64).dtype == np.float64
    copied = np.array(t)
    copied[1] = 9
    assert t.tolist() == [1.0, 0.0]
    assert np.array(t, copy=False).base is not None
    with pytest.raises(ValueError, match="copy"):
        np.asarray(t, np.int32, copy=False)


def test_arrays_and_tensors_mix_to_tensors() -> None:
    # To type checkers too, so that they must be kept from looking.
    a: Any = np.arange(2.0)
    t: Any = vt.ones(2)
    for mixed in (a + t, t + a, np.add(a, t), a @ t, np.sin(t)):
        assert isinstance(mixed, vt.Tensor)
    assert a.__iadd__(t) is a
    with pytest.raises(TypeError, match="requires grad"):
        a.__iadd__(t.requires_grad_())


#: With the arguments behind the tensor.
RECORDED: dict[str, tuple[object, ...]] = {
    "sum": (0,),
    "mean": (0,),
    "prod": (0,),
    "max": (),
    "min": (),
    "std": (0,),
    "var": (0,),
    "clip": (0, 1),
    "round": (),
    "squeeze": (),
    "swapaxes": (0, 1),
    "flip": (),
    "split": (2,),
}


@pytest.mark.parametrize("name", RECORDED)
def test_numpy_functions_that_call_methods_are_recorded(name: str) -> None:
    values = [[0.5, 2.0], [3.0, 0.25]]
    x: Any = vt.tensor(values, requires_grad=True)
    found = getattr(np, name)(x, *RECORDED[name])
    wanted = getattr(np, name)(np.array(values), *RECORDED[name])
    if name == "split":
        found, wanted = found[1], wanted[1]
    assert isinstance(found, vt.Tensor)
    assert found.tolist() == wanted.tolist()
    assert found.requires_grad


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min", "std", "var", "any", "all"])
def test_numpy_reduces_all_elements(name: str) -> None:
    # NumPy calls the method with `axis=None`, `out=None` and the like.
    values = [[0.5, 2.0], [3.0, 0.25]]
    x: Any = vt.tensor(values, dtype=vt.float64)
    wanted = getattr(np, name)(np.array(values))
    assert getattr(np, name)(x).item() == pytest.approx(wanted)
    assert getattr(np, name)(x, axis=None).item() == pytest.approx(wanted)
    assert getattr(x, name)(axis=None).item() == getattr(x, name)().item()


@pytest.mark.parametrize("name", ["std", "var"])
@pytest.mark.parametrize(
    "options",
    [{"ddof": 1}, {"axis": 0}, {"axis": (0, 1), "keepdims": True}, {"dtype": np.float32}],
)
def test_numpys_arguments_of_a_variance(name: str, options: dict[str, Any]) -> None:
    values = [[0.5, 2.0], [3.0, 0.25]]
    x: Any = vt.tensor(values, dtype=vt.float64, requires_grad=True)
    found = getattr(np, name)(x, **options)
    wanted = getattr(np, name)(np.array(values), **options)
    assert found.requires_grad
    assert found.dtype.numpy == wanted.dtype
    assert found.detach().numpy() == pytest.approx(wanted)


def test_a_variance_has_one_correction() -> None:
    x: Any = vt.ones(3)
    for wrong in [{"correction": 1, "ddof": 1}, {"unbiased": True, "ddof": 1}]:
        with pytest.raises(ArgumentTypeError):
            x.var(**wrong)


def test_no_numpy_function_loses_a_gradient_silently() -> None:
    # What is neither refused nor recorded must be of no number that depends on the values.
    ways: list[Callable[[Any], tuple[object, ...]]] = [
        lambda x: (x,),
        lambda x: (x, x),
        lambda x: (x, 0),
        lambda x: (x, 0, 1),
        lambda x: (x, (1, 4)),
        lambda x: ([x, x],),
    ]
    lost = []
    for name in dir(np):
        function = getattr(np, name)
        if name.startswith("_") or name in NO_FUNCTIONS or isinstance(function, type):
            continue
        # Of the shape alone, numbers of elements, and the zero of real numbers.
        if name.endswith("_like") or name.startswith("histogram") or name == "imag":
            continue
        if not callable(function):
            continue
        for arguments in ways:
            x = vt.tensor([[0.5, 2.0], [3.0, 0.25]], requires_grad=True)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = function(*arguments(x))
            except Exception:
                continue
            for result in found if isinstance(found, (tuple, list)) else [found]:
                if isinstance(result, vt.Tensor):
                    kept = result.requires_grad or not result.is_floating_point()
                else:
                    kept = not isinstance(result, (float, np.floating)) and not (
                        isinstance(result, np.ndarray) and result.dtype.kind in "fcO"
                    )
                if not kept:
                    lost.append((name, result))
    assert lost == []


#: Programs and printers of the `numpy` package.
NO_FUNCTIONS = {"info", "show_config", "show_runtime", "test", "save", "savez", "savetxt"}
NO_FUNCTIONS |= {"savez_compressed", "setbufsize", "seterr", "seterrcall", "set_printoptions"}


def test_numpy_scalars_are_numbers_to_tensors() -> None:
    # NumPy's stubs do not know of ufuncs of tensors.
    t: Any = vt.ones(2, requires_grad=True)
    for product in [np.float64(3) * t, t * np.float64(3), np.float32(3) * t]:
        assert product.tolist() == [3.0, 3.0]
        assert product.dtype is vt.float32
        assert product.requires_grad


def test_gradients_do_not_overwrite_an_array_that_the_user_holds() -> None:
    g = np.ones(3, np.float32)
    x = vt.zeros(3, requires_grad=True)
    (x * 1).backward(vt.from_numpy(g))
    (x * 1).backward(vt.from_numpy(g))
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert g.tolist() == [1.0, 1.0, 1.0]
