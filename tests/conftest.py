"""What every test shares: profiles of Hypothesis, what is collected where, who runs it.

The profile is chosen by the environment variable ``HYPOTHESIS_PROFILE``:

``dev``
    The default: new random programs on every run, as many as one likes to wait for.
``quick``
    Few examples, for ``make quick``.
``ci``
    Many examples, the same ones on every run: a red build is red for what changed.
``thorough``
    For a night: as many as the machine can do.
"""

import gc
import importlib.util
import itertools
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import junkdrawer, providers

import vtgrad
from tests.collecting import put_aside, take_away_seen_members
from tests.scheduling import Scheduler, report_less

# No deadlines and no complaint about slow generation: both measure the machine's other
# guests, and `benchmarks/` is where speed is looked at.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("dev", _COMMON, max_examples=50)
settings.register_profile("quick", _COMMON, max_examples=10, derandomize=True, database=None)
settings.register_profile(
    "ci", _COMMON, max_examples=200, derandomize=True, database=None, print_blob=True
)
settings.register_profile("thorough", _COMMON, max_examples=5_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# Hypothesis likes to draw the constants that it finds in all modules loaded so far. The same
# programs on every run then depend on which tests ran before, and on every number in the sources.
if settings().derandomize and hasattr(providers, "_get_local_constants"):
    _NONE = providers._local_constants.__class__()
    vars(providers)["_get_local_constants"] = lambda: _NONE

# Hypothesis measures the collector's time, for deadlines. An interrupt that a test sends would be
# lost in its callback, as all exceptions are that arise while the collector runs.
assert not junkdrawer._gc_initialized
vars(junkdrawer)["_gc_initialized"] = True

# Of the tests that this process has begun.
_NUMBERS = itertools.count(1)

# The comparison with PyTorch runs in an environment of its own (`make oracle`), where an
# empty collection is a failure. So do the programs of others (`make adopted`).
_NEEDED = {"oracle": "torch", "adopted": "numpy_financial"}
collect_ignore = [
    folder for folder, package in _NEEDED.items() if importlib.util.find_spec(package) is None
]

# An installed package has no generator of code. Tests that read its tables find it in the sources.
if importlib.util.find_spec("vtgrad.codegen") is None:
    vtgrad.__path__.append(str(Path(__file__).resolve().parents[1] / "vtgrad"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Scheduler | None:
    """Distribute the groups of ``--dist=loadgroup``."""
    return Scheduler(config, log) if config.getvalue("dist") == "loadgroup" else None


def pytest_sessionstart(session: pytest.Session) -> None:
    """In each process that runs tests for another."""
    for plugin in session.config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            report_less(plugin)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without garbage collections: what is made by then stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Before the first test."""
    put_aside()


@pytest.hookimpl
def pytest_runtest_logstart() -> None:
    """Before each test: what many tests have left is put aside too."""
    if next(_NUMBERS) % 50 == 0:
        put_aside()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """After the last test of a file, or before the process goes on with another one."""
    if nextitem is None or nextitem.path != item.path:
        take_away_seen_members()
