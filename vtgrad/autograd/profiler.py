"""The profile of a block of a program, under PyTorch's names."""

from __future__ import annotations

from ..profiler.event_list import EventList as EventList
from ..profiler.events import FunctionEvent as FunctionEvent
from ..profiler.events import FunctionEventAvg as FunctionEventAvg
from ..profiler.events import Interval as Interval
from ..profiler.profile import profile as profile
from ..profiler.profile import record_function as record_function

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "profile",
    "record_function",
]
