"""Stories: what a program does to memory, step by step."""

from __future__ import annotations

import inspect
import linecache
import sys
import traceback
from bisect import bisect_left
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import get_ident
from typing import ClassVar, Final, NamedTuple, NotRequired, Self, TypedDict

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, ProfilerError
from vtgrad.graph.observer import observers
from vtgrad.profiler.tables import adjust_tables
from vtgrad.storage.integers import index_of
from vtgrad.storage.recent_writes import CallSite
from vtgrad.storage.scope import ExitMethod, Scope, block_end
from vtgrad.viz.story_page import framed, page
from vtgrad.viz.story_recorder import RecordedStep, StoryRecorder
from vtgrad.viz.story_records import StoryKeys, StoryRecords, StoryWrite
from vtgrad.viz.story_words import filled, printable

__all__ = ["Story", "StoryData", "StoryStep", "story"]

# Lines of the source that are shown around those of steps.
_AROUND: Final = 4
_LIMIT: Final = 200
_FEWEST: Final = 4
# Functions of which a call only makes an object.
_RUN_LATER: Final = (
    inspect.isgeneratorfunction,
    inspect.iscoroutinefunction,
    inspect.isasyncgenfunction,
)


class StoryStep(NamedTuple):
    """One step of a story.

    Attributes
    ----------
    kind : str
        "start", "operator", "view", "write", "save" (a node keeps values), "rebuild" (of a stale
        ``grad_fn``), "backward" (a node runs), "grad" (gradients are stored), "refusal" (an error
        of the library) or "error" (any other).
    text : str
        What happens, in a sentence.
    place : CallSite or None
        The user's line.
    changed : StoryRecords
        What is new or different after the step: storages, tensors, saved values and nodes by key.
    gone : StoryKeys
        The keys of what is there no longer.
    writes : tuple of StoryWrite
        The elements that the step writes.

    Examples
    --------
    >>> x = vt.zeros(3)
    >>> step = vt.viz.story(lambda x: x[1:].add_(1), x).steps[-1]
    >>> step.kind, step.writes
    ('write', ({'storage': 's0', 'runs': [[1, 3, 1]]},))
    """

    kind: str
    text: str
    place: CallSite | None
    changed: StoryRecords
    gone: StoryKeys
    writes: tuple[StoryWrite, ...]

    def __str__(self) -> str:
        where = ""
        if self.place is not None:
            name = printable(Path(self.place.filename).name)
            where = f"  ({name}:{self.place.lineno})"
        return f"{self.kind:8}  {self.text}{where}"


class SourceFile(TypedDict):
    """Lines of a file that a story shows, by their numbers."""

    name: str
    lines: dict[str, str]


class StepData(TypedDict):
    """A step in `StoryData`, with the fields of `StoryStep`.

    The first of the writes is there alone, too.
    """

    kind: str
    text: str
    file: int | None
    line: int | None
    set: StoryRecords
    gone: StoryKeys
    write: NotRequired[StoryWrite]
    writes: NotRequired[list[StoryWrite]]


class StoryData(TypedDict):
    """A story as values of JSON; see `Story.data`."""

    title: str
    files: list[SourceFile]
    steps: list[StepData]
    left_out: dict[str, int]


class Story(Scope):
    """What a program does to memory, step by step; made by `vtgrad.viz.story`.

    A notebook shows it as a page with a slider, `save` writes this page into a file, and `print`
    gives the steps as text.

    Attributes
    ----------
    title : str
        The name of the program.
    error : Exception or None
        What ended the program that `vtgrad.viz.story` called. Local variables of its traceback are
        cleared, so that it keeps no tensor alive.

    Examples
    --------
    >>> x = vt.ones(3)
    >>> with vt.viz.story() as story:
    ...     y = x * 2
    >>> print(story)
      0  start     the program begins
      1  operator  mul(x, 2) makes y, float32 [3]  (...:2)
    """

    __slots__ = ("_given", "_recorder", "error", "title")

    title: str
    error: Exception | None
    # What the program is called with, and the names of its parameters.
    _given: tuple[Sequence[object], Sequence[str]]
    _recorder: StoryRecorder

    def __init__(self, title: str = "story", limit: int = _LIMIT) -> None:
        super().__init__()
        limit = index_of(limit, "limit")
        if not isinstance(title, str):
            raise ArgumentTypeError(
                f"argument 'title' must be a text, not {type(title).__name__}", argument="title"
            )
        if limit < _FEWEST:
            raise ArgumentValueError(
                f"a story has at least {_FEWEST} steps, so limit cannot be {limit}",
                argument="limit",
            )
        self.title = printable(title)
        self.error = None
        self._given = (), ()
        self._recorder = StoryRecorder(limit)

    def __enter__(self) -> Self:
        if self._recorder.steps:
            raise ProfilerError("a story is of one block; make another object for another block")
        ident = get_ident()
        if ident in observers:
            raise ProfilerError("this thread is observed already, by a profile or another story")
        given, self._given = self._given, ((), ())
        self._recorder.start(*given)
        observers[ident] = self._recorder
        adjust_tables()
        return self

    def run(self, function: Callable[..., object], arguments: Sequence[object]) -> None:
        """Call a function, and tell what it does.

        Parameters
        ----------
        function : callable
            The program.
        arguments : sequence of object
            What it is called with.
        """
        self._given = arguments, _parameters(function)
        handled = sys.exception()
        with self:
            try:
                function(*arguments)
            except Exception as raised:  # noqa: BLE001  # it is the last step, and kept in `error`
                self.error = raised
        if self.error is not None:
            _clear(self.error, handled)

    def restore(self) -> None:
        """End the story; called again if the call is interrupted."""
        for ident in [k for k, observer in tuple(observers.items()) if observer is self._recorder]:
            observers.pop(ident, None)
        adjust_tables()

    def _leave(self, *raised: object) -> None:
        self.restore()
        self._end = None
        error = raised[1] if len(raised) > 1 else None
        self._recorder.finish(error if isinstance(error, BaseException) else self.error)

    __exit__: ClassVar[ExitMethod] = block_end(_leave)

    @property
    def steps(self) -> tuple[StoryStep, ...]:
        """The steps.

        Returns
        -------
        tuple of StoryStep
            In the order in which they happened.
        """
        return tuple(
            [
                StoryStep(
                    step.kind,
                    self._text(step.text),
                    step.place,
                    self._with_names(step.changes.set),
                    step.changes.gone,
                    tuple(step.writes),
                )
                for step in self._recorder.steps
            ]
        )

    @property
    def left_out(self) -> int:
        """The number of steps in the middle that are one step, because there were too many."""
        return self._recorder.left_out

    def data(self) -> StoryData:
        """The story as dicts, lists, texts and numbers, which `json.dumps` takes.

        Returns
        -------
        StoryData
            With the title, the lines of the source, the steps, and how much is left out.

        Examples
        --------
        >>> x = vt.ones(2)
        >>> with vt.viz.story() as story:
        ...     y = x + 1
        >>> story.data()["steps"][1]["text"]
        'add(x, 1) makes y, float32 [2]'
        """
        recorded = self._recorder.steps
        files = _files([step.place for step in recorded if step.place is not None])
        file_numbers = {name: number for number, name in enumerate(files)}
        numbers = [step.number for step in recorded]
        return {
            "title": self.title,
            "files": [{"name": name, "lines": lines} for name, lines in files.items()],
            "steps": [self._step_data(step, file_numbers, numbers) for step in recorded],
            "left_out": {"steps": self.left_out, **self._recorder.world.left_out},
        }

    def _step_data(self, step: RecordedStep, files: dict[str, int], numbers: list[int]) -> StepData:
        changed, gone, place = self._with_names(step.changes.set), step.changes.gone, step.place
        for key, saved in changed["saved"].items():
            if saved["write"] is not None:
                # A step that was left out is a part of the one behind it.
                index = bisect_left(numbers, saved["write"])
                changed["saved"][key] = {**saved, "write": index}
        data: StepData = {
            "kind": step.kind,
            "text": self._text(step.text),
            "file": None if place is None else files[place.filename],
            "line": None if place is None else place.lineno,
            "set": changed,
            "gone": gone,
        }
        if step.writes:
            data["write"] = step.writes[0]
        if len(step.writes) > 1:
            data["writes"] = step.writes
        return data

    def _with_names(self, records: StoryRecords) -> StoryRecords:
        """StoryRecords with names in place of keys."""
        storages, tensors = records["storages"], records["tensors"]
        return {
            "storages": {k: {**r, "name": self._text(r["name"])} for k, r in storages.items()},
            "tensors": {k: {**r, "name": self._text(r["name"])} for k, r in tensors.items()},
            "saved": dict(records["saved"]),
            "nodes": dict(records["nodes"]),
        }

    def _text(self, text: str) -> str:
        world = self._recorder.world
        return filled(text, world.names, world.made_by)

    def __str__(self) -> str:
        lines = [f"{number:3}  {step}" for number, step in enumerate(self.steps)]
        if self.left_out:
            middle = bisect_left(
                range(len(lines)), 1, key=lambda nr: self._recorder.steps[nr].number - nr
            )
            lines.insert(middle, f"     ({self.left_out} steps are left out)")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<story of {self.title}: {len(self._recorder.steps)} steps>"

    def html(self) -> str:
        """The page with a slider, as one HTML text that needs no other file and no server.

        Returns
        -------
        str
            The page.
        """
        return page(self.data())

    def save(self, path: str | Path) -> Path:
        """Write the page into a file, which any browser shows.

        Parameters
        ----------
        path : str or Path
            The file, which is overwritten.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> import tempfile
        >>> with vt.viz.story() as story:
        ...     x = vt.ones(2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     story.save(f"{folder}/story.html").name
        'story.html'
        """
        path = Path(path)
        path.write_text(self.html(), "utf-8")
        return path

    def _repr_html_(self) -> str:
        """The page for notebooks, in a frame of its own."""
        return framed(self.html(), f"Story of {self.title}")


def story(
    function: Callable[..., object] | None = None,
    *arguments: object,
    limit: int = _LIMIT,
    title: str | None = None,
) -> Story:
    """Run a program, and tell what it does to memory, step by step.

    For each step the story has the buffers with their elements and versions, which tensor shows
    which elements, which elements were written since a value was saved, the saved values and
    whether they are intact, the graph, and the line of the program. A step is an operator that the
    program calls, a view, a write, the values that a node saves, a stale ``grad_fn`` that is
    rebuilt, a node that backward runs, gradients that are stored, or an error.

    The program computes the same as without a story, and its tensors live as long; only
    ``swap_tensors`` refuses those that the story has seen, because it refers to them weakly. Only
    this thread is observed. Each step takes milliseconds, so a story is for small examples.

    Parameters
    ----------
    function : callable, optional
        The program. If it raises, the error is the last step, and `Story.error`. Without it the
        story is that of a ``with`` block, which does not catch errors.
    *arguments : object
        What it is called with. For keyword arguments pass a ``lambda`` that calls the program.
    limit : int, default 200
        The most steps. Of a longer story the steps in the middle are left out.
    title : str, optional
        The title; by default the name of the function.

    Returns
    -------
    Story
        Print it, let a notebook show it, or save it as a page.

    Raises
    ------
    ArgumentTypeError
        If `function` cannot be called, there are arguments without it, it is a generator function
        or a coroutine function, or `limit` or `title` is of another type.
    ArgumentValueError
        If `limit` is less than 4.
    ProfilerError
        If the thread is observed already, as by a profile.

    Examples
    --------
    >>> def program(x):
    ...     row = x[0]
    ...     y = row * row
    ...     x[0].mul_(2)
    >>> print(vt.viz.story(program, vt.ones(2, 3)))
      0  start     the program begins with x
      1  view      x[0] makes row, a view of 3 elements of x  (...:2)
      2  operator  mul(row, row) makes y, float32 [3]  (...:3)
      3  view      x[0] makes a temporary, a view of 3 elements of x  (...:4)
      4  write     mul_(x[0], 2) writes 3 elements of x through x[0] (version 0 to 1)  (...:4)
    """
    if function is None and not arguments:
        return Story(title or "a block", limit)
    if function is None or not callable(function):
        raise ArgumentTypeError(
            f"story runs a function, not {type(function).__name__}", argument="function"
        )
    if any(isit(function) for isit in _RUN_LATER):
        raise ArgumentTypeError(
            "a call of a generator function or of a coroutine function runs nothing of it; run it "
            "in a block `with viz.story() as story:`",
            argument="function",
        )
    found = Story(title or str(getattr(function, "__name__", "a program")), limit)
    found.run(function, arguments)
    return found


def _parameters(function: Callable[..., object]) -> list[str]:
    """The names of the parameters that arguments in a row are bound to."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [parameter.name for parameter in parameters if parameter.kind in kinds]


def _clear(error: BaseException, handled: BaseException | None) -> None:
    """Clear the local variables in the tracebacks of an error, and of those that led to it.

    Parameters
    ----------
    error : BaseException
        The error.
    handled : BaseException or None
        What was handled when the story began: it, and what led to it, is left as it is.
    """
    seen = {id(found) for found in _led_to(handled, set())}
    for found in _led_to(error, seen):
        traceback.clear_frames(found.__traceback__)


def _led_to(error: BaseException | None, seen: set[int]) -> list[BaseException]:
    """An error, and those that led to it or are in it, without those whose `id` was seen."""
    found: list[BaseException] = []
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            found.append(one)
            waiting += [one.__cause__, one.__context__]
            if isinstance(one, BaseExceptionGroup):
                waiting += one.exceptions
    return found


def _files(places: Sequence[CallSite]) -> dict[str, dict[str, str]]:
    """The lines at some places and around them, by file."""
    found: dict[str, set[int]] = {}
    for place in places:
        near = range(place.lineno - _AROUND, place.lineno + _AROUND + 1)
        found.setdefault(place.filename, set()).update(near)
    files: dict[str, dict[str, str]] = {}
    for name, numbers in found.items():
        lines = linecache.getlines(name)
        shown = [number for number in sorted(numbers) if 1 <= number <= len(lines)]
        files[name] = {str(number): lines[number - 1].rstrip("\n") for number in shown}
    return files
