//! Specs that are none: what is wrong, and where.

use super::{problems, run};

/// Specs, and all that is wrong with each; `CASE` stands for a case that is not.
const BROKEN: &[(&str, &[&str])] = &[
    ("cases:\n- name: a\n  expresion: 1\n  expect: 1\n", &["3:3 a case has no key `expresion`"]),
    ("case: []\n", &["1:1 a spec has no key `case`"]),
    ("ads: {}\n", &["1:1 this spec has no `cases`"]),
    ("cases: []\n", &["1:8 this spec has no cases"]),
    ("cases:\n", &["1:7 this spec has no cases"]),
    ("cases: 5\n", &["1:8 `cases` must be a sequence"]),
    ("", &["1:1 a spec must be a mapping"]),
    ("cases: [ 5 ]\n", &["1:10 a case must be a mapping"]),
    ("cases:\n- name: a\n  expression: 1\n  expect: 1\n  expect: 1\n", &["5:3 `expect` is given twice"]),
    ("cases:\n- name: a\n  expression: 1\n", &["2:3 this case expects nothing"]),
    ("cases:\n- expression: 1\n  expect: 1\n", &["2:3 this case has no name"]),
    ("cases:\n- name: a\n", &["2:3 this case asks nothing"]),
    (
        "cases:\n- { name: a, query: x, expression: x, expect: 1 }\n",
        &["2:3 this case asks two things: `expression` and `query`"],
    ),
    (
        "cases:\n- { name: a, expression: x, pool: [ {} ], expect: 1 }\n",
        &["2:35 `pool` has no use in a case with `expression`"],
    ),
    ("cases:\n- { name: a, match: true, request: {} }\n", &["2:3 `offer` is missing"]),
    (
        "cases:\n- { name: a, expression: x +, expect: 1 }\n",
        &["2:29 expected an expression, found the end (column 4 of the expression)"],
    ),
    (
        "cases:\n- { name: a, expression: 1, expect: !expr x }\n",
        &["2:37 an expected value cannot read attributes, but this reads x"],
    ),
    ("cases:\n- { name: a, expression: 1, expect: !date 1 }\n", &["2:37 there is no tag `!date`"]),
    ("cases:\n- { name: a, expression: 1, my: b, expect: 1 }\n", &["2:33 there is no ad called `b`"]),
    ("ads: { a: b, b: {} }\nCASE", &["1:11 there is no ad called `b`"]),
    ("ads: { a: { x: 1, X: 2 } }\nCASE", &["1:19 the attribute `X` is given twice"]),
    ("ads: { a: { like: {}, file: x } }\nCASE", &["1:11 this ad has both `file` and `like`"]),
    ("ads: { a: { like: {}, whit: {} } }\nCASE", &["1:23 an ad with `file` or `like` has no key `whit`"]),
    ("ads: { a: '[ x = 1; y = ]' }\nCASE", &["1:25 expected an expression, found `]`"]),
    (
        "ads: { a: { x: !expr '1 +' } }\nCASE",
        &["1:27 expected an expression, found the end (column 4 of the expression)"],
    ),
    ("ads: { a: { file: nothing.long } }\nCASE", &["1:19 cannot read nothing.long: there is no such file"]),
    (
        "cases: [ { name: a, expression: 1, my: { file: samples/pool/machines.long }, expect: 1 } ]\n",
        &["1:40 expected one ad, not 12"],
    ),
    (
        "cases:\n- name: a\n  my: { file: samples/pool/machines.long, id: slot1@node1.example.org }\n  \
         expression: 1\n  \
         expect: 1\n",
        &["3:47 no ad is called `slot1@node1.example.org`"],
    ),
    (
        "cases:\n- { name: a, expression: 1, expect: 1 }\n- { name: a, expression: 1, expect: 1 }\n",
        &["3:11 two cases are called `a`"],
    ),
    (
        "dialect: condr\nnow: noon\nmax-steps: -1\nCASE",
        &["1:10 this is not a dialect", "2:6 this is not a time", "3:12 this is not a whole number"],
    ),
    (
        "policy: { docking: 1 +, ordr: 2 }\ncases: [ { name: a, requests: [ {} ], offers: [ {} ], matches: none } ]\n",
        &["1:23 expected an expression, found the end (column 4 of the expression)", "1:25 a policy has no key `ordr`"],
    ),
    (
        "policy: tests/cases/negotiate/broken.yaml\ncases: [ { name: a, requests: {}, offers: {}, matches: none } ]\n",
        &["1:9 tests/cases/negotiate/broken.yaml:"],
    ),
    ("cases: [ { name: a, query: x, pool: [ {} ], count: many } ]\n", &["1:52 this is not a number of ads"]),
    ("cases: [ { name: a, match: perhaps, request: {}, offer: {} } ]\n", &["1:28 expected `true` or `false`"]),
    (
        "cases: [ { name: a, match: true, request: {}, offer: {}, refused-by: nobody } ]\n",
        &["1:70 this word has no meaning here"],
    ),
];

#[test]
fn what_is_wrong_with_a_spec_has_a_place() {
    for (spec, expected) in BROKEN {
        let spec = spec.replace("CASE", "cases: [ { name: a, expression: 1, expect: 1 } ]\n");
        let found = problems(&spec);
        assert!(found.len() >= expected.len(), "{spec}: {found:?}");
        for (found, expected) in found.iter().zip(*expected) {
            assert!(found.starts_with(expected), "{spec}: {found:?}, not {expected:?}");
        }
    }
    // What is not far from it is suggested.
    let output = run(&[], "cases:\n- name: a\n  expresion: 1\n  expect: 1\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `expression`?"));
}
