//! The corrections of findings, as edits of the text.

use std::ops::Range;

use crate::ad::{Expression, ExpressionKind, Name};
use crate::syntax::{ParseOptions, Style, expression_text, parse_expression};
use crate::text::{TextEdit, apply_edits};

use super::rules;
use super::slip::Slip;

/// The correction of a finding in the expression of one attribute.
#[derive(Clone, Debug)]
pub struct LintFix {
    /// The attribute whose expression is corrected.
    pub attribute: Name,
    /// Whether each attribute of an ad keeps the value that it has beside any other ad.
    pub keeps_values: bool,
    /// The mistaken parts, nodes of the expression itself, each with what to write instead.
    replacements: Vec<(Expression, Expression)>,
}

impl LintFix {
    pub(super) fn new(attribute: &Name, keeps_values: bool, replacements: Vec<(Expression, Expression)>) -> Self {
        LintFix { attribute: attribute.clone(), keeps_values, replacements }
    }

    /// Returns the correction of a slip; `None` if it is unknown.
    pub(super) fn of_slip(attribute: &Name, slip: &Slip) -> Option<Self> {
        let keeps_values = slip.rule == &rules::MIXED;
        let rewrite = if keeps_values {
            // Parentheses show what the text means already, so that explanations have nothing to try.
            ExpressionKind::Parentheses(slip.place.clone()).into()
        } else {
            slip.rewrite.clone()?
        };
        Some(LintFix::new(attribute, keeps_values, vec![(slip.replaced().clone(), rewrite)]))
    }

    /// Returns the expression of the attribute with the mistaken parts corrected. `None` if it is nested too deeply.
    #[must_use]
    pub fn corrected(&self, whole: &Expression) -> Option<Expression> {
        const MAX_DEPTH: usize = 200;
        let instead = |part: &Expression| self.replacements.iter().find(|(place, _)| part.ptr_eq(place));
        let corrected = || whole.with_parts_replaced(&mut |part| instead(part).map(|(_, with)| with.clone()));
        (!whole.is_deeper_than(MAX_DEPTH)).then(corrected)
    }

    /// Returns the edits that correct the expression of the attribute in its text. `source` is the text from which the
    /// spans of `whole` count. Parts without a mistake stay as they are written.
    ///
    /// `None` if the expression is long or nested deeply, or if a comment would be lost.
    #[must_use]
    pub fn edits(
        &self,
        whole: &Expression,
        source: &[u8],
        options: ParseOptions,
        style: Style,
    ) -> Option<Vec<TextEdit>> {
        /// Maximum length of an expression that is corrected, in bytes: each fix is parsed with it.
        const MAX_BYTES: usize = 64 << 10;
        let span = whole.span().range();
        let written = source.get(span.clone()).filter(|written| written.len() <= MAX_BYTES)?;
        let meant = expression_text(&self.corrected(whole)?, style);
        let meant = parse_expression(meant.as_bytes(), options).ok()?;
        // Whether a part needs parentheses depends on what is around it.
        [false, true].into_iter().find_map(|in_parentheses| {
            let edits = self.part_edits(source, style, in_parentheses)?;
            let moved = edits.iter().map(|(range, with)| {
                Some((range.start.checked_sub(span.start)?..range.end.checked_sub(span.start)?, with.clone()))
            });
            let changed = apply_edits(written, moved.collect::<Option<_>>()?);
            (parse_expression(&changed, options).ok()? == meant).then_some(edits)
        })
    }

    fn part_edits(&self, source: &[u8], style: Style, in_parentheses: bool) -> Option<Vec<TextEdit>> {
        let mut edits = Vec::new();
        for (place, with) in &self.replacements {
            let range = place.span().range();
            if let ExpressionKind::Parentheses(inner) = with.kind()
                && inner.ptr_eq(place)
            {
                edits.push((range.start..range.start, "(".to_owned()));
                edits.push((range.end..range.end, ")".to_owned()));
                continue;
            }
            let has_comment = |range: &Range<usize>| {
                source.get(range.clone()).is_none_or(|text| text.windows(2).any(|pair| matches!(pair, b"//" | b"/*")))
            };
            // Where a part of the whole is left, the rest is deleted.
            if !in_parentheses && place.parts().any(|part| part.ptr_eq(with)) {
                let left = with.span().range();
                let deleted = [range.start..left.start, left.end..range.end];
                if deleted.iter().any(has_comment) {
                    return None;
                }
                edits.extend(deleted.into_iter().filter(|range| !range.is_empty()).map(|range| (range, String::new())));
                continue;
            }
            if has_comment(&range) {
                return None;
            }
            let text = expression_text(with, style);
            edits.push((range, if in_parentheses { format!("({text})") } else { text }));
        }
        Some(edits)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ad, pool};
    use super::super::{AdChecker, LintFinding};
    use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Value};
    use crate::eval::{Context, Environment, Evaluator};
    use crate::protocol::Protocol;
    use crate::syntax::{ParseOptions, Style};
    use crate::text::apply_edits;

    /// Returns the findings with a fix in an ad.
    fn fixable(ad: &Ad, dialect: Dialect) -> Vec<LintFinding> {
        let found = AdChecker::new(Protocol::new(dialect), &Context::new(dialect)).check(ad);
        found.iter().filter(|finding| finding.fix.is_some()).cloned().collect()
    }

    #[test]
    fn fixes_keep_what_is_not_mistaken() {
        for (written, rule, fixed) in [
            ("x||y  &&  z", "mixed-logic", "x||(y  &&  z)"),
            ("x || /* c */ y && z", "mixed-logic", "x || /* c */ (y && z)"),
            ("w   ||  x == undefined", "undefined-comparison", "w   ||  x is undefined"),
            ("w == 1 && (x  == 'LINUX')", "single-quotes", "w == 1 && (x  == \"LINUX\")"),
            // The comment would be lost.
            ("x == /* c */ undefined", "undefined-comparison", ""),
            ("x > 5 & y < 3 ? 1 : 2", "bitwise-logic", "x > 5 && y < 3 ? 1 : 2"),
            // What takes the place of a part is put in parentheses where it needs them.
            (
                "!(x) == !(OpSys == \"node*.cern.ch\")",
                "glob",
                "!(x) == !(regexp(\"^node.*\\\\.cern\\\\.ch$\", OpSys, \"i\"))",
            ),
            ("(w ? y : z > 5 & y < 3) || q", "bitwise-logic", "(w ? y : z > 5 && y < 3) || q"),
            ("!x  == y", "precedence", "!(x == y)"),
            ("w && 1 <x< 8", "precedence", "w && (1 < x && x < 8)"),
            ("w || 1 < x < 8", "precedence", "w || 1 < x && x < 8"),
            // The rest of a chain stays as it is written.
            ("x  >1 && y<2 && \"a\" == \"b\"", "constant-part", "x  >1 && y<2"),
            ("1 == 1 && (x  >1)", "constant-part", "(x  >1)"),
            ("x || (1 == 2 || z+1 > 3)", "constant-part", "x || (z+1 > 3)"),
            ("x && /* c */ 1 == 1", "constant-part", ""),
        ] {
            let text = format!("[ a = {written} ]");
            let ad = ad(&text, Dialect::Condor);
            let found = fixable(&ad, Dialect::Condor);
            let fix = found.iter().find(|finding| finding.rule.name == rule).and_then(|finding| finding.fix.clone());
            let fix = fix.unwrap_or_else(|| panic!("{written}"));
            let options = ParseOptions::new(Dialect::Condor);
            let whole = ad.get_str("a").unwrap();
            let source = &text.as_bytes()[text.find(written).unwrap() - whole.span().range().start..];
            let edits = fix.edits(whole, source, options, Style::New);
            let changed = edits.map(|edits| {
                apply_edits(
                    &source[whole.span().range()],
                    edits
                        .into_iter()
                        .map(|(range, with)| {
                            (range.start - whole.span().range().start..range.end - whole.span().range().start, with)
                        })
                        .collect(),
                )
            });
            assert_eq!(changed.map(|text| String::from_utf8(text).unwrap()).unwrap_or_default(), fixed, "{written}");
        }
    }

    /// Draws an expression of names, literals and operators.
    fn draw(random: &mut fastrand::Rng, depth: u32) -> String {
        const LEAVES: [&str; 16] = [
            "a",
            "b",
            "c",
            "Memory",
            "x",
            "MY.a",
            "TARGET.b",
            "true",
            "false",
            "undefined",
            "error",
            "1",
            "0",
            "2.5",
            "\"s\"",
            "{ 1, x }",
        ];
        let operators = ["&&", "||", "==", "!=", "<", "=?=", "+", "&&", "||", "&"];
        if depth == 0 || random.u8(0..6) == 0 {
            return LEAVES[random.usize(..LEAVES.len())].to_owned();
        }
        let mut part = || draw(random, depth - 1);
        let [first, second, third] = [part(), part(), part()];
        match random.u8(0..12) {
            0 => format!("!{first}"),
            1 => format!("({first})"),
            2 => format!("{first} ? {second} : {third}"),
            3 => format!("ifThenElse({first}, {second}, {third})"),
            4 => format!("isUndefined({first})"),
            5 => format!("{{ {first}, {second} }}[1]"),
            6 => format!("[ a = {first}; n = {second} ].n"),
            _ => format!("{first} {} {second}", operators[random.usize(..operators.len())]),
        }
    }

    #[test]
    fn fixes_of_rules_that_keep_values_keep_them_beside_every_ad() {
        let values = ["true", "false", "undefined", "error", "1", "0", "2.5", "\"s\"", "{ 1 }"];
        let mut random = fastrand::Rng::with_seed(11);
        let mut fixed = [0; 2];
        for round in 0..1500 {
            let dialect = if round % 3 == 0 { Dialect::Classad } else { Dialect::Condor };
            let mut side = |names: &[&str]| {
                let mut chosen = String::new();
                for name in names {
                    if random.bool() {
                        chosen.extend([name, " = ", values[random.usize(..values.len())], "; "]);
                    }
                }
                chosen
            };
            let (own, other) = (side(&["a", "b"]), side(&["a", "b", "c", "Memory", "x"]));
            let [requirements, z] = [3, 2].map(|depth| draw(&mut random, depth));
            let text = format!("[ {own}z = {z}; Requirements = z && {requirements}; Rank = z || c && x ]");
            let before = ad(&text, dialect);
            let other = ad(&format!("[ {other}y = TARGET.Requirements; w = other.z ]"), dialect);
            for finding in fixable(&before, dialect) {
                let Some(fix) = finding.fix.filter(|fix| fix.keeps_values) else { continue };
                let corrected = fix.corrected(before.get(&fix.attribute).unwrap()).unwrap();
                let after = before.with(fix.attribute.clone(), corrected);
                fixed[usize::from(finding.rule.name == "mixed-logic")] += 1;
                let context = Context::new(dialect);
                let value = |ad: &Ad, name: &Name| {
                    let (alone, frame) = Environment::single(ad.clone());
                    let (pair, [own, others]) = Environment::pair(ad.clone(), other.clone());
                    [(&alone, &frame, ad), (&pair, &own, ad), (&pair, &others, &other)].map(|(scene, frame, of)| {
                        // The elements of a list are evaluated when they are read, and an error knows its place.
                        let whole = of.get(name)?.clone();
                        let second = ExpressionKind::Subscript(whole.clone(), Expression::literal(Value::Integer(1)));
                        Some([whole, second.into()].map(|read| {
                            match Evaluator::new(scene, &context).evaluate(&read, frame) {
                                Ok(Value::List(_)) => "a list".to_owned(),
                                Ok(Value::Error(_)) => "an error".to_owned(),
                                value => format!("{value:?}"),
                            }
                        }))
                    })
                };
                for name in ["Requirements", "Rank", "z", "y", "w"].map(Name::new) {
                    assert_eq!(value(&before, &name), value(&after, &name), "{name} of {text} with {}", fix.attribute);
                }
            }
        }
        assert!(fixed.iter().all(|count| *count > 200), "{fixed:?}");
    }

    #[test]
    fn a_pool_adds_no_fix_that_keeps_values() {
        let ad = ad("[ MyType = \"Job\"; Requirements = TARGET.OpSys == LINUX ]", Dialect::Condor);
        let checker = AdChecker::new(Protocol::new(Dialect::Condor), &Context::new(Dialect::Condor));
        let found = checker.with_pool(pool().into()).check(&ad);
        assert!(found.iter().any(|finding| finding.fix.as_ref().is_some_and(|fix| !fix.keeps_values)));
    }
}
