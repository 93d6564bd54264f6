"""Running the program: its arguments, and its refusals as exceptions."""

import json
import os
import subprocess
import tempfile
from contextlib import nullcontext
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from ._ads import Source
from ._binary import find_binary

# What the functions set themselves, or what would not leave rows.
_NOT_OPTIONS = {"output", "json", "csv", "quiet", "count", "partial", "follow", "help", "version"}

FOUND, NOTHING_FOUND, TROUBLE = 0, 1, 2


class ClassAdError(Exception):
    """The program refused its arguments or its input, or a limit was exceeded.

    `file`, `line`, `column` and `hint` are `None` unless the reason is a syntax error. `file` is the name of a file, of
    an argument in brackets, such as `<pool>`, or `constraint`, `column` or `expression`.
    """

    def __init__(
        self,
        message: str,
        status: int,
        file: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
        hint: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.file = file
        self.line = line
        self.column = column
        self.hint = hint

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}:{self.line}:{self.column}: "
        return place + self.message + (f" ({self.hint})" if self.hint else "")

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.message, self.status, self.file, self.line, self.column, self.hint)


class Command:
    """A command of the program with its arguments: options, ads, and the expressions that may have syntax errors."""

    def __init__(self, name: str, *arguments: str) -> None:
        self.arguments = [name, *arguments]
        self.sources: List[Tuple[Optional[str], Source]] = []
        self.operands: List[str] = []
        self.expressions: List[Tuple[str, str]] = []

    def add_options(self, options: Dict[str, Any]) -> None:
        """Add options by their names in Python: `group_by="Owner"` is `--group-by=Owner`, and `from_` is `--from`."""
        for name, value in options.items():
            word = name.rstrip("_").replace("_", "-")
            if name.rstrip("_") in _NOT_OPTIONS:
                raise TypeError(f"`{name}` is not an option of this function")
            if value is None or value is False:
                continue
            several = isinstance(value, Iterable) and not isinstance(value, (str, bytes, os.PathLike))
            for one in value if several else [value]:
                self.arguments.append(f"--{word}" if one is True else f"--{word}={_text(one)}")

    def add_ads(self, source: Source, option: Optional[str] = None) -> None:
        """Add ads: as arguments, or as the files of an option."""
        self.sources.append((option, source))

    def run(self, form: Optional[str] = None, accepted: Sequence[int] = (FOUND, NOTHING_FOUND), once: bool = True) -> "Run":
        """Run the program, with this form of output. Raise `ClassAdError` if its exit status is not accepted.

        The first ads in memory are its standard input, and others are files; all are if they are not read `once`.
        """
        in_memory = [source for _, source in self.sources if source.content is not None]
        piped, filed = (in_memory[:1], in_memory[1:]) if once else ([], in_memory)
        with (tempfile.TemporaryDirectory(prefix="classad-") if filed else nullcontext("")) as folder:
            for source in piped:
                source.files = ["-"]
            for source in filed:
                source.write_to(folder)
            run = Run(self._words(form), piped[0].content if piped else b"")
            if run.status not in accepted:
                raise self._failure(run)
        return run

    def name_of(self, file: str) -> str:
        """Return the name of a file for the user: ads in memory have that of their argument, such as `<jobs>`."""
        name = "-" if file == "standard input" else file
        owners = (source for _, source in self.sources if source.content is not None and name in source.files)
        return next((f"<{source.argument}>" for source in owners), file)

    def _words(self, form: Optional[str]) -> List[str]:
        words = self.arguments + ([] if form is None else ["-o", form])
        files: List[str] = []
        for option, source in self.sources:
            if option is None:
                files += source.files
            else:
                words += [f"{option}={file}" for file in source.files]
        return [*words, "--", *self.operands, *files]

    def _failure(self, run: "Run") -> ClassAdError:
        """Return why a run failed: the first syntax error as `check` reports it in JSON, else all that was reported."""
        if run.status == TROUBLE:
            for name, expression in self.expressions:
                for finding in syntax_errors(["-e", expression], None):
                    return _of_finding(finding, name)
            for _, source in self.sources:
                content = source.content if source.files == ["-"] else None
                for finding in syntax_errors(["--", *source.files], content):
                    return _of_finding(finding, self.name_of(finding["file"]))
        return ClassAdError(run.messages or f"the program ended with the status {run.status}", run.status)


class Run:
    """A run of the program that has ended."""

    def __init__(self, words: Sequence[str], content: Optional[bytes]) -> None:
        ended = subprocess.run([find_binary(), *words], input=content or b"", capture_output=True)
        self.status = ended.returncode
        self.output = ended.stdout
        self.messages = ended.stderr.decode(errors="replace").strip()

    def json(self) -> Any:
        return json.loads(self.output)


def syntax_errors(arguments: Sequence[str], content: Optional[bytes]) -> List[Dict[str, Any]]:
    """Return the syntax errors that `check` finds."""
    run = Run(["check", "--only=syntax", "-o", "json", *arguments], content)
    try:
        findings: List[Dict[str, Any]] = run.json()["findings"]
    except ValueError:
        return []
    return findings


def _of_finding(finding: Dict[str, Any], file: str) -> ClassAdError:
    place = (file, finding["line"], finding["column"])
    return ClassAdError(finding["message"], TROUBLE, *place, finding["help"] or None)


def _text(value: Any) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
