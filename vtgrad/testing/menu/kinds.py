"""The kinds of steps that a program is made of, by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vtgrad.testing.menu.chooser import Chooser
from vtgrad.testing.menu.state import Abilities
from vtgrad.testing.steps import Step

__all__ = ["KINDS", "Kind", "Maker", "kind", "possible"]

#: Draws the next step, or several that belong together; nothing if no tensor fits.
Maker = Callable[[Chooser], Sequence[Step] | None]


@dataclass(frozen=True)
class Kind:
    """A kind of step.

    Attributes
    ----------
    weight : float
        How often it is taken where no mixture says so.
    needs : tuple of str
        What the judges must be able to express.
    """

    maker: Maker
    weight: float
    needs: tuple[str, ...]


KINDS: dict[str, Kind] = {}


def kind(weight: float, *needs: str) -> Callable[[Maker], Maker]:
    """Put a maker on the menu, under its own name."""

    def register(maker: Maker) -> Maker:
        KINDS[maker.__name__] = Kind(maker, weight, needs)
        return maker

    return register


def possible(abilities: Abilities) -> dict[str, float]:
    """Return the weights of the kinds that the judges of a program can express."""
    return {
        name: kind.weight
        for name, kind in KINDS.items()
        if kind.weight and all(map(abilities.can, kind.needs))
    }
