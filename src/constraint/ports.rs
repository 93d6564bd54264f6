//! Ports: the docking places of an ad (thesis §3.2.2).

use std::fmt;

use crate::ad::{Ad, Expression, Kind, Name, Span, Value};

/// A docking place of an ad.
#[derive(Clone, Debug)]
pub struct Port {
    /// The name of whatever docks here, seen from this port on.
    pub label: Name,
    /// The record that describes the port; none for the implicit port `other` of an ad without a list,
    /// which the ad itself describes.
    pub record: Option<Ad>,
}

/// Why the ports of an ad cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortFault {
    /// The offending expression, in the text of the ad.
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

/// The ports of an ad, in the order of its list; the implicit one if it has no list.
///
/// # Errors
///
/// A list that is not a list of records, a record without a label, two with the same.
pub fn ports(ad: &Ad) -> Result<Vec<Port>, PortFault> {
    let Some(list) = ad.get_str("Ports") else {
        return Ok(vec![Port { label: Name::new("other"), record: None }]);
    };
    let Kind::List(entries) = list.bare().kind() else {
        return Err(fault(list, "Ports must be a list of records, `{ [ Label = ...; Constraint = ... ], ... }`"));
    };
    let mut ports: Vec<Port> = Vec::with_capacity(entries.len());
    for entry in entries.iter() {
        let Kind::Ad(record) = entry.bare().kind() else {
            return Err(fault(entry, "a port must be a record, `[ Label = ...; Constraint = ... ]`"));
        };
        let label = label(record, entry)?;
        if ports.iter().any(|port| port.label == label) {
            return Err(fault(entry, format!("the label `{label}` is taken by an earlier port of the same ad")));
        }
        ports.push(Port { label, record: Some(record.clone()) });
    }
    Ok(ports)
}

/// A label is read, not evaluated: `Label = cpu` and `Label = "cpu"` are the same.
fn label(record: &Ad, entry: &Expression) -> Result<Name, PortFault> {
    let Some(label) = record.get_str("Label") else {
        let group = record.get_str("Ports").is_some();
        return Err(fault(
            entry,
            if group { "groups of ports are not matched by this version" } else { "a port needs a Label" },
        ));
    };
    let name = match label.bare().kind() {
        Kind::Attribute(name) => name.clone(),
        Kind::Literal(Value::String(text)) => Name::new(&text.to_str()),
        _ => return Err(fault(label, "a Label must be a name or a string")),
    };
    if name.is_reserved() || name.as_str().is_empty() {
        return Err(fault(label, format!("nothing can refer to the label `{name}`")));
    }
    Ok(name)
}

fn fault(expression: &Expression, reason: impl Into<String>) -> PortFault {
    PortFault { span: expression.span(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::ports;
    use crate::syntax::{Rules, parse_ad};

    fn labels(text: &str) -> Result<Vec<String>, String> {
        let ad = parse_ad(text.as_bytes(), Rules::default()).unwrap();
        ports(&ad)
            .map(|ports| ports.into_iter().map(|port| port.label.to_string()).collect())
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
        assert!(labels("[ Ports = 3 ]").unwrap_err().contains("must be a list"));
        assert!(labels("[ Ports = { 3 } ]").unwrap_err().contains("must be a record"));
        assert!(labels("[ Ports = { [ a = 1 ] } ]").unwrap_err().contains("needs a Label"));
        assert!(labels("[ Ports = { [ Label = 1 + 1 ] } ]").unwrap_err().contains("name or a string"));
        assert!(labels("[ Ports = { [ Label = a ], [ Label = A ] } ]").unwrap_err().contains("taken"));
    }
}
