//! Names that the ports of an ad mention, and labels of ports that stand for other ads.

use crate::ad::{Ad, Dialect, Name};
use crate::eval::FreeNames;
use crate::protocol::{LABEL, PORTS, Port};

/// Returns the labels of ports that denote the ads docked there. An attribute of the ad or of a port hides a label of the
/// same name: then the name is an attribute's.
pub fn own_labels(ad: &Ad, ports: &[Port]) -> Vec<Name> {
    let is_hidden = |label: &Name| {
        let mut records = ports.iter().flat_map(|port| port.groups.iter().chain(&port.record));
        ad.get(label).is_some() || records.any(|record| record.get(label).is_some())
    };
    ports.iter().map(|port| port.label.clone()).filter(|label| !is_hidden(label)).collect()
}

/// Adds the names that the expressions of a port and of the groups around it mention. Its label is read as it stands, and
/// its own attributes are not those of the ad.
pub fn add_names_of_port(names: &mut FreeNames, port: &Port, labels: &[Name], dialect: Dialect) {
    let records: Vec<&Ad> = port.groups.iter().chain(&port.record).collect();
    let mut of_port = FreeNames::default();
    for attribute in records.iter().flat_map(|record| record.iter()) {
        if *attribute.name != *LABEL && *attribute.name != *PORTS {
            of_port.add_with_labels(attribute.expression, dialect, labels);
        }
    }
    of_port.unqualified.retain(|name| records.iter().all(|record| record.get(name).is_none()));
    names.mine.extend(of_port.mine);
    names.theirs.extend(of_port.theirs);
    names.unqualified.extend(of_port.unqualified);
    names.reads_anything |= of_port.reads_anything;
}
