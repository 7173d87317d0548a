"""`save` and `load`."""

import io
import json
import os
import pickle
import random
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.support import needs_global_lock
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    BatchedTensorError,
    FileFormatError,
    ForwardModeError,
    NotSupportedError,
)

DTYPES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()


def written(obj: object) -> bytes:
    stream = io.BytesIO()
    vt.save(obj, stream)
    return stream.getvalue()


def again(obj: object) -> Any:
    """What is read after an object was saved."""
    return vt.load(io.BytesIO(written(obj)))


def changed(content: bytes, change: Callable[[Any], object]) -> bytes:
    """A file with another JSON."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "vtgrad.json":
                value = json.loads(data)
                other = change(value)
                data = json.dumps(value if other is None else other).encode()
            new.writestr(name, data)
    return stream.getvalue()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
def test_tensors_are_the_same_again(dtype: str, shape: tuple[int, ...]) -> None:
    values = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    x = vt.tensor(values)
    y = again(x)
    assert type(y) is vt.Tensor
    assert y.dtype is x.dtype
    assert y.shape == shape
    assert not y.requires_grad
    y.resize_(7)  # it is memory of its own, which may grow
    assert y.numpy()[: x.numel()].tobytes() == values.tobytes()


def test_any_bits_of_numbers_are_kept() -> None:
    bits = np.array([0x7FF0000000000001, 0xFFF8000000000123, 1, 1 << 63], np.uint64)
    x = vt.from_numpy(bits.view(np.float64))
    assert again(x).numpy().tobytes() == bits.tobytes()


def test_containers_and_numbers_are_the_same_again() -> None:
    value = {
        "a": [1, -2.5, True, None, "text \u2603 \ud800", 3 - 4j],
        "b": (1, (), [], {}, ((2,),)),
        3: {"c": float("inf"), "d": -0.0, "e": 10**40},
        (1, "x"): complex(-0.0, float("-inf")),
        None: 1,
        1.5: 2,
        True: [[[]]],
    }
    found = again(value)
    assert found == value
    assert repr(found) == repr(value)
    assert again(7) == 7
    assert again("tensor") == "tensor"
    assert again(None) is None
    nan = again([float("nan")])[0]
    assert nan != nan


def test_arrays_and_scalars_of_numpy_stay_what_they_are() -> None:
    record = np.zeros(2, [("a", "f4"), ("b", "S3")])
    arrays = [np.arange(3, dtype=">u4"), np.array(["x", "yz"]), record, np.asfortranarray([[1, 2]])]
    for a, b in zip(arrays, again(arrays), strict=True):
        assert type(b) is np.ndarray
        assert b.dtype.newbyteorder("=") == a.dtype.newbyteorder("=")
        assert (a == b).all()
    for scalar in (np.float32(1.5), np.int8(-3), np.bool_(True), np.complex128(1j)):
        found = again([scalar])[0]
        assert type(found) is type(scalar)
        assert found == scalar


def test_leaves_and_results_that_require_grad_are_leaves() -> None:
    x = vt.ones(2, requires_grad=True)
    x.grad = vt.ones(2)
    for tensor in (x, x * 2):
        y = again(tensor)
        assert y.requires_grad
        assert y.is_leaf
        assert y.grad is None
        assert y.tolist() == tensor.tolist()
    (again({"x": x})["x"] * 3).sum().backward()


def test_tensors_on_one_memory_are_so_again() -> None:
    x = vt.zeros(3, 4)
    views = [x, x[1], x.t(), x[:, ::2], x[::-1], x[1:2, 1:3]]
    a, row, turned, columns, reverse, part = again(views)
    assert [v.stride() for v in views] == [
        v.stride() for v in (a, row, turned, columns, reverse, part)
    ]
    row += 1
    assert a.tolist()[1] == [1] * 4
    assert turned[2, 1].item() == columns[1, 1].item() == reverse[1, 0].item() == 1
    assert part.tolist() == [[1, 1]]
    assert a._version == part._version == 1
    assert not row._is_view()
    # Written once: the file has one entry beside the JSON.
    with zipfile.ZipFile(io.BytesIO(written(views))) as archive:
        assert archive.namelist() == ["vtgrad.json", "0.npy"]


def test_memory_that_shows_in_several_dtypes() -> None:
    x = vt.zeros(2, dtype=vt.float32)
    bits = x.view(vt.int32)
    a, b = again([x, bits])
    a.fill_(1)
    assert b.tolist() == [0x3F800000] * 2
    z = vt.tensor([1 + 2j])
    c, real = again((z, vt.view_as_real(z)))
    real.zero_()
    assert c.item() == 0


def test_a_part_brings_all_of_its_memory() -> None:
    x = vt.arange(1000.0)
    part = again(x[10:12])
    assert part.storage_offset() == 10
    assert part.untyped_storage().nbytes() == 4000
    assert len(written(x[10:12].clone())) < len(written(x[10:12])) - 3000


def test_one_object_in_two_places_is_one_again() -> None:
    x, a = vt.ones(2), np.ones(2)
    first, second, one, two, other = again([x, x, a, a, x.detach()])
    assert first is second
    assert one is two
    assert other is not first
    other += 1
    assert first.tolist() == [2, 2]


def test_bits_names_and_lanes_are_kept() -> None:
    z = vt.tensor([1 + 2j, 3 - 4j])
    conjugate, negative = again([z.conj(), z.conj().imag])
    assert conjugate.is_conj()
    assert negative.is_neg()
    assert conjugate.tolist() == [1 - 2j, 3 + 4j]
    assert negative.tolist() == [-2, 4]
    x = vt.zeros(2, 3, names=("N", None), device="lane:1")
    x.name = "weight"
    y = again(x)
    assert (y.names, y.name, str(y.device)) == (("N", None), "weight", "lane:1")
    with vt.inference_mode():
        assert again(vt.ones(2)).is_inference()
    assert not again(vt.ones(2)).is_inference()


def test_numpy_reads_the_file() -> None:
    value = {
        "w": vt.ones(2, 3),
        "layers": [{"b": vt.arange(3)}, vt.tensor(2.5)],
        "../up": vt.zeros(1),
        "": vt.zeros(2),
        "layers.1": vt.zeros(3),
        "vtgrad.json": vt.zeros(4),
    }
    with np.load(io.BytesIO(written(value)), allow_pickle=False) as found:
        names = found.files
        assert names[0] == "vtgrad.json"
        assert names[1:5] == ["w", "layers.0.b", "layers.1", "entry"]
        assert len(set(names)) == 8
        assert found["w"].tolist() == [[1, 1, 1]] * 2
        assert found["layers.0.b"].tolist() == [0, 1, 2]
        assert found["layers.1"].shape == ()
    y = again(value)
    assert {k: v.tolist() for k, v in y.items() if k != "layers"} == {
        "w": [[1, 1, 1]] * 2,
        "../up": [0],
        "": [0, 0],
        "layers.1": [0, 0, 0],
        "vtgrad.json": [0] * 4,
    }


def test_equal_values_make_equal_files() -> None:
    assert written([vt.ones(2), "a"]) == written([vt.ones(2), "a"])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_files_of_numpy_are_read(save: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    fortran = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    save(path, a=np.arange(3, dtype=">i2"), b=fortran, c=np.float32(2))
    found: Any = vt.load(path)
    assert list(found) == ["a", "b", "c"]
    assert found["a"].dtype is vt.int16
    assert found["a"].tolist() == [0, 1, 2]
    assert found["b"].stride() == (1, 2)
    found["b"].mul_(2)
    assert found["b"].tolist() == (2 * fortran).tolist()
    assert found["c"].item() == 2
    single = tmp_path / "b.npy"
    np.save(single, fortran)
    only: Any = vt.load(str(single))
    assert only.tolist() == fortran.tolist()
    np.savez(path)
    assert vt.load(path) == {}


def test_pickles_are_never_read(tmp_path: Path) -> None:
    ran: list[int] = []

    class Evil:
        def __reduce__(self) -> Any:
            return ran.append, (1,)

    path = tmp_path / "a.npz"
    np.savez(path, fine=np.ones(2), evil=np.array([Evil()], object))
    with pytest.raises(FileFormatError, match="evil") as info:
        vt.load(path)
    assert info.value.facts["entry"] == "evil.npy"
    np.save(tmp_path / "b.npy", np.array([Evil()], object))
    (tmp_path / "c.pkl").write_bytes(pickle.dumps(Evil()))
    for name in ("b.npy", "c.pkl"):
        with pytest.raises(FileFormatError):
            vt.load(tmp_path / name)
    assert ran == []
    with pytest.raises(ArgumentTypeError, match=r"objects.*at \['a'\]\[0\]"):
        vt.save({"a": [np.array([Evil()], object)]}, path)


def test_dtypes_that_no_tensor_has_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, words=np.array(["a", "b"]))
    with pytest.raises(FileFormatError, match=r"words.*<U1"):
        vt.load(path)


def test_other_values_are_refused_with_their_place() -> None:
    class Sub(vt.Tensor):
        pass

    loop: list[object] = []
    loop.append(loop)
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    wrong: list[tuple[object, type[Exception], str]] = [
        ({"a": [1, {2}]}, ArgumentTypeError, r"set at \['a'\]\[1\]"),
        (object(), ArgumentTypeError, "object$"),
        (b"bytes", ArgumentTypeError, "bytes"),
        ({"k": {(1, b"x"): 1}}, ArgumentTypeError, r"keys.*bytes at \['k'\]"),
        (vt.ones(2).shape, ArgumentTypeError, "Size"),
        (vt.ones(2, 2).max(0), ArgumentTypeError, "Max"),
        (vt.float32, ArgumentTypeError, "DType"),
        ([np.ma.masked_array([1])], ArgumentTypeError, "MaskedArray"),
        ([vt.ones(2).as_subclass(Sub)], NotSupportedError, r"Sub at \[0\]"),
        (loop, ArgumentValueError, "itself"),
        (deep, ArgumentValueError, "deeply"),
    ]
    for value, error, text in wrong:
        stream = io.BytesIO()
        with pytest.raises(error, match=text):
            vt.save(value, stream)
        assert stream.getvalue() == b""


def test_samples_tangents_and_traced_tensors_are_refused() -> None:
    x = vt.ones(2, 3)

    def function(t: vt.Tensor) -> vt.Tensor:
        vt.save([t], io.BytesIO())
        return t * 2

    with pytest.raises(BatchedTensorError):
        vt.vmap(function)(x)
    with pytest.raises(ForwardModeError, match="tangent"):
        vt.func.jvp(function, (x,), (x,))
    with pytest.raises(NotSupportedError, match="save"):
        vt.func.sparsity_pattern(function, x)


def test_paths_and_files_of_all_kinds(tmp_path: Path) -> None:
    x = vt.arange(3)
    path = tmp_path / "no suffix"
    for target in (path, str(path)):
        vt.save(x, target)
        assert os.listdir(tmp_path) == ["no suffix"]
        found: Any = vt.load(target)
        assert found.tolist() == [0, 1, 2]
    with open(path, "wb") as new:
        vt.save(x, new)
    with open(path, "rb") as old:
        found = vt.load(old)
        assert found.tolist() == [0, 1, 2]

    class Pipe(io.RawIOBase):
        """A file that cannot be read twice."""

        def __init__(self, content: bytes) -> None:
            self.inside = io.BytesIO(content)

        def read(self, size: int = -1) -> bytes:
            return self.inside.read(size)

        def seekable(self) -> bool:
            return False

    pipe: Any = Pipe(written(x))
    found = vt.load(pipe)
    assert found.tolist() == [0, 1, 2]
    wrong: Any
    for wrong in (3, None, [path]):
        with pytest.raises(ArgumentTypeError, match="path"):
            vt.save(x, wrong)
        with pytest.raises(ArgumentTypeError, match="path"):
            vt.load(wrong)
    with pytest.raises(FileNotFoundError):
        vt.load(tmp_path / "absent")
    with pytest.raises(FileNotFoundError):
        vt.save(x, tmp_path / "absent" / "file")
    with pytest.raises(OSError):  # noqa: PT011  # each system has its own
        vt.save(x, tmp_path)
    assert os.listdir(tmp_path) == ["no suffix"]


@pytest.mark.skipif(not hasattr(os, "chown"), reason="modes and links of POSIX")
def test_modes_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    old = os.umask(0o027)
    try:
        vt.save(1, path)
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o604)
    link.symlink_to(path)
    vt.save(2, link)
    assert link.is_symlink()
    assert vt.load(path) == 2
    assert path.stat().st_mode & 0o777 == 0o604
    vt.save(3, "/dev/null")
    assert not Path("/dev/null").is_file()


# From Python 3.13 on an entry that `zipfile` was stopped in is mentioned when it is collected.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@needs_global_lock
def test_an_interrupted_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    old = {"x": vt.zeros(1000), "y": vt.ones(3)}
    vt.save(old, path)
    before = path.read_bytes()

    class Stopped(BaseException):
        pass

    def stopped_at(number: int) -> str:
        """Save, stopped at a line of Python; the file of that line, nothing if all lines ran."""
        seen, where = 0, ""

        def trace(frame: Any, event: str, arg: object) -> Any:
            nonlocal seen, where
            seen += 1
            if seen == number:
                where = frame.f_code.co_filename
                raise Stopped
            return trace

        def save() -> None:
            sys.settrace(trace)
            try:
                vt.save({"x": vt.ones(1000), "y": vt.zeros(3)}, path)
            except Stopped:
                pass
            finally:
                sys.settrace(None)

        # Python 3.13 leaves the handled exception of an `except` in which a trace raises with the
        # thread, as the context of all errors that it raises later.
        thread = Thread(target=save)
        thread.start()
        thread.join()
        return where

    number, changes = 1, 0
    while where := stopped_at(number):
        found = path.read_bytes()
        # The new file is complete, or the old one is there.
        assert found == before or vt.load(path)["y"].tolist() == [0, 0, 0]  # type: ignore[index]
        changes += found != before
        for left in tmp_path.iterdir():
            if left != path:
                left.unlink()
        path.write_bytes(before)
        number += 1 if where.endswith("file_writer.py") else 23
    assert number > 1000
    assert changes
    assert vt.load(path)["y"].tolist() == [0, 0, 0]  # type: ignore[index]


def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "state.npz"
    vt.save(1, path)

    def full(stream: object, array: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np.lib.format, "write_array", full)
        with pytest.raises(OSError, match="space"):
            vt.save(vt.ones(3), path)
    assert os.listdir(tmp_path) == ["state.npz"]
    assert vt.load(path) == 1


def test_damaged_files_are_refused_by_one_error() -> None:
    x = vt.arange(6.0).reshape(2, 3)
    content = written({"x": x, "y": [x[0], (1, 2 + 1j)], 3: np.arange(3), "z": vt.tensor([1j])})
    for size in [*range(0, len(content), 29), len(content) - 1]:
        with pytest.raises(FileFormatError):
            vt.load(io.BytesIO(content[:size]))
    draw = random.Random(7)
    refused = 0
    for _ in range(500):
        other = bytearray(content)
        for _ in range(draw.choice([1, 1, 3, 20])):
            other[draw.randrange(len(other))] = draw.randrange(256)
        try:
            vt.load(io.BytesIO(other))
        except FileFormatError:
            refused += 1
    assert refused > 300


def test_another_json_is_refused() -> None:
    content = written([vt.ones(2, 3), vt.tensor([1, 2]), (1, 2), {"a": 1}, np.ones(1)])
    assert len(vt.load(io.BytesIO(changed(content, lambda c: None)))) == 5  # type: ignore[arg-type]

    def at(*path: Any, to: object) -> Callable[[Any], object]:
        def change(value: Any) -> None:
            for key in path[:-1]:
                value = value[key]
            value[path[-1]] = to

        return change

    wrong = [
        at("format", to=2),
        at("format", to="1"),
        lambda c: [],
        lambda c: c.pop("value") and None,
        at("tensors", to={}),
        at("tensors", 0, "sizes", to=[2, 4]),
        at("tensors", 0, "sizes", to=[2, 2**70]),
        at("tensors", 0, "sizes", to="23"),
        at("tensors", 0, "strides", to=[3, -1]),
        at("tensors", 0, "offset", to=-1),
        at("tensors", 0, "offset", to=1.0),
        at("tensors", 0, "dtype", to="uint32"),
        at("tensors", 0, "dtype", to="complex128"),
        at("tensors", 0, "conj", to=True),
        at("tensors", 0, "storage", to=7),
        at("tensors", 0, "names", to=["a"]),
        at("tensors", 0, "name", to=3),
        at("tensors", 1, "requires_grad", to=True),
        at("storages", 0, "entry", to="absent"),
        at("storages", 0, "entry", to=3),
        at("storages", 0, "lane", to=-1),
        at("value", 0, to={"tensor": 9}),
        at("value", 0, to={"tensor": "0"}),
        at("value", 0, to={"object": 1}),
        at("value", 0, to={}),
        at("value", 0, to={"tuple": 3}),
        at("value", 0, to={"dict": [[1, 2, 3]]}),
        at("value", 0, to={"dict": [[[], 2]]}),
        at("value", 0, to={"complex": ["a"]}),
        at("value", 0, to={"array": "absent"}),
    ]
    for change in wrong:
        with pytest.raises(FileFormatError):
            vt.load(io.BytesIO(changed(content, change)))
    # Elements of one dtype are read on any machine; bytes for several dtypes are not.
    foreign = at("byteorder", to="none")
    found: Any = vt.load(io.BytesIO(changed(content, foreign)))
    assert found[0].tolist() == [[1, 1, 1]] * 2
    x = vt.ones(2)
    with pytest.raises(FileFormatError, match="order"):
        vt.load(io.BytesIO(changed(written([x, x.view(vt.int32)]), foreign)))
