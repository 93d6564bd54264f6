//! The usual slips, in every form: each error points at the right place, says something true and something useful;
//! all errors of a file are told.

use std::io::Write;
use std::process::{Command, Stdio};

/// The form, the text, and what is told: `line:column: message [help] (other place)`.
const SLIPS: &[(&str, &str, &[&str])] = &[
    (
        "new",
        "[ a = 1; Requirements = OpSys = \"LINUX\" ]",
        &["1:31: expected `;` or `]`, found `=` [write `==` to compare; `=` only sets an attribute of an ad]"],
    ),
    (
        "new",
        "[ Requirements = other.Memory >= 4 GB ]",
        &[
            "1:36: expected `;` or `]`, found a name `GB` [write 4096 for memory in MiB, or 4194304 for disk space in KiB]",
        ],
    ),
    (
        "new",
        "[ Requirements = other.Memory >= 4GB ]",
        &["1:34: `4GB` is not a number [write 4096 for memory in MiB, or 4194304 for disk space in KiB]"],
    ),
    (
        "new",
        "[ Requirements = OpSys == 'LINUX ]",
        &["1:27: this quoted name or time has no closing quote [put strings in double quotes: \"...\"]"],
    ),
    (
        "new",
        "[ Requirements = OpSys == \"LINUX;\n  Rank = 1 ]",
        &["1:27: this string has no closing quote [a quote is missing at the end, or there is an extra one before \
            this string]"],
    ),
    (
        "new",
        "[ Requirements = a and b; Rank = c or d ]",
        &[
            "1:20: expected `;` or `]`, found a name `and` [write `&&`]",
            "1:36: expected `;` or `]`, found a name `or` [write `||`]",
        ],
    ),
    (
        "new",
        "[ Requirements = not a ]",
        &["1:22: expected `;` or `]`, found a name `a` [write `!` for `not`, and `isnt` for `is not`]"],
    ),
    ("new", "[ Requirements = a <> b ]", &["1:21: expected an expression, found `>` [write `!=` for \"not equal\"]"]),
    (
        "new",
        "[ Requirements = a =< b; Rank = c => d ]",
        &["1:20: expected `;` or `]`, found `=` [write `<=`]", "1:35: expected `;` or `]`, found `=` [write `>=`]"],
    ),
    ("new", "[ a := 1 ]", &["1:5: expected `=`, found `:` [write `=` alone]"]),
    ("new", "[ a = “LINUX” ]", &["1:7: `“` is not part of the language [put strings in straight quotes: \"...\"]"]),
    (
        "new",
        "[ a = {1, 2, } ]",
        &["1:14: expected an expression, found `}` [leave the last `,` out] (1:7 this `{` is still open)"],
    ),
    (
        "new",
        "[ a = b && ; c = d || ]",
        &[
            "1:12: expected an expression, found `;` [`&&` needs something after it]",
            "1:23: expected an expression, found `]` [`||` needs something after it]",
        ],
    ),
    (
        "new",
        "[ a = b > 1 ? 2 elif 3 ]",
        &["1:17: expected `:` or an operator, found a name `elif` [write `condition ? value : otherwise`]"],
    ),
    (
        "new",
        "[ my-attr = 1; a.b = 2 ]",
        &[
            "1:5: expected `=`, found `-` [a name with characters other than letters, digits and `_` needs single quotes: 'my-attr']",
            "1:17: expected `=`, found `.` [a name with characters other than letters, digits and `_` needs single quotes: 'a.b']",
        ],
    ),
    ("new", "[ a = (1 + 2; b = 3 ]", &["1:13: expected `)`, found `;` (1:7 this `(` is still open)"]),
    (
        "new",
        "[ a = 1 + 2); b = 3 ]",
        &["1:12: expected `;` or `]`, found `)` [this `)` closes nothing: there is no open bracket before it]"],
    ),
    (
        "new",
        "[\n  a = 1\n  b = 2\n  c = (3\n]",
        &[
            "3:3: expected `;` or `]`, found a name `b` [is something missing before this name: an operator such as `&&`, or between attributes a `;` or (in the long form) a line break? `=` sets an attribute, `==` compares]",
            "4:3: expected `;` or `]`, found a name `c` [is something missing before this name: an operator such as `&&`, or between attributes a `;` or (in the long form) a line break? `=` sets an attribute, `==` compares]",
            "5:1: expected `)`, found `]` (4:7 this `(` is still open)",
        ],
    ),
    (
        "new",
        "[ a = f(1, ); b = g(,2) ]",
        &[
            "1:12: expected an expression, found `)` [leave the last `,` out] (1:8 this `(` is still open)",
            "1:21: expected an expression or `)`, found `,` [`,` is only allowed between the elements of a list and between the arguments \
            of a function] (1:20 this `(` is still open)",
        ],
    ),
    ("new", "[ a = 1 # one\n]", &["1:9: `#` is not part of the language [a comment begins with `//`]"]),
    (
        "new",
        "[ a = $(MEMORY) ]",
        &["1:7: `$` is not part of the language [macros such as $(NAME) work in configuration files, submit files \
            and rules, not in ads]"],
    ),
    (
        "new",
        "[ a = if x then 1 else 2 ]",
        &["1:10: expected `;` or `]`, found a name `x` [write `condition ? value : otherwise`]"],
    ),
    (
        "new",
        "[ a = x === 1; b = x !== 2 ]",
        &[
            "1:11: expected an expression, found `=` [write `==`, or `is` to compare types, too]",
            "1:24: expected an expression, found `=` [write `!=`, or `isnt` to compare types, too]",
        ],
    ),
    (
        "new",
        "[ a = \"say \"hello\" to\" ]",
        &["1:13: expected `;` or `]`, found a name `hello` [write a quote in a string as `\\\"`]"],
    ),
    ("new", "[ a = b ≥ 3 ]", &["1:9: `≥` is not part of the language [write `>=`]"]),
    (
        "new",
        "[ a = ; b = 2; = 3 ]",
        &[
            "1:7: expected an expression, found `;` [this name has no expression]",
            "1:16: expected a name, found `=` [write one `=` to set an attribute: `name = expression`]",
        ],
    ),
    (
        "new",
        "[ a = 1; b = [ c = 2; d = ; e = 3 ]; f = ) ]",
        &[
            "1:27: expected an expression, found `;` [this name has no expression] (1:14 this `[` is still open)",
            "1:42: expected an expression, found `)` [this name has no expression]",
        ],
    ),
    ("new", "[ a = 1 ", &["1:9: expected `;` or `]`, found the end (1:1 this `[` is still open)"]),
    (
        "new",
        "[ a = x ? 1 ]",
        &["1:13: expected `:` or an operator, found `]` [a `?` needs a `:` after it: `condition ? value : otherwise`]"],
    ),
    (
        "new",
        "[ a = 99999999999999999999 ]",
        &[
            "1:7: `99999999999999999999` does not fit into a signed 64-bit integer [write 99999999999999999999.0 for a real]",
        ],
    ),
    ("new", "[ a = x in {1,2} ]", &["1:9: expected `;` or `]`, found a name `in` [write `member(x, { ... })`]"]),
    ("new", "a = 1; b = 2", &["1:1: expected an ad, which begins with `[`"]),
    (
        "long",
        "Memory = 1024\nRequirements = (Memory > 1\nRank = Mips +\nFoo\n",
        &[
            "2:27: expected `)`, found the end (2:16 this `(` is still open)",
            "3:14: expected an expression, found the end [`+` needs something after it]",
            "4:1: this line does not have the form `name = expression` [in the long form, write each \
            attribute as a line `name = expression`]",
        ],
    ),
    (
        "long",
        "Requirements = TARGET.Arch == \"X86_64\nRank = 1\n",
        &["1:31: this string has no closing quote [a quote is missing at the end, or there is an extra one before \
            this string]"],
    ),
    (
        "long",
        "Requirements == true\n",
        &["1:15: expected an expression, found `=` [write one `=` to set an attribute: `name = expression`]"],
    ),
    (
        "long",
        "= 5\na = 0x10\n",
        &[
            "1:1: a name is missing before this `=` [in the long form, write each attribute as a line `name = expression`]",
            "2:5: HTCondor does not accept octal or hexadecimal integers: `0x10` [write 16]",
        ],
    ),
    (
        "long",
        "Requirements = a and b\nRank = c or d\nx = 4 GB\n",
        &[
            "1:18: the text after the expression is ignored, as in HTCondor [write `&&`]",
            "2:10: the text after the expression is ignored, as in HTCondor [write `||`]",
            "3:7: the text after the expression is ignored, as in HTCondor [write 4096 for memory in MiB, or 4194304 for disk space in KiB]",
        ],
    ),
    (
        "json",
        "{\"a\": 1, b: 2}",
        &["1:10: expected a name in double quotes or `}`, found `b` [JSON needs double quotes around names and \
            strings]"],
    ),
    ("json", "{\"a\": 1 \"b\": 2}", &["1:9: expected `,` or `}`, found a string [is a `,` missing before this?]"]),
    (
        "json",
        "{'a': 1}",
        &["1:2: expected a name in double quotes or `}`, found `'a'` [JSON needs double quotes around names and \
            strings]"],
    ),
    (
        "json",
        "{\"a\": \"\\/Expr(x && )\\/\", \"b\": \"\\/Expr((1)\\/\"}",
        &[
            "1:20: expected an expression, found the end [`&&` needs something after it]",
            "1:41: expected `)`, found the end (1:39 this `(` is still open)",
        ],
    ),
    (
        "json",
        "{\"a\": 1, \"b\": None}",
        &["1:15: `None` is not a valid value in JSON [write undefined as null, and any other expression as \
            \"\\/Expr(...)\\/\"]"],
    ),
    (
        "json",
        "{\"a\": [1, 2, \"b\": 3}",
        &["1:17: expected `,` or `]`, found `:` [is a `]` missing before this name?]"],
    ),
    (
        "xml",
        "<c><a n=\"x\"><e>a &amp;&amp; (b</e></a></c>",
        &["1:31: expected `)`, found the end (1:29 this `(` is still open)"],
    ),
    ("xml", "<c><a n=\"x\"><i>1</a></c>", &["1:17: expected `</i>`, found `</a>` (1:13 this `<i>` is not closed)"]),
    (
        "xml",
        "<c><a n=\"x\"><e>a && b</e></a></c>",
        &[
            "1:18: `&` is not defined [write &amp; for & and &lt; for <; the other names are gt, quot and apos]",
            "1:19: `&` is not defined [write &amp; for & and &lt; for <; the other names are gt, quot and apos]",
        ],
    ),
    (
        "xml",
        "<c><a n=x><i>1</i></a></c>",
        &["1:4: the attributes of this tag cannot be read [they are written name=\"value\"]"],
    ),
    ("yaml", "a: 1\nb: !expr x >\n", &["2:13: expected an expression, found the end [`>` needs something after it]"]),
    (
        "yaml",
        "a: 1\n\tb: 2\n",
        &[
            "2:1: this is not YAML: found a tab character that violates indentation (1:4 while scanning a plain scalar that begins here)",
        ],
    ),
    ("yaml", "a: !expr \"x and y\"\n", &["1:13: expected the end, found a name `and` [write `&&`]"]),
    (
        "yaml",
        "a: \"unclosed\n",
        &[
            "1:13: this is not YAML: found unexpected end of stream (1:4 while scanning a quoted scalar that begins here)",
        ],
    ),
    (
        "yaml",
        "a: !exp x\n",
        &["1:4: there is no tag `!exp` [the only tag is `!expr`, before the text of an expression]"],
    ),
    ("expression", "a && (b || c", &["1:13: expected `)`, found the end (1:6 this `(` is still open)"]),
    ("expression", "x > 5 &&& y", &["1:9: expected an expression, found `&` [write `&&`]"]),
    (
        "expression",
        "\"abc\" + \\ 5",
        &["1:9: `\\` is not part of the language [leave the `\\` out: an expression continues on the next line, \
            except in the long form]"],
    ),
    (
        "expression",
        "user@host == 1",
        &["1:5: `@` is not part of the language [put text with an `@` in double quotes: \"user@host\"]"],
    ),
    ("expression", "a b", &["1:3: expected the end, found a name `b` [is an operator missing between these names?]"]),
    ("expression", "1 +* 2", &["1:4: expected an expression, found `*`"]),
    (
        "expression",
        "foo(1 2)",
        &[
            "1:7: expected `,` or `)`, found a number `2` [is a `,` or an operator missing before this?] (1:4 this `(` is still open)",
        ],
    ),
    ("expression", "a[1", &["1:4: expected `]`, found the end (1:2 this `[` is still open)"]),
    ("expression", "x == \"a\" or x == \"b\"", &["1:10: expected the end, found a name `or` [write `||`]"]),
    (
        "expression",
        "not defined",
        &["1:5: expected the end, found a name `defined` [write `!` for `not`, and `isnt` for `is not`]"],
    ),
];

/// What `check` tells of the syntax of a text.
fn told(form: &str, text: &str) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
    command.args(["check", "-o", "json", "--only", "syntax,ignored-text"]);
    match form {
        "expression" => command.args(["-e", text]),
        form => command.args(["--from", form]),
    };
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(if form == "expression" { b"" } else { text.as_bytes() }).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{text}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let place = |of: &serde_json::Value| format!("{}:{}", of["line"], of["column"]);
    let word = |of: &serde_json::Value| of.as_str().unwrap().to_owned();
    let findings = report["findings"].as_array().unwrap().iter().map(|finding| {
        let mut told = vec![format!("{}: {}", place(finding), word(&finding["message"]))];
        told.extend(Some(&finding["help"]).filter(|help| **help != "").map(|help| format!("[{}]", word(help))));
        let labels = finding["labels"].as_array().unwrap().iter();
        told.extend(labels.map(|label| format!("({} {})", place(label), word(&label["text"]))));
        told.join(" ")
    });
    let findings: Vec<String> = findings.collect();
    let is_error = report["errors"] != 0;
    assert_eq!(output.status.code(), Some(if is_error { 2 } else { 1 }), "{text}: {findings:?}");
    findings
}

#[test]
fn each_is_told_with_its_place_and_advice() {
    assert!(SLIPS.len() >= 40);
    for (form, text, expected) in SLIPS {
        assert_eq!(told(form, text), *expected, "{form}: {text}");
    }
}
