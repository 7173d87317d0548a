"""Distribution of tests over processes that takes little time for each of thousands of tests."""

from collections.abc import Mapping
from typing import Any, Final

from xdist.scheduler import LoadGroupScheduling

__all__ = ["Scheduler", "report_less"]

#: Only a verbose run shows these, which is one of a single process.
_UNREAD: Final = ("logstart", "logfinish")

#: A preparation of more seconds is shown by ``--durations``.
_SHORT: Final = 0.005


class Scheduler(LoadGroupScheduling):
    """The scheduler of ``--dist=loadgroup``, without what is done.

    After each test xdist's own counts what is pending among all tests that a process has had. In a
    run of 22,000 this takes 20 seconds of processor time, beside two processes on two cores.
    """

    def _reschedule(self, node: object) -> None:
        work = self.assigned_work[node]
        for scope in [scope for scope, tests in work.items() if all(tests.values())]:
            del work[scope]
        super()._reschedule(node)


def report_less(worker: Any) -> None:
    """Let a process of xdist report of a test that passed nothing but that.

    The beginning and the end of each test, and of each preparation and each clean-up, are messages
    of their own, which the other end reads, makes objects of, and gives to all plugins.
    """
    send = worker.sendevent

    def sendevent(name: str, **contents: Any) -> None:
        if name not in _UNREAD and not (name == "testreport" and _is_nothing(contents["data"])):
            send(name, **contents)

    worker.sendevent = sendevent


def _is_nothing(report: Mapping[str, Any]) -> bool:
    """Whether it is of a preparation or a clean-up of which there is nothing to say."""
    return (
        report["when"] != "call"
        and report["outcome"] == "passed"
        and not report["sections"]
        and report["duration"] < _SHORT
    )
