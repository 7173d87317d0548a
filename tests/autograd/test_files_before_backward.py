"""Files of saved values that were removed or changed: a pass that needs one changes nothing.

What breaks it: a look at the file that comes when its node runs, after other nodes have run; a look
at its size alone; arguments of a checkpoint, which are looked at when the function runs again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

import vtgrad as vt
from vtgrad.storage.file_seal import FileSeal
from vtgrad.utils.checkpoint import checkpoint, checkpoint_loop

save_to_disk = vt.autograd.graph.save_to_disk


def other_byte(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def remove(path: Path) -> None:
    path.unlink()


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def extend(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"0")


def change(path: Path) -> None:
    path.write_bytes(other_byte(path.read_bytes()))
    os.utime(path, ns=(1, 1))


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


FAULTS: Final = [remove, truncate, empty, extend, change, replace_by_folder]


def in_file(x: vt.Tensor, folder: Path) -> vt.Tensor:
    with save_to_disk(folder):
        return (x * 1).sin()


def argument_of_a_checkpoint(x: vt.Tensor, folder: Path) -> vt.Tensor:
    with save_to_disk(folder):
        y: vt.Tensor = checkpoint(lambda t: (t + 1).exp(), x * 1, use_reentrant=False)
    return y


def argument_of_a_checkpoint_in_a_checkpoint(x: vt.Tensor, folder: Path) -> vt.Tensor:
    def inner(t: vt.Tensor) -> vt.Tensor:
        return (t + 1).exp()

    with save_to_disk(folder):
        y: vt.Tensor = checkpoint(
            lambda t: checkpoint(inner, t * 2, use_reentrant=False), x * 1, use_reentrant=False
        )
    return y


def argument_of_a_reentrant_checkpoint(x: vt.Tensor, folder: Path) -> vt.Tensor:
    with save_to_disk(folder):
        y: vt.Tensor = checkpoint(lambda t: (t + 1).exp(), x * 1, use_reentrant=True)
    return y


def saved_by_a_function(x: vt.Tensor, folder: Path) -> vt.Tensor:
    class Sine(vt.autograd.Function):
        @staticmethod
        def forward(ctx: vt.autograd.function.FunctionCtx, t: vt.Tensor) -> vt.Tensor:
            ctx.save_for_backward(t)
            return t.sin()

        @staticmethod
        def backward(ctx: vt.autograd.function.FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
            (t,) = ctx.saved_tensors
            return grad * t.cos()

    with save_to_disk(folder):
        return Sine.apply(x * 1)


def state_of_a_loop(x: vt.Tensor, folder: Path) -> vt.Tensor:
    schedules = pytest.importorskip("checkpoint_schedules")
    return checkpoint_loop(
        lambda u: u.sin(),
        x,
        9,
        schedule=lambda steps: schedules.MultistageCheckpointSchedule(steps, 0, 2),
        folder=folder,
    )


PROGRAMS: Final = [
    in_file,
    argument_of_a_checkpoint,
    argument_of_a_checkpoint_in_a_checkpoint,
    argument_of_a_reentrant_checkpoint,
    saved_by_a_function,
    state_of_a_loop,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_nothing_happens(
    program: Callable[[vt.Tensor, Path], vt.Tensor], fault: Callable[[Path], None], tmp_path: Path
) -> None:
    x = vt.tensor([0.5, 0.25], dtype=vt.float64, requires_grad=True)
    w = vt.tensor([2.0, 3.0], dtype=vt.float64, requires_grad=True)
    ran: list[object] = []
    y = program(x, tmp_path)
    z = (y * w).sum()
    assert z.grad_fn is not None
    z.grad_fn.register_hook(lambda *_: ran.append(1))
    path = min(p for p in tmp_path.rglob("*") if p.is_file())
    content = path.read_bytes()
    fault(path)
    for _ in range(2):
        with pytest.raises((OSError, vt.errors.SavedHookError, vt.errors.CheckpointError)) as found:
            z.backward()
        assert path.name in str(found.value)
        assert not ran
        assert x.grad is None
        assert w.grad is None
    if path.is_dir():
        path.rmdir()
    # A file that was put back is the same.
    path.write_bytes(content)
    z.backward()
    assert ran
    assert x.grad is not None
    expected = vt.tensor([0.5, 0.25], dtype=vt.float64, requires_grad=True)
    (program(expected, tmp_path) * w.detach()).sum().backward()
    assert expected.grad is not None
    assert x.grad.equal(expected.grad)


def test_an_argument_that_only_the_second_run_reads_is_checked_too(tmp_path: Path) -> None:
    """No slot is the argument itself."""
    x = vt.tensor([0.5, 0.25], requires_grad=True)
    t = x * 1
    y = checkpoint(lambda t: (t + 1).exp(), t, use_reentrant=False)
    ran: list[object] = []
    z = (y * 2).sum()
    assert z.grad_fn is not None
    z.grad_fn.register_hook(lambda *_: ran.append(1))
    t.mul_(2)
    with pytest.raises(vt.errors.StaleSavedError, match="checkpoint needs a value"):
        z.backward()
    assert not ran


def test_bytes_that_change_under_the_same_entry_are_found_when_they_are_read(
    tmp_path: Path,
) -> None:
    x = vt.tensor([0.5, 0.25], requires_grad=True)
    y = in_file(x, tmp_path).sum()
    (path,) = (p for p in tmp_path.iterdir())
    entry = path.stat()
    with path.open("r+b") as stream:
        stream.write(other_byte(path.read_bytes()))
    os.utime(path, ns=(entry.st_atime_ns, entry.st_mtime_ns))
    with pytest.raises(vt.errors.SavedHookError, match="another checksum"):
        y.backward()
    assert x.grad is None


def test_a_file_is_read_before_a_pass_only_if_its_entry_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"1234")
    seal = FileSeal(str(path), 0)  # a sum that is wrong
    assert seal.fault() is None
    os.utime(path, ns=(1, 1))
    assert seal.fault() is not None
    assert seal.fault_of(b"1234") is not None


@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    x = vt.tensor([0.5, 0.25], requires_grad=True)
    y = in_file(x, tmp_path).sum()
    (path,) = tmp_path.iterdir()
    path.chmod(0)
    with pytest.raises(PermissionError):
        y.backward()
    path.chmod(0o600)
    y.backward()
