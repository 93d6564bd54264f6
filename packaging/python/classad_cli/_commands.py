"""The functions of the package: each runs a command of the program."""

import re
from collections.abc import Mapping
from typing import Any, Dict, List, Optional, Sequence, Tuple, TypedDict, Union

from ._ads import Ads, Source
from ._program import FOUND, NOTHING_FOUND, TROUBLE, ClassAdError, Command
from ._query_result import QueryResult
from ._values import from_json

Columns = Union[Sequence[str], "Mapping[str, str]"]


class Label(TypedDict):
    """A further place of a finding."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Finding(TypedDict):
    """A finding of `check`: `classad help schema check` describes the fields."""

    rule: str
    level: str
    message: str
    help: str
    file: str
    ad: int
    id: Optional[str]
    attribute: Optional[str]
    labels: List[Label]
    ads: int
    fix: Optional[Dict[str, Any]]
    line: Optional[int]
    column: Optional[int]
    end_line: Optional[int]
    end_column: Optional[int]


def query(
    files: Ads, constraint: Optional[str] = None, columns: Optional[Columns] = None, **options: Any
) -> QueryResult:
    """Return the ads that satisfy the constraint, or the values of the columns for each of them.

    `columns` is a list of expressions, or a dict of names with expressions. Without it, attributes are not evaluated:
    those that are not literals are `Expression`. Options are those of `classad query`: `sort="-Memory"`, `limit=10`.
    """
    parts = _columns(columns)
    command = Command("query", f"--constraint={'true' if constraint is None else constraint}")
    command.arguments += [f"--af={text if name is None else f'{name}={text}'}" for name, text in parts]
    command.expressions += [] if constraint is None else [("constraint", constraint)]
    command.expressions += [(f"column {text if name is None else name}", text) for name, text in parts]
    command.add_options(options)
    command.add_ads(Source("files", files))
    parquet = (lambda: command.run("parquet", once=False).output) if parts else None
    return QueryResult(command.run("jsonl").output, parquet)


def match(jobs: Ads, pool: Ads, **options: Any) -> QueryResult:
    """Return the matches of jobs with slots: `request`, `offer`, `request_rank` and `offer_rank` of each."""
    command = Command("match")
    command.add_options(options)
    command.add_ads(Source("jobs", jobs))
    command.add_ads(Source("pool", pool), "--pool")
    return QueryResult(command.run("jsonl").output)


def explain(jobs: Ads, pool: Optional[Ads] = None, **options: Any) -> Dict[str, Any]:
    """Return why jobs match no slot: `classad help schema explain` describes the dict. Event logs need no pool."""
    command = Command("explain")
    command.add_options(options)
    command.add_ads(Source("jobs", jobs))
    if pool is not None:
        command.add_ads(Source("pool", pool), "--pool")
    report: Dict[str, Any] = command.run("json").json()
    return report


def check(files: Ads, pool: Optional[Ads] = None, **options: Any) -> List[Finding]:
    """Return probable mistakes in ads; with a pool, also what they ask for and no ad of the pool has."""
    command = Command("check")
    command.add_options(options)
    command.add_ads(Source("files", files))
    if pool is not None:
        command.add_ads(Source("pool", pool), "--pool")
    run = command.run("json", (FOUND, NOTHING_FOUND, TROUBLE))
    findings: List[Finding] = run.json()["findings"] if run.output else []
    # A syntax error is a finding, and also gives this status. A file that cannot be read is none.
    if run.status == TROUBLE and all(finding["rule"] != "syntax" for finding in findings):
        raise ClassAdError(run.messages, TROUBLE)
    for finding in findings:
        finding["file"] = command.name_of(finding["file"])
    return findings


def evaluate(expression: str, ad: Optional[Ads] = None, target: Optional[Ads] = None, **options: Any) -> Any:
    """Return the value of an expression, evaluated in an ad, beside another ad as `TARGET`.

    Undefined is `None`, and an error is the `Expression` `error`. Of several ads, the first one counts.
    """
    command = Command("eval")
    command.operands = [expression]
    command.expressions = [("expression", expression)]
    command.add_options(options)
    if ad is not None:
        command.add_ads(Source("ad", ad), "--my")
    if target is not None:
        command.add_ads(Source("target", target), "--target")
    value = command.run(accepted=(FOUND,)).output
    # The value is text of the ClassAd language. The program also knows its JSON.
    as_json = Command("convert", "--from=new")
    as_json.add_ads(Source("value", b"[value = " + value + b"]"))
    return from_json(as_json.run("json").json()[0]["value"])


_NAMED = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?![=?!])(.*)", re.DOTALL)


def _columns(columns: Optional[Columns]) -> List[Tuple[Optional[str], str]]:
    """Return the names of columns, where they have one, with their expressions."""
    if columns is None:
        return []
    if isinstance(columns, Mapping):
        return list(columns.items())
    if isinstance(columns, str):
        raise TypeError("`columns` is a list of expressions, or a dict of names with expressions")
    named = ((_NAMED.fullmatch(column), column) for column in columns)
    return [(found[1], found[2]) if found else (None, column) for found, column in named]
