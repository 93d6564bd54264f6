//! Names of one operating system: slots call Enterprise Linux 9 `CentOS9`, `AlmaLinux9` or `RedHat9`, by whoever built it.

use indexmap::IndexMap;

use crate::ad::{BinaryOperator, Expression, ExpressionKind, Name, Value, rename_attribute, rewrite_expression};
use crate::constraint::{ClauseOperand, disjuncts};

use super::evaluation::OfferTable;
use super::offered_values::{LIST_FUNCTIONS, wanted_strings};
use crate::lint;
use crate::text::join_with;

/// The attributes of slots that name a system with its version.
const NAMING_ATTRIBUTES: [&str; 3] = ["OpSysAndVer", "OpSysShortName", "OpSysLongName"];

/// The attribute of slots that has the version of the system alone.
const VERSION_ATTRIBUTE: &str = "OpSysMajorVer";

/// The names of Enterprise Linux, without blanks and without [`FILLING_WORDS`]: programs for one run on the others.
const ENTERPRISE_LINUX: [&str; 14] = [
    "rhel",
    "el",
    "redhat",
    "redhatenterprise",
    "enterprise",
    "centos",
    "alma",
    "almalinux",
    "rocky",
    "rockylinux",
    "scientific",
    "sl",
    "oracle",
    "ol",
];

/// Words of long names that say nothing of the system, as in `Apptainer Container - CentOS 9`.
const FILLING_WORDS: [&str; 5] = ["linux", "release", "stream", "apptainer", "container"];

/// The attribute of slots that has the version as a number: 906 for 9.6.
const NUMBER_ATTRIBUTE: &str = "OpSysVer";

/// A number below this is a major version, and no value of [`NUMBER_ATTRIBUTE`].
const MAX_MAJOR_VERSION: i64 = 100;

/// Maximum number of names that a message tells.
const MAX_TOLD_NAMES: usize = 3;

/// Returns the major version of Enterprise Linux that a text names: 9 for `AlmaLinux release 9.7 (Moss Jungle Cat)`. `None` for
/// any other text.
fn enterprise_version(text: &str) -> Option<i64> {
    let text = text.to_ascii_lowercase();
    let (name, version) = text.split_at(text.find(|letter: char| letter.is_ascii_digit())?);
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !FILLING_WORDS.contains(word));
    let name: String = words.collect();
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    ENTERPRISE_LINUX.contains(&name.as_str()).then(|| digits.parse().ok()).flatten()
}

/// Whether two names or versions of systems differ in the version at most; all of Enterprise Linux are of one family.
pub fn is_same_family(one: &Value, other: &Value) -> bool {
    let (Value::String(one), Value::String(other)) = (one, other) else { return true };
    let family = |text: &str| match enterprise_version(text) {
        Some(_) => ENTERPRISE_LINUX[0].to_owned(),
        None => {
            text.split(|letter: char| letter.is_ascii_digit()).next().unwrap_or_default().trim().to_ascii_lowercase()
        }
    };
    family(&one.to_str()) == family(&other.to_str())
}

/// A condition that asks for a name of Enterprise Linux.
struct NamedSystem<'e> {
    /// The attribute of the slots.
    name: Name,
    operand: &'e Expression,
    version: i64,
    /// The names that are asked for.
    wanted: Vec<String>,
}

impl<'e> NamedSystem<'e> {
    /// Recognizes a comparison for equality, and a call such as `stringListMember(OpSysAndVer, "RHEL9,Rocky9")`.
    fn of(part: &'e Expression) -> Option<Self> {
        let (operand, value) = match part.kind() {
            ExpressionKind::Binary(BinaryOperator::Equal | BinaryOperator::Is, left, right) => {
                if right.without_parentheses().as_literal().is_some() { (left, right) } else { (right, left) }
            }
            ExpressionKind::Call(function, arguments) if LIST_FUNCTIONS.iter().any(|known| function.is(known)) => {
                let [item, list] = &**arguments else { return None };
                (item, list)
            }
            _ => return None,
        };
        let (ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) = ClauseOperand::of(operand)? else {
            return None;
        };
        NAMING_ATTRIBUTES.iter().find(|known| name.is(known))?;
        // Blanks around a compared string are a slip of spelling; those between the items of a list are none.
        let wanted = match value.without_parentheses().as_literal() {
            Some(Value::String(text)) if matches!(part.kind(), ExpressionKind::Binary(..)) => {
                vec![text.to_str().into_owned()]
            }
            _ => wanted_strings(value),
        };
        let mut versions = wanted.iter().map(|wanted| enterprise_version(wanted));
        let version = versions.next()??;
        versions.all(|other| other == Some(version)).then(|| NamedSystem {
            name: name.clone(),
            operand,
            version,
            wanted,
        })
    }
}

/// Returns a clause that asks for names of Enterprise Linux with the version in their place, or with the name that slots have for
/// it; with what to say of it. `None` for any other clause, and if only the spelling is wrong.
pub fn of_all_names(clause: &Expression, table: &OfferTable) -> Option<(String, Expression)> {
    let NamedSystem { name, version, wanted, .. } = clause.parts().find_map(NamedSystem::of)?;
    let (names, is_of_version) = names_of_version(version, table);
    // A name in another case fails only by `=?=`, which is told as such.
    let is_misspelt =
        |wanted: &String| !names.contains(wanted) && names.iter().any(|known| letters(known) == letters(wanted));
    if wanted.iter().any(is_misspelt) {
        return None;
    }
    let corrected_part = |part: &Expression| {
        let NamedSystem { name, operand, .. } = NamedSystem::of(part).filter(|found| found.version == version)?;
        let (attribute, value) = match names.first()? {
            only if names.len() == 1 || !is_of_version => (NAMING_ATTRIBUTES[0], Value::string(only.as_str())),
            _ => (VERSION_ATTRIBUTE, Value::Integer(version)),
        };
        let operand = rename_attribute(operand, &name, &Name::new(attribute)).unwrap_or_else(|| operand.clone());
        Some(Expression::binary(BinaryOperator::Equal, operand, Expression::literal(value)))
    };
    let corrected = rewrite_expression(clause, &mut { corrected_part })?;
    // `OpSysAndVer == "CentOS9" || OpSysAndVer == "RedHat9"` asks for one version twice.
    let alternatives = disjuncts(corrected.without_parentheses());
    let is_repeated = alternatives.iter().all(|other| *other == alternatives[0]);
    let corrected = if is_repeated { alternatives[0].clone() } else { corrected.clone() };
    let told: Vec<String> = names.iter().take(MAX_TOLD_NAMES).map(|name| format!("\"{name}\"")).collect();
    Some((format!("{name} of Enterprise Linux {version} is {} here", join_with(&told, "or")), corrected))
}

/// Returns a clause with the major version in place of `OpSysVer`, which is 100 times that, where it is compared with a major
/// version; with what to say of it. `None` for any other clause.
pub fn of_whole_version(clause: &Expression) -> Option<(String, Expression)> {
    let attribute = Name::new(NUMBER_ATTRIBUTE);
    let compares = |part: &Expression| {
        let ExpressionKind::Binary(operator, left, right) = part.kind() else { return false };
        let is_version = |operand: &Expression| match operand.without_parentheses().as_literal() {
            Some(Value::Integer(version)) => (1..MAX_MAJOR_VERSION).contains(version),
            _ => false,
        };
        let is_attribute = |operand: &Expression| match ClauseOperand::of(operand) {
            Some(ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) => *name == attribute,
            _ => false,
        };
        lint::is_comparison(*operator)
            && (is_version(left) && is_attribute(right) || is_version(right) && is_attribute(left))
    };
    clause.parts().find(|part| compares(part))?;
    let corrected = rename_attribute(clause, &attribute, &Name::new(VERSION_ATTRIBUTE))?;
    Some((format!("{NUMBER_ATTRIBUTE} has the minor version, too, such as 906 for 9.6"), corrected))
}

/// Returns a clause with the name that Windows has in place of one of a version of it, such as `WINNT61`; with what to say of it.
/// `None` for any other clause.
pub fn of_old_windows(clause: &Expression) -> Option<(String, Expression)> {
    let is_old = |part: &Expression| match part.as_literal() {
        Some(Value::String(text)) => {
            let version = text.to_str().to_ascii_uppercase().strip_prefix("WINNT").map(ToOwned::to_owned);
            version.is_some_and(|version| version.chars().all(|letter| letter.is_ascii_digit()))
        }
        _ => false,
    };
    let old = clause.parts().find(|part| is_old(part))?.clone();
    let corrected =
        rewrite_expression(clause, &mut |part| is_old(part).then(|| Expression::literal(Value::string("WINDOWS"))))?;
    Some((format!("Windows is OpSys \"WINDOWS\" in all versions, not {}", old.as_literal()?), corrected))
}

/// The letters and digits of a text, in lower case.
fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Returns the names that slots have for a version of Enterprise Linux, the most frequent first, and whether all slots of this
/// version have one of them. Others are other systems, such as Debian 9.
fn names_of_version(version: i64, table: &OfferTable) -> (Vec<String>, bool) {
    let literal = |row: usize, name: &str| table.ads[row].get_str(name).and_then(Expression::as_literal);
    let mut names: IndexMap<String, usize> = IndexMap::new();
    let mut is_of_version = true;
    for row in 0..table.row_count() {
        let has_version = literal(row, VERSION_ATTRIBUTE) == Some(&Value::Integer(version));
        let name = match literal(row, NAMING_ATTRIBUTES[0]) {
            Some(Value::String(text)) => Some(text.to_str()).filter(|text| enterprise_version(text) == Some(version)),
            _ => None,
        };
        is_of_version &= has_version == name.is_some();
        if let Some(name) = name {
            *names.entry(name.into_owned()).or_default() += table.weights.of_row(row);
        }
    }
    names.sort_by(|_, one, _, other| other.cmp(one));
    (names.into_keys().collect(), is_of_version)
}

#[cfg(test)]
mod tests {
    use super::{enterprise_version, is_same_family, of_old_windows, of_whole_version};
    use crate::ad::{Dialect, Value};
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn versions_of_windows_have_one_name() {
        for (clause, expected) in [
            ("TARGET.OpSys == \"WINNT61\"", Some("TARGET.OpSys == \"WINDOWS\"")),
            ("OpSys == \"winnt\"", Some("OpSys == \"WINDOWS\"")),
            ("OpSys == \"WINDOWS\"", None),
            ("OpSys == \"WINNTX\"", None),
        ] {
            let clause = parse_expression(clause.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let corrected = of_old_windows(&clause).map(|(_, corrected)| corrected.to_string());
            assert_eq!(corrected.as_deref(), expected, "{clause}");
        }
    }

    #[test]
    fn a_whole_version_is_not_of_the_number_with_the_minor_one() {
        for (clause, expected) in [
            ("TARGET.OpSysVer == 9", Some("TARGET.OpSysMajorVer == 9")),
            ("8 <= OpSysVer && TARGET.OpSysVer != 10", Some("8 <= OpSysMajorVer && TARGET.OpSysMajorVer != 10")),
            ("OpSysVer == 906", None),
            ("OpSysVer == 0", None),
            ("OpSysVer == \"9\"", None),
            ("OpSysVer + 9 > Memory", None),
            ("MY.OpSysVer == 9", None),
            ("OpSysMajorVer == 9", None),
        ] {
            let clause = parse_expression(clause.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let corrected = of_whole_version(&clause).map(|(_, corrected)| corrected.to_string());
            assert_eq!(corrected.as_deref(), expected, "{clause}");
        }
    }

    #[test]
    fn versions_of_one_system_are_of_a_family() {
        for (one, other, is_same) in [
            (Value::string("RHEL 7"), Value::string("AlmaLinux9"), true),
            (Value::string("RHEL 7"), Value::string("DEBIAN 13"), false),
            (Value::string("Debian 12"), Value::string("DEBIAN13"), true),
            (Value::string("Ubuntu22"), Value::string("Debian12"), false),
            (Value::Integer(9), Value::Integer(8), true),
        ] {
            assert_eq!(is_same_family(&one, &other), is_same, "{one} {other}");
        }
    }

    #[test]
    fn names_of_enterprise_linux_have_a_version() {
        for (text, expected) in [
            ("AlmaLinux9", Some(9)),
            ("CentOS8", Some(8)),
            ("RHEL 9", Some(9)),
            ("el7", Some(7)),
            ("Rocky-8", Some(8)),
            ("Red Hat Enterprise Linux 9", Some(9)),
            ("CentOS Linux release 7.9.2009 (Core)", Some(7)),
            ("AlmaLinux release 9.7 (Moss Jungle Cat)", Some(9)),
            ("Apptainer Container - CentOS 9", Some(9)),
            ("CentOS Stream 10", Some(10)),
            ("Debian12", None),
            ("Ubuntu22", None),
            ("Win10", None),
            ("CentOS", None),
            ("macOS14", None),
        ] {
            assert_eq!(enterprise_version(text), expected, "{text}");
        }
    }
}
