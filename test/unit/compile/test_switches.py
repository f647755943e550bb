"""The switches that turn compilation off and on, and what happens without a code generator."""

from __future__ import annotations

import warnings

import pytest

from lamina.errors import CodegenError
from lamina.frontend import dispatch
from lamina.frontend.array import Array
from lamina.frontend.compile import compile
from lamina.frontend.switches import disable_compile, enable_compile
from lamina.frontend.tracing import trace

VARIABLE = "LAMINA_DISABLE_COMPILE"


@pytest.fixture
def is_compiled():
    """Says whether a call of a function that is wrapped already is traced."""
    seen = []
    compiled = compile(lambda x: seen.append(x.node.is_traced_input) or x + 1)

    def call() -> bool:
        seen.clear()
        compiled.cache_clear()
        assert compiled(Array([1.0])).tolist() == [2.0]
        return seen[0]

    return call


def test_switches_act_when_a_function_is_called(is_compiled):
    assert is_compiled()
    disable_compile()
    assert not is_compiled()
    enable_compile()
    assert is_compiled()


@pytest.mark.parametrize(
    ("text", "compiled"), [("1", False), ("0", True), ("", True), ("yes", False), ("false", True)]
)
def test_the_variable_acts_when_a_function_is_called(monkeypatch, is_compiled, text, compiled):
    monkeypatch.setenv(VARIABLE, text)
    assert is_compiled() is compiled
    monkeypatch.delenv(VARIABLE)
    assert is_compiled()


def test_enable_overrules_the_variable(monkeypatch, is_compiled):
    monkeypatch.setenv(VARIABLE, "1")
    enable_compile()
    assert is_compiled()
    monkeypatch.setenv(VARIABLE, "2")
    assert not is_compiled()


def test_enable_does_not_overrule_what_is_set_later(monkeypatch, is_compiled):
    enable_compile()
    monkeypatch.setenv(VARIABLE, "1")
    assert not is_compiled()


def test_state_is_updated_by_the_function_itself_when_disabled():
    state = {"n": Array([1.0])}

    def function(x):
        state["n"] = state["n"] + x

    compiled = compile(function, inputs=state, outputs=state)
    disable_compile()
    compiled(Array([2.0]))
    assert state["n"].tolist() == [3.0]


@pytest.mark.parametrize("error", [CodegenError("none here"), ImportError("no mlir"), OSError()])
def test_without_a_code_generator_programs_are_interpreted_with_one_warning(monkeypatch, error):
    from lamina.passes import driver

    def refuse(*_):
        raise error

    monkeypatch.setattr(driver, "executable_for", refuse)
    monkeypatch.setattr(dispatch, "_warned", False)
    program = trace(lambda x: (x + 1, x * 2, x, x + 1), "f", (Array([1.0, 2.0]),), {}).program
    inputs = [Array([3.0, 4.0]).node.buffer]
    with pytest.warns(RuntimeWarning, match="no code generator is usable") as caught:
        outputs = dispatch.executable_for(program).run(inputs)
    assert caught[0].filename == __file__
    values = [buffer.as_numpy("float32", (2,)).tolist() for buffer in outputs]
    assert values == [[4.0, 5.0], [6.0, 8.0], [3.0, 4.0], [4.0, 5.0]]
    assert outputs[2] is inputs[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dispatch.executable_for(program)


def test_other_errors_of_the_compiler_are_raised(monkeypatch):
    from lamina.errors import CacheError, PassError
    from lamina.passes import driver

    program = trace(lambda x: x + 1, "f", (Array([1.0]),), {}).program
    for error in (PassError("unknown pass"), CacheError("strict")):

        def refuse(*_, error=error):
            raise error

        monkeypatch.setattr(driver, "executable_for", refuse)
        with pytest.raises(type(error)):
            dispatch.executable_for(program)
