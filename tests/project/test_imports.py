"""Imports are seen at the head of a file, and never reach for the links.

That they go down the layers, `make lint` checks.
"""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import resolve_name

import pytest

import vtgrad as vt
from tests.project.tree import ROOT, dotted_name, parsed, parsed_files_with, python_files
from vtgrad.later import FUNCTIONS, METHODS

# One process reads the files for all of them.
pytestmark = pytest.mark.xdist_group("imports")

# (importing module, imported name): why the import may stand inside a function.
INSIDE_FUNCTIONS: dict[tuple[str, str], str] = {}

# What ``import vtgrad`` does not load, because it takes long: parts of its own that not every
# program needs, and modules of others that NumPy does not load by itself.
NOT_LOADED = (
    "vtgrad.autograd.batched_grads",
    "vtgrad.autograd.forward_ad",
    "vtgrad.autograd.functional",
    "vtgrad.autograd.gradcheck.first_order",
    "vtgrad.autograd.graph",
    "vtgrad.autograd.profiler",
    "vtgrad.autograd.save_to_disk",
    "vtgrad.codegen",
    "vtgrad.demo",
    "vtgrad.distributed",
    "vtgrad.fft",
    "vtgrad.func",
    "vtgrad.function",
    "vtgrad.interpolate",
    "vtgrad.jit",
    "vtgrad.later.covariances",
    "vtgrad.later.short_time",
    "vtgrad.linalg",
    "vtgrad.nn",
    "vtgrad.numpy",
    "vtgrad.optim",
    "vtgrad.overrides",
    "vtgrad.ops.generated.forward_formulas",
    "vtgrad.ops.rules.batches.by_family",
    "vtgrad.ops.rules.patterns",
    "vtgrad.ops.rules.tangents",
    "vtgrad.profiler",
    "vtgrad.signal",
    "vtgrad.special",
    "vtgrad.testing",
    "vtgrad.utils.checkpoint",
    "vtgrad.viz",
    "argparse",
    "concurrent.futures",
    "dataclasses",
    "decimal",
    "fractions",
    "hashlib",
    "html",
    "hypothesis",
    "json",
    "logging",
    "multiprocessing",
    "numpy.random",
    "numpy.testing",
    "pathlib",
    "random",
    "secrets",
    "subprocess",
    "tempfile",
    "traceback",
    "unittest",
    "urllib",
    "yaml",
    # What users import beside `vtgrad` itself is written on top of it, as users would write it.
)
ABOVE_THE_PACKAGE = ("vtgrad.demo", "vtgrad.testing")


def imports_of(tree: ast.Module, package: str) -> Iterator[tuple[bool, str]]:
    """Every import: whether it is inside a function, and the absolute name of the module.

    ``package`` is the package that relative imports start from.
    """
    for node, inside in _statements(tree, inside=False):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield inside, alias.name
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            yield inside, resolve_name(name, package)


# What has statements in it: no expression has, and most nodes of a tree are expressions.
_BLOCKS = (ast.mod, ast.stmt, ast.ExceptHandler, ast.match_case)


def _statements(block: ast.AST, inside: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Every statement of a block, however deep, and whether it is inside a function."""
    inside = inside or isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef)
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(block, part, ()):
            yield node, inside
            if isinstance(node, _BLOCKS):
                yield from _statements(node, inside)


@cache
def _imports() -> list[tuple[str, bool, str]]:
    """Every import of the package, with the name of the module that it stands in."""
    return [
        (dotted_name(path), inside, name)
        for path in python_files()
        for inside, name in imports_of(parsed(path), dotted_name(path.parent / "__init__.py"))
    ]


@pytest.mark.slow
def test_no_import_hides_in_a_function() -> None:
    found = {(module, name) for module, inside, name in _imports() if inside}
    # Equality: a reason for an import that is gone must go as well.
    assert found == set(INSIDE_FUNCTIONS)


@pytest.mark.slow
def test_layers_do_not_import_the_package_that_is_made_of_them() -> None:
    # `from vtgrad import Tensor` goes from any layer to the top of all, by way of the package.
    upwards = [
        module
        for module, _, name in _imports()
        if name == "vtgrad" and module != "vtgrad" and not module.startswith(ABOVE_THE_PACKAGE)
    ]
    assert upwards == []


@pytest.mark.slow
def test_packages_show_no_name_that_is_meant_for_the_interpreter() -> None:
    # `from __future__ import annotations` in a package would give users a `vt.annotations`.
    packages = {dotted_name(path) for path in python_files() if path.name == "__init__.py"}
    assert [m for m, _, name in _imports() if m in packages and name == "__future__"] == []


@pytest.mark.slow
def test_imports_do_not_go_through_the_links() -> None:
    through = [
        module for module, _, name in _imports() if name.split(".", 1)[0] in {"storage", "views"}
    ]
    assert through == []


def test_the_documentation_lists_the_layers_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (layers,) = [c["layers"] for c in contracts["contracts"] if c.get("containers") == ["vtgrad"]]
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = page.split("| --- | --- |\n")[1].split("\n\n")[0]
    rows = [re.findall("`([a-z_]+)`", row.split("|")[1]) for row in table.splitlines()]
    assert rows == [layer.split(" : ") for layer in layers]


@cache
def loaded_beside_numpy(statement: str) -> frozenset[str]:
    """The modules that a statement loads in an interpreter that has NumPy already."""
    program = (
        "import sys, numpy; before = set(sys.modules); "
        f"{statement}; print(*(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return frozenset(done.stdout.split())


# Each module takes a fifth of a millisecond to find and read. Raise this for what every program
# needs; all else is a tool, see Note [Tools come at first use].
MODULES = 417
# With NumPy 2.1, which loads eight fewer of them itself than NumPy 2.5.
OF_PYTHON = 21


def test_importing_the_package_loads_few_modules() -> None:
    loaded = loaded_beside_numpy("import vtgrad")
    own = {name for name in loaded if name.split(".")[0] == "vtgrad"}
    # The compiled files have one module in common, and the loops in C are one.
    assert 300 < len(own) <= MODULES + vt.__compiled__ + vt.__loops__, (
        "a module that no operator, write or backward runs is imported at its first use:"
        " see Note [Tools come at first use]; if it has to be loaded, raise MODULES"
    )
    assert len(loaded - own) <= OF_PYTHON


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = loaded_beside_numpy("import vtgrad")
    assert "vtgrad.tensor.tensor" in loaded
    assert [name for name in NOT_LOADED if name in loaded] == []


@pytest.mark.slow
def test_what_draws_is_loaded_at_the_first_draw() -> None:
    # Seeding is no draw, and a generator that has not drawn knows its seed.
    assert "numpy.random" not in loaded_beside_numpy("import vtgrad; vtgrad.manual_seed(3)")
    assert "numpy.random" in loaded_beside_numpy("import vtgrad; vtgrad.rand(3)")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import storage.geometry", [(False, "storage.geometry")]),
        ("def f():\n    from vtgrad import views", [(True, "vtgrad")]),
        ("class C:\n    import os", [(False, "os")]),
        ("if TYPE_CHECKING:\n    from . import x", [(False, "vtgrad.graph")]),
        ("from ..storage import x", [(False, "vtgrad.storage")]),
    ],
)
def test_imports_are_found_wherever_they_stand(
    source: str, expected: list[tuple[bool, str]]
) -> None:
    assert list(imports_of(ast.parse(source), "vtgrad.graph")) == expected


def test_only_users_are_told_the_grad_mode() -> None:
    """All else asks `is_recording`: in inference mode nothing is recorded in either grad mode."""
    asking = {
        dotted_name(path)
        for path, tree in parsed_files_with("is_grad_enabled")
        for node, _ in _statements(tree, inside=False)
        if isinstance(node, ast.ImportFrom | ast.Import)
        and any(alias.name == "is_grad_enabled" for alias in node.names)
    }
    assert asking == {
        "vtgrad",
        "vtgrad.autograd",
        "vtgrad.graph.grad_mode",
        "vtgrad.tensor.conversion_methods",
    }


# The calls that `tests/project/loaded_later.py` makes in each way, and that are not refused.
CALLS = {
    "plain": 600,
    "written": 250,
    "on_lane": 600,
    "backward": 450,
    "dual": 550,
    "batched": 550,
    "recorded_batch": 500,
    "traced": 400,
    "named": 400,
}


# The package is imported before its sources can be found: it may be an installed one, to which the
# generator of code is added, as in `tests/conftest.py`.
RUN_LOADED_LATER = """
import runpy, sys, vtgrad
sys.path.insert(0, sys.argv[1])
vtgrad.__path__.append(f"{sys.argv[1]}/vtgrad")
runpy.run_module("tests.project.loaded_later", run_name="__main__")
"""


@pytest.mark.slow
def test_no_operator_loads_a_module() -> None:
    """See Note [Tools come at first use]: a signal handler may run any of them."""
    run = subprocess.run(
        [sys.executable, "-c", RUN_LOADED_LATER, ROOT],
        check=True,
        capture_output=True,
        text=True,
    )
    later, calls = run.stdout.splitlines()
    assert later == ""
    made = {way: int(count) for way, _, count in (word.partition("=") for word in calls.split())}
    assert [way for way, count in CALLS.items() if made[way] < count] == []


# Ways to come by a tool, each of which may be the first. What it says must be true.
FIRST_USES = """
callable(vt.autograd.gradcheck)
callable(vt.autograd.gradgradcheck)
callable(module("vtgrad.autograd.gradcheck").gradcheck)
module("vtgrad.autograd.gradcheck.first_order").gradcheck is vt.autograd.gradcheck
callable(star("vtgrad.autograd")["gradcheck"])
" ".join(sorted(star("vtgrad.autograd.gradcheck"))[1:]) == "__builtins__ gradcheck gradgradcheck"
pickle.loads(pickle.dumps(vt.autograd.gradcheck)) is vt.autograd.gradcheck
callable(pickle.loads(b"cvtgrad.autograd.gradcheck\\ngradcheck\\n."))
{"gradcheck", "gradgradcheck", "profiler", "anomaly_mode"} <= set(dir(vt.autograd))
{"gradcheck", "gradgradcheck"} <= set(dir(sys.modules["vtgrad.autograd.gradcheck"]))
not hasattr(vt.autograd, "no_such_name") and not hasattr(vt.utils, "no_such_name")
"gradgradcheck" in pydoc.render_doc("vtgrad.autograd")
inspect.signature(vt.autograd.gradcheck).parameters["eps"].default == 1e-6
dict(inspect.getmembers(vt.autograd))["gradcheck"] is vt.autograd.gradcheck
importlib.reload(vt.autograd).gradcheck is vt.autograd.gradcheck
callable(vt.utils.checkpoint.checkpoint)
module("vtgrad.utils.checkpoint") is vt.utils.checkpoint
module("vtgrad.utils.checkpoint.loop").checkpoint_loop is vt.utils.checkpoint.checkpoint_loop
star("vtgrad.utils")["checkpoint"] is vt.utils.checkpoint
callable(pickle.loads(b"cvtgrad.utils.checkpoint\\ncheckpoint\\n."))
{"checkpoint", "swap"} <= set(dir(vt.utils))
"checkpoint" in pydoc.render_doc("vtgrad.utils")
callable(vt.func.sparse_jacobian) and callable(vt.func.sparsity_pattern)
module("vtgrad.func.sparsity.sparse_jacobian").sparse_jacobian is vt.func.sparse_jacobian
vt.func.ValueRead is star("vtgrad.func")["ValueRead"]
vt.func.sparsity_pattern(vt.sin, vt.ones(3)).passes("forward") == 1
importlib.reload(vt.func).SparsityPattern is vt.func.SparsityPattern
"sparse_jacobian" in dir(vt.func) and not hasattr(vt.func, "no_such_name")
callable(vt.vmap) and vt.vmap is vt.func.vmap
vt.func.vmap is star("vtgrad")["vmap"] is module("vtgrad.func.vmap").vmap
module("vtgrad.func").grad(vt.sum)(vt.ones(2)).tolist() == [1, 1]
pickle.loads(pickle.dumps(vt.vmap)) is vt.func.vmap
importlib.reload(vt.func).vmap is vt.vmap
"vmap" in dir(vt) and "func" in dir(vt) and "forward_ad" in dir(vt.autograd)
vt.autograd.forward_ad is star("vtgrad.autograd")["forward_ad"]
vt.autograd.forward_ad.dual_level is module("vtgrad.autograd.dual_tensors").dual_level
vt.autograd.grad(ROOT, LEAF, vt.ones(3, 2), True, is_grads_batched=True)[0].shape == (3, 2)
callable(vt.autograd.functional.jacobian)
module("vtgrad.autograd.functional.jacobian").jacobian is vt.autograd.functional.jacobian
vt.autograd.Function is vt.autograd.function.Function
module("vtgrad.function.function").Function is star("vtgrad.autograd")["Function"]
issubclass(vt.autograd.NestedIOFunction, vt.autograd.Function)
vt.autograd.graph is star("vtgrad.autograd")["graph"] is module("vtgrad.autograd.graph")
vt.autograd.Variable is module("vtgrad.autograd.variable").Variable
vt.autograd.variable.Variable is vt.autograd.Variable
vt.autograd.grad_mode.no_grad is vt.no_grad
isinstance(ROOT.grad_fn, vt.autograd.graph.Node)
vt.autograd.graph.save_to_disk is star("vtgrad.autograd.graph")["save_to_disk"]
module("vtgrad.autograd.dependencies").dependencies is vt.autograd.graph.dependencies
"dependencies" in dir(vt.autograd.graph) and not hasattr(vt.autograd.graph, "no_such_name")
vt.testing is module("vtgrad.testing")
vt.viz is module("vtgrad.viz")
vt.frombuffer(bytearray(2), dtype=vt.uint8).tolist() == [0, 0]
vt.from_dlpack is star("vtgrad")["from_dlpack"]
callable(vt.save) and callable(vt.load)
callable(vt.profiler.profile) and callable(vt.autograd.profiler.profile)
vt.cov is vt.Tensor.cov is module("vtgrad.later.covariances").cov
vt.ones(2).cov().item() == 0 and vt.Tensor.cov is vt.cov
star("vtgrad")["cov"] is vt.cov
pickle.loads(pickle.dumps(vt.Tensor.cov)) is vt.cov
pickle.loads(b"cvtgrad\\ncov\\n.") is vt.cov
list(inspect.signature(vt.ones(2).cov).parameters) == ["correction", "fweights", "aweights"]
"covariances of variables" in pydoc.render_doc(vt.Tensor.cov)
"corrcoef(input" in pydoc.plain(pydoc.render_doc(vt.Tensor))
type("Sub", (vt.Tensor,), {})(2).cov().shape == () and "cov" in dir(vt.Tensor)
dict(inspect.getmembers(vt.Tensor))["cov"] is vt.cov
not hasattr(vt, "no_such_name") and not hasattr(vt.Tensor, "no_such_name")
importlib.reload(vt).cov is vt.Tensor.cov
""".strip().splitlines()

# And these after each of them.
AFTERWARDS = """
callable(vt.autograd.gradcheck) and callable(vt.autograd.gradgradcheck)
callable(vt.utils.checkpoint.checkpoint)
callable(vt.func.sparse_jacobian) and callable(vt.autograd.functional.hessian)
vt.vmap(vt.sin)(vt.zeros(2)).tolist() == [0, 0]
vt.func.jvp(vt.exp, (vt.zeros(2),), (vt.ones(2),))[1].tolist() == [1, 1]
vt.autograd.grad(ROOT, LEAF, vt.ones(3, 2), True, is_grads_batched=True)[0].shape == (3, 2)
callable(vt.autograd.graph.save_to_disk) and vt.autograd.Function.__name__ == "Function"
vt.testing.__name__ == "vtgrad.testing" and vt.viz.__name__ == "vtgrad.viz"
vt.ones(2).cov().item() == vt.cov(vt.ones(2)).item() == 0
""".strip().splitlines()

EACH_FIRST = """
import importlib, inspect, os, pickle, pydoc, sys, types
from importlib import import_module as module
import vtgrad as vt

LEAF = vt.ones(2, requires_grad=True)
ROOT = LEAF * 1

def star(name):
    names = {}
    exec(f"from {name} import *", names)
    return names

def holds(use):
    try:
        return eval(use)
    except Exception as error:
        print(repr(error))
        return False

for first in FIRST_USES:
    child = os.fork()
    if child == 0:
        wrong = [use for use in [first, *AFTERWARDS] if not holds(use)]
        if wrong:
            print(first, "->", wrong, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="each way begins in a process of its own")
def test_a_tool_is_found_whatever_is_used_first() -> None:
    program = f"FIRST_USES = {FIRST_USES}\nAFTERWARDS = {AFTERWARDS}\n{EACH_FIRST}"
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.stdout, run.stderr) == ("", "")


BROKEN_OFF = """
import os, sys
import vtgrad as vt

def modules():
    return {name for name in sys.modules if name.startswith("vtgrad")}

def use():
    x = vt.zeros(2, dtype=vt.float64, requires_grad=True)
    assert vt.autograd.gradcheck(vt.sin, x)
    vt.utils.checkpoint.checkpoint(vt.sin, x, use_reentrant=False).sum().backward()
    assert x.grad.tolist() == [1, 1]
    assert x.cov().item() == vt.corrcoef(x + vt.ones(2)).nan_to_num().item() == 0
    assert vt.func.sparsity_pattern(vt.sin, x).passes("forward") == 1
    assert vt.autograd.functional.jacobian(vt.sin, x).shape == (2, 2)
    assert vt.vmap(vt.sin)(vt.zeros(2)).tolist() == [0, 0]
    assert vt.func.jvp(vt.exp, (x,), (vt.ones_like(x),))[1].tolist() == [1, 1]
    with vt.autograd.forward_ad.dual_level():
        vt.autograd.forward_ad.make_dual(x, vt.ones_like(x))
    assert vt.autograd.grad(x * 1, x, vt.ones(3, 2), is_grads_batched=True)[0].shape == (3, 2)

def use_broken_off(module):
    def trace(frame, event, argument):
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == module:
            frame.f_trace_lines = False
            return at_the_end
        return None

    def at_the_end(frame, event, argument):
        if event == "return":
            sys.settrace(None)
            raise KeyboardInterrupt
        return at_the_end

    sys.settrace(trace)
    try:
        use()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False

# Another process finds the modules, so that none is loaded here.
here, there = os.pipe()
if os.fork() == 0:
    before = modules()
    use()
    os.write(there, " ".join(sorted(modules() - before)).encode())
    os._exit(0)
os.close(there)
later = os.read(here, 1 << 16).decode().split()
assert len(later) > 60, later
for module in later[::5]:
    child = os.fork()
    if child == 0:
        assert use_broken_off(module)
        use()
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(module)
        os._exit(1)
"""


def test_what_is_named_later_is_defined_where_the_tables_say() -> None:
    for name, home in (FUNCTIONS | METHODS).items():
        module = import_module(home)
        assert name in module.__all__
        assert callable(getattr(module, name))
    assert list(FUNCTIONS) == sorted(FUNCTIONS)
    assert list(METHODS) == sorted(METHODS)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="each module is broken off in its own process")
def test_a_tool_works_after_its_first_use_was_broken_off() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BROKEN_OFF],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.stdout, run.stderr) == ("", "")


@pytest.mark.slow
def test_threads_may_use_a_tool_first_together() -> None:
    program = """
import sys, threading
import vtgrad as vt

sys.setswitchinterval(1e-6)
start, found = threading.Barrier(8), []

def use(nr):
    start.wait()
    x = vt.zeros(2, dtype=vt.float64, requires_grad=True)
    if nr % 4 == 1:
        found.append(vt.autograd.gradcheck(vt.sin, x))
    elif nr % 4 == 3:
        found.append((x.cov() if nr == 3 else vt.cov(x)).item() == 0)
    elif nr == 2:
        found.append(vt.vmap(vt.sin)(x).tolist())
    elif nr == 6:
        found.append(vt.func.jvp(vt.sin, (x,), (x,))[1].tolist())
    else:
        found.append(vt.utils.checkpoint.checkpoint(vt.sin, x, use_reentrant=False).tolist())

threads = [threading.Thread(target=use, args=(nr,)) for nr in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert found.count(True) == found.count([0.0, 0.0]) == 4
"""
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.slow
def test_packages_are_loaded_when_they_are_named() -> None:
    program = (
        "import vtgrad as vt, sys\n"
        "assert not {'vtgrad.viz', 'vtgrad.testing', 'vtgrad.profiler'} & set(sys.modules)\n"
        "x = vt.ones(2, requires_grad=True)\n"
        "assert 'digraph' in vt.viz.make_dot(x * 2).source\n"
        "assert vt.testing.checking.Rule is sys.modules['vtgrad.testing.checking'].Rule\n"
        "try:\n    vt.testing.no_such_name\nexcept AttributeError:\n    print('refused')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.stderr) == ("refused\n", "")


def test_the_state_of_threads_and_what_forks_call_have_one_place() -> None:
    """See Note [The state of a thread]: else a mode is not carried, or a lock is forgotten."""
    words = re.compile(
        r"\bthreading\.local\(|\(threading\.local\)|\blocal\(|os\.register_at_fork\("
    )
    found = {path.name for path in python_files() if words.search(path.read_text("utf-8"))}
    assert found == {"thread_state.py"}
