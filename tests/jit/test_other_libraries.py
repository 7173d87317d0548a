"""Functions of SciPy in a recorded program: each call is one step, replayed on new values."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import ReplayGuardError
from vtgrad.jit.creators import OfAnotherLibrary
from vtgrad.jit.record import record
from vtgrad.storage.arrays import Array

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("few_objects")]

Program = Callable[..., tuple[vt.Tensor, ...]]


def some(*shape: int, seed: int) -> vt.Tensor:
    return vt.from_numpy(np.random.default_rng(seed).normal(size=shape))


def near_identity(n: int, seed: int) -> vt.Tensor:
    return vt.eye(n, dtype=vt.float64) * 3 + some(n, n, seed=seed) * 0.3


def definite(n: int, seed: int) -> vt.Tensor:
    x = near_identity(n, seed)
    return x @ x.T


def ones_and_small(n: int, seed: int) -> vt.Tensor:
    return vt.cat([vt.ones(1, dtype=vt.float64), some(n, seed=seed) * 0.1])


def with_gradients(function: Callable[..., vt.Tensor]) -> Program:
    def program(*given: vt.Tensor) -> tuple[vt.Tensor, ...]:
        leaves = [x.detach().clone().requires_grad_() for x in given]
        found = function(*leaves)
        return found.detach(), *vt.autograd.grad((found * found).sum(), leaves)

    return program


def filtered(b: vt.Tensor, a: vt.Tensor, x: vt.Tensor) -> vt.Tensor:
    return vt.signal.lfilter(b, a, x)


def ldl(x: vt.Tensor) -> tuple[vt.Tensor, ...]:
    factors, pivots, info = vt.linalg.ldl_factor_ex(x)
    return factors.clone(), pivots.clone(), info.clone()


def lu(x: vt.Tensor, b: vt.Tensor) -> tuple[vt.Tensor, ...]:
    factors, pivots = vt.linalg.lu_factor(x)
    return factors.clone(), pivots.clone(), vt.linalg.lu_solve(factors, pivots, b)


# By name: the program, and its arguments by a seed.
PROGRAMS: dict[str, tuple[Program, Callable[[int], tuple[vt.Tensor, ...]]]] = {
    "lfilter": (
        with_gradients(filtered),
        lambda n: (some(3, seed=n), ones_and_small(2, n), some(30, seed=n + 1)),
    ),
    "solve_triangular": (
        with_gradients(lambda a, b: vt.linalg.solve_triangular(a, b, upper=True)),
        lambda n: (near_identity(4, n), some(4, 2, seed=n)),
    ),
    "matrix_exp": (with_gradients(vt.linalg.matrix_exp), lambda n: (some(3, 3, seed=n) * 0.1,)),
    "sqrtm": (with_gradients(vt.linalg.sqrtm), lambda n: (definite(3, n),)),
    "solve_toeplitz": (
        with_gradients(lambda c, b: vt.linalg.solve_toeplitz(c, b)),
        lambda n: (ones_and_small(4, n), some(5, seed=n)),
    ),
    "solve_sylvester": (
        with_gradients(vt.linalg.solve_sylvester),
        lambda n: (near_identity(3, n), near_identity(3, n + 1), some(3, 3, seed=n)),
    ),
    "lu_factor": (lu, lambda n: (near_identity(4, n), some(4, 2, seed=n))),
    "ldl_factor": (ldl, lambda n: (definite(4, n),)),
}


def as_bytes(values: Sequence[vt.Tensor]) -> list[bytes]:
    return [np.ascontiguousarray(x.numpy()).tobytes() for x in values]


@pytest.mark.parametrize("name", PROGRAMS)
def test_replayed_on_new_values_bit_for_bit(name: str) -> None:
    program, arguments = PROGRAMS[name]
    traced = vt.jit.trace(program, *arguments(0))
    for seed in (5, 6):
        given = arguments(seed)
        assert as_bytes(traced(*given)) == as_bytes(program(*given))


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_call_is_one_step(name: str) -> None:
    program, arguments = PROGRAMS[name]
    steps = record(program, arguments(0)).program.steps
    assert any(isinstance(step.function, OfAnotherLibrary) for step in steps)


def test_export_refuses_by_name() -> None:
    program, arguments = PROGRAMS["lfilter"]
    traced = vt.jit.trace(program, *arguments(0))
    with pytest.raises(NotImplementedError, match=r"scipy\.signal\.[\w.]*lfilter, which is not in"):
        _ = traced.code
    program, arguments = PROGRAMS["lu_factor"]
    traced = vt.jit.trace(program, *arguments(0))
    with pytest.raises(NotImplementedError, match=r"scipy\.linalg\.lapack\.dgetrf, which is not"):
        _ = traced.code


def test_the_number_that_tells_of_a_singular_matrix_is_guarded() -> None:
    program, arguments = PROGRAMS["lu_factor"]
    a, b = arguments(0)
    traced = vt.jit.trace(program, a, b)
    with pytest.raises(ReplayGuardError):
        traced(vt.zeros_like(a), b)


def test_arguments_are_as_before_and_results_are_plain() -> None:
    a, b = PROGRAMS["lu_factor"][1](0)
    before = as_bytes((a, b))
    record(PROGRAMS["lu_factor"][0], (a, b))
    assert as_bytes((a, b)) == before
    found: Array = PROGRAMS["lu_factor"][0](a, b)[0].numpy()
    assert type(found) is np.ndarray


def test_what_is_imported_while_a_program_is_recorded_is_no_part_of_it(tmp_path: Path) -> None:
    # Modules of objects, and constants that the program does not own.
    (tmp_path / "constants.py").write_text(
        dedent(
            """
            import numpy as np

            OBJECTS = np.array([1, None], object)
            TABLE = np.array([1.0, 2.0])


            def two():
                return np.full(2, 2.0)


            TWO = two()
            """
        ),
        encoding="utf-8",
    )
    program = dedent(
        """
        import numpy as np
        import vtgrad as vt

        def program(x):
            import constants
            return x * 2

        x = vt.tensor([1.0, 2.0])
        traced = vt.jit.trace(program, x)
        assert traced(x + 1).tolist() == [4.0, 6.0]
        import constants
        assert type(constants.TABLE) is np.ndarray and type(constants.TWO) is np.ndarray

        # SciPy's own modules.
        b, a = x.clone(), x.clone()
        traced = vt.jit.trace(vt.signal.lfilter, b, a, x)
        assert traced(b, a, x + 1).tolist() == vt.signal.lfilter(b, a, x + 1).tolist()
        """
    )
    path = [str(tmp_path), *[x for x in sys.path if x]]
    script = f"import sys; sys.path[:] = {path!r}\n{program}"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert not ran.returncode, ran.stderr


def test_a_program_in_a_module_that_is_being_imported_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "fitted.py").write_text(
        dedent(
            """
            import numpy as np
            import vtgrad as vt

            def program(x):
                row = np.zeros(2)
                row += x
                return row

            TRACED = vt.jit.trace(program, np.array([1.0, 2.0]))
            """
        ),
        encoding="utf-8",
    )
    path = [str(tmp_path), *[x for x in sys.path if x]]
    script = f"import sys; sys.path[:] = {path!r}\nimport fitted, numpy as np\n"
    script += "assert fitted.TRACED(np.array([3.0, 4.0])).tolist() == [3.0, 4.0]\n"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert not ran.returncode, ran.stderr
