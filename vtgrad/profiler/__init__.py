"""Profiles: how long operators and nodes take, and what memory they use."""

from vtgrad.profiler.profile import record_function as record_function
from vtgrad.profiler.schedule import ProfilerAction as ProfilerAction
from vtgrad.profiler.schedule import ProfilerActivity as ProfilerActivity
from vtgrad.profiler.schedule import profile as profile
from vtgrad.profiler.schedule import schedule as schedule

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
]
