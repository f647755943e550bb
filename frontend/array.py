"""Arrays: rebindable handles on values of the lazy graph."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError, DTypeError
from . import conversion, graph, printing
from .devices import StreamLike
from .dtypes import DType, require_dtype
from .evaluate import data
from .graph import Node

if TYPE_CHECKING:
    from typing_extensions import Self

Axes = int | Sequence[int] | None
"""One axis, several, or None for all; negative ones count from the back."""

_new = object.__new__


def wrap(node: Node) -> Array:
    """An array that is a handle on a node."""
    array = _new(Array)
    array.node = node
    return array


class Array:
    """An n-dimensional array of one dtype, computed when its value is asked for.

    Arrays are values: a slice shares nothing with the array it was taken from, and in-place
    operators and assignments to slices give the name a new value.

    Args:
        val: a Python number, nested lists or tuples of numbers and arrays, a NumPy array, or
            another array. Python floats and NumPy's ``float64`` become ``float32``; integers
            ``int32``, or the smallest 64-bit dtype that holds them.
        dtype: the dtype; None is the one that ``val`` has.

    Raises ShapeError for ragged lists, ArgumentTypeError for other kinds of data.
    """

    __slots__ = ("__weakref__", "node")

    # NumPy leaves operators between its arrays and these to the methods below.
    __array_priority__ = 1000

    node: Node

    def __init__(self, val: Any, dtype: DType | None = None) -> None:
        if dtype is not None:
            require_dtype(dtype, "array")
        self.node = conversion.node_from_data(val, dtype)

    # What may be asked without computing anything

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return self.node.shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self.node.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.node.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.node.type.size

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.node.dtype.size

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.node.type.nbytes

    def __len__(self) -> int:
        if not self.node.shape:
            raise ArgumentTypeError("len: an array of rank 0 has no length" + graph.user_line())
        return self.node.shape[0]

    # Reads of the value

    def item(self) -> Any:
        """The value of a one-element array as a Python number; ArgumentError for other sizes."""
        return self._single("item").item()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; a number for rank 0."""
        values = data(self.node)
        if self.node.dtype.numpy.kind == "V":
            values = values.astype(np.float32)
        return values.tolist()

    def _single(self, function: str) -> np.ndarray[Any, Any]:
        if self.size != 1:
            raise graph.failure(
                ArgumentError, function, [self.node.type], "only arrays of one element are numbers"
            )
        values = data(self.node).reshape(())
        return values.astype(np.float32) if values.dtype.kind == "V" else values

    def __bool__(self) -> bool:
        return bool(self._single("bool"))

    def __int__(self) -> int:
        return int(self._real("int"))

    def __float__(self) -> float:
        return float(self._real("float"))

    def __complex__(self) -> complex:
        return complex(self._single("complex"))

    def _real(self, function: str) -> Any:
        if self.dtype.kind == "complex":
            text = "a complex number is not a real one; take its real part"
            raise graph.failure(DTypeError, function, [self.node.type], text)
        return self._single(function)

    def __index__(self) -> int:
        if self.ndim or not self.dtype.is_integer:
            text = "only integer arrays of rank 0 are indices"
            raise graph.failure(ArgumentTypeError, "index", [self.node.type], text)
        return int(data(self.node))

    def __iter__(self) -> Iterator[Array]:
        if not self.node.shape:
            text = "iter: an array of rank 0 cannot be iterated over"
            raise ArgumentTypeError(text + graph.user_line())
        rows = wrap(self.node)
        return (rows[i] for i in range(self.node.shape[0]))

    def __contains__(self, value: Any) -> bool:
        try:
            return bool(reductions.any(elementwise.equal(self, value)))
        except ArgumentTypeError:
            return False

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        values = data(self.node)
        if dtype is not None and np.dtype(dtype) != values.dtype:
            if copy is False:
                raise ArgumentError(f"array: {self.dtype.name} as {dtype} needs a copy")
            return values.astype(dtype)
        return values.copy() if copy else conversion.read_only(values)

    def __bytes__(self) -> bytes:
        return data(self.node).tobytes()

    def __repr__(self) -> str:
        return printing.format_array(data(self.node), self.dtype)

    def __format__(self, specification: str) -> str:
        if not specification:
            return str(self)
        if self.ndim:
            raise ArgumentTypeError(f"format: {specification!r} formats arrays of rank 0 only")
        return format(self.item(), specification)

    def __copy__(self) -> Array:
        return wrap(self.node)

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return wrap(self.node)

    def __reduce__(self) -> Any:
        return _from_bytes, (bytes(self), self.shape, self.dtype)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return sys.modules[__name__.partition(".")[0]]

    __hash__ = object.__hash__

    # Indexing

    def __getitem__(self, index: Any) -> Array:
        return indexing.get_item(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        indexing.set_item(self, index, value)

    # Operators

    def __add__(self, other: Any) -> Array:
        try:
            return elementwise.add(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__radd__")

    def __radd__(self, other: Any) -> Array:
        return elementwise.add(other, self)

    def __iadd__(self, other: Any) -> Self:
        self.node = elementwise.add(self, other).node
        return self

    def __sub__(self, other: Any) -> Array:
        try:
            return elementwise.subtract(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__rsub__")

    def __rsub__(self, other: Any) -> Array:
        return elementwise.subtract(other, self)

    def __isub__(self, other: Any) -> Self:
        self.node = elementwise.subtract(self, other).node
        return self

    def __mul__(self, other: Any) -> Array:
        try:
            return elementwise.multiply(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__rmul__")

    def __rmul__(self, other: Any) -> Array:
        return elementwise.multiply(other, self)

    def __imul__(self, other: Any) -> Self:
        self.node = elementwise.multiply(self, other).node
        return self

    def __truediv__(self, other: Any) -> Array:
        try:
            return elementwise.divide(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__rtruediv__")

    def __rtruediv__(self, other: Any) -> Array:
        return elementwise.divide(other, self)

    def __itruediv__(self, other: Any) -> Self:
        self.node = elementwise.divide(self, other).node
        return self

    def __floordiv__(self, other: Any) -> Array:
        try:
            return elementwise.floor_divide(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__rfloordiv__")

    def __rfloordiv__(self, other: Any) -> Array:
        return elementwise.floor_divide(other, self)

    def __ifloordiv__(self, other: Any) -> Self:
        self.node = elementwise.floor_divide(self, other).node
        return self

    def __mod__(self, other: Any) -> Array:
        try:
            return elementwise.remainder(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__rmod__")

    def __rmod__(self, other: Any) -> Array:
        return elementwise.remainder(other, self)

    def __imod__(self, other: Any) -> Self:
        self.node = elementwise.remainder(self, other).node
        return self

    def __pow__(self, other: Any) -> Array:
        try:
            return elementwise.power(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__rpow__")

    def __rpow__(self, other: Any) -> Array:
        return elementwise.power(other, self)

    def __ipow__(self, other: Any) -> Self:
        self.node = elementwise.power(self, other).node
        return self

    def __matmul__(self, other: Any) -> Array:
        try:
            return contractions.matmul(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__rmatmul__")

    def __rmatmul__(self, other: Any) -> Array:
        return contractions.matmul(other, self)

    def __imatmul__(self, other: Any) -> Self:
        self.node = contractions.matmul(self, other).node
        return self

    def __and__(self, other: Any) -> Array:
        try:
            return elementwise.bitwise_and(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__rand__")

    def __rand__(self, other: Any) -> Array:
        return elementwise.bitwise_and(other, self)

    def __iand__(self, other: Any) -> Self:
        self.node = elementwise.bitwise_and(self, other).node
        return self

    def __or__(self, other: Any) -> Array:
        try:
            return elementwise.bitwise_or(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__ror__")

    def __ror__(self, other: Any) -> Array:
        return elementwise.bitwise_or(other, self)

    def __ior__(self, other: Any) -> Self:
        self.node = elementwise.bitwise_or(self, other).node
        return self

    def __xor__(self, other: Any) -> Array:
        try:
            return elementwise.bitwise_xor(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__rxor__")

    def __rxor__(self, other: Any) -> Array:
        return elementwise.bitwise_xor(other, self)

    def __ixor__(self, other: Any) -> Self:
        self.node = elementwise.bitwise_xor(self, other).node
        return self

    def __lshift__(self, other: Any) -> Array:
        try:
            return elementwise.left_shift(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__rlshift__")

    def __rlshift__(self, other: Any) -> Array:
        return elementwise.left_shift(other, self)

    def __ilshift__(self, other: Any) -> Self:
        self.node = elementwise.left_shift(self, other).node
        return self

    def __rshift__(self, other: Any) -> Array:
        try:
            return elementwise.right_shift(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__rrshift__")

    def __rrshift__(self, other: Any) -> Array:
        return elementwise.right_shift(other, self)

    def __irshift__(self, other: Any) -> Self:
        self.node = elementwise.right_shift(self, other).node
        return self

    def __divmod__(self, other: Any) -> tuple[Array, Array]:
        return elementwise.divmod(self, other)

    def __rdivmod__(self, other: Any) -> tuple[Array, Array]:
        return elementwise.divmod(other, self)

    def __eq__(self, other: object) -> Any:
        try:
            return elementwise.equal(self, other)
        except ArgumentTypeError:
            return NotImplemented

    def __ne__(self, other: object) -> Any:
        try:
            return elementwise.not_equal(self, other)
        except ArgumentTypeError:
            return NotImplemented

    def __lt__(self, other: Any) -> Array:
        try:
            return elementwise.less(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__gt__")

    def __le__(self, other: Any) -> Array:
        try:
            return elementwise.less_equal(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__ge__")

    def __gt__(self, other: Any) -> Array:
        try:
            return elementwise.greater(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__lt__")

    def __ge__(self, other: Any) -> Array:
        try:
            return elementwise.greater_equal(self, other)
        except ArgumentTypeError as error:
            return _deferred(error, other, "__le__")

    def __neg__(self) -> Array:
        return elementwise.negative(self)

    def __pos__(self) -> Array:
        return elementwise.positive(self)

    def __abs__(self) -> Array:
        return elementwise.abs(self)

    def __invert__(self) -> Array:
        return elementwise.bitwise_invert(self)

    # Functions as methods

    @property
    def T(self) -> Array:
        """The array with its axes reversed."""
        return shaping.transpose(self)

    @property
    def mT(self) -> Array:
        """The array with its last two axes swapped."""
        return shaping.matrix_transpose(self)

    @property
    def real(self) -> Array:
        """The real part."""
        return elementwise.real(self)

    @property
    def imag(self) -> Array:
        """The imaginary part."""
        return elementwise.imag(self)

    def reshape(self, *shape: Any, stream: StreamLike = None) -> Array:
        """As :func:`lamina.reshape`, the sizes as one sequence or one by one."""
        sizes = shape[0] if len(shape) == 1 else shape
        return shaping.reshape(self, sizes, stream=stream)

    def transpose(self, *axes: Any, stream: StreamLike = None) -> Array:
        """As :func:`lamina.transpose`, the axes as one sequence or one by one; none reverses."""
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], (list, tuple)) else axes
        return shaping.transpose(self, order or None, stream=stream)

    def astype(self, dtype: DType, stream: StreamLike = None) -> Array:
        """As :func:`lamina.astype`."""
        return shaping.astype(self, dtype, stream=stream)

    def view(self, dtype: DType, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.view`."""
        return shaping.view(self, dtype, stream=stream)

    def flatten(
        self, start_axis: int = 0, end_axis: int = -1, *, stream: StreamLike = None
    ) -> Array:
        """As :func:`lamina.flatten`."""
        return shaping.flatten(self, start_axis, end_axis, stream=stream)

    def squeeze(self, axis: Axes = None, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.squeeze`."""
        return shaping.squeeze(self, axis, stream=stream)

    def swapaxes(self, axis1: int, axis2: int, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.swapaxes`."""
        return shaping.swapaxes(self, axis1, axis2, stream=stream)

    def moveaxis(
        self,
        source: int | Sequence[int],
        destination: int | Sequence[int],
        *,
        stream: StreamLike = None,
    ) -> Array:
        """As :func:`lamina.moveaxis`."""
        return shaping.moveaxis(self, source, destination, stream=stream)

    def abs(self, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.abs`."""
        return elementwise.abs(self, stream=stream)

    def conj(self, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.conj`."""
        return elementwise.conj(self, stream=stream)

    def cos(self, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.cos`."""
        return elementwise.cos(self, stream=stream)

    def exp(self, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.exp`."""
        return elementwise.exp(self, stream=stream)

    def log(self, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.log`."""
        return elementwise.log(self, stream=stream)

    def log10(self, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.log10`."""
        return elementwise.log10(self, stream=stream)

    def log1p(self, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.log1p`."""
        return elementwise.log1p(self, stream=stream)

    def log2(self, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.log2`."""
        return elementwise.log2(self, stream=stream)

    def reciprocal(self, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.reciprocal`."""
        return elementwise.reciprocal(self, stream=stream)

    def rsqrt(self, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.rsqrt`."""
        return elementwise.rsqrt(self, stream=stream)

    def sin(self, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.sin`."""
        return elementwise.sin(self, stream=stream)

    def sqrt(self, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.sqrt`."""
        return elementwise.sqrt(self, stream=stream)

    def square(self, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.square`."""
        return elementwise.square(self, stream=stream)

    def round(self, decimals: int = 0, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.round`."""
        return elementwise.round(self, decimals, stream=stream)

    def all(self, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.all`."""
        return reductions.all(self, axis, keepdims, stream=stream)

    def any(self, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.any`."""
        return reductions.any(self, axis, keepdims, stream=stream)

    def max(self, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.max`."""
        return reductions.max(self, axis, keepdims, stream=stream)

    def min(self, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.min`."""
        return reductions.min(self, axis, keepdims, stream=stream)

    def prod(
        self, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None
    ) -> Array:
        """As :func:`lamina.prod`."""
        return reductions.prod(self, axis, keepdims, stream=stream)

    def sum(self, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.sum`."""
        return reductions.sum(self, axis, keepdims, stream=stream)

    def argmax(
        self, axis: int | None = None, keepdims: bool = False, *, stream: StreamLike = None
    ) -> Array:
        """As :func:`lamina.argmax`."""
        return reductions.argmax(self, axis, keepdims, stream=stream)

    def argmin(
        self, axis: int | None = None, keepdims: bool = False, *, stream: StreamLike = None
    ) -> Array:
        """As :func:`lamina.argmin`."""
        return reductions.argmin(self, axis, keepdims, stream=stream)

    def logsumexp(
        self, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None
    ) -> Array:
        """As :func:`lamina.logsumexp`."""
        return statistics.logsumexp(self, axis, keepdims, stream=stream)

    def mean(
        self, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None
    ) -> Array:
        """As :func:`lamina.mean`."""
        return statistics.mean(self, axis, keepdims, stream=stream)

    def std(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        ddof: int = 0,
        *,
        correction: int | None = None,
        stream: StreamLike = None,
    ) -> Array:
        """As :func:`lamina.std`."""
        return statistics.std(self, axis, keepdims, ddof, correction=correction, stream=stream)

    def var(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        ddof: int = 0,
        *,
        correction: int | None = None,
        stream: StreamLike = None,
    ) -> Array:
        """As :func:`lamina.var`."""
        return statistics.var(self, axis, keepdims, ddof, correction=correction, stream=stream)

    def cummax(
        self,
        axis: int | None = None,
        *,
        reverse: bool = False,
        inclusive: bool = True,
        stream: StreamLike = None,
    ) -> Array:
        """As :func:`lamina.cummax`."""
        return scans.cummax(self, axis, reverse=reverse, inclusive=inclusive, stream=stream)

    def cummin(
        self,
        axis: int | None = None,
        *,
        reverse: bool = False,
        inclusive: bool = True,
        stream: StreamLike = None,
    ) -> Array:
        """As :func:`lamina.cummin`."""
        return scans.cummin(self, axis, reverse=reverse, inclusive=inclusive, stream=stream)

    def cumprod(
        self,
        axis: int | None = None,
        *,
        reverse: bool = False,
        inclusive: bool = True,
        stream: StreamLike = None,
    ) -> Array:
        """As :func:`lamina.cumprod`."""
        return scans.cumprod(self, axis, reverse=reverse, inclusive=inclusive, stream=stream)

    def cumsum(
        self,
        axis: int | None = None,
        *,
        reverse: bool = False,
        inclusive: bool = True,
        stream: StreamLike = None,
    ) -> Array:
        """As :func:`lamina.cumsum`."""
        return scans.cumsum(self, axis, reverse=reverse, inclusive=inclusive, stream=stream)

    def diag(self, k: int = 0, *, stream: StreamLike = None) -> Array:
        """As :func:`lamina.diag`."""
        return rearranging.diag(self, k, stream=stream)

    def diagonal(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, stream: StreamLike = None
    ) -> Array:
        """As :func:`lamina.diagonal`."""
        return rearranging.diagonal(self, offset, axis1, axis2, stream=stream)

    def split(
        self, indices_or_sections: int | Sequence[int], axis: int = 0, *, stream: StreamLike = None
    ) -> list[Array]:
        """As :func:`lamina.split`."""
        return rearranging.split(self, indices_or_sections, axis, stream=stream)


def _from_bytes(content: bytes, shape: tuple[int, ...], dtype: DType) -> Array:
    """The array that a pickle holds."""
    return wrap(conversion.filled_node(np.frombuffer(content, dtype.numpy).reshape(shape), dtype))


def _deferred(error: ArgumentTypeError, other: Any, reflected: str) -> Any:
    """NotImplemented if a foreign type has such an operator of its own; else raises the error."""
    if type(other).__module__ != "builtins" and hasattr(type(other), reflected):
        return NotImplemented
    raise error


# What the methods call; these modules need the class above.
from . import (  # noqa: E402
    contractions,
    elementwise,
    indexing,
    rearranging,
    reductions,
    scans,
    shaping,
    statistics,
)
