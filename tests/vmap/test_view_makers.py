"""Every maker of views inside of `vmap`, written through and read after a write, beside a loop.

What breaks it: a view of the sample that is a copy of the batch, so that a write is lost or a read
gives former values; and a copy of the sample that is a view of the batch.
"""

import gc
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import BatchedTensorError, BatchedWriteError, OutOfBoundsError

# Of a sample of shape (2, 4), and a number that differs from sample to sample.
Maker: TypeAlias = Callable[[vt.Tensor, vt.Tensor], vt.Tensor]
Program: TypeAlias = Callable[[Maker, vt.Tensor, vt.Tensor], vt.Tensor]

STATIC: Final[dict[str, Maker]] = {
    "itself": lambda x, j: x,
    "alias": lambda x, j: x[...],
    "select": lambda x, j: x.select(0, 1),
    "select by a tensor": lambda x, j: x.select(0, vt.tensor(1)),  # type: ignore[arg-type]  # as PyTorch
    "index": lambda x, j: x[1],
    "index by a tensor": lambda x, j: x[vt.tensor(1)],
    "slice": lambda x, j: x[:, 1:3],
    "slice by tensors": lambda x, j: x[:, vt.tensor(1) : vt.tensor(3)],
    "step": lambda x, j: x[:, ::2],
    "mixed": lambda x, j: x[None, 1, ..., 1:],
    "narrow": lambda x, j: x.narrow(1, 1, 2),
    "narrow by a tensor": lambda x, j: x.narrow(1, vt.tensor(1), 2),
    "diagonal": lambda x, j: x.diagonal(1),
    "split": lambda x, j: x.split(2, 1)[1],
    "split with sizes": lambda x, j: x.split([1, 3], 1)[1],
    "chunk": lambda x, j: x.chunk(2, 1)[1],
    "tensor split": lambda x, j: x.tensor_split(3, 1)[0],
    "tensor split at": lambda x, j: x.tensor_split([1, 3], 1)[1],
    "hsplit": lambda x, j: x.hsplit(2)[0],
    "vsplit": lambda x, j: x.vsplit(2)[0],
    "unbind": lambda x, j: x.unbind(0)[1],
    "rows": lambda x, j: list(x)[1],
    "transpose": lambda x, j: x.transpose(0, 1),
    "t": lambda x, j: x.t(),
    "T": lambda x, j: x.mT,
    "swapaxes": lambda x, j: x.swapaxes(0, -1),
    "permute": lambda x, j: x.permute(1, 0),
    "movedim": lambda x, j: x.movedim(0, 1),
    "unsqueeze": lambda x, j: x.unsqueeze(1),
    "squeeze": lambda x, j: x[:1].squeeze(0),
    "squeeze all": lambda x, j: x[:1].squeeze(),
    "unfold": lambda x, j: x.unfold(1, 2, 2),
    "unflatten": lambda x, j: x.unflatten(1, (2, 2)),
    "as_strided": lambda x, j: x.as_strided((2, 4), x.stride()),
    "as_strided, a part": lambda x, j: x.as_strided((2,), x.stride()[:1]),
    "expand": lambda x, j: x.expand(1, 2, 4),
    "expand_as": lambda x, j: x.expand_as(x),
    "view_as": lambda x, j: x.view_as(x),
    "detach": lambda x, j: x.detach(),
    "data": lambda x, j: x.data,
    "view a dtype": lambda x, j: x.view(vt.int64).view(vt.float64),
    "real": lambda x, j: vt.real(x),
    "real and imag": lambda x, j: vt.view_as_real(vt.view_as_complex(x[:, :2])),
    "positive": lambda x, j: vt.positive(x),
    "conj": lambda x, j: x.conj(),
    "contiguous": lambda x, j: x.contiguous(),
    "to": lambda x, j: x.to(vt.float64),
    "reshape": lambda x, j: x.reshape(-1),
    "reshape to three": lambda x, j: x.reshape(2, 2, 2),
    "reshape the transposed": lambda x, j: x.t().reshape(-1),
    "flatten": lambda x, j: x.flatten(),
    "ravel": lambda x, j: x[:, :2].ravel(),
    "reshape_as": lambda x, j: x.reshape_as(x.t()),
    "atleast": lambda x, j: vt.atleast_3d(x),
    "broadcast": lambda x, j: vt.broadcast_tensors(x, x[:1])[0],
    "meshgrid": lambda x, j: vt.meshgrid(x[0], indexing="ij")[0],
    "two views": lambda x, j: x[:, 1:].t()[1],
    "t_copy": lambda x, j: vt.t_copy(x),
    "select_copy": lambda x, j: vt.select_copy(x, 0, 1),
    "permute_copy": lambda x, j: vt.permute_copy(x, (1, 0)),
    "squeeze_copy": lambda x, j: vt.squeeze_copy(x),
    "view_copy": lambda x, j: vt.view_copy(x, x.shape),
    "clone": lambda x, j: x.clone(),
    "index_select": lambda x, j: x.index_select(0, vt.tensor([1])),
    "index list": lambda x, j: x[[1, 0]],
    "index array": lambda x, j: x[:, vt.tensor([3, 1])],
}

# With an argument that differs from sample to sample.
OWN: Final[dict[str, Maker]] = {
    "index": lambda x, j: x[j],
    "second index": lambda x, j: x[:, j],
    "two indices": lambda x, j: x[j, j + 1],
    "index and int": lambda x, j: x[1, j],
    "index and slice": lambda x, j: x[j, 1:3],
    "slice and index": lambda x, j: x[:1, j],
    "new dimension": lambda x, j: x[None, j],
    "ellipsis": lambda x, j: x[..., j],
    "transposed": lambda x, j: x.t()[j],
    "of a view": lambda x, j: x[:, 1:][j],
    "a view of it": lambda x, j: x[j][1:],
    "an index of it": lambda x, j: x[j][j + 1],
    "reshaped": lambda x, j: x.reshape(2, 2, 2)[j].reshape(-1),
    "transposed, reshaped": lambda x, j: x.unflatten(1, (2, 2)).permute(2, 1, 0)[j].t().reshape(-1),
    "detached": lambda x, j: x[j].detach(),
    "short list": lambda x, j: x[(j,)],
    "select": lambda x, j: x.select(0, j),  # type: ignore[arg-type]  # no integer, and refused
    "narrow": lambda x, j: x.narrow(0, j, 1),
    "slice from": lambda x, j: x[:, j:],
    "slice to": lambda x, j: x[:, : j + 1],
    "tensor split": lambda x, j: x.tensor_split(j + 1)[0],
    "index array": lambda x, j: x[j.reshape(1)],
    "list": lambda x, j: x[:, [j, 0]],  # type: ignore[index]  # a list of a tensor and a number
    "index_select": lambda x, j: x.index_select(0, j),
    "take": lambda x, j: x.take(j),
}
# What differs in shape, or has no rule, is refused as such.
REFUSED: Final = {"select", "narrow", "slice from", "slice to", "tensor split"}
# Their backward reads what was indexed.
SAVES_MORE: Final = {("index_select", "gradients"), ("take", "gradients")}


def write_the_view(make: Maker, x: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
    make(x, j).mul_(10.0)
    return x * 1


def write_the_view_and_read_it(make: Maker, x: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
    view = make(x, j)
    view += x.sum()
    view.sin_()
    return view * x.sum()


def write_a_part(make: Maker, x: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
    view = make(x, j)
    part = view[..., 0] if view.dim() else view
    part.fill_(9.0)
    view[...] = view * 3.0
    return x.sum() + view


def read_after_a_write(make: Maker, x: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
    view = make(x, j)
    x.mul_(2.0)
    return view + 1


def return_after_a_write(make: Maker, x: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
    view = make(x, j)
    x[0] = 7.0
    return view


def write_after_a_write(make: Maker, x: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
    view = make(x, j)
    x.mul_(2.0)
    view.add_(1.0)
    return x * 1


def write_data(make: Maker, x: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
    view = make(x, j)
    x.data.mul_(2.0)
    return view + 1


def write_what_a_function_made(make: Maker, x: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
    fresh = x * 2
    make(fresh, j).mul_(3.0)
    return fresh


def read_what_a_function_made(make: Maker, x: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
    fresh = x.clone()
    view = make(fresh, j)
    fresh.mul_(3.0)
    return view * 1


WRITING: Final[dict[str, Program]] = {
    f.__name__: f
    for f in (
        write_the_view,
        write_the_view_and_read_it,
        write_a_part,
        write_what_a_function_made,
    )
}
READING: Final[dict[str, Program]] = {
    f.__name__: f
    for f in (
        read_after_a_write,
        return_after_a_write,
        write_after_a_write,
        write_data,
        read_what_a_function_made,
    )
}
PROGRAMS: Final = WRITING | READING
# Where the batches are, of one vmap or of two.
POSITIONS: Final[Sequence[tuple[int, ...]]] = [
    (0,),
    (1,),
    (-1,),
    (1, 0),
    (-1, 1),
    (2, -1),
]
# What is compared: derivatives where samples are interleaved.
KINDS: Final = [("values", dims) for dims in POSITIONS] + [
    (kind, dims) for kind in ("gradients", "tangents") for dims in [(1,)]
]
SIZES: Final = (2, 3)


def batch(dims: Sequence[int]) -> vt.Tensor:
    """Samples of shape (2, 4), along these dimensions, the outermost first."""
    shape = [2, 4]
    for size, dim in zip(SIZES[len(dims) - 1 :: -1], reversed(dims), strict=True):
        shape.insert(dim % (len(shape) + 1), size)
    count = int(np.prod(shape))
    return vt.arange(float(count), dtype=vt.float64).reshape(shape)


def numbers(dims: Sequence[int]) -> vt.Tensor:
    """0 or 1 for each sample."""
    return vt.arange(int(np.prod(SIZES[: len(dims)]))).reshape(SIZES[: len(dims)]) % 2


def by_vmap(
    program: Program, make: Maker, x: vt.Tensor, j: vt.Tensor, dims: Sequence[int]
) -> vt.Tensor:
    def of_sample(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
        return program(make, a, b)

    function = of_sample
    for dim in reversed(dims):
        function = vt.vmap(function, in_dims=(dim, 0))
    return function(x, j)


def by_loop(
    program: Program, make: Maker, x: vt.Tensor, j: vt.Tensor, dims: Sequence[int]
) -> vt.Tensor:
    if not dims:
        return program(make, x, j)
    dim, *inner = dims
    parts = [(x.select(dim, nr), j.select(0, nr)) for nr in range(len(j))]
    return vt.stack([by_loop(program, make, a, b, inner).clone() for a, b in parts])


def values(*tensors: vt.Tensor) -> list[object]:
    return [x.detach().tolist() for x in tensors]


def agree(
    program: Program, make: Maker, dims: Sequence[int], kind: str
) -> tuple[object, object, Exception | None]:
    """What both give: the result, what the argument has become, and maybe a gradient."""

    def run(by: Callable[..., vt.Tensor]) -> list[object]:
        if kind == "values":
            x = batch(dims)
            return values(by(program, make, x, numbers(dims), dims), x)
        if kind == "tangents":

            def pushed(x: vt.Tensor) -> vt.Tensor:
                return by(program, make, x * 1, numbers(dims), dims)

            return values(*vt.func.jvp(pushed, (batch(dims),), (batch(dims).cos(),)))
        leaf = batch(dims).requires_grad_()
        y = by(program, make, leaf * 1, numbers(dims), dims)
        (y * vt.arange(float(y.numel())).reshape(y.shape)).sum().backward()
        assert leaf.grad is not None
        return values(leaf.grad)

    try:
        expected = run(by_loop)
    except RuntimeError as error:
        return None, None, error
    return expected, run(by_vmap), None


@pytest.mark.parametrize("name", STATIC)
def test_a_view_of_the_sample_is_a_view_of_the_batch(name: str) -> None:
    for program in PROGRAMS.values():
        for kind, dims in KINDS:
            expected, found, refused = agree(program, STATIC[name], dims, kind)
            if refused is None:
                np.testing.assert_allclose(
                    flat(found), flat(expected), err_msg=f"{program.__name__} {kind} {dims}"
                )
            else:
                # There is no gradient, or the elements of a column are no complex numbers.
                assert kind == "gradients" or name == "real and imag", refused


@pytest.mark.parametrize("name", OWN)
def test_an_index_of_each_sample_loses_no_write(name: str) -> None:
    for program in PROGRAMS.values():
        for kind, dims in KINDS:
            where = f"{program.__name__} {kind} {dims}"
            if (name, kind) in SAVES_MORE and program.__name__ in READING:
                continue
            try:
                expected, found, refused = agree(program, OWN[name], dims, kind)
            except BatchedTensorError as error:
                may_be = program.__name__ in READING and "stands for a view" in str(error)
                if name not in REFUSED and not may_be:
                    raise AssertionError(where) from error
            else:
                if refused is None:
                    np.testing.assert_allclose(flat(found), flat(expected), err_msg=where)
                else:
                    assert name in REFUSED or kind == "gradients", (where, refused)


def flat(nested: object) -> list[float]:
    if not isinstance(nested, list):
        return [float(nested)]  # type: ignore[arg-type]  # a number
    return [x for part in nested for x in flat(part)]


# -- what a copy that stands for a view cannot do, and how it behaves else -------------------------


def test_a_read_after_a_write_is_refused_and_says_where() -> None:
    def f(m: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
        row = m[j]
        m.mul_(2.0)
        return row * 1

    with pytest.raises(BatchedTensorError, match="stands for a view") as caught:
        vt.vmap(f)(vt.ones(2, 3), vt.tensor([0, 1]))
    assert "row = m[j]" in str(caught.value)
    assert "clone()" in str(caught.value)


def test_a_write_of_a_tensor_without_samples_is_refused_before_anything_is_written() -> None:
    table = vt.zeros(3)

    def f(j: vt.Tensor) -> vt.Tensor:
        row = table[j]
        with pytest.raises(BatchedWriteError, match="add_ would write"):
            row.add_(1.0)
        return row * 1

    assert vt.vmap(f)(vt.tensor([0, 2])).tolist() == [0, 0]
    assert table.tolist() == [0, 0, 0]


def test_augmented_assignment_writes_once() -> None:
    def f(m: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
        m[j] += 1.0
        return m

    assert vt.vmap(f)(vt.zeros(2, 3), vt.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_functions_of_users_write_through_too() -> None:
    class Twice(vt.autograd.Function):
        @staticmethod
        def forward(x: vt.Tensor) -> vt.Tensor:
            return x.mul_(2.0)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[vt.Tensor], output: vt.Tensor) -> None:
            ctx.mark_dirty(*inputs)

        @staticmethod
        def vmap(info: Any, in_dims: tuple[int], x: vt.Tensor) -> tuple[vt.Tensor, int]:
            return Twice.apply(x), 0

    class OfSamples(Twice):
        generate_vmap_rule = True
        vmap = vt.autograd.Function.vmap

    def f(m: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
        Twice.apply(m[j])
        return m

    def g(m: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
        OfSamples.apply(m[j])
        return m

    for function in (f, g):
        found = vt.vmap(function)(vt.ones(2, 3), vt.tensor([0, 2]))
        assert found.tolist() == [[2, 1, 1], [1, 1, 2]]


def test_inference_tensors_which_have_no_version() -> None:
    def f(x: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
        with vt.inference_mode():
            m = x * 1
            m[j].add_(5.0)
            row, table = m[j], vt.zeros(3)
            entry = table[j]
            m.mul_(2.0)
            table.add_(1.0)
            for stale in (row, entry):
                with pytest.raises(BatchedTensorError, match="stands for a view"):
                    stale.sin()
            return m * 1

    found = vt.vmap(f)(vt.zeros(2, 3), vt.tensor([0, 2]))
    assert found.tolist() == [[10, 0, 0], [0, 0, 10]]


def test_what_vmap_returns_keeps_nothing_alive() -> None:
    seen: list[weakref.ref[vt.Tensor]] = []

    def f(x: vt.Tensor, j: vt.Tensor) -> vt.Tensor:
        whole = x * 2
        seen.append(weakref.ref(whole))
        return whole[j]

    found = vt.vmap(f)(vt.ones(2, 3), vt.tensor([0, 2]))
    gc.collect()
    assert found.tolist() == [2, 2]
    assert seen[0]() is None


# -- geometry by hand ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "stride", "offset"),
    [((2,), (1,), 1), ((2,), (1,), 0), ((4,), (1,), 2), ((2, 2), (1, 4), 3)],
)
def test_as_strided_in_the_middle_of_a_buffer_stays_within_the_sample(
    size: tuple[int, ...], stride: tuple[int, ...], offset: int
) -> None:
    # The samples are places 3 to 6, 7 to 10 and 11 to 14.
    x = vt.arange(20.0)[3:15].view(3, 4)
    with pytest.raises(OutOfBoundsError, match="other samples"):
        vt.vmap(lambda row: row.as_strided(size, stride, offset))(x)
    assert vt.vmap(lambda row: row.as_strided((2, 2), (1, 1), 4))(x)[0].tolist() == [[4, 5], [5, 6]]
    columns = vt.vmap(lambda column: column[1:].as_strided((2,), (4,)), in_dims=1)(x)
    assert columns.tolist() == [[7, 11], [8, 12], [9, 13], [10, 14]]


def test_as_strided_of_a_part_reaches_the_whole_sample_with_and_without_gradients() -> None:
    for x in (vt.arange(12.0).view(3, 4), vt.arange(12.0, requires_grad=True).view(3, 4) * 1):
        found = vt.vmap(lambda row: row[1:3].as_strided((4,), (1,), 0))(x)
        assert found.tolist() == x.tolist()
        with pytest.raises(OutOfBoundsError, match="other samples"):
            vt.vmap(lambda row: row[1:3].as_strided((5,), (1,), 0))(x)


def test_batched_gradients_through_windows_of_a_tensor_without_dimensions() -> None:
    x = vt.tensor(2.0, requires_grad=True)
    for size in (0, 1):
        y = x.unfold(0, size, 1)
        grads = vt.arange(3.0 * size).reshape(3, size)
        (found,) = vt.autograd.grad(y, x, grads, is_grads_batched=True)
        assert found.tolist() == ([0, 1, 2] if size else [0, 0, 0])
