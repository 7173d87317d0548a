"""The menu: the kinds of steps that random programs are made of.

A kind draws a step from a `State`, a small description of the program so far, which the model has
(`model_state`) and any library with PyTorch's names (``tests/oracle/live_state.py``). What the
judges of a program can express is said by its `Abilities`. All chance comes from one
`random.Random`.

- `chooser` draws what all kinds need: tensors, numbers, shapes, grad modes;
- `views`, `indices`, `operators`, `passes`, `duals` and `user_calls` are kinds, which `kinds` holds
  by name; the comparison with PyTorch puts more of them on the menu;
- `mixtures` says what programs are made of that the model predicts.
"""

from vtgrad.testing.menu import duals as duals
from vtgrad.testing.menu import indices as indices
from vtgrad.testing.menu import operators as operators
from vtgrad.testing.menu import passes as passes
from vtgrad.testing.menu import user_calls as user_calls
from vtgrad.testing.menu import views as views
