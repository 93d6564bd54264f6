//! Ports: the docking places of an ad (thesis 3.2.2), read from its attribute `Ports`.

use std::fmt;
use std::sync::LazyLock;

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Span, Value};

use super::port_group::{PortGroup, PortGroupEntry};

/// A docking place of an ad.
#[derive(Clone, Debug)]
pub struct Port {
    /// The name by which this port and later ones refer to the candidate docked here.
    pub label: Name,
    /// The records of the groups that contain the port, outermost first. The attributes of these records are visible in
    /// the port.
    pub groups: Vec<Ad>,
    /// The record that describes the port. `None` for the implicit port `other` of an ad without `Ports`, because the
    /// ad itself describes this port.
    pub record: Option<Ad>,
}

/// All ports of an ad.
#[derive(Clone, Debug)]
pub struct Ports {
    /// The ports in textual order, including those inside groups.
    pub list: Vec<Port>,
    /// The group that says which of the ports must be filled. It refers to the ports by their indexes in `list`.
    pub group: PortGroup,
}

/// An error in the port list of an ad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortFault {
    /// Byte range of the offending expression in the text of the value of `Ports`.
    pub span: Span,
    /// What is wrong, as a phrase.
    pub reason: String,
}

impl fmt::Display for PortFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for PortFault {}

/// The name of the attribute that lists the ports of an ad.
pub static PORTS: LazyLock<Name> = LazyLock::new(|| Name::new("Ports"));
/// The name of the attribute that holds the label of a port.
pub static LABEL: LazyLock<Name> = LazyLock::new(|| Name::new("Label"));

/// Maximum nesting depth of port groups.
const MAX_GROUP_DEPTH: usize = 64;

/// Maximum number of ports of an ad. The search for a gang compares each port with each other one.
pub const MAX_PORTS: usize = 500;

/// Why a value of `Ports` is refused that is no list.
const NO_LIST: &str = "Ports must be a list of records, `{ [ Label = ...; Constraint = ... ], ... }`";

/// Reads the ports of an ad in the order of its list `Ports`. An ad without such a list has only the implicit port `other`.
///
/// An entry of the list may be a group of ports, `[ Ports = {...}; Min = m; Max = n ]`. At least `Min` and at most
/// `Max` entries of the group are filled. `Max` defaults to the number of entries, `Min` to the smaller of this number
/// and `Max`. Which ports may stay unfilled is an open question in thesis 6.2.2.
///
/// # Errors
///
/// Fails if `Ports` is a list of something else than records, a record has no label, two ports have the same label, there are more than [`MAX_PORTS`], a group asks for
/// more entries than it has, or groups are nested too deeply.
pub fn read_ports(ad: &Ad) -> Result<Ports, PortFault> {
    let Some(list) = port_list(ad) else {
        let implicit = Port { label: Name::new("other"), groups: Vec::new(), record: None };
        return Ok(Ports { list: vec![implicit], group: PortGroup::all_of(1) });
    };
    let mut found = Vec::new();
    let entries = read_entries(list, &[], &mut found)?;
    Ok(Ports { list: found, group: PortGroup { min: entries.len(), max: entries.len(), entries } })
}

/// Returns the value of `Ports` if it is a list; `None` if the ad has no `Ports`, or one that is no list.
#[must_use]
pub fn port_list(ad: &Ad) -> Option<&Expression> {
    let is_list = |value: &&Expression| matches!(value.without_parentheses().kind(), ExpressionKind::List(_));
    ad.get(&PORTS).filter(is_list)
}

/// Whether an ad has a list of ports, well-formed or not.
#[must_use]
pub fn has_ports(ad: &Ad) -> bool {
    port_list(ad).is_some()
}

/// Checks that `Ports` is a list in the papers' dialect. HTCondor has no ports: there it may be any attribute of the site.
///
/// # Errors
///
/// Fails if `Ports` is no list.
pub fn check_port_list(ad: &Ad, dialect: Dialect) -> Result<(), PortFault> {
    match ad.get(&PORTS).filter(|_| !dialect.is_condor() && !has_ports(ad)) {
        Some(value) => Err(fault(value, NO_LIST)),
        None => Ok(()),
    }
}

/// Reads the entries of a list of ports. Appends its ports, including those of its groups, to `found`.
fn read_entries(list: &Expression, groups: &[Ad], found: &mut Vec<Port>) -> Result<Vec<PortGroupEntry>, PortFault> {
    let ExpressionKind::List(elements) = list.without_parentheses().kind() else {
        return Err(fault(list, NO_LIST));
    };
    let mut entries = Vec::with_capacity(elements.len());
    found.reserve(elements.len().min(MAX_PORTS));
    for element in elements.iter() {
        let ExpressionKind::Ad(record) = element.without_parentheses().kind() else {
            return Err(fault(element, "a port must be a record, `[ Label = ...; Constraint = ... ]`"));
        };
        let label = match record.get(&LABEL) {
            Some(label) => read_label(label)?,
            None if record.get(&PORTS).is_some() => {
                entries.push(PortGroupEntry::Group(read_group(record, element, groups, found)?));
                continue;
            }
            None => return Err(fault(element, "a port needs a Label")),
        };
        if found.iter().any(|port| port.label == label) {
            return Err(fault(element, format!("an earlier port of this ad has the label `{label}` already")));
        }
        if found.len() >= MAX_PORTS {
            return Err(fault(element, format!("this ad has more than {MAX_PORTS} ports")));
        }
        entries.push(PortGroupEntry::Port(found.len()));
        found.push(Port { label, groups: groups.to_vec(), record: Some(record.clone()) });
    }
    Ok(entries)
}

/// Reads a group of ports. `around` holds the records of the enclosing groups, outermost first.
fn read_group(record: &Ad, element: &Expression, around: &[Ad], found: &mut Vec<Port>) -> Result<PortGroup, PortFault> {
    if around.len() >= MAX_GROUP_DEPTH {
        return Err(fault(element, format!("groups of ports are nested more than {MAX_GROUP_DEPTH} levels deep")));
    }
    let groups: Vec<Ad> = around.iter().chain([record]).cloned().collect();
    let entries = match record.get(&PORTS) {
        Some(list) => read_entries(list, &groups, found)?,
        None => Vec::new(),
    };
    let max = read_fill_bound(record, "Max")?.unwrap_or(entries.len());
    let min = read_fill_bound(record, "Min")?.unwrap_or_else(|| entries.len().min(max));
    if min > max || min > entries.len() {
        let reason =
            format!("Min = {min} is too large for this group of ports (Max: {max}, entries: {})", entries.len());
        return Err(fault(element, reason));
    }
    Ok(PortGroup { min, max: max.min(entries.len()), entries })
}

/// Reads `Min` or `Max` of a group: a non-negative integer literal, which is not evaluated. `None` if it is absent.
fn read_fill_bound(record: &Ad, bound: &str) -> Result<Option<usize>, PortFault> {
    let Some(expression) = record.get_str(bound) else { return Ok(None) };
    let number = match expression.without_parentheses().kind() {
        ExpressionKind::Literal(Value::Integer(number)) => usize::try_from(*number).ok(),
        _ => None,
    };
    let wrong = || fault(expression, format!("{bound} of a group of ports must be an integer of at least 0"));
    number.ok_or_else(wrong).map(Some)
}

/// Reads a label without evaluating it: `Label = cpu` and `Label = "cpu"` mean the same.
fn read_label(label: &Expression) -> Result<Name, PortFault> {
    let name = match label.without_parentheses().kind() {
        ExpressionKind::Attribute(name) => name.clone(),
        ExpressionKind::Literal(Value::String(text)) => Name::new(&text.to_str()),
        _ => return Err(fault(label, "a Label must be a name or a string")),
    };
    if name.is_reserved() || name.as_str().is_empty() {
        return Err(if name.as_str().is_empty() {
            fault(label, "a Label cannot be empty")
        } else {
            fault(label, format!("`{name}` cannot be a label: the word has another meaning"))
        });
    }
    Ok(name)
}

fn fault(expression: &Expression, reason: impl Into<String>) -> PortFault {
    PortFault { span: expression.span(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::{check_port_list, has_ports, read_ports};
    use crate::ad::{Ad, Dialect};
    use crate::syntax::{ParseOptions, parse_ad};

    fn ad(text: &str) -> Ad {
        parse_ad(text.as_bytes(), ParseOptions::default()).unwrap()
    }

    fn labels(text: &str) -> Result<Vec<String>, String> {
        read_ports(&ad(text))
            .map(|ports| ports.list.into_iter().map(|port| port.label.to_string()).collect())
            .map_err(|fault| fault.to_string())
    }

    #[test]
    fn labels_are_read_not_evaluated() {
        assert_eq!(labels("[ a = 1 ]").unwrap(), ["other"]);
        assert_eq!(
            labels("[ cpu = 5; Ports = { [ Label = cpu ], [ Label = \"licence\" ] } ]").unwrap(),
            ["cpu", "licence"]
        );
        assert_eq!(labels("[ Ports = { } ]").unwrap(), [] as [&str; 0]);
    }

    #[test]
    fn faults_are_named() {
        let none = ad("[ Ports = 3 ]");
        assert!(check_port_list(&none, Dialect::Classad).unwrap_err().to_string().contains("must be a list"));
        assert!(check_port_list(&none, Dialect::Condor).is_ok() && !has_ports(&none));
        assert!(labels("[ Ports = { 3 } ]").unwrap_err().contains("must be a record"));
        assert!(labels("[ Ports = { [ a = 1 ] } ]").unwrap_err().contains("needs a Label"));
        assert!(labels("[ Ports = { [ Label = 1 + 1 ] } ]").unwrap_err().contains("name or a string"));
        assert!(labels("[ Ports = { [ Label = a ], [ Label = A ] } ]").unwrap_err().contains("already"));
    }

    #[test]
    fn ports_may_be_grouped() {
        let text = "[ Ports = { [ Label = a ], [ Min = 1; Max = 1; Ports = { [ Label = b ], [ Label = c ] } ] } ]";
        assert_eq!(labels(text).unwrap(), ["a", "b", "c"]);
        let group = |inside: &str| labels(&format!("[ Ports = {{ [ Ports = {{ [ Label = a ] }}; {inside} ] }} ]"));
        assert_eq!(group("Min = 0").unwrap(), ["a"]);
        for (inside, expected) in [
            ("Min = 2", "Min = 2 is too large for this group of ports (Max: 1, entries: 1)"),
            ("Min = 1; Max = 0", "Min = 1 is too large for this group of ports (Max: 0, entries: 1)"),
            ("Min = -1", "Min of a group of ports must be an integer"),
            ("Max = x", "Max of a group of ports must be an integer"),
        ] {
            assert!(group(inside).unwrap_err().contains(expected), "{inside}");
        }
        let deep = format!("[ Ports = {{ {} [ Label = a ] {} }} ]", "[ Ports = { ".repeat(70), "} ]".repeat(70));
        assert!(labels(&deep).unwrap_err().contains("levels deep"));
        let twice = "[ Ports = { [ Label = a ], [ Ports = { [ Label = A ] } ] } ]";
        assert!(labels(twice).unwrap_err().contains("already"));
    }
}
