"""Tests of the module, with the program itself."""

import math
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from datetime import datetime, timedelta, timezone
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Dict, List
from unittest import mock

import classad_cli
from classad_cli import ERROR, ClassAdError, Expression, Text, check, evaluate, explain, find_binary, match, query

MACHINES = Path("samples/pool/machines.long")
JOBS = Path("samples/pool/jobs.long")


class Values(unittest.TestCase):
    def test_values_come_back_as_they_were_given(self) -> None:
        ad = {
            "i": 2**62,
            "f": 128.0,
            "b": True,
            "n": None,
            "s": 'a"\\\n\té\U0001f600',
            "like": '/Expr("x\\y")/',
            "l": [1, [2.5, None], {"a": "x"}],
            "e": Expression("Cpus * 2"),
            "error": ERROR,
            "inf": -math.inf,
            "t": datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=-6))),
            "r": timedelta(days=-1, seconds=5),
            "ms": timedelta(milliseconds=1500),
        }
        [row] = query(ad)
        self.assertEqual(row, ad)
        self.assertEqual([type(value) for value in row.values()], [type(value) for value in ad.values()])

    def test_not_a_number_comes_back(self) -> None:
        self.assertTrue(math.isnan(query({"x": math.nan})[0]["x"]))

    def test_values_without_a_counterpart_are_refused(self) -> None:
        with self.assertRaisesRegex(TypeError, "type set"):
            query({"a": {1}})
        with self.assertRaisesRegex(TypeError, "not int"):
            query([{"a": 1}, 2])  # type: ignore[list-item]

    def test_values_of_expressions(self) -> None:
        self.assertEqual(evaluate('{1, 2.0, undefined, [a = 1], error}'), [1, 2.0, None, {"a": 1}, ERROR])
        self.assertEqual(evaluate("-a", {"a": 5}), -5)
        self.assertEqual(evaluate("1 / 0"), ERROR)
        self.assertEqual(evaluate("a + TARGET.b", Text("[a = 1]"), {"b": 2.5}), 3.5)
        self.assertEqual(evaluate("time()", now=5), 5)


class Arguments(unittest.TestCase):
    def test_each_way_to_give_ads(self) -> None:
        text = MACHINES.read_text()
        expected = query(MACHINES, columns=["Name"])
        self.assertEqual(len(expected), 12)
        for ads in (str(MACHINES), [MACHINES], Text(text), text.encode(), query(MACHINES), iter(query(MACHINES))):
            self.assertEqual(query(ads, columns=["Name"]), expected)
        self.assertEqual(len(query([MACHINES, JOBS])), len(expected) + len(query(JOBS)))

    def test_files_and_ads_are_not_mixed(self) -> None:
        with self.assertRaisesRegex(TypeError, "mixes"):
            query([MACHINES, {"a": 1}])

    def test_both_sides_in_memory(self) -> None:
        job = {"Requirements": Expression("TARGET.Memory > 5")}
        slots = [{"Name": name, "Memory": memory, "Requirements": True} for name, memory in (("x", 5), ("y", 6))]
        self.assertEqual([pair["offer"] for pair in match(job, slots)], ["y"])
        self.assertEqual(explain(job, slots[:1])["totals"]["match_nothing"], 1)

    def test_nothing_found_is_an_empty_list(self) -> None:
        self.assertEqual(query(MACHINES, "false"), [])
        self.assertEqual(query([]), [])

    def test_names_that_look_like_options_are_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "--help").write_text("a = 1")
            script = "from classad_cli import query; print(query('--help'))"
            command = [sys.executable, "-c", script]
            printed = subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True).stdout
        self.assertEqual(printed, "[{'a': 1}]\n")

    def test_options(self) -> None:
        rows = query(MACHINES, columns=["Name"], sort=["-Memory", "Name"], limit=1, desc=False, from_="long")
        self.assertEqual(rows, [{"Name": "slot1@node02.example.org"}])
        with self.assertRaisesRegex(TypeError, "output"):
            query(MACHINES, output="csv")
        with self.assertRaisesRegex(TypeError, "columns"):
            query(MACHINES, columns="Name")


class Errors(unittest.TestCase):
    def failure(self, function, *arguments, **options) -> ClassAdError:  # type: ignore[no-untyped-def]
        with self.assertRaises(ClassAdError) as caught:
            function(*arguments, **options)
        return caught.exception

    def test_places_of_syntax_errors(self) -> None:
        bad = Text("a = 1\nb = = 2\n")
        for place, function, arguments in [
            (("constraint", 1, 10), query, (MACHINES, "Memory > > 1")),
            (("column x", 1, 4), query, (MACHINES, None, ["Name", "x=1 +"])),
            (("column 1 +", 1, 4), query, (MACHINES, None, ["1 +"])),
            (("<files>", 2, 5), query, (bad,)),
            (("<jobs>", 2, 5), match, (bad, MACHINES)),
            (("<pool>", 2, 5), match, ({"a": 1}, bad)),
            (("expression", 1, 4), evaluate, ("1 +",)),
            (("<ad>", 2, 5), evaluate, ("a", bad)),
        ]:
            error = self.failure(function, *arguments)
            self.assertEqual((error.file, error.line, error.column), place)
            self.assertEqual(error.status, 2)
            self.assertTrue(error.message.startswith("expected an expression"))

    def test_other_errors(self) -> None:
        error = self.failure(query, "no-such-file")
        self.assertIn("there is no such file", error.message)
        self.assertEqual((error.status, error.file), (2, None))
        self.assertEqual(self.failure(evaluate, "1 + 1", max_steps=1).status, 3)
        self.assertEqual(self.failure(check, "no-such-file").status, 2)
        self.assertIn("--request", self.failure(explain, JOBS, MACHINES, reqest="1").message)

    def test_bad_ads_can_be_left_out(self) -> None:
        self.assertEqual(query(Text("a = 1\n\nb = = 2\n"), lenient=True), [{"a": 1}])

    def test_syntax_errors_are_findings(self) -> None:
        [finding] = check(Text("a = = 1"))
        self.assertEqual((finding["rule"], finding["file"], finding["line"]), ("syntax", "<files>", 1))

    def test_errors_can_be_pickled(self) -> None:
        error = self.failure(evaluate, "1 +")
        self.assertEqual(vars(pickle.loads(pickle.dumps(error))), vars(error))


class Binary(unittest.TestCase):
    def test_the_binary_of_the_environment_comes_first(self) -> None:
        with mock.patch.dict(os.environ, {"CLASSAD_BINARY": sys.executable}):
            self.assertTrue(find_binary().startswith(sys.prefix))

    def test_else_the_variable_and_then_the_path(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch("classad_cli._binary._folders_of_scripts", list):
            program = Path(folder, "classad")
            program.write_text("#!/bin/sh\n")
            program.chmod(0o755)
            with mock.patch.dict(os.environ, {"PATH": folder}):
                self.assertEqual(find_binary(), str(program))
                with mock.patch.dict(os.environ, {"CLASSAD_BINARY": sys.executable}):
                    self.assertEqual(find_binary(), sys.executable)
                with mock.patch.dict(os.environ, {"CLASSAD_BINARY": folder + "/none"}):
                    self.assertRaises(FileNotFoundError, find_binary)
            with mock.patch.dict(os.environ, {"PATH": ""}):
                self.assertRaises(FileNotFoundError, find_binary)

    def test_the_module_runs_the_program(self) -> None:
        command = [sys.executable, "-m", "classad_cli", "eval", "1 + 1"]
        self.assertEqual(subprocess.run(command, capture_output=True, text=True).stdout, "2\n")


@unittest.skipUnless(all(map(find_spec, ("pyarrow", "pandas", "polars"))), "the libraries are not installed")
class Tables(unittest.TestCase):
    def test_columns_have_the_types_of_the_program(self) -> None:
        ads: List[Dict[str, Any]] = [{"a": 1, "b": "x"}, {"a": 2.5, "b": 3}]
        rows = query(ads, columns={"a": "a", "b": "b", "t": 'absTime("2026-01-01T00:00:00Z")', "e": "1 / 0"})
        table = rows.arrow()
        self.assertEqual([str(kind) for kind in table.schema.types][:3], ["double", "string", "timestamp[ms, tz=UTC]"])
        self.assertEqual(table["e"].null_count, 2)
        self.assertEqual(rows.polars()["a"].to_list(), [1.0, 2.5])
        self.assertEqual(list(rows.pandas()["a"]), [1.0, 2.5])

    def test_rows_without_columns(self) -> None:
        ads: List[Dict[str, Any]] = [{"a": 1, "b": "x", "l": [1]}, {"a": 2.5, "b": 3, "c": Expression("a")}]
        rows = query(ads)
        expected = {"a": [1.0, 2.5], "b": ["x", "3"], "l": ["[1]", None], "c": [None, "a"]}
        self.assertEqual(rows.arrow().to_pydict(), expected)
        self.assertEqual(rows.polars().to_dict(as_series=False), expected)
        self.assertEqual(list(rows.pandas().columns), list(expected))

    def test_no_rows(self) -> None:
        self.assertEqual(query(MACHINES, "false", ["Name"]).arrow().num_rows, 0)
        self.assertEqual(len(query(MACHINES, "false").pandas()), 0)


class WithoutTables(unittest.TestCase):
    def test_the_error_names_the_package(self) -> None:
        rows = query({"a": 1})
        for method, name in ((rows.arrow, "pyarrow"), (rows.pandas, "pandas"), (rows.polars, "polars")):
            if find_spec(name) is None:
                self.assertRaisesRegex(ImportError, f"pip install {name}", method)


if __name__ == "__main__":
    print(f"{classad_cli.__file__} runs {find_binary()}")
    unittest.main()
