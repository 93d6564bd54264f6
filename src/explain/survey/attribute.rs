//! One attribute of the offers: what is bound to it, and in which.

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Dialect, Distinct, Expression, Kind, Name, Value};
use crate::constraint::is_plain;
use crate::eval::Mentions;
use crate::pool::Key;

/// The code of a row without the attribute.
const ABSENT: u32 = 0;

/// What the offers bind to a name.
pub struct Attribute {
    /// For each row 0, or the place of the expression among the distinct ones, from 1.
    codes: Vec<u32>,
    /// The distinct expressions.
    pub expressions: Vec<Expression>,
    /// What they mention.
    pub mentions: Mentions,
}

impl Attribute {
    pub fn new(name: &Name, ads: &[Ad], dialect: Dialect) -> Self {
        let mut attribute = Attribute { codes: Vec::new(), expressions: Vec::new(), mentions: Mentions::default() };
        let (mut literals, mut others) = (FxHashMap::default(), Distinct::default());
        let mut codes_of_others: Vec<u32> = Vec::new();
        for ad in ads {
            let code = ad.get(name).map_or(ABSENT, |expression| match expression.kind() {
                Kind::Literal(value) if is_scalar(value) => {
                    *literals.entry(Key::of(value)).or_insert_with(|| attribute.add(expression))
                }
                _ => {
                    let (number, is_new) = others.number(expression);
                    if is_new {
                        attribute.mentions.add(expression, dialect);
                        codes_of_others.push(attribute.add(expression));
                    }
                    codes_of_others[number]
                }
            });
            attribute.codes.push(code);
        }
        attribute
    }

    fn add(&mut self, expression: &Expression) -> u32 {
        self.expressions.push(expression.clone());
        u32::try_from(self.expressions.len()).unwrap_or(u32::MAX)
    }

    /// The same for rows that bind the same to the name.
    pub fn code(&self, row: usize) -> u32 {
        self.codes[row]
    }

    /// Whether a row has it.
    pub fn has(&self, row: usize) -> bool {
        self.codes[row] != ABSENT
    }

    /// The value that is written out in a row.
    pub fn literal(&self, row: usize, dialect: Dialect) -> Option<&Value> {
        let expression = self.expressions.get((self.codes[row] as usize).checked_sub(1)?)?;
        match expression.bare().kind() {
            Kind::Literal(value) => Some(value).filter(|value| is_plain(value, dialect)),
            _ => None,
        }
    }
}

/// Whether a value is told from others by its key, for ever.
fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::List(_) | Value::Ad(_))
}
