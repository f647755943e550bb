from .error_function import erf
from .exponential import exp, expm1, sigmoid
from .hyperbolic import tanh
from .logarithm import log
FUNCTIONS = dict(exp=exp,expm1=expm1,sigmoid=sigmoid,tanh=tanh,log=log,erf=erf)
