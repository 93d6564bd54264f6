"""Checks that what workflows and actions name exists: scripts of the repository, and inputs."""

import os
import re
import sys
from typing import Any, Iterator, List

import yaml

# A path of the repository in a command: a folder that exists, a slash, the rest.
PATH = re.compile(r"(?<![\w./$~{])(?:\./)?((?:\.ci|packaging|tests|samples)/[\w./-]+)|\$GITHUB_ACTION_PATH/([\w./-]+)")
INPUT = re.compile(r"\$\{\{\s*inputs\.(\w+)\s*\}\}")


def steps(document: Any) -> Iterator[Any]:
    for job in document.get("jobs", {}).values():
        yield from job["steps"]
    yield from document.get("runs", {}).get("steps", [])


def mistakes(path: str) -> Iterator[str]:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    document = yaml.safe_load(text)
    for step in steps(document):
        command = step.get("run", "")
        for groups in PATH.findall(command):
            name = "".join(groups)
            if not os.access(name, os.X_OK):
                yield f"{path}: {name} is not a program of the repository"
        if "${{" in command:
            # An expression in a command can be a command itself.
            yield f"{path}: `{step.get('name')}` has an expression in its command: put it into `env`"
    declared = set(document.get("inputs", {}))
    used = set(INPUT.findall(text))
    yield from (f"{path}: the input {name} is not declared" for name in sorted(used - declared))
    yield from (f"{path}: the input {name} is not used" for name in sorted(declared - used))


def main(paths: List[str]) -> int:
    found = [mistake for path in paths for mistake in mistakes(path)]
    for mistake in found:
        print(mistake, file=sys.stderr)
    return 1 if found else 0


sys.exit(main(sys.argv[1:]))
