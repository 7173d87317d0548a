"""The steps that programs are made of: each knows its text and what the model says it does.

A step is plain data with a ``repr`` that can be evaluated, so that a failing program can be
pasted into a regression test. :meth:`Step.source` is the very text that is run, on any library
with PyTorch's names; :meth:`Step.predict` moves the model, or raises
:class:`~vtgrad.testing.model.RefusedError` with the kinds of error that the library may raise.
"""

from .base import Expected as Expected
from .base import Line as Line
from .base import Literal as Literal
from .base import Number as Number
from .base import Step as Step
from .base import Value as Value
from .calling import Call as Call
from .flags import Delete as Delete
from .flags import Detach_ as Detach_
from .flags import Hook as Hook
from .flags import Inspect as Inspect
from .flags import Require as Require
from .flags import Retain as Retain
from .forward import EnterLevel as EnterLevel
from .forward import LeaveLevel as LeaveLevel
from .forward import MakeDual as MakeDual
from .forward import TakePrimal as TakePrimal
from .forward import TakeTangent as TakeTangent
from .forward import WithoutForward as WithoutForward
from .inference import Inference as Inference
from .making import Apply as Apply
from .making import Data as Data
from .making import Detach as Detach
from .making import Leaf as Leaf
from .making import View as View
from .passing import Backward as Backward
from .passing import Gradient as Gradient
from .passing import SecondOrder as SecondOrder
from .writing import Count as Count
from .writing import Fill as Fill
from .writing import Rearrange as Rearrange
from .writing import Resize as Resize
from .writing import SetItem as SetItem
from .writing import Write as Write
