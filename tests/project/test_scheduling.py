"""`tests.scheduling` distributes the tests, forgets those that are done, and reports little."""

from types import SimpleNamespace
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling, LoadScopeScheduling

from tests.scheduling import Scheduler, report_less


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


def reported(**changed: object) -> dict[str, object]:
    passed = {"when": "setup", "outcome": "passed", "sections": [], "duration": 0.001}
    return {**passed, **changed}


def test_less_is_reported_but_nothing_that_is_shown() -> None:
    sent: list[tuple[str, object]] = []
    worker = SimpleNamespace(sendevent=lambda name, **contents: sent.append((name, contents)))
    report_less(worker)
    for nothing in (reported(), reported(when="teardown")):
        worker.sendevent("testreport", data=nothing)
    worker.sendevent("logstart", nodeid="test")
    assert sent == []
    shown = [
        reported(when="call"),
        reported(outcome="failed"),
        reported(outcome="skipped"),
        reported(when="teardown", outcome="failed"),
        reported(sections=[("Captured stdout", "text")]),
        reported(duration=1.0),
    ]
    for one in shown:
        worker.sendevent("testreport", data=one)
    worker.sendevent("runtest_protocol_complete", item_index=3)
    assert sent == [
        *[("testreport", {"data": one}) for one in shown],
        ("runtest_protocol_complete", {"item_index": 3}),
    ]


def test_the_processes_of_xdist_report_less(pytestconfig: pytest.Config) -> None:
    workers = [
        plugin
        for plugin in pytestconfig.pluginmanager.get_plugins()
        if type(plugin).__name__ == "WorkerInteractor"
    ]
    assert len(workers) == hasattr(pytestconfig, "workerinput")
    assert all("sendevent" in vars(worker) for worker in workers)
