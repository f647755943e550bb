"""``import_library.py MODULE NEEDED...``: how long the import of a module takes.

``own`` is its time after the modules that it needs are there, ``total`` is with them; ``modules``
are the top-level names that the process has then. Prints JSON.
"""

import importlib
import json
import sys
import time

name, *needed = sys.argv[1:]
start = time.perf_counter()
for module in needed:
    importlib.import_module(module)
ready = time.perf_counter()
importlib.import_module(name)
end = time.perf_counter()
modules = sorted({each.partition(".")[0] for each in sys.modules})
print(json.dumps({"own": end - ready, "total": end - start, "modules": modules}))
