//! Specialization preserves values: what is left of an expression has, in every completion of the known
//! part of its ad, the value of the expression.

use classad::ad::{Ad, Dialect, Expression};
use classad::eval::{
    Context, Environment, Evaluator, Extent, FUNCTIONS, Halt, Liberties, Verdict, specialize, specialize_ad,
};
use classad::syntax::{Rules, Style, parse_ad, parse_expression, print, print_ad, print_value};
use fastrand::Rng;

const NAMES: [&str; 8] = ["a", "b", "c", "d", "n", "m", "x", "y"];

/// Random text of expressions, in which names, constants and functions meet often.
struct Text {
    random: Rng,
    functions: Vec<&'static str>,
}

impl Text {
    fn new(seed: u64) -> Self {
        let functions = FUNCTIONS.iter().map(|function| function.name).filter(|name| *name != "random").collect();
        Text { random: Rng::with_seed(seed), functions }
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.random.usize(0..from.len())]
    }

    fn leaf(&mut self) -> String {
        match self.random.u8(0..10) {
            0..5 => self.pick(&NAMES).to_owned(),
            5 => {
                let scope = self.pick(&["other", "target", "my", "self", "TARGET", "MY", "n", "parent", "root"]);
                format!("{scope}.{}", self.pick(&NAMES))
            }
            6 => self.pick(&["true", "false", "undefined", "error"]).to_owned(),
            7 => self.random.i32(-2..9).to_string(),
            8 => self
                .pick(&["\"a\"", "\"x + 1\"", "1.5", "0.0", "\"n.a\"", "relTime(\"5\")", "{ 1, a }", "MY", "TARGET"])
                .to_owned(),
            _ => self.pick(&["1", "2", ".a", "CurrentTime", "time()", "absTime(\"2000-01-01T00:00:00Z\")"]).to_owned(),
        }
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 || self.random.u8(0..6) == 0 {
            return self.leaf();
        }
        let [a, b, c] = [(); 3].map(|()| self.expression(depth - 1));
        match self.random.u8(0..20) {
            0..4 => format!("({a}) && ({b})"),
            4..7 => format!("({a}) || ({b})"),
            7 => format!("({a}) ? ({b}) : ({c})"),
            8 => format!("({a}) ?: ({b})"),
            9 => format!("!({a})"),
            10 => format!("-({a})"),
            11 => format!("{{ {a}, {b} }}[{c}]"),
            12 => format!("[ a = {a}; m = {b} ].{}", self.pick(&NAMES)),
            13 => format!("({a}).{}", self.pick(&NAMES)),
            14..16 => {
                let function = self.functions[self.random.usize(0..self.functions.len())];
                match self.random.u8(0..4) {
                    0 => format!("{function}({a})"),
                    1 => format!("{function}({a}, {b})"),
                    2 => format!("{function}({a}, {{ {b}, {c} }})"),
                    _ => format!("{function}({a}, {b}, {c})"),
                }
            }
            _ => {
                let operator = self.pick(&[
                    "==", "!=", "<", "<=", ">", ">=", "is", "isnt", "+", "-", "*", "/", "%", "<<", ">>", "&", "|",
                ]);
                format!("({a}) {operator} ({b})")
            }
        }
    }

    /// An ad that binds some of the names; another ad now and then.
    fn ad(&mut self, depth: u32, most: usize) -> String {
        let mut attributes = Vec::new();
        for _ in 0..self.random.usize(0..=most) {
            let name = self.pick(&NAMES);
            let value = match self.random.u8(0..6) {
                0 => format!("[ {} = {}; a = {} ]", self.pick(&NAMES), self.leaf(), self.leaf()),
                1..3 => self.expression(depth),
                _ => self.leaf(),
            };
            attributes.push(format!("{name} = {value}"));
        }
        format!("[ {} ]", attributes.join("; "))
    }
}

/// One ad with the attributes of another that it has not.
fn completed(known: &Ad, more: &Ad) -> Ad {
    let free = more.iter().filter(|attribute| known.get(attribute.name).is_none());
    let all = known.iter().chain(free).map(|attribute| (attribute.name.clone(), attribute.expression.clone()));
    all.collect()
}

fn value(expression: &Expression, ad: &Ad, target: Option<&Ad>, context: &Context) -> Result<String, Halt> {
    let (environment, frame) = match target {
        Some(target) => {
            let (environment, [frame, _]) = Environment::pair(ad.clone(), target.clone());
            (environment, frame)
        }
        None => Environment::alone(ad.clone()),
    };
    let value = Evaluator::new(&environment, context).evaluate(expression, &frame)?;
    Ok(String::from_utf8_lossy(&print_value(&value, Style::New)).into_owned())
}

/// A value that shows no expressions.
fn scalar(value: String) -> String {
    if value.starts_with(['[', '{']) { "...".to_owned() } else { value }
}

/// Whether something may depend on how an expression is written: functions that read it, and whole ads.
fn reads_text(text: &str) -> bool {
    let functions = ["unparse", "unresolved", "evalInEachContext", "countMatches"];
    let whole = ["MY", "TARGET", "self", "root", "parent"];
    functions.iter().any(|name| text.contains(name))
        || whole.iter().any(|name| text.match_indices(name).any(|(at, _)| !text[at + name.len()..].starts_with('.')))
}

fn print_text(ad: &Ad) -> String {
    String::from_utf8_lossy(&print_ad(ad, Style::New)).into_owned()
}

fn shown(expression: &Expression) -> String {
    String::from_utf8_lossy(&print(expression, Style::New)).into_owned()
}

/// How many triples of an expression, a known ad and a completion are tried in each dialect.
fn triples() -> u64 {
    std::env::var("CLASSAD_TRIPLES").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000)
}

#[test]
fn values_are_preserved_in_every_completion() {
    let mut decided = 0;
    for dialect in [Dialect::Classad, Dialect::Condor] {
        let mut context = Context::new(dialect);
        context.now = Some(1_000_000_000);
        let unclocked = Context { now: None, chance: None, ..context.clone() };
        for seed in 0..triples() {
            let mut text = Text::new(seed);
            let source = text.expression(3);
            let [known, more, target] = [text.ad(2, 4), text.ad(2, 5), text.ad(2, 4)];
            let rules = Rules::new(dialect);
            let Ok(expression) = parse_expression(source.as_bytes(), rules) else { continue };
            let ad = |text: &str| parse_ad(text.as_bytes(), rules);
            let (Ok(known), Ok(more), Ok(target)) = (ad(&known), ad(&more), ad(&target)) else { continue };
            let full = completed(&known, &more);
            let full_target = completed(&target, &ad(&text.ad(1, 3)).unwrap_or_default());
            let (unmet, frame) = Environment::unmet(known.clone(), Extent::Open);
            let (closed, closed_frame) = Environment::unmet(known.clone(), Extent::Closed);
            let (mut met, [met_frame, _]) = Environment::pair(known.clone(), target.clone());
            for participant in [0, 1] {
                met.member_mut(participant).unwrap().extent = Extent::Open;
            }
            let exact = Liberties::default();
            for (what, environment, frame, ad, targets) in [
                ("unmet", &unmet, &frame, &full, vec![None, Some(&full_target)]),
                ("closed", &closed, &closed_frame, &known, vec![None, Some(&full_target)]),
                ("met", &met, &met_frame, &full, vec![Some(&full_target)]),
            ] {
                let left = specialize(&expression, frame, environment, &unclocked, exact);
                let left_ad = specialize_ad(frame, environment, &unclocked, exact);
                for target in targets {
                    let before = value(&expression, ad, target, &context);
                    let after = value(&left.expression, ad, target, &context);
                    let report = || {
                        format!(
                            "{dialect} {what} seed {seed}: {source}\nbecomes {}\nknown {}\ncompleted {}\ntarget {}",
                            shown(&left.expression),
                            print_text(&known),
                            print_text(ad),
                            target.map_or(String::new(), print_text),
                        )
                    };
                    assert_eq!(before, after, "{}", report());
                    match left.verdict {
                        Verdict::Never => assert_ne!(before.as_deref(), Ok("true"), "never: {}", report()),
                        Verdict::Always => assert!(
                            !matches!(before.as_deref(), Ok("false" | "undefined" | "error")),
                            "always: {}",
                            report()
                        ),
                        Verdict::Depends => {}
                    }
                    // An ad that is specialized means what it meant, unless its text is looked at.
                    let texts = [&source, &print_text(ad), &target.map_or(String::new(), print_text)];
                    if texts.iter().any(|text| reads_text(text)) {
                        continue;
                    }
                    let specialized = completed(&left_ad, ad);
                    let (before, after) = (before.map(scalar), value(&expression, &specialized, target, &context));
                    assert_eq!(before, after.map(scalar), "ad {}\n{}", print_text(&left_ad), report());
                }
                decided += usize::from(left.value.is_some());
            }
        }
    }
    assert!(decided > 1000, "some values are known: {decided}");
}
