"""Make a failing program small: leave out steps as long as it fails in the same way."""

from collections.abc import Callable

from tests.oracle.lockstep import Run, replay
from tests.oracle.program import Program, without_orphans


def shrink(run: Run, peer: str, deep: str, budget: int = 300) -> Run:
    """The smallest failing run that leaving out steps leads to.

    Parameters
    ----------
    run : Run
        A failed run.
    peer, deep : str
        As it was run.
    budget : int
        How many replays at most.
    """
    wanted = run.signature
    best = run
    for depth in (deep, "last"):
        again = replay(best.program, peer, depth)
        if again.signature == wanted:
            deep, best = depth, again

    left = budget

    def attempt(program: Program) -> Run | None:
        nonlocal left
        if left <= 0 or not program:
            return None
        left -= 1
        found = replay(program, peer, deep)
        return found if found.signature == wanted else None

    return _reduce(best, attempt)


def _reduce(best: Run, attempt: Callable[[Program], Run | None]) -> Run:
    size = max(1, len(best.steps) // 2)
    while size >= 1:
        position = len(best.steps) - 1
        removed = False
        while position >= 0:
            steps = best.program
            keep = steps[: max(0, position - size + 1)] + steps[position + 1 :]
            smaller = attempt(without_orphans(keep))
            if smaller is not None and len(smaller.steps) < len(best.steps):
                best, removed = smaller, True
                position = min(position, len(best.steps)) - 1
            else:
                position -= size
        if not removed or size > 1:
            size = size // 2 if size > 1 else (1 if removed else 0)
    return best
