"""Stories: what a program does to memory, step by step."""

from __future__ import annotations

import inspect
import linecache
import re
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import get_ident
from typing import Final, NamedTuple, Self, TypedDict

from vtgrad.errors import ArgumentTypeError, ProfilerError
from vtgrad.graph.observer import observers
from vtgrad.profiler.tables import adjust_tables
from vtgrad.storage.recent_writes import CallSite
from vtgrad.storage.scope import Scope
from vtgrad.viz.story_recorder import RecordedStep, StoryRecorder
from vtgrad.viz.story_records import Gone, Records, WrittenElements

__all__ = ["Story", "StoryStep", "story"]

_KEY: Final = re.compile("\0([a-z][0-9]+)\0")
# Lines around those of steps.
_AROUND: Final = 3


class StoryStep(NamedTuple):
    """One step of a story.

    Attributes
    ----------
    kind : str
        "start", "operator", "view", "write", "save", "rebuild" (of a stale ``grad_fn``), "backward"
        (a node runs), "grad" (a ``.grad`` is stored), "refusal" or "error".
    text : str
        What happens, in a sentence.
    place : CallSite or None
        The user's line.
    changed : Records
        What is new or different after the step.
    gone : Gone
        The keys of what is there no longer.
    write : WrittenElements or None
        The elements that the step writes.
    """

    kind: str
    text: str
    place: CallSite | None
    changed: Records
    gone: Gone
    write: WrittenElements | None

    def __str__(self) -> str:
        where = "" if self.place is None else f"  ({Path(self.place.filename).name}:{self.place.lineno})"
        return f"{self.kind:8}  {self.text}{where}"


class Story(Scope):
    """What a program does to memory, step by step."""

    def __init__(self, title: str = "story", limit: int = 200) -> None:
        super().__init__()
        self.title = title
        self.error: BaseException | None = None
        self._recorder = StoryRecorder(limit)

    def __enter__(self) -> Self:
        self._begin((), ())
        return self

    def _begin(self, arguments: tuple[object, ...], names: tuple[str, ...]) -> None:
        ident = get_ident()
        if ident in observers:
            raise ProfilerError("this thread is observed already, by a profile or a story")
        self._recorder.start(arguments, names)
        observers[ident] = self._recorder
        adjust_tables()

    def restore(self) -> None:
        """End the story; called again if the call is interrupted."""
        for ident in [k for k, observer in tuple(observers.items()) if observer is self._recorder]:
            observers.pop(ident, None)
        adjust_tables()

    @property
    def steps(self) -> list[StoryStep]:
        """The steps."""
        recorder = self._recorder
        names = self._names()
        return [
            StoryStep(
                step.kind,
                _filled(step.text, names),
                step.place,
                step.changes.set,
                step.changes.gone,
                step.write,
            )
            for step in recorder.steps
        ]

    def _names(self) -> dict[str, str]:
        world = self._recorder.world
        return {**world.made_by, **world.names}

    def data(self) -> dict[str, object]:
        """The story as values of JSON."""
        names = self._names()
        places = [step.place for step in self._recorder.steps]
        files = _files([place for place in places if place is not None])
        numbers = {name: nr for nr, name in enumerate(files)}
        indices = {step.number: nr for nr, step in enumerate(self._recorder.steps)}
        steps: list[dict[str, object]] = []
        for step in self._recorder.steps:
            place = step.place
            entry: dict[str, object] = {
                "kind": step.kind,
                "text": _filled(step.text, names),
                "file": None if place is None else numbers.get(place.filename),
                "line": None if place is None else place.lineno,
                "set": {
                    kind: {key: _with_names(record, names) for key, record in records.items()}
                    for kind, records in step.changes.set.items()
                    if records
                },
                "gone": {kind: keys for kind, keys in step.changes.gone.items() if keys},
            }
            if step.write is not None:
                entry["write"] = step.write
            steps.append(entry)
        left_out = self._recorder.world.left_out
        return {
            "title": self.title,
            "files": [
                {"name": name, "lines": {str(nr): text for nr, text in lines.items()}}
                for name, lines in files.items()
            ],
            "steps": steps,
            "left_out": {"steps": self._recorder.left_out, **left_out},
        }

    def __str__(self) -> str:
        return "\n".join([f"{nr:3}  {step}" for nr, step in enumerate(self.steps)])


def _filled(text: str, names: Mapping[str, str]) -> str:
    return _KEY.sub(lambda found: names.get(found[1], found[1]), text)


def _with_names(record: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    return {**record, "name": _filled(str(record["name"]), names)} if "name" in record else dict(record)


def _files(places: list[CallSite]) -> dict[str, dict[int, str]]:
    found: dict[str, dict[int, str]] = {}
    for place in places:
        lines = linecache.getlines(place.filename)
        shown = found.setdefault(place.filename, {})
        for nr in range(max(1, place.lineno - _AROUND), min(len(lines), place.lineno + _AROUND) + 1):
            shown[nr] = lines[nr - 1].rstrip("\n")
    return {name: dict(sorted(lines.items())) for name, lines in found.items()}


def story(function: Callable[..., object] | None = None, *arguments: object, limit: int = 200) -> Story:
    """Run a program, and tell what it does to memory."""
    if function is None:
        return Story(limit=limit)
    if not callable(function):
        raise ArgumentTypeError(f"story runs a function, not {type(function).__name__}")
    found = Story(getattr(function, "__name__", "story"), limit)
    try:
        names = tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = ()
    error: BaseException | None = None
    try:
        found._begin(arguments, names)
        try:
            function(*arguments)
        except Exception as raised:
            error = raised
        found._recorder.finish(error)
    finally:
        found.restore()
    return found
