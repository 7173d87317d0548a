"""The profile of a block of a program, under PyTorch's names."""

from __future__ import annotations

from vtgrad.profiler.event_list import EventList as EventList
from vtgrad.profiler.events import FunctionEvent as FunctionEvent
from vtgrad.profiler.events import FunctionEventAvg as FunctionEventAvg
from vtgrad.profiler.events import Interval as Interval
from vtgrad.profiler.profile import profile as profile
from vtgrad.profiler.profile import record_function as record_function

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "profile",
    "record_function",
]
