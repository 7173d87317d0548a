"""Sources of random numbers: generators, their seeds and their states.

The numbers differ from PyTorch's for the same seed; the distributions do not. Every operator that
draws takes ``generator=``; without it the default generator is used, which is seeded from the
operating system when the package is imported, or by `manual_seed`.
"""

from __future__ import annotations

from vtgrad.generator import Generator as Generator
from vtgrad.generator import default_generator as default_generator
from vtgrad.generator import fork_rng as fork_rng
from vtgrad.generator import get_rng_state as get_rng_state
from vtgrad.generator import initial_seed as initial_seed
from vtgrad.generator import manual_seed as manual_seed
from vtgrad.generator import seed as seed
from vtgrad.generator import set_rng_state as set_rng_state

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]
