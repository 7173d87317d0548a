"""What a pickle names: it is a file, which later versions read."""

import copy
import io
import pickle
from collections.abc import Callable

import pytest

import vtgrad as vt
from tests.sweeping import sweep
from vtgrad import pickles
from vtgrad.errors import ArgumentTypeError, VtgradError

# The modules whose names pickles may hold. `_codecs` is how old protocols write bytes.
MODULES = {"vtgrad.pickles", "vtgrad.errors", "builtins", "__builtin__", "_codecs"}


class Reader(pickle.Unpickler):
    """Reads a pickle, and remembers the module and name of everything that it refers to."""

    def __init__(self, pickled: bytes) -> None:
        super().__init__(io.BytesIO(pickled))
        self.names: set[tuple[str, str]] = set()

    def find_class(self, module: str, name: str) -> object:
        self.names.add((module, name))
        return super().find_class(module, name)


def names_in(pickled: bytes) -> set[tuple[str, str]]:
    reader = Reader(pickled)
    reader.load()
    return reader.names


def raised_by(call: Callable[[], object]) -> VtgradError:
    with pytest.raises(VtgradError) as caught:
        call()
    return caught.value


def stale() -> vt.Tensor:
    """A result whose saved operand was overwritten, through a view."""
    x = vt.ones(3, requires_grad=True) * 1
    y = (x * x).sum()
    x[1:].add_(1)
    return y


def drawn() -> vt.Generator:
    generator = vt.Generator().manual_seed(7)
    vt.rand(3, generator=generator)
    return generator


THINGS: dict[str, Callable[[], object]] = {
    "tensor": lambda: vt.arange(6.0).reshape(2, 3).t(),
    "leaf": lambda: vt.ones(2, requires_grad=True),
    "aliases": lambda: [x := vt.zeros(3), x[1:], x.detach()],
    "conjugate": lambda: (vt.ones(2) * 1j).conj(),
    "inference": lambda: vt.inference_mode()(vt.ones)(2),
    "storage": lambda: [vt.ones(2).untyped_storage(), vt.ones(2).storage()],
    "dtypes": lambda: [vt.bool, vt.int64, vt.float32, vt.complex128],
    "device": lambda: vt.zeros(1).device,
    "layout": lambda: vt.strided,
    "formats": lambda: [vt.preserve_format, vt.channels_last],
    "size": lambda: vt.zeros(2, 3).shape,
    "limits": lambda: [vt.finfo(vt.complex64), vt.iinfo(vt.uint8)],
    "generator": lambda: vt.Generator().manual_seed(3),
    "drawn generator": drawn,
    "results": lambda: [
        vt.ones(2, 2).max(dim=0),
        vt.sort(vt.ones(2)),
        vt.sort(vt.ones(2), stable=True),
        vt.frexp(vt.ones(2)),
    ],
    "writes": lambda: vt.zeros(2, 2)[0].add_(1).writes(),
    "stale value": lambda: raised_by(lambda: stale().backward()),
    "written leaf": lambda: raised_by(lambda: vt.ones(2, requires_grad=True).add_(1)),
    "argument": lambda: raised_by(lambda: vt.ones(2).sum(dim="a")),
    "shapes": lambda: raised_by(lambda: vt.ones(2) + vt.ones(3)),
}


@sweep(THINGS, range(pickle.HIGHEST_PROTOCOL + 1), row=lambda thing, _: thing)
def test_a_pickle_names_modules_that_stay(thing: str, protocol: int) -> None:
    names = names_in(pickle.dumps(THINGS[thing](), protocol))
    allowed = MODULES | ({"copyreg", "copy_reg"} if protocol < 2 else set())
    assert {module for module, _ in names} <= allowed
    functions = {name for module, name in names if module == "vtgrad.pickles"}
    assert functions <= set(pickles.__all__)


@pytest.mark.parametrize("thing", THINGS)
def test_what_is_read_from_a_pickle_looks_like_what_was_written(thing: str) -> None:
    made = THINGS[thing]()
    back = pickle.loads(pickle.dumps(made))
    assert type(back) is type(made)
    if isinstance(made, VtgradError) and isinstance(back, VtgradError):
        assert (str(back), back.facts) == (str(made), made.facts)
        assert vars(back) == vars(made)
    elif thing not in ("storage", "generator", "drawn generator"):
        assert repr(back) == repr(made)
    if isinstance(made, vt.Generator) and isinstance(back, vt.Generator):
        assert back.initial_seed() == made.initial_seed()
        assert vt.rand(5, generator=back).tolist() == vt.rand(5, generator=made).tolist()


def test_every_name_of_the_format_is_used() -> None:
    found: set[str] = set()
    for make in THINGS.values():
        found |= {name for _, name in names_in(pickle.dumps(make()))}
    assert set(pickles.__all__) - found == set()


def test_singletons_are_themselves_again() -> None:
    for one in (vt.float64, vt.strided, vt.channels_last_3d):
        assert pickle.loads(pickle.dumps(one)) is one


@pytest.mark.parametrize(
    "forged",
    [
        lambda: pickles.rebuild_dtype("float8"),
        lambda: pickles.rebuild_dtype(3),  # type: ignore[arg-type]
        lambda: pickles.rebuild_results("max.dim", (1,)),
        lambda: pickles.rebuild_results("max", (1, 2)),
        lambda: pickles.rebuild_generator(1, "state"),  # type: ignore[arg-type]
        lambda: pickles.rebuild_generator("seed", None),  # type: ignore[arg-type]
        lambda: pickles.rebuild_device(3),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_part_of_the_format_is_refused(forged: Callable[[], object]) -> None:
    with pytest.raises(ArgumentTypeError):
        forged()


def test_a_file_of_this_version_can_be_read() -> None:
    # Protocol 0, as text: the format itself, which only may grow.
    written = (
        b"cvtgrad.pickles\nrebuild_tensor\n(N"
        b"cvtgrad.pickles\nrebuild_storage\n(c_codecs\nencode\n(Vab\nVlatin1\ntRtR"
        b"cvtgrad.pickles\nrebuild_counter\n(tR"
        b"cvtgrad.pickles\nrebuild_dtype\n(Vuint8\ntR"
        b"(I2\nt(I1\ntI0\nI00\nI00\nI00\ntR."
    )
    assert pickle.loads(written).tolist() == [97, 98]


def test_a_copied_generator_draws_on_its_own() -> None:
    generator = drawn()
    other = copy.copy(generator)
    numbers = vt.rand(2, generator=generator).tolist()
    assert vt.rand(2, generator=other).tolist() == numbers
