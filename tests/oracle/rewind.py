"""Going back to overwritten values, held against a PyTorch that clones all that it saves.

The whole program runs inside of ``allow_mutation_on_saved_tensors``, so that every pass that
PyTorch with clones accepts has to be accepted, with that gradient. Only a value that was cut off
its graph may be refused, and one that was overwritten by a write that cannot be kept.
"""

import re
from typing import ClassVar

from tests.oracle.exact import AgainstClones, ExactFuzzer
from tests.oracle.kinds import kind_of

#: What a custom Function has overwritten is not known after ``mark_dirty``. A tensor that looks at
#: other memory goes on with its counter, which then counts the writes to two storages.
UNKEPT = re.compile(r"F_\w+_|set_|\.data=")


class Rewound(AgainstClones):
    """PyTorch with clones, and vtgrad that goes back to what was overwritten."""

    rule: ClassVar[str] = "rewind"

    def why_refused(self, error: Exception) -> str | None:
        """See `AgainstClones`."""
        if kind_of(error) == "saved-detached":
            return "a saved value was cut off its graph, which a clone is not"
        if any(UNKEPT.fullmatch(step.op) for step in self.run.steps):
            return "a saved value may have been overwritten by a write that is not kept"
        return None


class RewindFuzzer(ExactFuzzer):
    """Random programs for `Rewound`."""

    against: ClassVar[type[AgainstClones]] = Rewound
