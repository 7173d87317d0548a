"""Profiles: how long operators and nodes take, and what memory they use."""

from .profile import record_function as record_function
from .schedule import ProfilerAction as ProfilerAction
from .schedule import ProfilerActivity as ProfilerActivity
from .schedule import profile as profile
from .schedule import schedule as schedule

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
]
