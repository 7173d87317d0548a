"""What adopted programs import: NumPy, math and their own packages."""

from __future__ import annotations

import importlib
import importlib.machinery
import math
import sys
import threading
from typing import Any

import numpy
import pytest

import vtgrad.numpy as np
from tests.numpy.adopting import Write, check
from tests.support import needs_global_lock

# -- what is imported ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("imports", "body"),
    [
        ("import numpy as np", "np.sin(x) * np.sum(x)"),
        ("import numpy", "numpy.exp(x).mean()"),
        ("from numpy import sin, cos", "sin(x) * cos(x)"),
        ("from numpy import *", "sqrt(x) + log(x)"),
        ("import math", "math.sqrt(x[0]) * math.exp(x[1])"),
        ("from math import sqrt, pi", "sqrt(x[0] + pi) * x"),
        ("from math import *", "sin(x[0]) + atan2(x[1], x[0])"),
        ("import numpy as np, math as m", "np.array([m.sin(x[0]), 1.0, m.cos(x[1])])"),
        ("from numpy.core.umath import sqrt", "sqrt(x)"),
        ("import numpy._core.umath as um", "um.sqrt(x)"),
        ("np = __import__('numpy')", "np.sin(x)"),
        ("import importlib; np = importlib.import_module('numpy')", "np.sin(x)"),
        ("from importlib import import_module as im; m = im('math')", "m.sin(x[1])"),
        ("import sys, numpy; np = sys.modules['numpy']", "np.sin(x)"),
    ],
)
@pytest.mark.filterwarnings(r"ignore:numpy\.core:DeprecationWarning")
def test_imports(write: Write, imports: str, body: str) -> None:
    name = write({"PKG.py": f"{imports}\n\ndef f(x):\n    return {body}\n"})
    mine = np.adopt(name)
    assert name not in sys.modules
    check(mine.f, importlib.import_module(name).f, [0.5, 1.25])


def test_parts_of_numpy_are_the_namespaces_or_numpys(write: Write) -> None:
    name = write(
        {
            "PKG.py": """
            import numpy as np
            import numpy.linalg as la
            import numpy.random
            from numpy.linalg import LinAlgError
            from numpy import linalg
            from numpy.lib import stride_tricks
            from numpy.lib.stride_tricks import sliding_window_view

            error = None
            try:
                np.no_such_name
            except AttributeError as found:
                error = found
            """
        }
    )
    mine = np.adopt(name)
    assert mine.la is mine.linalg is mine.np.linalg
    assert mine.LinAlgError is numpy.linalg.LinAlgError
    assert mine.np is not numpy
    assert mine.np.ndarray is np.ndarray
    assert mine.np.float64 is np.float64
    assert mine.np.sin is np.sin
    assert mine.np.pi == numpy.pi
    assert mine.np.newaxis is None
    assert mine.np.__version__ == numpy.__version__
    assert mine.stride_tricks is mine.np.lib.stride_tricks
    assert "no_such_name" in str(mine.error)
    assert {"sin", "linalg"} <= set(dir(mine.np))


def test_what_a_program_assigns_to_numpy_and_math_stays_there(write: Write) -> None:
    name = write({"PKG.py": "import numpy, math\nnumpy.float = float\nmath.tau2 = 2\n"})
    mine = np.adopt(name)
    assert mine.numpy.float is float
    assert not hasattr(np, "float")
    assert not hasattr(np.adopt(name).math, "tau3")
    assert not hasattr(math, "tau2")


def test_a_missing_module_and_name(write: Write) -> None:
    name = write(
        {
            "PKG/__init__.py": "",
            "PKG/a.py": "from . import no_such_part",
            "PKG/b.py": "import PKG.no_such_part",
            "PKG/c.py": "from numpy import no_such_name",
            "PKG/d.py": "import numpy.no_such_part",
            "PKG/e.py": "from .no_such_part import x",
        }
    )
    for part in "abcde":
        with pytest.raises(ImportError, match=r"no_such"):
            np.adopt(f"{name}.{part}")
    with pytest.raises(ModuleNotFoundError, match="'no_such_module'"):
        np.adopt("no_such_module")
    parts = tuple([f"{name}.{part}" for part in "abcde"])
    assert not [x for x in sys.modules if x.startswith("_vtgrad") and x.endswith(parts)]


# -- packages ------------------------------------------------------------------------------------

PACKAGE = {
    "PKG/__init__.py": """
        from .core import f
        from . import tools
        __version__ = "1.0"
        """,
    "PKG/core.py": """
        import numpy as np
        from .tools import scale
        from .deep.inner import curve

        def f(x):
            return np.sum(curve(scale(x)) * x)
        """,
    "PKG/tools.py": """
        import math
        import PKG.core as core

        def scale(x):
            return x * math.exp(x[0])

        def back(x):
            return core.f(x)
        """,
    "PKG/deep/__init__.py": "from . import inner",
    "PKG/deep/inner.py": """
        import numpy as np
        from .. import tools
        from ..tools import math

        def curve(x):
            return np.tanh(x) + math.sin(x[1])
        """,
}


def test_a_package_with_circles_and_parts(write: Write) -> None:
    name = write(PACKAGE)
    mine = np.adopt(name)
    assert name not in sys.modules
    real = importlib.import_module(name)
    check(mine.f, real.f, [0.3, 0.7, 1.1])
    check(mine.tools.back, real.tools.back, [0.3, 0.7, 1.1])
    assert real.core.np is numpy
    assert real.tools.math is math
    assert mine.core is mine.tools.core
    assert mine.core is not real.core


@pytest.mark.parametrize("first", ["", ".core", ".tools", ".deep.inner"])
def test_a_part_brings_its_package(write: Write, first: str) -> None:
    name = write(PACKAGE)
    real = importlib.import_module(name)
    before = {x: vars(sys.modules[x]).copy() for x in sys.modules if x.startswith(name)}
    mine = np.adopt(name + first)
    assert mine.__name__ != name + first
    assert mine.__name__.endswith(name + first)
    assert sys.modules[mine.__name__] is mine
    assert mine.__file__ == sys.modules[name + first].__file__
    package = sys.modules[mine.__name__.partition(".")[0]]
    check(package.f, real.f, [0.3, 0.7, 1.1])
    after = {x: vars(sys.modules[x]).copy() for x in sys.modules if x.startswith(name)}
    assert before == after


def test_also_and_without(write: Write) -> None:
    helper = write({"PKG.py": "import math\n\ndef g(x):\n    return math.sin(x)\n"})
    text = f"""
        import {helper} as helper
        try:
            from . import _speedup
        except ImportError:
            _speedup = None
        try:
            from PKG._speedup import fast
        except ImportError as error:
            fast = error
        try:
            import colorsys
        except ImportError as error:
            colorsys = error
        try:
            from json import decoder
        except ImportError as error:
            decoder = error

        def f(x):
            return helper.g(x) * 2 if _speedup is None else _speedup.fast(x)
        """
    files = {"PKG/__init__.py": text, "PKG/_speedup.py": "def fast(x):\n    return 3 * x\n"}
    name = write(files)
    without = [f"{name}._speedup", "colorsys", "json.decoder"]
    mine = np.adopt(name, also=[helper], without=without)
    for error in (mine.fast, mine.colorsys, mine.decoder):
        assert isinstance(error, ImportError)
    assert f"No module named '{name}._speedup'" in str(mine.fast)
    x: Any = np.array(0.5).requires_grad_()
    mine.f(x).backward()
    assert x.grad.item() == pytest.approx(2 * math.cos(0.5))
    mine = np.adopt(name)
    assert mine.helper is sys.modules[helper]
    assert mine.f(2.0) == 6.0


def test_modules_that_enter_others_in_sys_modules(write: Write) -> None:
    name = write(
        {
            "PKG/__init__.py": """
            import sys
            from types import ModuleType
            made = ModuleType("PKG.made")
            made.value = 1
            sys.modules["PKG.made"] = made
            sys.modules["adopted_alien"] = made
            sys.modules[__name__ + ".second"] = made
            import PKG.made as again
            import adopted_alien
            from .second import value
            from . import proxy
            found = [sys.modules["PKG"], sys.modules[__name__], sys.modules.get("no_such")]
            names = [x in sys.modules for x in ("PKG", "PKG.made", "adopted_alien")]
            listed = [x for x in list(sys.modules) if x == "PKG.made"]
            del sys.modules["adopted_alien"]
            gone = "adopted_alien" in sys.modules
            modules = len(sys.modules)
            """,
            "PKG/proxy.py": """
            import sys

            class Proxy:
                value = 5

            sys.modules[__name__] = Proxy()
            """,
        }
    )
    mine = np.adopt(name)
    assert name not in sys.modules
    assert f"{name}.made" not in sys.modules
    assert "adopted_alien" not in sys.modules
    assert mine.made is mine.again is mine.adopted_alien
    assert mine.value == 1
    assert mine.proxy.value == 5
    assert mine.found == [mine, mine, None]
    assert mine.names == [True, True, True]
    assert mine.listed == [f"{name}.made"]
    assert not mine.gone
    assert mine.modules > 10


def test_sys_is_everybodys_but_for_its_modules(write: Write) -> None:
    name = write(
        {
            "PKG.py": """
            import sys
            from sys import path
            import importlib.util
            sys.adopted_mark = 1
            """
        }
    )
    mine = np.adopt(name)
    try:
        assert sys.adopted_mark == 1  # type: ignore[attr-defined]  # set by the copy
    finally:
        del mine.sys.adopted_mark
    assert not hasattr(sys, "adopted_mark")
    assert mine.path is sys.path
    assert mine.sys.stdout is sys.stdout
    assert mine.importlib.util is importlib.util
    assert mine.importlib is not importlib


def test_nothing_is_left_of_a_package_that_fails(write: Write) -> None:
    name = write(
        {
            "PKG/__init__.py": "from . import good, bad\n",
            "PKG/good.py": "import numpy\n",
            "PKG/bad.py": "import numpy\n1 / 0\n",
            "PKG/wrong.py": "def f(:\n",
        }
    )
    before = set(sys.modules)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            np.adopt(name)
    assert {x for x in set(sys.modules) - before if "adopted" in x} == set()


def test_a_part_that_fails_leaves_its_package_as_it_was(write: Write) -> None:
    name = write(
        {
            "PKG/__init__.py": """
            bad = 7
            try:
                import PKG.bad
            except ZeroDivisionError:
                pass
            try:
                from . import worse
            except SyntaxError:
                pass
            """,
            "PKG/bad.py": "1 / 0\n",
            "PKG/worse.py": "def f(:\n",
        }
    )
    mine = np.adopt(name)
    assert mine.bad == 7
    assert not hasattr(mine, "worse")
    assert not [x for x in sys.modules if x.startswith(f"{mine.__name__}.")]


def test_imports_at_the_first_call_and_by_name(write: Write) -> None:
    name = write(
        {
            "PKG/__init__.py": """
            import importlib

            def late(x):
                from .part import f
                return f(x)

            def named(x):
                return importlib.import_module("PKG.part").f(x)

            def relative(x):
                return importlib.import_module(".part", __package__).f(x)

            def __getattr__(key):
                if key == "lazy":
                    import PKG.part as lazy
                    return lazy
                raise AttributeError(key)
            """,
            "PKG/part.py": "import math\n\ndef f(x):\n    return math.sin(x)\n",
        }
    )
    mine = np.adopt(name)
    for f in (mine.late, mine.named, mine.relative, mine.lazy.f):
        check(f, math.sin, 0.5)
    assert name not in sys.modules


def test_namespace_packages_and_files_of_a_package(write: Write) -> None:
    name = write(
        {
            "PKG/part.py": """
            from importlib import resources
            import pkgutil
            from .other import numpy as np
            from .deep.far.inner import sin
            text = resources.files(__package__).joinpath("data.txt").read_text()
            """,
            "PKG/other.py": "import numpy\n",
            "PKG/deep/far/inner.py": "from math import sin\n",
            "PKG/data.txt": "hello",
        }
    )
    mine = np.adopt(f"{name}.part")
    assert mine.np.sin is np.sin
    assert mine.text == "hello"
    check(mine.sin, math.sin, 0.5)
    assert not [x for x in sys.modules if x.startswith(name)]


def test_modules_in_c(write: Write) -> None:
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    name = write(
        {
            "PKG/__init__.py": """
            from .compiled import f
            from _struct import pack
            try:
                from . import broken
            except ImportError as error:
                broken = error
            """,
            "PKG/compiled.py": "import math\n\ndef f(x):\n    return math.sin(x)\n",
            f"PKG/compiled{suffix}": "compiled from compiled.py",
            f"PKG/broken{suffix}": "no library",
        }
    )
    mine = np.adopt(name)
    check(mine.f, math.sin, 0.5)
    assert isinstance(mine.broken, ImportError)
    assert mine.pack is importlib.import_module("_struct").pack


@needs_global_lock
def test_threads_see_the_real_module(write: Write) -> None:
    name = write({"PKG.py": "import math\nimport time\ntime.sleep(0.05)\nfrom math import sin\n"})
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(importlib.import_module(name))),
        threading.Thread(target=lambda: found.append(np.adopt(name))),
        threading.Thread(target=lambda: found.append(np.adopt(name))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(x) for x in found}) == 3
    assert sum(x.math is math for x in found) == 1
    assert sys.modules[name].math is math
