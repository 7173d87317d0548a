"""The model of the stateful suite, run against PyTorch: is the oracle itself right?

What breaks it: a rule of the model that PyTorch does not follow. Where vtgrad and PyTorch are
known to differ, `vtgrad.testing.model.Manners` says so.
"""

import os

import torch
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from vtgrad.testing.libraries import torch_library
from vtgrad.testing.machine import PROFILES, machine_for


def test_the_model_predicts_what_pytorch_does() -> None:
    torch.set_num_threads(1)
    profile = PROFILES[os.environ.get("HYPOTHESIS_PROFILE", "dev")]
    run_state_machine_as_test(machine_for(torch_library(torch)), settings=settings(profile))
