"""Functions with rules of their own: ``custom_function``, ``checkpoint`` and ``stop_gradient``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import ArgumentError, ArgumentTypeError, ShapeError
from .. import graph, tree
from ..array import Array, wrap
from ..devices import StreamLike, check_stream
from ..graph import Node, current
from ..operands import array_node, cast, transpose
from . import batching, walks
from .composite import STOP_GRADIENT, Call, Composite
from .scope import function_name, is_transforming, placeholder, same
from .signatures import positional_arguments

Nodes = list[Node]
Backward = Callable[[Nodes, Nodes, Nodes], "list[Node | None]"]
"""Takes operands, cotangents and results, gives the operands' cotangents."""
Forward = Callable[[Nodes, "list[Node | None]"], Nodes]
"""Takes operands and tangents, gives the results' tangents."""


def stop_gradient(a: Any, /, stream: StreamLike = None) -> Array:
    """The array as it is, as a constant to derivatives.

    Args:
        a: an array of any dtype, or a number.
        stream: where to run; None is the default device.

    Returns an array of the same shape and dtype whose derivative by ``a`` is zero.
    """
    check_stream(stream)
    node = array_node("stop_gradient", a)
    if is_transforming():
        node = Composite(same(node), STOP_GRADIENT, (node,))
    return wrap(node)


class Region(Call):
    """A call that is differentiated through what it did."""

    def forward(self, tangents: Sequence[Node | None]) -> list[Node | None]:
        return walks.pushforward(self.results, self.sources, tangents)

    def backward(
        self, cotangents: Sequence[Node | None], wanted: Sequence[bool]
    ) -> Sequence[Node | None]:
        return walks.pullback(self.results, cotangents, self.sources)

    def copied(self, new: Callable[[Node], Node]) -> Region:
        parts = [list(map(new, nodes)) for nodes in (self.operands, self.sources, self.results)]
        return type(self)(*parts)

    def batched(
        self, flags: Sequence[bool], new: Callable[[Node], Node], size: int
    ) -> tuple[Call, list[Node | None]]:
        results = [new(node) for node in self.results]
        known = [
            None if made is node else made for made, node in zip(results, self.results, strict=True)
        ]
        operands, sources = list(map(new, self.operands)), list(map(new, self.sources))
        return type(self)(operands, sources, results), known


class Recomputed(Region):
    """A call whose results are computed anew, from its operands, when a derivative needs them."""

    def backward(
        self, cotangents: Sequence[Node | None], wanted: Sequence[bool]
    ) -> Sequence[Node | None]:
        sources = [same(operand) for operand in self.operands]
        return walks.pullback(
            walks.copied(self.results, self.sources, sources), cotangents, sources
        )


class Custom(Call):
    """A call with a derivative of its own: one direction is given, the other is its transpose.

    Args:
        operands, sources, results: as every call has them.
        backward, forward: the rules; at least one.
        mapped: for all examples of operands that are batched where the flags say so, the results
            likewise; None to batch what the function did.
    """

    def __init__(
        self,
        operands: Sequence[Node],
        sources: Sequence[Node],
        results: Sequence[Node],
        backward: Backward | None,
        forward: Forward | None,
        mapped: Callable[[Nodes, Sequence[bool], int], Nodes] | None,
    ) -> None:
        super().__init__(operands, sources, results)
        self._backward = backward
        self._forward = forward
        self._mapped = mapped

    def _outputs(self) -> Nodes:
        """The results as transforms see them, so that derivatives of derivatives know the rule."""
        return [
            Composite(same(node), self, self.operands, i) for i, node in enumerate(self.results)
        ]

    def forward(self, tangents: Sequence[Node | None]) -> list[Node | None]:
        operands = list(self.operands)
        if self._forward is not None:
            return list(self._forward(operands, list(tangents)))
        if self._backward is None:
            return walks.pushforward(self.results, self.sources, tangents)
        cotangents = _placeholders(self.results)
        found = self._backward(operands, cotangents, self._outputs())
        pairs = [
            (part, tangent)
            for part, tangent in zip(found, tangents, strict=True)
            if part is not None and tangent is not None
        ]
        return walks.pullback([part for part, _ in pairs], [t for _, t in pairs], cotangents)

    def backward(
        self, cotangents: Sequence[Node | None], wanted: Sequence[bool]
    ) -> Sequence[Node | None]:
        operands = list(self.operands)
        if self._backward is not None:
            given = walks.filled_in(cotangents, self.results)
            return self._backward(operands, given, self._outputs())
        if self._forward is None:
            return walks.pullback(self.results, cotangents, self.sources)
        made = _placeholders(self.operands)
        tangents = [
            tangent if is_wanted and tangent.dtype.is_inexact else None
            for tangent, is_wanted in zip(made, wanted, strict=True)
        ]
        results = self._forward(operands, tangents)
        return walks.pullback(results, cotangents, made)

    def copied(self, new: Callable[[Node], Node]) -> Custom:
        return Custom(
            list(map(new, self.operands)),
            list(map(new, self.sources)),
            list(map(new, self.results)),
            self._backward,
            self._forward,
            self._mapped,
        )

    def batched(
        self, flags: Sequence[bool], new: Callable[[Node], Node], size: int
    ) -> tuple[Call, list[Node | None]]:
        given = list(map(new, self.operands))
        if self._mapped is not None:
            results = self._mapped(given, flags, size)
        else:
            results = [
                batching.spread(node, size) if new(node) is node else new(node)
                for node in self.results
            ]
        if self._backward is None and self._forward is None:
            # The derivative is that of what the function, or its rule for batches, did.
            operands = given
            sources = list(map(new, self.sources)) if self._mapped is None else given
        else:
            operands = [
                node if flag else batching.spread(node, size)
                for node, flag in zip(given, flags, strict=True)
            ]
            sources = operands
        call = Custom(
            operands,
            sources,
            results,
            _batched_backward(self._backward, size),
            _batched_forward(self._forward, size),
            None,
        )
        return call, list(results)


def _placeholders(nodes: Sequence[Node]) -> Nodes:
    return [placeholder(node.shape, node.dtype, current.trace) for node in nodes]


def _batched_backward(rule: Backward | None, size: int) -> Backward | None:
    if rule is None:
        return None

    def batched(operands: Nodes, cotangents: Nodes, results: Nodes) -> list[Node | None]:
        first, second = len(operands), len(operands) + len(cotangents)

        def one(nodes: Nodes) -> Nodes:
            operands = nodes[:first]
            return walks.filled_in(rule(operands, nodes[first:second], nodes[second:]), operands)

        return list(batching.map_nodes(one, [*operands, *cotangents, *results], size))

    return batched


def _batched_forward(rule: Forward | None, size: int) -> Forward | None:
    if rule is None:
        return None

    def batched(operands: Nodes, tangents: list[Node | None]) -> Nodes:
        present = [i for i, tangent in enumerate(tangents) if tangent is not None]
        given = [tangent for tangent in tangents if tangent is not None]

        def one(nodes: Nodes) -> Nodes:
            inner: list[Node | None] = [None] * len(operands)
            for place, node in zip(present, nodes[len(operands) :], strict=True):
                inner[place] = node
            return rule(nodes[: len(operands)], inner)

        return batching.map_nodes(one, [*operands, *given], size)

    return batched


def _taken(args: tuple[Any, ...]) -> tuple[Nodes, Callable[[Sequence[Any]], Any]]:
    """The nodes of the arrays in arguments, and how to put other leaves in their places."""
    nodes = [leaf.node for leaf in tree.leaves(args) if isinstance(leaf, Array)]

    def rebuilt(leaves: Sequence[Any]) -> Any:
        rest = iter(leaves)
        return tree.map_leaves(lambda leaf: next(rest) if isinstance(leaf, Array) else leaf, args)

    return nodes, rebuilt


def _single(values: tuple[Any, ...]) -> Any:
    return values[0] if len(values) == 1 else values


class custom_function:
    """A function with derivative and batching rules of its own.

    Used as a decorator; the rules are set by its methods :meth:`vjp`, :meth:`jvp` and :meth:`vmap`,
    also used as decorators. From either of the derivative rules the other follows, as its
    transpose; without both, and without a batching rule, transforms look at what the function did.
    Arrays that the function reaches by closure are constants.

    Args:
        fun: a function of arrays, or trees of them, that returns arrays or trees of them.
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        if not callable(fun):
            raise ArgumentTypeError(
                f"custom_function: takes a function, got {type(fun).__name__}{graph.user_line()}"
            )
        functools.update_wrapper(self, fun)
        self._name = function_name(fun)
        self._function = fun
        self._vjp: Callable[..., Any] | None = None
        self._jvp: Callable[..., Any] | None = None
        self._vmap: Callable[..., Any] | None = None

    def vjp(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Sets the reverse rule, ``f(primals, cotangents, outputs)``; returns ``f``.

        ``primals`` is the argument, or the tuple of several; ``cotangents`` and ``outputs`` are
        like what the function returns. The rule returns cotangents in the structure of
        ``primals``; None stands for zero.
        """
        self._vjp = f
        return f

    def jvp(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Sets the forward rule, ``f(primals, tangents)``; returns ``f``.

        ``primals`` is the argument, or the tuple of several; ``tangents`` is like it, with None
        for arrays that do not vary. The rule returns tangents in the structure of what the
        function returns.
        """
        self._jvp = f
        return f

    def vmap(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Sets the batching rule, ``f(inputs, axes)``; returns ``f``.

        ``inputs`` is the argument, or the tuple of several, with the batch axis; ``axes`` is like
        it and gives where that is, None for arrays without one. The rule returns outputs and
        their axes.
        """
        self._vmap = f
        return f

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        if not is_transforming():
            return self._function(*args, **kwargs)
        args = positional_arguments(self._name, self._function, args, kwargs)
        operands, rebuilt = _taken(args)
        sources = [same(node) for node in operands]
        value = self._function(*rebuilt([wrap(node) for node in sources]))
        results, rebuilt_value = _taken((value,))
        if not results or not operands:
            return value
        call = Custom(
            operands,
            sources,
            results,
            self._backward_rule(rebuilt, rebuilt_value) if self._vjp is not None else None,
            self._forward_rule(rebuilt, results) if self._jvp is not None else None,
            self._batching_rule(rebuilt) if self._vmap is not None else None,
        )
        composites = [
            Composite(same(node), call, call.operands, i) for i, node in enumerate(results)
        ]
        return rebuilt_value([wrap(node) for node in composites])[0]

    # The rules on lists of nodes

    def _backward_rule(self, rebuilt: Any, rebuilt_value: Any) -> Backward:
        rule = self._vjp
        assert rule is not None

        def backward(operands: Nodes, cotangents: Nodes, results: Nodes) -> list[Node | None]:
            primals = _single(tuple(rebuilt([wrap(node) for node in operands])))
            given, outputs = [
                rebuilt_value([wrap(node) for node in nodes])[0] for nodes in (cotangents, results)
            ]
            found = rule(primals, given, outputs)
            return self._checked("vjp", found, _single(tuple(rebuilt(operands))), operands)

        return backward

    def _forward_rule(self, rebuilt: Any, results: Nodes) -> Forward:
        rule = self._jvp
        assert rule is not None

        def forward(operands: Nodes, tangents: list[Node | None]) -> Nodes:
            primals = _single(tuple(rebuilt([wrap(node) for node in operands])))
            given = rebuilt([None if node is None else wrap(node) for node in tangents])
            found = _taken((rule(primals, _single(tuple(given))),))[0]
            if [node.shape for node in found] != [node.shape for node in results]:
                got = ", ".join(str(node.type) for node in found)
                raise ShapeError(
                    f"{self._name}.jvp: returned {got or 'nothing'} for outputs "
                    f"{', '.join(str(node.type) for node in results)}{graph.user_line()}"
                )
            return [cast(node, result.dtype) for node, result in zip(found, results, strict=True)]

        return forward

    def _batching_rule(self, rebuilt: Any) -> Callable[[Nodes, Sequence[bool], int], Nodes]:
        rule = self._vmap
        assert rule is not None

        def mapped(operands: Nodes, flags: Sequence[bool], size: int) -> Nodes:
            inputs = _single(tuple(rebuilt([wrap(node) for node in operands])))
            axes = _single(tuple(rebuilt([0 if flag else None for flag in flags])))
            pair = rule(inputs, axes)
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ArgumentTypeError(
                    f"{self._name}.vmap: must return outputs and their axes, got "
                    f"{type(pair).__name__}{graph.user_line()}"
                )
            nodes, _ = _taken((pair[0],))
            places = tree.leaves(pair[1])
            if len(places) == 1:
                places *= len(nodes)
            return [
                _moved_to_front(self._name, node, axis, size)
                for node, axis in zip(nodes, places, strict=True)
            ]

        return mapped

    def _checked(self, rule: str, found: Any, template: Any, operands: Nodes) -> list[Node | None]:
        """The cotangents that a rule returned, one for each operand."""
        wanted = tree.leaves(template)
        given = tree.leaves(found)
        if len(given) != len(wanted):
            raise ArgumentError(
                f"{self._name}.{rule}: returned {len(given)} values for {len(wanted)} inputs"
                f"{graph.user_line()}"
            )
        result: list[Node | None] = []
        for value, leaf in zip(given, wanted, strict=True):
            if not isinstance(leaf, Node):
                continue
            if value is None or not leaf.dtype.is_inexact:
                result.append(None)
                continue
            node = array_node(f"{self._name}.{rule}", value)
            if node.shape != leaf.shape:
                raise graph.failure(
                    ShapeError,
                    f"{self._name}.{rule}",
                    [operand.type for operand in operands],
                    f"returned shape {node.shape} for an input of shape {leaf.shape}",
                )
            result.append(cast(node, leaf.dtype))
        return result

    def __repr__(self) -> str:
        return f"<custom function {self._function!r}>"


def _moved_to_front(name: str, node: Node, axis: int | None, size: int) -> Node:
    if axis is None:
        return batching.spread(node, size)
    rank = len(node.shape)
    if not -rank <= axis < rank or node.shape[axis] != size:
        raise ShapeError(
            f"{name}.vmap: returned shape {node.shape} with axis {axis}, which is not the batch's "
            f"of size {size}{graph.user_line()}"
        )
    axis %= rank
    return transpose(node, (axis, *[i for i in range(rank) if i != axis]))


def checkpoint(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function like ``fun`` that keeps nothing for derivatives but its arguments.

    What a derivative needs besides is computed again, so that less memory is held meanwhile.

    Args:
        fun: a function of arrays, or trees of them, that returns arrays or trees of them. Arrays
            it reaches by closure have derivatives as ever.

    Returns a function with the arguments and results of ``fun``.
    """
    if not callable(fun):
        raise ArgumentTypeError(
            f"checkpoint: takes a function, got {type(fun).__name__}{graph.user_line()}"
        )

    @functools.wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if not is_transforming():
            return fun(*args, **kwargs)
        operands, rebuilt = _taken((args, kwargs))
        sources = [same(node) for node in operands]
        positional, keywords = rebuilt([wrap(node) for node in sources])
        value = fun(*positional, **keywords)
        results, rebuilt_value = _taken((value,))
        inside = walks.dependents(results, sources)
        known = {id(node) for node in (*inside, *sources)}
        outside = {
            id(part): part
            for node in inside
            for part in walks.operands_of(node)
            if id(part) not in known
        }
        call = Recomputed([*operands, *outside.values()], [*sources, *outside.values()], results)
        made = {id(node) for node in inside}
        composites = [
            Composite(same(node), call, call.operands, i) if id(node) in made else node
            for i, node in enumerate(results)
        ]
        return rebuilt_value([wrap(node) for node in composites])[0]

    return checkpointed
