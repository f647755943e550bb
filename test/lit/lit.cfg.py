"""FileCheck tests on IR: ``lit test/lit``, or through pytest by test/integration/test_lit.py."""

import os
import sys
from pathlib import Path

import lit.formats
import llvm

config.name = "lamina"  # noqa: F821  (lit defines it)
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_source_root = str(Path(__file__).parent)  # noqa: F821
config.test_exec_root = lit_config.params.get("output", config.test_source_root)  # noqa: F821
config.environment["PATH"] = os.pathsep.join(  # noqa: F821
    [
        str(Path(llvm.__file__).parent / "bin"),
        str(Path(sys.executable).parent),
        os.environ.get("PATH", ""),
    ]
)
config.substitutions.append(  # noqa: F821
    ("lamina opt", f"{sys.executable} -m lamina.tools.main opt")
)
