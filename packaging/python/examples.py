"""Runs the examples of a document. Those that make a table are left out if its library is not installed."""

import doctest
import sys
from importlib.util import find_spec
from pathlib import Path

LIBRARIES = {".arrow()": "pyarrow", ".pandas()": "pandas", ".polars()": "polars"}


def main(path: str) -> int:
    # The line after an example in Markdown is not part of its output.
    test = doctest.DocTestParser().get_doctest(Path(path).read_text(encoding="utf-8"), {}, path, path, 0)
    left_out = 0
    for example in test.examples:
        if any(call in example.source and find_spec(name) is None for call, name in LIBRARIES.items()):
            example.options[doctest.SKIP] = True
            left_out += 1
    failed = doctest.DocTestRunner().run(test).failed
    print(f"{path}: {len(test.examples)} examples, {left_out} left out, {failed} failed")
    return 1 if failed or len(test.examples) == left_out else 0


sys.exit(main(sys.argv[1]))
