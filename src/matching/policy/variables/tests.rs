use crate::ad::Dialect;
use crate::configuration::Configuration;
use crate::eval::Context;
use crate::format::Problem;
use crate::matching::policy::Policy;

/// Returns the roots of a policy with the variables of a dump, as text; or the problems, those of the dump with `dump:`.
fn roots(policy: &str, dump: &str) -> String {
    let (configuration, problems) = Configuration::read(dump.as_bytes());
    assert!(problems.is_empty(), "{problems:?}");
    match Policy::parse_configured(policy.as_bytes(), &configuration, &Context::new(Dialect::Condor)) {
        Ok(policy) => policy.roots.map_or(String::new(), |rule| rule.expression.to_string()),
        Err(problems) => {
            let told = |place: &str, Problem { range, message, .. }: &Problem| {
                format!("{place}{}..{}: {message}", range.start, range.end)
            };
            let of_dump = problems.in_configuration.iter().map(|problem| told("dump:", problem));
            of_dump.chain(problems.in_policy.iter().map(|problem| told("", problem))).collect::<Vec<_>>().join("\n")
        }
    }
}

#[test]
fn a_variable_takes_the_place_of_an_operand() {
    for (value, expected) in [
        ("1 + 2", "(1 + 2) * 3"),
        ("a ?: b", "(a ?: b) * 3"),
        ("quantize(x - $(Y),{Target.Z?:1024})", "quantize(x - 7, { Target.Z ?: 1024 }) * 3"),
        ("{ 1, 2 }[0] // \"", "{ 1, 2 }[0] * 3"),
        ("[ a = 1; b = \": # \" ].b", "[ a = 1; b = \": # \" ].b * 3"),
        ("\"it's - 'a' | > & * ! % @ \\d\"", "\"it's - 'a' | > & * ! % @ \\\\d\" * 3"),
        ("-1", "-1 * 3"),
        ("!a", "(!a) * 3"),
        ("@=end\n---\n@end", "dump:11..11: X: expected an expression, found the end"),
        ("@=end\n  ifThenElse(a,\n\tb # 1,\n  c)\n@end", "dump:27..28: X: `#` is not part of the language"),
        ("@=end\n  ifThenElse(a,\n\tb,\n  c)\n@end", "ifThenElse(a, b, c) * 3"),
        ("1) + (2", "dump:5..6: X: expected the end, found `)`"),
        ("", "undefined * 3"),
    ] {
        let sign = if value.starts_with('@') { "" } else { "= " };
        let dump = format!("X {sign}{value}\nY = 7\n");
        assert_eq!(roots("roots: $(X) * 3", &dump), expected, "{value}");
    }
}

#[test]
fn a_variable_that_is_not_used_stops_nothing() {
    let dump = "X = a\nY = )(\nZ = $(Z)\nW = $(NO_SUCH)\nV = \"\n";
    assert_eq!(roots("variables: { Y: 1, Z: 2, W: 3, V: 4 }\nroots: $(X)", dump), "a");
}

#[test]
fn each_problem_is_told_once() {
    let problem = "dump:4..5: X: expected an expression, found `)`";
    assert_eq!(roots("roots: $(X) + $(X)\norder: [ $(X), $(X) ]", "X = )("), problem);
    let rounds = "share: { by: a, rounds: $(N), preempts: $(N) }\nroots: $(N)";
    assert_eq!(
        roots(rounds, "N = maybe"),
        "dump:4..9: N: expected a number of at least 0\ndump:4..9: N: expected true or false"
    );
}

#[test]
fn own_values_and_defaults_count_where_the_configuration_has_none() {
    let policy = "variables: { A: 'b ?: 1', N: 3, T: true }\nroots: $(A) + $(N) + $(B:c) + $(T)";
    assert_eq!(roots(policy, ""), "(b ?: 1) + 3 + c + true");
    // An empty value is none; a number and a truth value have HTCondor's then, and `yes` is a truth value.
    assert_eq!(roots(policy, "A =\nN =\nB =\nT = yes\n"), "undefined + 3 + c + true");
    assert_eq!(roots("roots: $(A:true)", "A =\n"), "true");
    // A value of the configuration may name a variable that only the policy has.
    assert_eq!(roots("variables: { N: 3 }\nroots: $(A)", "A = $(N) + 1"), "3 + 1");
    let text = "variables: { NAME: ann }\nroots: Owner == \"$(NAME)@$(DOMAIN)\"";
    assert_eq!(roots(text, "DOMAIN = x\"y\n"), "Owner == \"ann@x\\\"y\"");
}

#[test]
fn what_is_wrong_in_the_policy_is_told_there() {
    for (policy, expected) in [
        ("roots: $(NO_SUCH) + 1", "7..21: the variable NO_SUCH has no value"),
        ("roots: $(AB) * * $(AB)", "15..16: expected an expression, found `*` (column 9 of the expression)"),
        ("roots: a $(AB)", "9..14: expected the end, found `$(AB)` (column 3 of the expression)"),
        ("roots: a.$(AB)", "7..14: `$(AB)` is an expression"),
        ("variables: { A: $(B), B: $(A) }\nroots: $(A)", "16..20: the variable A refers to itself"),
    ] {
        let dump = "AB = 1\n";
        assert_eq!(roots(policy, dump), expected, "{policy}");
    }
    let mut doubling = "variables:\n  V0: a\n".to_owned();
    doubling.extend((1..40).map(|at| format!("  V{at}: $(V{0}) + $(V{0})\n", at - 1)));
    assert!(roots(&(doubling + "roots: $(V39)"), "").contains("gives too long an expression"));
}

#[test]
fn macros_are_operands_strings_or_parts_of_strings() {
    for (policy, dump, expected) in [
        ("roots: $INT(N) + 1", "N = 3 + 4", "7 + 1"),
        ("roots: $REAL(N)", "N = 3", "3"),
        ("roots: $INT(N)", "N = x", "7..14: `$INT(N)` is not an expression: expected an expression, found the end"),
        ("roots: $STRING(N)", "N = a", "a"),
        ("roots: '\"a$(N)b$(M)\" + \"$(N)\"'", "N = 1\nM = \"q\"", "\"a1b\\\"q\\\"\" + \"1\""),
        ("roots: '\"a$(N)\" + $(N) + $(N)'", "N = 1", "\"a1\" + 1 + 1"),
        ("roots: '\"$(NONE)\"'", "N = 1", "7..18: the variable NONE has no value"),
        ("roots: '\"$(NONE:x y)\"'", "N = 1", "\"x y\""),
        ("roots: $(NONE:1 +)", "N = 1", "7..8: `$` is not part of the language (column 1 of the expression)"),
        ("roots: $(NONE:1 + 2) * 2", "N = 1", "7..8: `$` is not part of the language (column 1 of the expression)"),
        ("roots: f($(A), $(B), $(A))", "A = 1\nB = -2", "f(1, -2, 1)"),
        ("roots: $(A)$(B)", "A = 1\nB = 2", "7..15: `$(A)` is an expression"),
        (
            "roots: $(A) $(B) +",
            "A = 1\nB = 2",
            "18..18: expected an expression, found the end (column 12 of the expression)",
        ),
        (
            "roots: ($(A) + $(B)) * ) $(C)",
            "A = 1\nB = 2\nC = 3",
            "23..24: expected an expression, found `)` (column 17 of the expression)",
        ),
        ("roots: $(A).x + x.$(B)", "A = y\nB = z", "7..22: `$(B)` is an expression"),
        ("roots: '$(A) ? $(B) : $(C)'", "A = a || b\nB = c ? d : e\nC = f", "(a || b) ? (c ? d : e) : f"),
        ("roots: $(A)", "A = a || b", "a || b"),
        ("variables: { A: $(B), B: 'c || d' }\nroots: $(A) && x", "", "(c || d) && x"),
        (
            "variables: { A: \"x +\" }\nroots: $(A)",
            "",
            "21..21: expected an expression, found the end (column 4 of the expression)",
        ),
        ("variables: { A: $(A) }\nroots: $(A)", "A = 5", "5"),
        ("variables: 5\nroots: $(A)", "A = 5", "5"),
        ("share: { by: a, rounds: $(N) }\nroots: N", "N = 2 +", "dump:4..7: N: expected a number of at least 0"),
        ("share: { by: a, rounds: x$(N) }\nroots: N", "N = 2", "24..29: expected a number of at least 0"),
        ("share: { by: a, rounds: $(NONE) }\nroots: N", "N = 2", "24..31: the variable NONE has no value"),
    ] {
        assert_eq!(roots(policy, dump), expected, "{policy} {dump}");
    }
}
