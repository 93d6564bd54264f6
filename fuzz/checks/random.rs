//! Random ads and expressions, and their values.

use std::ops::{Bound, Range, RangeBounds};
use std::vec::IntoIter;

use classad::ad::{Ad, Dialect, Expression};
use classad::eval::{Abort, Context, Environment, Evaluator, FUNCTIONS};
use classad::syntax::{Style, print, print_ad, print_value};
use fastrand::Rng;

/// The names that the texts use.
pub const NAMES: [&str; 8] = ["a", "b", "c", "d", "n", "m", "x", "y"];

/// Source of choices: random numbers, or bytes that a fuzzer changes. Without further bytes each choice is the first.
pub enum Choices {
    Seeded(Rng),
    Bytes(IntoIter<u8>),
}

macro_rules! integers {
    ($($integer:ident)*) => {
        $(pub fn $integer(&mut self, range: impl RangeBounds<$integer>) -> $integer {
            let start = match range.start_bound() {
                Bound::Included(start) => i128::from(*start as i64),
                _ => 0,
            };
            let end = match range.end_bound() {
                Bound::Included(end) => i128::from(*end as i64) + 1,
                Bound::Excluded(end) => i128::from(*end as i64),
                Bound::Unbounded => panic!("a choice needs an end"),
            };
            let count = u64::try_from(end - start).expect("a choice needs a range that is not empty");
            (start + i128::from(self.below(count))) as $integer
        })*
    };
}

#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss, clippy::cast_lossless)]
impl Choices {
    integers!(u8 u32 u64 usize i32 i64);
}

impl Choices {
    /// A number below `count`, which is not 0.
    fn below(&mut self, count: u64) -> u64 {
        match self {
            Choices::Seeded(random) => random.u64(..count),
            Choices::Bytes(bytes) => {
                let mut number = u64::from(bytes.next().unwrap_or(0));
                let mut limit = 256;
                while limit < count {
                    number = number << 8 | u64::from(bytes.next().unwrap_or(0));
                    limit <<= 8;
                }
                number % count
            }
        }
    }

    pub fn bool(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Returns true with a probability of `percent` in 100.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) >= 100 - percent
    }

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.usize(0..from.len())]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.usize(0..=end));
        }
    }
}

/// Random text of expressions, in which names, constants and functions meet often.
pub struct Text {
    pub random: Choices,
    functions: Vec<&'static str>,
}

impl Text {
    pub fn new(seed: u64) -> Self {
        Self::of(Choices::Seeded(Rng::with_seed(seed)))
    }

    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self::of(Choices::Bytes(Vec::from(bytes).into_iter()))
    }

    fn of(random: Choices) -> Self {
        let functions = FUNCTIONS.iter().map(|function| function.name).filter(|name| *name != "random").collect();
        Text { random, functions }
    }

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        self.random.pick(from)
    }

    pub fn leaf(&mut self) -> String {
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

    /// A constant.
    pub fn plain(&mut self) -> &'static str {
        self.pick(&[
            "true",
            "false",
            "undefined",
            "error",
            "0",
            "1",
            "2",
            "-1",
            "1.5",
            "\"a\"",
            "\"b\"",
            "{ 1 }",
            "[ q = 1 ]",
        ])
    }

    /// An ad that binds names to constants.
    pub fn plain_ad(&mut self, most: usize) -> String {
        let attributes = (0..self.random.usize(0..=most)).map(|_| format!("{} = {}", self.pick(&NAMES), self.plain()));
        format!("[ {} ]", attributes.collect::<Vec<_>>().join("; "))
    }

    pub fn expression(&mut self, depth: u32) -> String {
        if depth == 0 || self.random.u8(0..6) == 0 {
            return self.leaf();
        }
        let [a, b, c] = [(); 3].map(|()| self.expression(depth - 1));
        match self.random.u8(0..23) {
            20 => self.suitable_call(&a),
            21 => format!("[ n = [ x = {a}; y = parent.{} ]; a = {b} ].n.{}", self.pick(&NAMES), self.pick(&NAMES)),
            22 => format!("{{ [ a = {a} ], [ a = {b}; y = {c} ] }}.{}", self.pick(&NAMES)),
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

    /// A call whose arguments suit the function.
    fn suitable_call(&mut self, a: &str) -> String {
        let list = ["\"a,b,c\"", "\"1, 2,3\"", "\"a b\"", "x", "n"];
        let [list, name] = [self.pick(&list), self.pick(&NAMES)];
        match self.random.u8(0..14) {
            0 => format!("stringListMember(string({a}), {list})"),
            1 => format!("stringListSum({list}) + {name}"),
            2 => format!("regexp(\"^({name}|1)$\", string({a}), \"i\")"),
            3 => format!("regexps(\"(.)b\", {list}, \"\\1x\", \"g\")"),
            4 => format!("versioncmp(\"8.9.{name}\", strcat(\"8.9.\", {a})) < {name}"),
            5 => format!("substr({list}, {name}, {a})"),
            6 => format!("size(split({list}, \",\")) == size({a})"),
            7 => format!("sum({{ {a}, {name}, 1 }}) > avg({{ {name} }})"),
            8 => format!("anyCompare(\"<\", {{ {a}, {name} }}, {name})"),
            9 => format!("countMatches({name}, {{ [ a = {a}; {name} = 1 ], [ b = {name} ] }})"),
            10 => format!("evalInEachContext({a}, {{ [ a = {name} ], n }})[{name}]"),
            11 => format!("eval(strcat(\"{name}\", \" + 1\")) is {a}"),
            12 => format!("formatTime({name}, \"%Y\") == string({a})"),
            _ => format!("ifThenElse({name}, unparse({name}), join(\",\", {{ {a}, {list} }}))"),
        }
    }

    /// An ad that binds some of the names; another ad now and then.
    pub fn ad(&mut self, depth: u32, most: usize) -> String {
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

/// The clock stands still, and what goes on for ever is soon given up.
pub fn context(dialect: Dialect) -> Context {
    Context { now: Some(1_000_000_000), max_depth: 1000, max_steps: 100_000, ..Context::new(dialect) }
}

/// What an expression gives in an ad, alone or facing another, as text.
pub fn value(expression: &Expression, ad: &Ad, target: Option<&Ad>, context: &Context) -> Result<String, Abort> {
    let (environment, frame) = match target {
        Some(target) => {
            let (environment, [frame, _]) = Environment::pair(ad.clone(), target.clone());
            (environment, frame)
        }
        None => Environment::single(ad.clone()),
    };
    let value = Evaluator::new(&environment, context).evaluate(expression, &frame)?;
    Ok(String::from_utf8_lossy(&print_value(&value, Style::New)).into_owned())
}

pub fn print_text(ad: &Ad) -> String {
    String::from_utf8_lossy(&print_ad(ad, Style::New)).into_owned()
}

pub fn shown(expression: &Expression) -> String {
    String::from_utf8_lossy(&print(expression, Style::New)).into_owned()
}

/// The seeds of the cases that are tried in each dialect: as many as `CLASSAD_CASES` says, from `CLASSAD_SEED` on.
pub fn seeds() -> Range<u64> {
    let number = |name, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let first = number("CLASSAD_SEED", 0);
    first..first + number("CLASSAD_CASES", 600)
}
