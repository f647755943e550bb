"""Types, attribute values and locations in MLIR's terms, and back.

===========  ==================================================================
kind         attribute
===========  ==================================================================
``int``      ``3 : i64``
``ints``     ``array<i64: 1, 2>``
``bool``     ``true``
``dtype``    the element type, such as ``f32`` or ``ui8``
``scalar``   a number of the dtype, such as ``1.0 : f32``, ``7 : ui8``, ``true``;
             complex numbers are ``array<f64: real, imaginary>``
===========  ==================================================================

Every value round-trips with its bits: infinities, -0.0, the payload of a quiet NaN, and 64-bit
unsigned integers. All functions need the process's context to be current; see
:func:`lamina.dialects.mlir.session`.
"""

from __future__ import annotations

from typing import Any

from mlir import ir

from ..errors import VerificationError
from .dtypes import BY_MLIR, DType
from .primitive import Attributes, Primitive, TensorType

Place = tuple[str, int, str]
"""A user's ``(file, line, function)``."""

_element_types: dict[DType, ir.Type] = {}
_tensor_types: dict[TensorType, ir.Type] = {}
_decoded_types: dict[ir.Type, TensorType] = {}
_attributes: dict[tuple[str, Any], ir.Attribute] = {}
_decoded_attributes: dict[ir.Attribute, Any] = {}
_locations: dict[Place, ir.Location] = {}

_WORD = 1 << 64


def element_type(dtype: DType) -> ir.Type:
    """The MLIR type of one element."""
    known = _element_types.get(dtype)
    if known is None:
        known = _element_types[dtype] = ir.Type.parse(dtype.mlir)
    return known


def tensor_type(type_: TensorType) -> ir.Type:
    """The MLIR type of a value."""
    known = _tensor_types.get(type_)
    if known is None:
        known = ir.RankedTensorType.get(type_.shape, element_type(type_.dtype))
        _tensor_types[type_] = known
    return known


def decode_type(type_: ir.Type) -> TensorType:
    """The shape and dtype of an MLIR tensor type.

    Raises:
        VerificationError: if it is not a ranked tensor of known sizes and of a dtype of Lamina.
    """
    known = _decoded_types.get(type_)
    if known is not None:
        return known
    if not isinstance(type_, ir.RankedTensorType):
        raise VerificationError(f"expected a ranked tensor, got {type_}")
    if not type_.has_static_shape or type_.encoding is not None:
        raise VerificationError(f"expected a tensor of known sizes, got {type_}")
    dtype = BY_MLIR.get(str(type_.element_type))
    if dtype is None:
        raise VerificationError(f"{type_.element_type} is not a dtype, in {type_}")
    decoded = TensorType(tuple(type_.shape), dtype)
    _decoded_types[type_] = decoded
    return decoded


def encode_attribute(kind: str, value: Any) -> ir.Attribute:
    """The attribute of a value of a kind other than ``"scalar"``."""
    known = _attributes.get((kind, value))
    if known is None:
        known = _attributes[kind, value] = _encode_attribute(kind, value)
    return known


def _encode_attribute(kind: str, value: Any) -> ir.Attribute:
    if kind == "ints":
        return ir.DenseI64ArrayAttr.get(value)
    if kind == "int":
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    if kind == "bool":
        return ir.BoolAttr.get(bool(value))
    assert kind == "dtype", kind
    return ir.TypeAttr.get(element_type(value))


def encode_scalar(value: Any, dtype: DType) -> ir.Attribute:
    """The attribute of a number of a dtype."""
    if dtype.kind == "floating":
        return ir.FloatAttr.get(element_type(dtype), value)
    if dtype.kind == "bool":
        return ir.BoolAttr.get(bool(value))
    if dtype.kind == "complex":
        return ir.DenseF64ArrayAttr.get([value.real, value.imag])
    # The bindings take a signed 64-bit integer; the bits of the attribute are the same.
    word = value - _WORD if value >= _WORD // 2 else value
    return ir.IntegerAttr.get(element_type(dtype), word)


def encode_attributes(primitive: Primitive, attributes: Attributes) -> dict[str, ir.Attribute]:
    """The attributes of a primitive, by name."""
    encoded: dict[str, ir.Attribute] = {}
    for (name, kind), value in zip(primitive.attributes, attributes, strict=True):
        if kind == "scalar":
            encoded[name] = encode_scalar(value, attributes[_dtype_position(primitive)])
        else:
            encoded[name] = encode_attribute(kind, value)
    return encoded


def decode_attributes(primitive: Primitive, attributes: ir.OpAttributeMap) -> Attributes:
    """The attribute values of a primitive, in its order.

    Raises:
        VerificationError: for an attribute that is missing or of another kind.
    """
    values: list[Any] = []
    scalar: int | None = None
    for position, (name, kind) in enumerate(primitive.attributes):
        attribute = attributes.get(name)
        if attribute is None:
            raise VerificationError(f"needs an attribute {name}")
        if kind == "scalar":
            scalar = position
            values.append(attribute)
            continue
        known = _decoded_attributes.get(attribute)
        if known is None or (kind, type(known)) not in _KINDS:
            known = _decode_attribute(name, kind, attribute)
            _decoded_attributes[attribute] = known
        values.append(known)
    if scalar is not None:
        values[scalar] = decode_scalar(values[scalar], values[_dtype_position(primitive)])
    return tuple(values)


_KINDS = frozenset({("int", int), ("ints", tuple), ("bool", bool), ("dtype", DType)})


def _decode_attribute(name: str, kind: str, attribute: ir.Attribute) -> Any:
    if kind == "ints" and isinstance(attribute, ir.DenseI64ArrayAttr):
        return tuple(attribute)
    if kind == "bool" and isinstance(attribute, ir.BoolAttr):
        return attribute.value
    if kind == "int" and isinstance(attribute, ir.IntegerAttr):
        if attribute.type == ir.IntegerType.get_signless(64):
            return attribute.value
    if kind == "dtype" and isinstance(attribute, ir.TypeAttr):
        dtype = BY_MLIR.get(str(attribute.value))
        if dtype is not None:
            return dtype
    wanted = {"ints": "array<i64: ...>", "bool": "true or false", "int": "an i64"}
    raise VerificationError(
        f"attribute {name} must be {wanted.get(kind, 'an element type')}, got {attribute}"
    )


def decode_scalar(attribute: ir.Attribute, dtype: DType) -> Any:
    """The number in an attribute: a bool, int, float or complex by the dtype's kind.

    Raises:
        VerificationError: if the attribute does not hold a number of the dtype.
    """
    if dtype.kind == "floating":
        if isinstance(attribute, ir.FloatAttr) and attribute.type == element_type(dtype):
            return attribute.value
    elif dtype.kind == "bool":
        if isinstance(attribute, ir.BoolAttr):
            return attribute.value
    elif dtype.kind == "complex":
        if isinstance(attribute, ir.DenseF64ArrayAttr) and len(attribute) == 2:
            return complex(*attribute)
    elif isinstance(attribute, ir.IntegerAttr) and attribute.type == element_type(dtype):
        value = attribute.value
        return value % (1 << 8 * dtype.size) if dtype.kind == "unsigned" else value
    raise VerificationError(f"{attribute} is not a number of dtype {dtype.name}")


def _dtype_position(primitive: Primitive) -> int:
    return next(i for i, (_, kind) in enumerate(primitive.attributes) if kind == "dtype")


def encode_location(place: Place | None) -> ir.Location:
    """The location of a user's line: the function's name around the file and line."""
    if place is None:
        return ir.Location.unknown()
    known = _locations.get(place)
    if known is None:
        file, line, function = place
        known = _locations[place] = ir.Location.name(function, ir.Location.file(file, line, 0))
    return known


def decode_location(location: ir.Location) -> Place | None:
    """The ``(file, line, function)`` of a location, or None if it names no file."""
    function = ""
    while True:
        if location.is_a_file():
            return location.filename, location.start_line, function
        if location.is_a_name():
            function = location.name_str
            location = location.child_loc
        elif location.is_a_fused():
            location = location.locations[0]
        elif location.is_a_callsite():
            location = location.callee
        else:
            return None


def places_of(location: ir.Location) -> list[Place]:
    """Every ``(file, line, function)`` of a location that was fused of several."""
    if location.is_a_fused():
        return [place for part in location.locations for place in places_of(part)]
    place = decode_location(location)
    return [] if place is None else [place]


def describe_location(location: ir.Location) -> str:
    """``file:line:column`` for messages; ``<unknown>`` if the location names no file."""
    while not location.is_a_file():
        if location.is_a_name():
            location = location.child_loc
        elif location.is_a_fused() and location.locations:
            location = location.locations[0]
        elif location.is_a_callsite():
            location = location.callee
        else:
            return "<unknown>"
    column = f":{location.start_col}" if location.start_col else ""
    return f"{location.filename}:{location.start_line}{column}"
