//! The dependency relation between the ports of an ad (thesis 5.5.1), for the graph of references.

use classad::ad::{Ad, Dialect, Name};
use classad::eval::FreeNames;
use classad::protocol::{LABEL, PORTS, port_list, read_ports};

/// Returns for each port of an ad the ports before it on which it depends, as nodes of the graph: those whose labels
/// are free in an expression of the port. An attribute of the port or of the ad hides a label of its name. Nothing is
/// returned for an ad without ports, or with an attribute Ports that is not a valid list of ports.
pub fn port_dependencies(ad: &Ad, dialect: Dialect) -> Vec<(String, Vec<(String, bool)>)> {
    let Some(ports) = port_list(ad).and_then(|_| read_ports(ad).ok()) else { return Vec::new() };
    let node = |label: &Name| format!("port {label}");
    let mut graph = vec![("Ports".to_owned(), ports.list.iter().map(|port| (node(&port.label), true)).collect())];
    for (index, port) in ports.list.iter().enumerate() {
        let Some(record) = &port.record else { continue };
        let mut mentions = FreeNames::default();
        // A port sees the attributes of the groups that contain it.
        let own = record.iter().filter(|attribute| *attribute.name != *LABEL);
        let of_groups = port.groups.iter().flat_map(Ad::iter).filter(|attribute| *attribute.name != *PORTS);
        for attribute in own.chain(of_groups) {
            mentions.add(attribute.expression, dialect);
        }
        let is_hidden = |label: &Name| record.get(label).is_some() || ad.get(label).is_some();
        let before = ports.list[..index].iter().map(|port| &port.label);
        let needed = before.filter(|label| mentions.unqualified.contains(label) && !is_hidden(label));
        graph.push((node(&port.label), needed.map(|label| (node(label), true)).collect()));
    }
    graph
}
