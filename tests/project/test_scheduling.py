"""`tests.scheduling.Scheduler` is what distributes the tests, and forgets those that are done."""

from types import SimpleNamespace
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling, LoadScopeScheduling

from tests.scheduling import Scheduler


class _Ending:
    """A process that takes no more tests."""

    shutting_down = True


def scheduler_of(pytestconfig: pytest.Config, dist: str) -> object:
    config: Any = SimpleNamespace(getvalue=lambda name: {"dist": dist, "tx": ["2*popen"]}[name])
    return pytestconfig.hook.pytest_xdist_make_scheduler(config=config, log=None)


def test_groups_are_distributed_by_it(pytestconfig: pytest.Config) -> None:
    assert isinstance(scheduler_of(pytestconfig, "loadgroup"), Scheduler)
    assert not isinstance(scheduler_of(pytestconfig, "load"), Scheduler)


def test_it_changes_what_xdist_calls() -> None:
    assert "_reschedule" in vars(LoadScopeScheduling)
    assert issubclass(LoadGroupScheduling, LoadScopeScheduling)


def test_what_is_done_is_forgotten(pytestconfig: pytest.Config) -> None:
    scheduler: Any = scheduler_of(pytestconfig, "loadgroup")
    node = _Ending()
    scheduler.assigned_work[node] = {"a": {"1": True, "2": True}, "b": {"3": True, "4": False}}
    scheduler._reschedule(node)
    assert scheduler.assigned_work[node] == {"b": {"3": True, "4": False}}
