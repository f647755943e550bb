"""``lamina.compile``: functions traced once for each kind of call, and run as one program."""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import ArgumentError, ArgumentTypeError
from . import canonical, donation, keys, results
from .array import Array
from .captures import Captures, Holder, held_arrays
from .devices import default_device
from .dispatch import executable_for
from .entries import Binding, Entry, Key, Table, table_for, tick, without_entries
from .evaluate import evaluate
from .graph import Node, current
from .keys import KEYWORDS, scan
from .sharing import BUSY, StateChanged, wait_for_containers
from .switches import is_disabled, switches, variable_is_present
from .tracing import State, trace

CACHE_LIMIT = 8192
"""Entries that a compiled function keeps unless ``cache_limit=`` says otherwise."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a function is compiled: what ``compile`` was given besides containers.

    Attributes:
        shapeless: whether sizes may stay out of the key.
        donate: names and positions of arguments whose memory outputs may take over.
        pipeline: the passes of the program; None for the default ones.
        cache_limit: how many entries are kept.
    """

    shapeless: bool = False
    donate: tuple[str | int, ...] = ()
    pipeline: str | None = None
    cache_limit: int = CACHE_LIMIT


class Compiled:
    """A function that is traced once for each kind of call and runs as one program.

    Made by :func:`compile`. Called like the function it wraps; as an attribute of a class it is a
    method. Its attributes ``__name__``, ``__doc__`` and so on are the function's.
    """

    __name__: str
    __qualname__: str

    def __init__(
        self,
        function: Callable[..., Any],
        captures: Captures | None,
        options: Options,
        instance: weakref.ref[Any] | None = None,
    ) -> None:
        _take_names(self, function)
        self._function = function
        self._captures = captures
        self._options = options
        self._instance = instance
        self._instances: dict[int, Compiled] = {}
        self._owner: weakref.ref[type] | None = None
        self._parameters: inspect.Signature | None = None
        self._donation: donation.Donation | None = None
        if options.donate:
            self._donation = donation.Donation(self.parameters, options.donate)
        if instance is None:
            captured = (None, None) if captures is None else (captures.inputs, captures.outputs)
            option_key = (options.shapeless, options.donate, options.pipeline)
            self.table = table_for(function, captured, option_key, options.cache_limit)
        else:
            self.table = Table(options.cache_limit)

    # The call: what runs every time stands in one place, and does no more than it must.

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if (
            current.trace is not None
            or switches.disabled
            or (variable_is_present() and is_disabled())
        ):
            return self._bound_function()(*args, **kwargs)
        tokens: list[Any] = []
        nodes: list[Node] = []
        node: Node | None
        for value in args:
            if type(value) is Array:
                node = value.node
                tokens += (node.dtype, node.shape)
                nodes.append(node)
            else:
                scan(value, tokens, nodes)
        if kwargs:
            _scan_keywords(kwargs, tokens, nodes)
        captures = self._captures
        holders = None if captures is None else captures.scan(tokens, nodes)
        if BUSY and holders is not None and wait_for_containers(holders):
            return self(*args, **kwargs)
        configuration, bindings = self.table.active
        if configuration is not default_device():
            bindings = self.table.bindings(default_device())
        key = tuple(tokens)
        try:
            binding = bindings.get(key)
        except TypeError as problem:
            raise self._key_error(args, kwargs, problem) from None
        if binding is None:
            if self._owner is not None and self._is_unbound_call(args):
                return self._for(args[0])(*args[1:], **kwargs)
            try:
                binding = self._miss(bindings, key, args, kwargs)
            except StateChanged:
                return self(*args, **kwargs)
        binding.entry.used = tick()
        if binding.order is not None:
            nodes = [nodes[i] for i in binding.order]
        if binding.holder_order is not None and holders is not None:
            holders = [holders[i] for i in binding.holder_order]
        if binding.hidden:
            nodes += binding.hidden
        buffers: Any = [node.buffer for node in nodes]
        if None in buffers:
            if holders is not None and self._are_stale(nodes):
                return self(*args, **kwargs)
            evaluate([node for node in nodes if node.buffer is None])
            buffers = [node.buffer for node in nodes]
        if binding.donors is None:
            outputs = binding.run(buffers)
        else:
            node = None  # nothing here may hold what could be given away
            outputs = binding.donors.run(binding.run, nodes, buffers, holders)
        result = binding.finish(outputs, holders)
        if self._donation is not None:
            self._mark_donated(self._donation.arrays(args, kwargs), holders)
        return result

    # What a call does rarely

    @property
    def parameters(self) -> inspect.Signature | None:
        """The signature that calls are matched with; None if the function has none."""
        if self._parameters is None:
            try:
                self._parameters = inspect.signature(self._function)
            except (TypeError, ValueError):
                return None
            if self._instance is not None:
                rest = list(self._parameters.parameters.values())[1:]
                self._parameters = self._parameters.replace(parameters=rest)
        return self._parameters

    def _bound_function(self) -> Callable[..., Any]:
        """The function as calls see it; a method's takes the rest of the arguments."""
        if self._instance is None:
            return self._function
        return functools.partial(self._function, self._instance())

    def _miss(
        self, bindings: dict[Key, Binding], key: Key, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Binding:
        found = canonical.canonical(key, self.parameters if kwargs else None)
        full = (default_device(), *found.key)
        entry = self.table.get_or_create(full, lambda: self._compile(key, args, kwargs))
        return self.table.bind(bindings, key, entry, found)

    def _compile(self, key: Key, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
        self.table.traces += 1
        captures = self._captures
        positional, keywords = args, kwargs
        if kwargs:
            positional, keywords = canonical.bind(self.parameters, args, kwargs)
        traced = trace(
            self._bound_function(),
            getattr(self, "__qualname__", type(self._function).__name__),
            positional,
            keywords,
            None if captures is None else State(captures, lambda: captures.are_in(key)),
            self._instance,
        )
        executable = executable_for(traced.program, self._options.pipeline)
        donated = [] if self._donation is None else self._donation.numbers(positional, keywords)
        return Entry(
            executable.run,
            traced.hidden,
            results.finisher(traced),
            donation.donors_of(
                getattr(executable, "artifact", None), self.__name__, donated, traced.replaced
            ),
            results.Details(traced, executable),
        )

    def _are_stale(self, nodes: list[Node]) -> bool:
        """True if captured arrays were those of another thread's trace, which has put them back."""
        traced = [node for node in nodes if node.is_traced_input]
        if not traced or self._captures is None:
            return False
        now: list[Node] = []
        self._captures.scan([], now)
        return any(not any(node is other for other in now) for node in traced)

    def _mark_donated(self, arrays: list[Array], holders: list[Holder] | None) -> None:
        """Makes the use of donated arrays an error, unless captured containers still hold them."""
        kept = {id(array) for holder in holders or () for array in held_arrays(holder)}
        donation.mark([array for array in arrays if id(array) not in kept], self.__name__)

    def _key_error(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], problem: TypeError
    ) -> TypeError:
        """The error that names what cannot be a part of a key, and where it is."""
        positional, keywords = canonical.bind(self.parameters, args, kwargs)
        names = canonical.parameter_names(self.parameters, len(positional))
        for name, value in (*zip(names, positional, strict=True), *keywords.items()):
            found = keys.unhashable_leaf(f"argument `{name}`", value)
            if found is not None:
                return type(found)(f"{self.__name__}: {found}")
        found = self._captures.problem() if self._captures is not None else None
        return found or problem

    def lookup(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Key, Entry | None]:
        """The canonical key of a call and its entry, if there is one; nothing is traced."""
        tokens: list[Any] = []
        nodes: list[Node] = []
        for value in args:
            scan(value, tokens, nodes)
        if kwargs:
            _scan_keywords(kwargs, tokens, nodes)
        if self._captures is not None:
            self._captures.scan(tokens, nodes)
        try:
            found = canonical.canonical(tokens, self.parameters)
            full = (default_device(), *found.key)
            return full, self.table.get(full)
        except TypeError as problem:
            raise self._key_error(args, kwargs, problem) from None

    # Around the call

    def __set_name__(self, owner: type, name: str) -> None:
        if isinstance(self._function, types.FunctionType):
            self._owner = weakref.ref(owner)

    def _is_unbound_call(self, args: tuple[Any, ...]) -> bool:
        """True for ``Class.method(instance, ...)`` where the instance can be held weakly."""
        owner = self._owner() if self._owner is not None else None
        if owner is None or not args or not isinstance(args[0], owner):
            return False
        return getattr(type(args[0]), "__weakrefoffset__", 0) != 0

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        function = self._function
        if isinstance(function, classmethod):
            return BoundCompiled(self._for(owner), owner)
        if instance is None or not hasattr(type(function), "__get__"):
            return self
        if isinstance(function, staticmethod):
            return self
        if not isinstance(function, types.FunctionType):
            return types.MethodType(self, instance)
        try:
            return BoundCompiled(self._for(instance), instance)
        except TypeError:  # no weak references to it: the instance is an argument like others
            return types.MethodType(self, instance)

    def _for(self, instance: Any) -> Compiled:
        """The function compiled for one instance, which it does not keep alive."""
        identity = id(instance)
        instances = self._instances
        known = instances.get(identity)
        if known is not None:
            if known._instance is not None and known._instance() is instance:
                return known
            instances.pop(identity, None)
        reference = weakref.ref(instance, lambda _: instances.pop(identity, None))
        function = self._function
        function = function.__func__ if isinstance(function, classmethod) else function
        made = Compiled(function, self._captures, self._options, reference)
        return instances.setdefault(identity, made)

    @property
    def traces(self) -> int:
        """How often the function was traced."""
        return self.table.traces

    @property
    def cache_size(self) -> int:
        """How many entries the function has."""
        return len(self.table)

    def cache_clear(self) -> None:
        """Drops the function's entries, for all its wrappers with the same options."""
        self.table.clear()

    def __repr__(self) -> str:
        return f"<compiled {self._function!r}>"

    def __reduce__(self) -> str:
        # As functions are: by the name under which the module has it.
        return self.__qualname__


class BoundCompiled:
    """A compiled method of one instance: what a bound method is for a function."""

    __slots__ = ("__func__", "__self__")

    def __init__(self, compiled: Compiled, instance: Any) -> None:
        self.__func__ = compiled
        self.__self__ = instance

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(*args, **kwargs)

    @property
    def __doc__(self) -> str | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.__func__.__doc__

    @property
    def __wrapped__(self) -> Any:
        """The method without compilation."""
        return types.MethodType(self.__func__._function, self.__self__)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__func__, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundCompiled):
            return NotImplemented
        return self.__func__ is other.__func__ and self.__self__ is other.__self__

    def __hash__(self) -> int:
        return hash((id(self.__func__), id(self.__self__)))

    def __repr__(self) -> str:
        return f"<compiled method {self.__func__.__qualname__} of {self.__self__!r}>"


def _scan_keywords(kwargs: dict[str, Any], tokens: list[Any], nodes: list[Node]) -> None:
    tokens += (KEYWORDS, tuple(kwargs))
    for value in kwargs.values():
        scan(value, tokens, nodes)


def _take_names(wrapper: Compiled, function: Callable[..., Any]) -> None:
    functools.update_wrapper(wrapper, function, updated=())
    wrapper.__dict__.update(without_entries(getattr(function, "__dict__", {})))
    kind = type(function).__name__
    for name in ("__name__", "__qualname__"):
        wrapper.__dict__.setdefault(name, kind)


def compile(
    fun: Callable[..., Any] | None = None,
    inputs: Any = None,
    outputs: Any = None,
    shapeless: bool = False,
    *,
    donate: str | int | Iterable[str | int] = (),
    pipeline: str | None = None,
    cache_limit: int = CACHE_LIMIT,
) -> Any:
    """A function that computes what ``fun`` does, as one compiled program.

    The first call with arguments of new shapes, dtypes, structure or Python values traces ``fun``:
    it runs on arrays without values, and what it does to them is compiled. Other calls run that
    program. Arrays that ``fun`` reaches by closure are constants.

    Args:
        fun: the function. Without it, a decorator that takes the function is returned.
        inputs: lists and dictionaries, nested, whose arrays ``fun`` reads behind its arguments.
        outputs: those that ``fun`` writes; they are updated in place after each call.
        shapeless: says that sizes vary; each size gets a program of its own so far.
        donate: names or positions of arguments whose memory the outputs may take over; their
            arrays cannot be used after the call.
        pipeline: the passes that the program goes through, as ``lamina opt`` takes them.
        cache_limit: how many entries are kept; the least recently used goes first.

    Returns:
        A callable with the function's name, documentation and signature.

    Raises:
        ArgumentTypeError: if ``fun`` is not a function that returns its result, or containers
            cannot be updated in place.
        ArgumentError: if ``donate`` names no argument, or ``cache_limit`` is not positive.
    """
    if fun is None:
        return functools.partial(
            compile, inputs=inputs, outputs=outputs, shapeless=shapeless, donate=donate,
            pipeline=pipeline, cache_limit=cache_limit,
        )  # fmt: skip
    _check_function(fun)
    if cache_limit < 1:
        raise ArgumentError(f"compile: cache_limit must be at least 1, got {cache_limit}")
    names = (donate,) if isinstance(donate, (str, int)) else tuple(donate)
    captures = None if inputs is None and outputs is None else Captures(inputs, outputs)
    return Compiled(fun, captures, Options(bool(shapeless), names, pipeline, cache_limit))


def _check_function(fun: Any) -> None:
    if not callable(fun) and not isinstance(fun, classmethod):
        raise ArgumentTypeError(f"compile: takes a function, got {type(fun).__name__}")
    inner = fun.__func__ if isinstance(fun, (classmethod, staticmethod)) else fun
    if (
        inspect.iscoroutinefunction(inner)
        or inspect.isgeneratorfunction(inner)
        or inspect.isasyncgenfunction(inner)
    ):
        raise ArgumentTypeError(
            "compile: generators and coroutines run after the trace is over; take a function that "
            f"returns its result, not {inner.__qualname__}"
        )
