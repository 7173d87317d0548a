"""Profiles of some steps of a loop."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from os import PathLike
from typing import Self

from vtgrad.errors import ArgumentTypeError, NotSupportedError, OptionValueError, ProfilerError
from vtgrad.profiler.event_list import EventList
from vtgrad.profiler.events import FunctionEvent, FunctionEventAvg
from vtgrad.profiler.profile import profile as block_profile
from vtgrad.profiler.profile import record_function
from vtgrad.storage.scope import Scope

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "schedule"]


class ProfilerAction(enum.Enum):
    """What a scheduled profile does in a step.

    Attributes
    ----------
    NONE, WARMUP : ProfilerAction
        Nothing is recorded; there is nothing to warm up.
    RECORD : ProfilerAction
        The step is recorded.
    RECORD_AND_SAVE : ProfilerAction
        The step is recorded, and then the events are given to `on_trace_ready`.

    Examples
    --------
    >>> vt.profiler.schedule(wait=0, warmup=0, active=1)(0).name
    'RECORD_AND_SAVE'
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerActivity(enum.Enum):
    """What a profile records.

    Attributes
    ----------
    CPU : ProfilerActivity
        What runs on the CPU, which is all.

    Examples
    --------
    >>> with vt.profiler.profile(activities=[vt.profiler.ProfilerActivity.CPU]) as p:
    ...     x = vt.ones(2)
    >>> len(p.events())
    1
    """

    CPU = 0


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], ProfilerAction]:
    """Which steps are recorded: cycles of steps that wait, warm up and are recorded.

    Parameters
    ----------
    wait, warmup : int
        The number of steps of a cycle in which nothing is recorded.
    active : int
        The number of steps that are recorded then.
    repeat : int, default 0
        The number of cycles; 0 for no end.
    skip_first : int, default 0
        The number of steps before the first cycle.

    Returns
    -------
    callable
        Gives the `ProfilerAction` of the step of a number, from 0 on.

    Raises
    ------
    OptionValueError
        If a number is negative, or `active` is 0.

    Examples
    --------
    >>> action = vt.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [action(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise OptionValueError("the counts of a schedule are not negative, and active is positive")
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        """The action of a step."""
        if step < 0:
            raise OptionValueError(f"steps are counted from 0 on, not from {step}")
        cycle, place = divmod(step - skip_first, length)
        if step < skip_first or (repeat and cycle >= repeat) or place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        last = place == length - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action


class profile(Scope):  # PyTorch's name
    """Measure a block, or those of its steps that a schedule names.

    Parameters
    ----------
    activities : iterable of ProfilerActivity, optional
        What is recorded; there is one activity.
    schedule : callable, optional
        Gives the action of each step, see `vtgrad.profiler.schedule`; without it the whole block is
        recorded.
    on_trace_ready : callable, optional
        Called with this profile whenever recorded steps are complete.
    record_shapes, profile_memory, with_stack, with_flops : bool, default False
        As in `vtgrad.autograd.profiler.profile`.

    Attributes
    ----------
    step_num : int
        The number of the present step.
    current_action : ProfilerAction
        What is done in it.

    Raises
    ------
    NotSupportedError
        If there is an activity that is none of `ProfilerActivity`.
    ArgumentTypeError
        If `schedule` gives something else for a step.
    ProfilerError
        When it is entered, if it was entered before, or the thread is being profiled.

    Examples
    --------
    >>> counts = []
    >>> with vt.profiler.profile(
    ...     schedule=vt.profiler.schedule(wait=1, warmup=0, active=2, repeat=1),
    ...     on_trace_ready=lambda p: counts.append(len(p.events())),
    ... ) as p:
    ...     for _ in range(5):
    ...         x = vt.ones(2) * 2
    ...         p.step()
    >>> counts  # two steps, each with its two operators
    [6]
    """

    __slots__ = (
        "_entered",
        "_new",
        "_open_step",
        "_over",
        "_recorded",
        "_running",
        "_schedule",
        "current_action",
        "on_trace_ready",
        "step_num",
    )

    step_num: int
    current_action: ProfilerAction
    on_trace_ready: Callable[[profile], object] | None
    _entered: bool
    _new: Callable[[], block_profile]
    # The event of the present step, and the profile of the last recorded steps.
    _open_step: record_function | None
    _recorded: block_profile | None
    _over: bool
    _running: bool
    _schedule: Callable[[int], ProfilerAction] | None

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], object] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
    ) -> None:
        super().__init__()
        for activity in activities or ():
            if activity is not ProfilerActivity.CPU:
                raise NotSupportedError(f"no activity {activity!r} is recorded", activity=activity)
        self._schedule = schedule
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self._action()
        self._new = lambda: block_profile(
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
        )
        self._entered = False
        self._open_step = None
        self._over = False
        self._recorded = None
        self._running = False

    def _action(self) -> ProfilerAction:
        chosen = self._schedule
        if chosen is None:
            return ProfilerAction.RECORD_AND_SAVE
        action: object = chosen(self.step_num)
        if not isinstance(action, ProfilerAction):
            raise ArgumentTypeError(
                f"a schedule gives a ProfilerAction for each step, not {action!r}",
                step=self.step_num,
            )
        return action

    def __enter__(self) -> Self:
        self.start()
        return self

    def start(self) -> None:
        """Begin the first step.

        Raises
        ------
        ProfilerError
            If it was started before, or the thread is being profiled.
        """
        if self._entered:
            raise ProfilerError("a profile is of one block; make another object for another block")
        self._entered = True
        try:
            self._begin_step()
        except BaseException:
            self._abandon()
            raise

    def stop(self) -> None:
        """End the last step, and hand over what is recorded."""
        try:
            self.restore()
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """End the recording after an error or an interrupt, and hand over nothing."""
        self._over, self._running = True, False
        if self._recorded is not None:
            self._recorded.restore()

    def step(self) -> None:
        """End a step and begin the next.

        Raises
        ------
        ProfilerError
            Outside of the block.
        """
        if not self._entered or self._over:
            raise ProfilerError("step() is called within the block of a profile")
        before = self.current_action
        self._end_step()
        self.step_num += 1
        self.current_action = self._action()
        if self._running and (
            before is ProfilerAction.RECORD_AND_SAVE or self.current_action not in _RECORDING
        ):
            self._hand_over()
        self._begin_step()

    def _begin_step(self) -> None:
        if self.current_action in _RECORDING and not self._running:
            self._running = True
            self._recorded = self._new()
            self._recorded.__enter__()
        if self._schedule is not None:
            # Only a block that is open is left; the end of the profile ends an event without one.
            self._open_step = record_function(f"ProfilerStep#{self.step_num}").__enter__()

    def _end_step(self) -> None:
        step, self._open_step = self._open_step, None
        if step is not None:
            step.__exit__(None, None, None)

    def _hand_over(self) -> None:
        """End the recording."""
        if self._recorded is not None:
            self._recorded.restore()
        self._running = False
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def restore(self) -> None:
        """End the profile; called again if the call is interrupted."""
        self._over = self._entered
        if self._running:
            self._end_step()
            self._hand_over()

    def events(self) -> EventList[FunctionEvent]:
        """The events of the last recorded steps.

        Returns
        -------
        EventList
            In the order in which they began.

        Raises
        ------
        ProfilerError
            If nothing is recorded yet.
        """
        return self._last().function_events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0
    ) -> EventList[FunctionEventAvg]:
        """Sums over the events of one name; see `EventList.key_averages`.

        Parameters
        ----------
        group_by_input_shape : bool, default False
            Whether events with arguments of different shapes are kept apart.
        group_by_stack_n : int, default 0
            The number of the user's lines by which events are kept apart.

        Returns
        -------
        EventList
            One average for each name.

        Raises
        ------
        ProfilerError
            If nothing is recorded yet.
        """
        return self._last().key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: str | PathLike[str]) -> None:
        """Write a trace of the last recorded steps; see `EventList.export_chrome_trace`.

        Parameters
        ----------
        path : str or path-like
            The file; compressed if the name ends in ``.gz``.

        Raises
        ------
        ProfilerError
            If nothing is recorded yet.
        OSError
            If the file cannot be written.
        """
        self._last().export_chrome_trace(path)

    def _last(self) -> block_profile:
        if self._recorded is None:
            raise ProfilerError("no step is recorded yet")
        return self._recorded
