"""Optimisers, as PyTorch's `torch.optim`, and fits by SciPy's ``scipy.optimize``."""

from vtgrad.optim.adadelta import Adadelta as Adadelta
from vtgrad.optim.adagrad import Adagrad as Adagrad
from vtgrad.optim.adam import Adam as Adam
from vtgrad.optim.adam import AdamW as AdamW
from vtgrad.optim.clip_grad import clip_grad_norm_ as clip_grad_norm_
from vtgrad.optim.clip_grad import clip_grad_value_ as clip_grad_value_
from vtgrad.optim.fit import Fit as Fit
from vtgrad.optim.implicit import implicit as implicit
from vtgrad.optim.lbfgs import LBFGS as LBFGS
from vtgrad.optim.least_squares import least_squares as least_squares
from vtgrad.optim.minimize import minimize as minimize
from vtgrad.optim.optimizer import Optimizer as Optimizer
from vtgrad.optim.param_group import ParamGroup as ParamGroup
from vtgrad.optim.rmsprop import RMSprop as RMSprop
from vtgrad.optim.root import root as root
from vtgrad.optim.schedules import cosine_schedule as cosine_schedule
from vtgrad.optim.schedules import exponential_schedule as exponential_schedule
from vtgrad.optim.schedules import linear_warmup as linear_warmup
from vtgrad.optim.schedules import one_cycle_schedule as one_cycle_schedule
from vtgrad.optim.schedules import piecewise_schedule as piecewise_schedule
from vtgrad.optim.schedules import polynomial_schedule as polynomial_schedule
from vtgrad.optim.schedules import step_schedule as step_schedule
from vtgrad.optim.schedules import warm_restarts_schedule as warm_restarts_schedule
from vtgrad.optim.search import Iterate as Iterate
from vtgrad.optim.sgd import SGD as SGD

__all__ = [
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Fit",
    "Iterate",
    "Optimizer",
    "ParamGroup",
    "RMSprop",
    "clip_grad_norm_",
    "clip_grad_value_",
    "cosine_schedule",
    "exponential_schedule",
    "implicit",
    "least_squares",
    "linear_warmup",
    "minimize",
    "one_cycle_schedule",
    "piecewise_schedule",
    "polynomial_schedule",
    "root",
    "step_schedule",
    "warm_restarts_schedule",
]
