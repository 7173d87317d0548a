"""The exact rule for saved values, held against a PyTorch that clones all that it saves.

With hooks that clone, PyTorch compares no versions and refuses no write, and its gradient is that
of the program with ``clone()`` before every save. So whatever the exact rule accepts must have that
gradient. A third world runs vtgrad under PyTorch's own rule: what that accepts, the exact rule
accepts too, and what the exact rule refuses, that refuses.
"""

from tests.oracle.compare import Divergence
from tests.oracle.fuzz import Fuzzer
from tests.oracle.gen_autograd import backward, grad
from tests.oracle.generator import Context, Rule
from tests.oracle.kinds import kind_of
from tests.oracle.lockstep import Lockstep, describe, error_difference
from tests.oracle.program import Step
from tests.oracle.world import World

#: Reasons to refuse a saved value that was overwritten or cut off its graph.
LOST = frozenset(
    ("stale-saved", "saved-detached", "multi-output-view", "no-grad-view", "inference-view")
)


class AgainstClones(Lockstep):
    """PyTorch with clones, vtgrad under the exact rule, and vtgrad under the storage rule.

    Attributes
    ----------
    coarse : World or None
        vtgrad under the storage rule, until it refuses something.
    passes : int
        How many passes the exact rule has accepted.
    gained : int
        How many of these the storage rule has refused.
    refused : int
        How many passes both have refused for a saved value.
    """

    coarse: World | None
    passes: int
    gained: int
    refused: int

    def __init__(self, peer: str, deep: str) -> None:
        super().__init__(peer, deep)
        self.torch = World("torch", "clones")
        self.ours = World(peer, "elements")
        self.coarse = World(peer, "storage")
        self.passes = self.gained = self.refused = 0

    def ends(self, step: Step, torch_error: Exception | None, our_error: Exception | None) -> bool:
        """See `Lockstep`."""
        coarse_error = None if self.coarse is None else self.coarse.run(step)
        lost = our_error is not None and step.backward and kind_of(our_error) in LOST
        if self.coarse is not None and coarse_error is None and lost:
            what = "refused by the exact rule only"
            self.run.divergences = [Divergence("", what, "no error", describe(our_error))]
            return True
        if coarse_error is not None and our_error is None:
            self.gained += step.backward
            self.coarse = None
        self.passes += step.backward and our_error is None
        if torch_error is None and lost:
            self.refused += 1
            self.run.excused = "a saved value is lost, which a clone is not"
            return True
        if our_error is not None and kind_of(our_error) == "swap":
            self.run.excused = "what was saved is exchanged, where a clone is saved"
            return True
        if error_difference(torch_error, our_error) is not None and torch_error and our_error:
            self.run.excused = "refused by both: with which error is compared elsewhere"
            return True
        return False


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
    passes, gained, refused : int
        Passes of all programs so far, as `AgainstClones` counts them.
    """

    passes: int
    gained: int
    refused: int
    last: AgainstClones | None

    def __init__(self, peer: str = "vtgrad", seed: int = 0) -> None:
        super().__init__(peer, seed)
        self.rules = [*self.rules, Rule(beside, sum(self.weights) / 4, ())]
        # Passes, too, are what these programs are about.
        self.weights = [
            rule.weight * (4 if rule.maker in (backward, grad) else 1) for rule in self.rules
        ]
        self.passes = self.gained = self.refused = 0
        self.last = None

    def pair(self, deep: str) -> Lockstep:
        """See `Fuzzer`."""
        self.count()
        self.last = AgainstClones(self.peer, deep)
        return self.last

    def count(self) -> None:
        """Add the passes of the last program."""
        if self.last is not None:
            self.passes += self.last.passes
            self.passes += self.last.passes
            self.gained += self.last.gained
            self.refused += self.last.refused
            self.last = None
