"""What adopted code does, compared with finite differences of the real code."""

from __future__ import annotations

import copy
import importlib
import math
import os
import pickle
import sys
import threading
import types
import typing
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest

import vtgrad as vt
import vtgrad.numpy as np
from tests.numpy.adopting import Write, check
from tests.support import needs_global_lock
from vtgrad.errors import ArgumentTypeError, ArgumentValueError, NotSupportedError
from vtgrad.numpy.adopted_calls import entries


@pytest.mark.parametrize(
    "body",
    [
        "float(x[0]) * 2",
        "float(x.sum()) ** 2",
        "float(x[:1]) if False else float(x[0])",
        "sum(map(float, x))",
        "x[0].item() * x.item(1)",
        "x.item((1,))",
        "x.tolist()[1] * 3",
        "complex(x[0], x[1]).real",
        "abs(complex(x[0], 2.0)) ** 2",
        "abs(complex(1.0, imag=x[0])) ** 2",
        "int(x[0]) * x[1]",
        "x[0] if isinstance(x[0], float) else 0 * x[0]",
        "x[0] if isinstance(x[0], (int, np.floating)) else 0 * x[0]",
        "x[0] if isinstance(float(x[0]), numbers.Real) else 0 * x[0]",
        "0 * x[0] if isinstance(x[0], np.ndarray) else x[0]",
        "x[0] if isinstance(x, np.ndarray) else 0 * x[0]",
        "type(x[0])(3.0) * x[1]",
        "x[0] if type(x[0]) is np.float64 else 0 * x[0]",
        "x[0] if not isinstance(x[0], (complex, str)) else 0 * x[0]",
        "x[0] if type(np.float64(3.0)) is np.float64 else 0 * x[0]",
        "x[0] if type(x) is np.ndarray is type(np.random.rand(2)) else 0 * x[0]",
        "x.dtype.type(2.0) * x.dtype.type(x[0])",
        "x[0] if isinstance(x[0], type(x[1])) and type(x[0]) == type(x[1]) else 0 * x[0]",
        "round(x[0], 1) + x[0]",
        "max(x) * min(x)",
        "sorted(x)[1] * 2 + x[0]",
        "float('1.5') * x[0] + int('2', 16)",
        "np.float64(x[0]) * float(3)",
        "Twice(x[0]).float()",
        "f'{x[0]:.3f}' and x[1]",
        "'%.3f' % x[0] and x[1]",
        "(lambda float: float(x[0]))(np.sin)",
    ],
)
def test_numbers(write: Write, body: str) -> None:
    name = write(
        {
            "PKG.py": f"""
            import numbers
            import numpy as np

            class Twice:
                def __init__(self, x):
                    self.__x = float(x)

                def float(self):
                    return float(self.__x) * 2

            def f(x):
                return {body}
            """
        }
    )
    check(np.adopt(name).f, importlib.import_module(name).f, [1.3, 2.6])


def test_names_of_types_are_not_shadowed(write: Write) -> None:
    name = write(
        {
            "PKG.py": """
            from enum import Enum

            class Level(float, Enum):
                LOW = 0.5

            def float_(x):
                return float

            def kinds():
                return float, int, isinstance, type(3), type(3.0)

            Made = type("Made", (float,), {})
            """
        }
    )
    mine = np.adopt(name)
    assert mine.Level.LOW == 0.5
    assert mine.kinds() == (float, int, isinstance, int, float)
    assert mine.Made.__base__ is float


def test_errors_of_conversions_are_pythons(write: Write) -> None:
    name = write(
        {
            "PKG.py": """
            def of_float(x):
                return float(x)

            def of_item(x, *args):
                return x.item(*args)
            """
        }
    )
    mine = np.adopt(name)
    for x in (np.array([1.0, 2.0]).requires_grad_(), np.array([1.0, 2.0])):
        with pytest.raises(TypeError):
            mine.of_float(x)
        with pytest.raises(ValueError, match="can only convert"):
            mine.of_item(x)
        with pytest.raises(IndexError):
            mine.of_item(x, 5)
    with pytest.raises(TypeError):
        mine.of_float([])
    with pytest.raises(ValueError, match="could not convert"):
        mine.of_float("x")
    assert type(mine.of_float(np.array(1.0))) is float
    assert type(mine.of_item(np.array([1.0]).requires_grad_())) is np.scalar
    assert type(mine.of_float(np.float32(1.5))) is float


OVERWRITES = """
    import numpy as np
    import math

    def f(x):
        y = x * x
        total = np.exp(y) * y
        y[0] = 5.0
        y *= total
        return y * np.sin(y)

    class State:
        def __init__(self, x):
            self.x = x * 1.0
            self.total = 0.0

        def step(self):
            self.total = self.total + np.sum(self.x * self.x)
            self.x *= math.exp(self.x[0])
            self.x[1] = 1.0

    def run(x):
        state = State(x)
        for _ in range(3):
            state.step()
        return state.total

    def numbers(x):
        for y in x:
            yield y * y

    def total(x):
        return sum(numbers(x))
    """


def test_values_that_derivatives_need_may_be_overwritten(write: Write) -> None:
    name = write({"PKG.py": OVERWRITES})
    mine, real = np.adopt(name), importlib.import_module(name)
    check(mine.f, real.f, [0.3, 0.2, 0.4])
    check(mine.run, real.run, [0.3, 0.2, 0.4])
    check(mine.total, real.total, [0.3, 0.2, 0.4])

    def by_methods(module: Any, x: Any) -> Any:
        state = module.State(x)
        state.step()
        state.step()
        return state.total

    check(lambda x: by_methods(mine, x), lambda x: by_methods(real, x), [0.3, 0.2, 0.4])
    plain = np.adopt(name, rewind=False)
    x = np.array([0.3, 0.2, 0.4]).requires_grad_()
    with pytest.raises(vt.errors.StaleSavedError):
        plain.f(x).sum().backward()


def test_rewind_ends_with_the_call(write: Write) -> None:
    name = write(
        {"PKG.py": "def f(g, x):\n    return g(x)\n\ndef fail(x):\n    raise KeyError(x)\n"}
    )
    mine = np.adopt(name)

    def overwriting(x: Any) -> Any:
        y = x * 2
        z = y * y
        y *= 3
        return z.sum()

    x: Any = np.array([1.0, 2.0]).requires_grad_()
    mine.f(overwriting, x).backward()
    assert x.grad.tolist() == [8.0, 16.0]
    assert mine.f(lambda x: mine.f(overwriting, x), x) == 20.0
    with pytest.raises(KeyError):
        mine.fail(1)
    for _ in range(2):
        with pytest.raises(vt.errors.StaleSavedError):
            overwriting(x).backward()


def test_tensors_become_arrays_and_scalars_at_the_entry(write: Write) -> None:
    name = write(
        {
            "PKG.py": """
            from dataclasses import dataclass, field

            def kinds(a, *args, b=None, **options):
                return a, args, b, options

            @dataclass(order=True)
            class Point:
                x: float
                y: float = 2.0
                tags: list = field(default_factory=list)

                def norm(self):
                    return self.x * self.x + self.y * self.y
            """
        }
    )
    mine = np.adopt(name)
    vector, number = vt.tensor([1.0, 2.0], requires_grad=True), vt.tensor(3.0, requires_grad=True)
    array, items = numpy.ones(2), [1, 2]
    a, args, b, options = mine.kinds(vector, number, array, items, b=[vector, 1], c={"d": number})
    assert type(a) is np.ndarray
    assert type(args[0]) is np.scalar
    assert args[1] is array
    assert args[2] is items
    assert type(b[0]) is np.ndarray
    assert type(options["c"]["d"]) is np.scalar
    assert isinstance(mine.kinds(vt.tensor(3.0))[0], numpy.floating)
    point = mine.Point(number)
    assert type(point.x) is np.scalar
    point.norm().backward()
    assert number.grad is not None
    assert number.grad.item() == 6.0
    assert repr(mine.Point(1.0, 2.0)) == "Point(x=1.0, y=2.0, tags=[])"
    assert mine.Point(1.0) < mine.Point(2.0)


def test_copies_are_modules_for_python(write: Write) -> None:
    name = write(
        {
            "PKG/__init__.py": "",
            "PKG/kinds.py": '''
            """About kinds."""
            from __future__ import annotations
            import numpy as np
            from dataclasses import dataclass
            from typing import NamedTuple, ClassVar, get_type_hints
            import math

            @dataclass(frozen=True)
            class Point:
                """A point."""
                x: float
                origin: ClassVar[int] = 0

                def length(self) -> float:
                    """The length."""
                    return math.fabs(self.x)

            class Pair(NamedTuple):
                a: float
                b: float

            class Base:
                def __init__(self, x):
                    self.x = x

                @property
                def double(self):
                    return self.x * 2

                @classmethod
                def of(cls, x):
                    return cls(x)

                @staticmethod
                def static(x):
                    return x + 1

            class Child(Base):
                sine = math.sin
                norm = np.sin

                def __init__(self, x, *, y=1):
                    super().__init__(x)
                    self.y = y

                def both(self):
                    return self.sine(self.x) + self.norm(self.y)

            def counter():
                """Counts."""
                n = 0
                def step(by=1):
                    nonlocal n
                    n += by
                    return n
                return step

            def globals_(x):
                global total
                total = x
                return locals()

            async def later(x):
                return x

            hints = get_type_hints(Point)
            ''',
        }
    )
    mine = np.adopt(f"{name}.kinds")
    real = importlib.import_module(f"{name}.kinds")
    point = mine.Point(-2.5)
    for again in (pickle.loads(pickle.dumps(point)), copy.deepcopy(point), copy.copy(point)):
        assert again == point
        assert type(again) is mine.Point
    assert point != real.Point(-2.5)
    assert point.length() == 2.5
    assert pickle.loads(pickle.dumps(mine.counter)) is mine.counter
    assert pickle.loads(pickle.dumps(mine.Pair(1, 2))) == mine.Pair(1, 2)
    assert pickle.loads(pickle.dumps(mine.math.exp)) is mine.math.exp
    assert mine.hints["x"] is float
    assert mine.__doc__ == real.__doc__
    assert mine.counter.__doc__ == "Counts."
    assert mine.Point.length.__doc__ == "The length."
    assert mine.counter.__code__.co_firstlineno == real.counter.__code__.co_firstlineno
    step = mine.counter()
    assert (step(), step(3)) == (1, 4)
    assert mine.globals_(5) == {"x": 5}
    assert mine.total == 5
    child = mine.Child.of(1.0)
    assert child.both() == pytest.approx(2 * math.sin(1.0))
    assert (child.double, mine.Child.static(1), child.y) == (2.0, 2, 1)
    x: Any = np.array(1.0).requires_grad_()
    mine.Child(x, y=x).both().backward()
    assert x.grad.item() == pytest.approx(2 * math.cos(1.0))
    with pytest.raises(StopIteration):
        mine.later(1).send(None)


def test_lines_of_errors_are_those_of_the_source(write: Write) -> None:
    name = write({"PKG.py": "def f(x):\n    # one\n    y = float(x)\n    return y / (y - y)\n"})
    with pytest.raises(ZeroDivisionError) as caught:
        np.adopt(name).f(1.0)
    last = caught.traceback[-1]
    assert last.lineno == 3
    assert str(last.path).endswith(f"{name}.py")
    assert "return y" in str(last.statement)


def test_transforms(write: Write) -> None:
    name = write(
        {
            "PKG.py": """
            import math
            import numpy as np

            def f(x):
                return np.array([math.sin(x[0]) * x[1], math.hypot(*x), x[0].item() ** 2])
            """
        }
    )
    f = np.adopt(name).f
    x = np.array([0.5, 1.5])
    found = vt.func.jacfwd(f)(x)
    right = vt.func.jacrev(f)(x)
    numpy.testing.assert_allclose(found.numpy(), right.numpy(), rtol=1e-12)
    hypot = math.hypot(0.5, 1.5)
    rows = [[math.cos(0.5) * 1.5, math.sin(0.5)], [0.5 / hypot, 1.5 / hypot], [1.0, 0.0]]
    numpy.testing.assert_allclose(found.numpy(), rows, rtol=1e-12)
    both = numpy.stack([[0.5, 1.5], [0.25, 1.0]])
    batch = vt.func.vmap(f)(np.array(both))
    real = [importlib.import_module(name).f(row) for row in both]
    numpy.testing.assert_allclose(batch.numpy(), real, rtol=1e-12)


# -- functions -----------------------------------------------------------------------------------


def a_function(x: Any, y: float = 2.0) -> Any:
    values = numpy.sin(x)
    values[0] = math.exp(x[1])
    return numpy.sum(values) * y


class AClass:
    @staticmethod
    def inner(x: Any) -> Any:
        return math.sin(x)

    def method(self) -> None:
        raise NotImplementedError


def test_a_function_and_a_class_of_this_module() -> None:
    mine = np.adopt(a_function)
    assert mine is not a_function
    assert mine.__module__ != __name__
    check(mine, a_function, [0.5, 1.5, 2.0])
    assert np.adopt(mine) is mine
    check(np.adopt(AClass).inner, math.sin, 0.5)
    check(np.adopt(AClass.inner), math.sin, 0.5)


def test_a_function_of_a_package_and_a_decorator(write: Write) -> None:
    name = write(
        {
            "PKG/__init__.py": "from .part import f, g\n",
            "PKG/part.py": """
            import functools
            import math
            from vtgrad.numpy import adopt

            def twice(function):
                @functools.wraps(function)
                def inner(x):
                    return 2 * function(x)
                return inner

            @adopt
            def f(x):
                return math.sin(x)

            @twice
            def g(x):
                return math.sin(x)
            """,
        }
    )
    real = importlib.import_module(name)
    check(real.f, math.sin, 0.5)
    check(np.adopt(real.g), real.g, 0.5)
    with pytest.raises(ArgumentValueError, match="another object"):
        np.adopt(real.g.__wrapped__)
    mine = np.adopt(real)
    assert isinstance(mine, types.ModuleType)
    assert np.adopt(mine) is mine
    check(mine.g, real.g, 0.5)


def test_what_cannot_be_adopted(write: Write) -> None:
    def inside(x: Any) -> Any:
        return x

    for target in (inside, lambda x: x):
        with pytest.raises(ArgumentValueError, match="inside a function"):
            np.adopt(target)
    wrongs: list[Any] = [math.sin, 3, sys.path.append, AClass().method]
    for wrong in wrongs:
        with pytest.raises(ArgumentTypeError):
            np.adopt(wrong)
    with pytest.raises(ArgumentValueError, match="numpy"):
        np.adopt(numpy.sin)
    for name in ("numpy.linalg", "math", "vtgrad.numpy", "sys", ""):
        with pytest.raises(ArgumentValueError):
            np.adopt(name)
    with pytest.raises(ArgumentTypeError, match="lists of names"):
        np.adopt("colorsys", also="numpy")
    for name in ("itertools", "_json"):
        with pytest.raises(NotSupportedError, match="no source"):
            np.adopt(name)
    name = write({"PKG.py": "import vtgrad.numpy\nagain = vtgrad.numpy.adopt('PKG')\n"})
    with pytest.raises(NotSupportedError, match="own source"):
        np.adopt(name)


@needs_global_lock
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_child_of_a_fork_keeps_no_call_of_another_thread(write: Write) -> None:
    """Else a new thread that gets its number would not enter a call of its own."""
    name = write({"PKG.py": "def run(block):\n    return block()\n"})
    begun, over = threading.Event(), threading.Event()

    def block() -> None:
        begun.set()
        over.wait()

    adopted = np.adopt(name)
    numbers = typing.cast("set[int]", entries(rewind=True)["threads"])
    other = threading.Thread(target=adopted.run, args=(block,))
    other.start()
    begun.wait()

    def forked() -> int:
        child = os.fork()
        if child == 0:
            os._exit(0 if numbers == {threading.get_ident()} else 1)
        return os.waitpid(child, 0)[1]

    try:
        assert other.ident in numbers
        assert adopted.run(forked) == 0
    finally:
        over.set()
        other.join()


def test_what_programs_ask_of_numbers(write: Write) -> None:
    name = write(
        {
            "PKG.py": """
            from collections.abc import Iterable, Sized
            import numpy as np

            def asked(x):
                return (
                    isinstance(x, Iterable),
                    isinstance(x, (Sized, str)),
                    isinstance(x, float | list),
                    isinstance(x, np.ndarray),
                    isinstance(x, object),
                    hasattr(x, "__len__"),
                    hasattr(x, "__iter__"),
                    hasattr(x, "__setitem__"),
                    hasattr(x, "__float__"),
                    hasattr(x, "shape"),
                    hasattr(x, "nothing"),
                )
            """
        }
    )
    mine = np.adopt(name)
    real = importlib.import_module(name)
    x = np.array([1.5, 2.0]).requires_grad_()
    for number in (x[0], x[0].detach()[()]):
        assert mine.asked(number) == real.asked(numpy.float64(1.5))
    assert mine.asked(x) == real.asked(numpy.array([1.5, 2.0]))


def test_objects_that_answer_for_themselves(write: Write) -> None:
    name = write(
        {
            "PKG.py": r"""
            # Python warns of this text when it compiles the module; a copy is silent.
            TEXT = "\m"

            class Wrapper:
                def __init__(self, value):
                    self.value = value

                def __getattribute__(self, name):
                    if name == "__class__":
                        return type("Other", (), {})
                    return super().__getattribute__(name)

            def value_of(wrapper):
                return wrapper.value
            """
        }
    )
    mine = np.adopt(name)
    assert mine.value_of(mine.Wrapper(2.0)) == 2.0


@needs_global_lock
def test_threads_that_adopt_at_once_leave_the_warnings_as_they_were(write: Write) -> None:
    text = "def f(x):\n" + "".join(f"    x = x + {nr}\n" for nr in range(300)) + "    return x\n"
    names = [write({"PKG.py": text}) for _ in range(8)]
    before = (list(warnings.filters), warnings.showwarning)
    with ThreadPoolExecutor(8) as pool:
        copies = list(pool.map(np.adopt, names))
    assert (list(warnings.filters), warnings.showwarning) == before
    assert [copy.f(1.0) for copy in copies] == [44851.0] * 8


def test_patterns_of_classes(write: Write) -> None:
    name = write(
        {
            "PKG/__init__.py": "",
            "PKG/kinds.py": """
            import numpy as np

            class Pair:
                def __init__(self, a, b):
                    self.a, self.b = a, b

            def by_number(x):
                match x:
                    case float():
                        return x * 2
                    case [float() | int() as first, *_]:
                        return first * 4
                    case _:
                        return x * 3

            def by_type(x):
                match x:
                    case str():
                        return 0.0
                    case list() | np.ndarray():
                        return x[0] * 3
                    case Pair(a=a, b=b):
                        return a * b
                    case _:
                        return x * 2

            def by_value(x):
                match "twice", x:
                    case ("twice", y):
                        return y * 2
            """,
        }
    )
    mine, real = np.adopt(f"{name}.kinds"), importlib.import_module(f"{name}.kinds")
    for given in (1.5, [1.5, 2.5]):
        check(mine.by_type, real.by_type, given)
        check(mine.by_value, real.by_value, given)
    x = np.array(1.5).requires_grad_()
    assert mine.by_type(mine.Pair(x, x)).item() == 2.25
    assert mine.by_type("a") == 0.0
    # Python itself asks whether a scalar is a float, and it would go the other way.
    for refused in (x, [x]):
        with pytest.raises(NotSupportedError, match=r"class float.*isinstance"):
            mine.by_number(refused)
    assert (mine.by_number(1.5), mine.by_number([2]), mine.by_number(1)) == (3.0, 8, 3)
