"""Recording a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vtgrad.errors import RecordingError
from vtgrad.jit.callers import line_of
from vtgrad.jit.check import check
from vtgrad.jit.program_call import Call
from vtgrad.jit.recorder import recording
from vtgrad.jit.recording import Recording

__all__ = ["record"]


def record(
    function: Callable[..., object],
    arguments: tuple[object, ...] = (),
    keywords: Mapping[str, object] | None = None,
) -> Recording:
    """Run a program on its arguments, and write down what NumPy is asked to do.

    Memory, versions, ``.grad`` and generators are afterwards as they were before.

    Parameters
    ----------
    function : callable
        The program. It is called several times; see Note [Accepting a recording].
    arguments, keywords : tuple, mapping
        What it is called with: containers of tensors, arrays and Python values.

    Returns
    -------
    Recording
        The program and what its buffers are.

    Raises
    ------
    RecordingError
        If something is not known to the recording, or the recording is not accepted. What the
        program itself raises is raised as it is.

    Examples
    --------
    >>> x = vt.tensor([1.0, 2.0])
    >>> made = record(lambda x: (x * x).sum(), (x,))
    >>> [step.function.__name__ for step in made.program.steps]
    ['multiply', 'reduce']
    """
    if recording.recorder is not None:
        raise RecordingError(
            "a program that is being recorded records another one; record the inner one by itself",
            reason="nested",
            library=None,
            line=None,
        )
    call = Call(function, arguments, dict(keywords or {}))
    try:
        made = check(call)
    except RecordingError as error:
        if call.world.disturbed is not None:
            raise _disturbed(call.world.disturbed) from error
        line = line_of(function)
        if error.line is not None or line is None:
            raise
        raise RecordingError(
            f"{error}\n  program: {line[0]}:{line[1]}",
            reason=error.reason,
            library=error.library,
            line=line,
        ) from error.__cause__
    if call.world.disturbed is not None:
        raise _disturbed(call.world.disturbed)
    return made


def _disturbed(what: str) -> RecordingError:
    return RecordingError(
        f"another thread changed a tensor that the program uses while it was recorded: {what}",
        reason="another thread",
        library=None,
        line=None,
    )
