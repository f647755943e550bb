"""The one family of exceptions that Lamina raises.

Every class is a :class:`LaminaError` and also a Python standard kind, so that code which catches
``ValueError`` or ``TypeError`` keeps working. This module imports nothing: every layer may use it.
"""


class LaminaError(Exception):
    """Base class of every error that Lamina raises on purpose."""


class ShapeError(LaminaError, ValueError):
    """Shapes, axes or sizes that an operation cannot take."""


class AxisError(ShapeError, IndexError):
    """An axis that an array does not have."""


class DTypeError(LaminaError, TypeError):
    """Dtypes that an operation cannot take."""


class ArgumentError(LaminaError, ValueError):
    """A value of an argument that an operation cannot take."""


class ArgumentTypeError(LaminaError, TypeError):
    """A kind of argument that a function cannot take."""


class IndexingError(LaminaError, IndexError):
    """An index that is out of range or of a kind that arrays do not take."""


class TracedValueError(LaminaError, RuntimeError):
    """The value of an array was read while its function was being compiled."""


class LeakedTraceError(LaminaError, RuntimeError):
    """An array of a finished trace was used after the compiled function had returned."""


class DonatedArrayError(LaminaError, RuntimeError):
    """An array was used whose memory a compiled call had taken over."""


class VerificationError(LaminaError, ValueError):
    """A module that does not follow the rules of the ``array`` dialect."""


class PassError(LaminaError, RuntimeError):
    """A pass or a pipeline that is unknown, malformed, or failed."""


class CodegenError(LaminaError, RuntimeError):
    """A code generator refused a kernel, or none is usable here."""


class CacheError(LaminaError, OSError):
    """The module cache could not be read or written (raised only in strict mode)."""


class OutOfMemoryError(LaminaError, MemoryError):
    """No memory was left on the device for a buffer."""


class ExecutionError(LaminaError, RuntimeError):
    """A launch failed on the device."""
