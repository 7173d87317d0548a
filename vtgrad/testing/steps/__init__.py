"""The steps that programs are made of: each knows its text and what the model says it does.

A step is plain data with a ``repr`` that can be evaluated, so that a failing program can be
pasted into a regression test. :meth:`Step.source` is the very text that is run, on any library
with PyTorch's names; :meth:`Step.predict` moves the model, or raises
:class:`~vtgrad.testing.model.RefusedError` with the kinds of error that the library may raise.
"""

from vtgrad.testing.steps.base import Expected as Expected
from vtgrad.testing.steps.base import Line as Line
from vtgrad.testing.steps.base import Literal as Literal
from vtgrad.testing.steps.base import Number as Number
from vtgrad.testing.steps.base import Step as Step
from vtgrad.testing.steps.base import Value as Value
from vtgrad.testing.steps.calling import Call as Call
from vtgrad.testing.steps.flags import Delete as Delete
from vtgrad.testing.steps.flags import Detach_ as Detach_
from vtgrad.testing.steps.flags import Hook as Hook
from vtgrad.testing.steps.flags import Inspect as Inspect
from vtgrad.testing.steps.flags import Require as Require
from vtgrad.testing.steps.flags import Retain as Retain
from vtgrad.testing.steps.forward import EnterLevel as EnterLevel
from vtgrad.testing.steps.forward import LeaveLevel as LeaveLevel
from vtgrad.testing.steps.forward import MakeDual as MakeDual
from vtgrad.testing.steps.forward import TakePrimal as TakePrimal
from vtgrad.testing.steps.forward import TakeTangent as TakeTangent
from vtgrad.testing.steps.forward import WithoutForward as WithoutForward
from vtgrad.testing.steps.inference import Inference as Inference
from vtgrad.testing.steps.making import Apply as Apply
from vtgrad.testing.steps.making import Data as Data
from vtgrad.testing.steps.making import Detach as Detach
from vtgrad.testing.steps.making import Leaf as Leaf
from vtgrad.testing.steps.making import View as View
from vtgrad.testing.steps.passing import Backward as Backward
from vtgrad.testing.steps.passing import Gradient as Gradient
from vtgrad.testing.steps.passing import SecondOrder as SecondOrder
from vtgrad.testing.steps.writing import AugmentItem as AugmentItem
from vtgrad.testing.steps.writing import Count as Count
from vtgrad.testing.steps.writing import Fill as Fill
from vtgrad.testing.steps.writing import Rearrange as Rearrange
from vtgrad.testing.steps.writing import Resize as Resize
from vtgrad.testing.steps.writing import SetItem as SetItem
from vtgrad.testing.steps.writing import Write as Write
