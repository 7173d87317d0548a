"""Steps that are taken in inference mode."""

from dataclasses import dataclass

from vtgrad.testing.model import SkippedError
from vtgrad.testing.steps.base import Expected, Step
from vtgrad.testing.steps.making import Apply, Data, Detach, Leaf, View
from vtgrad.testing.steps.writing import AugmentItem, Fill, Rearrange, SetItem, Write
from vtgrad.testing.world import World

__all__ = ["Inference"]


@dataclass(frozen=True)
class Inference(Step):
    """Take another step in inference mode; one that makes or writes tensors."""

    step: Step

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        lines = []
        for line in self.step.source(careful):
            statement = line.removeprefix("with vt.no_grad(): ")
            also = "" if statement == line else ", vt.no_grad()"
            lines.append(f"with vt.inference_mode(){also}: {statement}")
        return lines

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        step = self.step
        if not isinstance(
            step,
            Leaf | View | Apply | Detach | Data | Write | Fill | SetItem | AugmentItem | Rearrange,
        ) or (isinstance(step, Leaf) and step.requires_grad):
            raise SkippedError
        world.inference = True
        try:
            return step.predict(world)
        finally:
            world.inference = False
