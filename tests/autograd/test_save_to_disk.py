"""`save_to_disk`, which PyTorch does not have."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.behaviour.saved.packing import Log, saved
from tests.support import (
    collector_off,
    gradients,
    leaf,
    leaf_of,
    ramp,
    refused,
    vt,
)

save_to_disk = vt.autograd.graph.save_to_disk


def names(folder: Path) -> list[str]:
    """Give the names of the files."""
    return sorted(os.listdir(folder))


def test_the_gradient_is_that_of_values_in_memory(tmp_path: Path) -> None:
    def program(x: vt.Tensor) -> vt.Tensor:
        y = x.sin() * x.exp()
        y[1].mul_(y[0])
        return (y @ y.t()).tanh().sum()

    x = leaf(3, 4)
    with save_to_disk(tmp_path):
        y = program(x * 0.1)
    assert gradients(y, x) == gradients(program(x * 0.1), x)


@pytest.mark.parametrize("create_graph", [False, True])
def test_files_are_removed_when_backward_frees_the_values(
    tmp_path: Path, create_graph: bool
) -> None:
    x = leaf(2)
    with save_to_disk(tmp_path):
        y = (x * x).sum()
    assert len(names(tmp_path)) == 2
    vt.autograd.grad(y, x, retain_graph=True, create_graph=create_graph)
    assert len(names(tmp_path)) == 2
    y.backward()
    assert names(tmp_path) == []


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what is mapped")
def test_no_file_is_mapped_when_it_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Windows would not remove it.
    removed = []
    remove = os.remove

    def look_and_remove(path: str) -> None:
        removed.append(path in Path("/proc/self/maps").read_text("utf-8"))
        remove(path)

    monkeypatch.setattr(os, "remove", look_and_remove)
    x = leaf(2)
    with save_to_disk(tmp_path):
        y = (x * x).sum()
    y.backward()
    assert removed == [False, False]


def test_files_are_removed_when_the_graph_dies(tmp_path: Path) -> None:
    x = leaf(2)
    with collector_off():
        with save_to_disk(tmp_path):
            y = x.exp().sin().cos()
        assert len(names(tmp_path)) == 3
        del y
        assert names(tmp_path) == []


def test_files_are_removed_at_the_end_of_the_program(tmp_path: Path) -> None:
    program = (
        "import os, sys, vtgrad as vt\n"
        "x = vt.ones(2, requires_grad=True)\n"
        "with vt.autograd.graph.save_to_disk(sys.argv[1]):\n"
        "    y = x.exp()\n"
        "print(len(os.listdir(sys.argv[1])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], check=True, capture_output=True, text=True
    )
    assert done.stdout == "1\n"
    assert names(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_process_removes_no_file_of_its_parent(tmp_path: Path) -> None:
    x = leaf(2)
    with save_to_disk(tmp_path):
        y = x.exp()
    child = os.fork()
    if child == 0:
        try:
            del y
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert len(names(tmp_path)) == 1
    assert gradients(y.sum(), x) == [ramp(2).exp().tolist()]


def test_the_tensor_may_be_overwritten_and_its_memory_is_free(tmp_path: Path) -> None:
    x = leaf(2)
    z = x.clone()
    with save_to_disk(tmp_path):
        y = z.sin()
    z.mul_(2)
    memory = np.shares_memory(z.detach().numpy(), saved(y, "_saved_self").detach().numpy())
    assert not memory
    assert gradients(y.sum(), x) == [ramp(2).cos().tolist()]


@pytest.mark.parametrize(
    "view",
    [
        lambda z: z.t(),
        lambda z: z[:, ::2],
        lambda z: z[1],
        lambda z: z[0, 0],
        lambda z: z[:0],
        lambda z: z[:, :1].expand(3, 5),
        lambda z: z.flip(1),
        lambda z: z.permute(1, 0)[1:],
    ],
)
def test_every_geometry_is_restored(view: Callable[[vt.Tensor], vt.Tensor], tmp_path: Path) -> None:
    x = leaf(3, 4)
    with save_to_disk(tmp_path):
        z = view(x)
        y = z * z
    found = saved(y, "_saved_self")
    assert found.shape == z.shape
    assert found.tolist() == z.tolist()
    assert gradients(y.sum(), x) == gradients((view(x) * view(x)).sum(), x)


@pytest.mark.parametrize("lazy", [lambda z: z.conj(), lambda z: z.conj().imag, lambda z: z.real])
def test_complex_values_and_lazy_conjugates(
    lazy: Callable[[vt.Tensor], vt.Tensor], tmp_path: Path
) -> None:
    x = leaf_of(1 + 2j, 3 - 1j)
    with save_to_disk(tmp_path):
        y = lazy(x).square().abs().sum()
    assert gradients(y, x) == gradients(lazy(x).square().abs().sum(), x)


@pytest.mark.parametrize("dtype", [vt.float16, vt.float32, vt.float64])
def test_every_dtype(dtype: vt.dtype, tmp_path: Path) -> None:
    x = leaf(3).detach().to(dtype).requires_grad_()
    with save_to_disk(tmp_path):
        y = x[vt.tensor([0, 2])].square().masked_fill(vt.tensor([True, False]), 0.0)
    assert saved(y, "_raw_saved_mask").unpack().dtype == vt.bool
    assert gradients(y.sum(), x) == [[0, 0, 6]]


def test_what_is_written_to_an_unpacked_value_stays_out_of_the_file(tmp_path: Path) -> None:
    x = leaf(2)
    with save_to_disk(tmp_path):
        y = x.sin()
    found = saved(y, "_saved_self").detach()
    found.mul_(3)
    assert found.tolist() == [3, 6]
    assert saved(y, "_saved_self").tolist() == [1, 2]


def test_small_values_may_stay_in_memory(tmp_path: Path) -> None:
    x = leaf(4)
    with save_to_disk(tmp_path, min_bytes=32):
        y, z = x.sin(), x[:2].clone().sin()
    assert len(names(tmp_path)) == 1
    x.detach().mul_(2)
    expected = (ramp(4).cos() + ramp(4).cos() * vt.tensor([1, 1, 0, 0])).tolist()
    assert gradients(y.sum() + z.sum(), x) == [expected]


def test_the_folder_is_made(tmp_path: Path) -> None:
    with save_to_disk(str(tmp_path / "a" / "b")):
        y = leaf(2).sin()
    assert len(names(tmp_path / "a" / "b")) == 1
    del y


def test_the_program_may_change_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = leaf(2)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with save_to_disk("values"):
        y = x.sin()
    monkeypatch.chdir(tmp_path / "other")
    assert gradients(y.sum(), x) == [ramp(2).cos().tolist()]
    del y
    assert names(tmp_path / "values") == []


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OSError, match="file"):
        save_to_disk(tmp_path / "file")
    with refused(TypeError, "argument-type"):
        save_to_disk(3)  # type: ignore[arg-type]
    with refused(TypeError, "argument-type"):
        save_to_disk(tmp_path, min_bytes=1.5)  # type: ignore[arg-type]


def test_a_file_that_cannot_be_written_leaves_the_operator(tmp_path: Path) -> None:
    x = leaf(2)
    block = save_to_disk(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with block, pytest.raises(OSError, match="gone"):
        x.sin()


def test_a_file_that_was_removed_or_changed_leaves_backward(tmp_path: Path) -> None:
    x = leaf(2)
    with save_to_disk(tmp_path):
        y = x.sin()
    (path,) = tmp_path.iterdir()
    kept = path.read_bytes()
    path.unlink()
    with pytest.raises(FileNotFoundError):
        y.backward(ramp(2))
    path.write_bytes(kept + b"0")
    with refused(RuntimeError, "saved-hook", [x]):
        y.backward(ramp(2))
    path.write_bytes(kept)
    assert gradients(y.sum(), x) == [ramp(2).cos().tolist()]


def test_the_innermost_block_counts(tmp_path: Path) -> None:
    log = Log()
    with save_to_disk(tmp_path):
        with log.open():
            leaf(2).sin()
        y = leaf(2).sin()
    assert len(log.packed) == 1
    assert len(names(tmp_path)) == 1
    del y
