"""The exact rule for saved values, held against a PyTorch that clones all that it saves.

With hooks that clone, PyTorch compares no versions and refuses no write, and its gradient is that
of the program with ``clone()`` before every save. So whatever the exact rule accepts must have that
gradient. A third world runs vtgrad under PyTorch's own rule: what that accepts, the exact rule
accepts too, and what the exact rule refuses, that refuses. In some programs a fourth world runs
with audit on, which may not refuse anything either, as they write through the library only.
"""

import re
from typing import ClassVar

from tests.oracle.compare import Divergence
from tests.oracle.fuzz import Fuzzer
from tests.oracle.gen_autograd import backward, grad
from tests.oracle.generator import Context, Rule
from tests.oracle.kinds import kind_of
from tests.oracle.lockstep import Lockstep, Run, describe, error_difference, replay
from tests.oracle.program import Step
from tests.oracle.world import World

# What a view that may not be used any more raises.
_VIEW_REFUSALS = (
    "multi-output-view",
    "no-grad-view",
    "inference-view",
    "custom-function-view",
)
#: Reasons to refuse a saved value that was overwritten or cut off its graph.
LOST = frozenset(("stale-saved", "saved-detached", *_VIEW_REFUSALS))
#: The smallest program: a leaf, a copy that may be written, and the pass; what saves is between.
LEAF = Step("L.tensor([1.5, -2.0, 0.5], dtype=L.float64, requires_grad=True)", ("t0",), "", "leaf")
COPY = Step("t0.clone()", ("t1",), "", "clone")
PASS = Step("dense(L.autograd.grad(t2, [t0])[0])", ("t3",), "", "grad", backward=True)
# One program of so many runs with audit on as well.
_AUDITED = 3


class AgainstClones(Lockstep):
    """PyTorch with clones, vtgrad under the exact rule, and vtgrad under the storage rule.

    Parameters
    ----------
    peer, deep : str
        As for `Lockstep`.
    audited : bool
        Whether the program also runs with audit on.

    Attributes
    ----------
    rule : str
        What vtgrad does about overwritten values; see `World`.
    coarse : World or None
        vtgrad under the storage rule, until it refuses something.
    audited : World or None
        vtgrad under the rule in question with audit on, until it refuses something.
    passes : int
        How many passes the rule has accepted.
    gained : int
        How many of these the storage rule has refused.
    refused : int
        How many passes both have refused for a saved value.
    """

    rule: ClassVar[str] = "elements"

    coarse: World | None
    audited: World | None
    passes: int
    gained: int
    refused: int

    def __init__(self, peer: str, deep: str, audited: bool = False) -> None:
        super().__init__(peer, deep)
        self.torch = World("torch", "clones")
        self.ours = World(peer, self.rule)
        self.coarse = World(peer, "storage")
        # Not the side that is compared: rounding is repaired there behind the library's back.
        self.audited = World(peer, self.rule, audit=True) if audited else None
        self.passes = self.gained = self.refused = 0

    def ends(self, step: Step, torch_error: Exception | None, our_error: Exception | None) -> bool:
        """See `Lockstep`."""
        coarse_error = None if self.coarse is None else self.coarse.run(step)
        audit_error = None if self.audited is None else self.audited.run(step)
        lost = our_error is not None and step.backward and kind_of(our_error) in LOST
        if self.coarse is not None and coarse_error is None and lost:
            return self._differ("refused by the rule in question only", None, our_error)
        if audit_error is not None:
            if our_error is None and not self._is_unseen(audit_error):
                return self._differ("refused with audit on", our_error, audit_error)
            self.audited = None
        if coarse_error is not None and our_error is None:
            self.gained += step.backward
            self.coarse = None
        self.passes += step.backward and our_error is None
        if torch_error is None and our_error is not None and lost:
            self.refused += 1
            self.run.excused = self.why_refused(our_error)
            return self.run.excused is not None
        if our_error is not None and kind_of(our_error) == "swap":
            self.run.excused = "what was saved is exchanged, where a clone is saved"
            return True
        if error_difference(torch_error, our_error) is not None and torch_error and our_error:
            self.run.excused = "refused by both: with which error is compared elsewhere"
            return True
        if (
            torch_error is not None
            and our_error is None
            and self._is_of_the_hook(step, torch_error)
        ):
            self.run.excused = "to clone a saved view asks for its producer, which saving does not"
            return True
        return False

    def why_refused(self, error: Exception) -> str | None:
        """Why a pass may be refused for a saved value; None if it may not."""
        return "a saved value is lost, which a clone is not"

    def _differ(self, what: str, one: Exception | None, other: Exception | None) -> bool:
        self.run.divergences = [Divergence("", what, describe(one), describe(other))]
        return True

    def _is_unseen(self, error: Exception) -> bool:
        """Whether audit reports what it is for: elements exchanged or written by way of ``.data``.

        A view of another memory since then may be used if its producer was read before, which
        happens in the world that is looked at only.
        """
        return kind_of(error) in ("unseen-write", "view-invalid") and uses_data(self.run)

    def _is_of_the_hook(self, step: Step, error: Exception) -> bool:
        """Whether PyTorch refuses to save a view that may not be used, only because of the hook."""
        if step.backward or kind_of(error) not in _VIEW_REFUSALS:
            return False
        plain = World("torch")
        return [plain.run(each) for each in self.run.steps][-1] is None


def uses_data(run: Run) -> bool:
    """Whether a program changes elements by way of ``.data``, which no version shows."""
    return any(re.search(r"\.data\b", step.text) for step in run.steps)


def beside(c: Context) -> list[Step] | None:
    """Save a part of a tensor, then write beside it, or just there; a few times, then a pass."""
    name = c.pick_target()
    if name is None or c.protected(name):
        return None
    t = c.get(name)
    if not t.dim() or 0 in t.shape or t.dtype != c.torch.float64:
        return None
    steps = [step for _ in range(c.rng.randint(1, 3)) for step in _save_and_write(c, name)]
    leaves = sorted(leaf for leaf in c.leaves & set(c.names()) if c.get(leaf).requires_grad)
    if t.requires_grad and leaves and c.chance(0.5):
        wanted = f"[{c.rng.choice(leaves)}], retain_graph=True, allow_unused=True"
        text = f"[dense(g) for g in L.autograd.grad(({name} * {name}).sum(), {wanted})][0]"
        steps.append(Step(text, (c.fresh(),), "", "grad", backward=True))
    return steps


def _save_and_write(c: Context, name: str) -> list[Step]:
    t = c.get(name)
    first = c.chance(0.6)
    dim = 0 if first else t.dim() - 1
    size = int(t.shape[dim])
    i = j = c.rng.randrange(size)
    if size > 1 and c.chance(0.9):
        i, j = c.rng.sample(range(size), 2)
    old, new = (f"{name}[{k}]" if first else f"{name}[..., {k}]" for k in (i, j))
    value = c.rng.choice((f"{old} * {old}", f"{old}.sin()", f"{old}.exp() * {old}", f"{old} ** 2"))
    part = c.fresh()
    # Slices for the writes that want a dimension more.
    slices, at = f"{part}.unsqueeze({dim})", f"L.tensor([{j}])"
    text = c.rng.choice(
        (
            *[f"{new} = {part}"] * 3,
            f"{new} = {new} + {part}",
            f"{new}.mul_(2)",
            f"{new} += {part}",
            f"{name}.index_fill_({dim}, {at}, 1.5)",
            f"{name}.index_add_({dim}, {at}, {slices})",
            f"{name}.index_copy_({dim}, {at}, {slices})",
            f"{name}.select({dim}, {j}).sin_()",
            f"{name}.narrow({dim}, {j}, {size - j}).neg_()",
            c.rng.choice((f"{name}[{name} > 1] = 0.5", f"{name}.masked_fill_({name} < -1, 0.25)")),
        )
    )
    saved = Step(f"({value}).clamp(-9, 9)", (part,), "", "beside")
    return [saved, Step(text, (), c.mode(), "beside")]


class ExactFuzzer(Fuzzer):
    """Random programs for `AgainstClones`, with many writes beside what was saved.

    Attributes
    ----------
    against : type of AgainstClones
        The comparison.
    passes, gained, refused : int
        Passes of all programs so far, as `AgainstClones` counts them.
    """

    against: ClassVar[type[AgainstClones]] = AgainstClones

    passes: int
    gained: int
    refused: int
    last: AgainstClones | None
    _audits: bool

    def __init__(self, peer: str = "vtgrad", seed: int = 0) -> None:
        super().__init__(peer, seed)
        self.rules = [*self.rules, Rule(beside, sum(self.weights) / 4, ())]
        # Passes, too, are what these programs are about.
        self.weights = [
            rule.weight * (4 if rule.maker in (backward, grad) else 1) for rule in self.rules
        ]
        self.passes = self.gained = self.refused = 0
        self.last = None
        self._audits = False

    def run(self, index: int) -> tuple[str, Run]:
        """See `Fuzzer`."""
        self._audits = index % _AUDITED == 0
        found = super().run(index)
        if self.last is not None:
            self.passes += self.last.passes
            self.gained += self.last.gained
            self.refused += self.last.refused
        deep, run = found
        if run.divergences and uses_data(run):
            # Elements that are exchanged or written unseen are others for backward too: a clone
            # keeps the old ones, PyTorch without hooks does not.
            again = replay(run.program, self.peer, deep)
            if not again.divergences and len(again.steps) == len(run.steps):
                run.divergences = []
                run.excused = "what was saved was changed by way of .data, where a clone is saved"
        return found

    def pair(self, deep: str) -> Lockstep:
        """See `Fuzzer`."""
        self.last = self.against(self.peer, deep, self._audits)
        return self.last
