"""Whether compiled functions compile: the switches that act when such a function is called."""

from __future__ import annotations

from ..runtime import config


class Switches:
    """The state of the switches.

    Attributes:
        disabled: True after :func:`disable_compile`.
        overruled: the text of ``LAMINA_DISABLE_COMPILE`` that :func:`enable_compile` found.
    """

    __slots__ = ("disabled", "overruled")

    def __init__(self) -> None:
        self.disabled = False
        self.overruled: str | None = None


switches = Switches()

variable_is_present = config.DISABLE_COMPILE.is_present()
"""Says if ``LAMINA_DISABLE_COMPILE`` is set at all."""


def disable_compile() -> None:
    """Makes every compiled function run as if it were not, from its next call on."""
    switches.disabled = True


def enable_compile() -> None:
    """Ends :func:`disable_compile`, and overrules ``LAMINA_DISABLE_COMPILE`` as it is set now."""
    switches.disabled = False
    switches.overruled = config.DISABLE_COMPILE.text()


def is_disabled() -> bool:
    """True if compiled functions run as if they were not."""
    if switches.disabled:
        return True
    return config.DISABLE_COMPILE.get() and config.DISABLE_COMPILE.text() != switches.overruled
