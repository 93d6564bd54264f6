//! The evaluation environment of a gang as an ad (thesis 5.3.1, Figure 32).

use crate::ad::{Ad, Expression, ExpressionKind, Name, Value};
use crate::protocol::{PORTS, PortFault, PortGroup, PortGroupEntry, Ports, has_ports, read_ports};

use super::{DockedOffer, Gang};

/// Returns an ad in which the expressions of the ads of a gang have the values that they have in the gang. Each ad of
/// the gang has a context `_ctx_N`, in preorder from 0: the request, then each offer followed by those docked at it. A
/// context binds the labels of the filled ports to the ports docked there, and `_ad` to the ad itself.
///
/// Of a divided offer, the ad is the whole offer. In a gang the labels of an ad are private; in this ad, a reference from
/// another ad finds them.
///
/// # Errors
///
/// When the ports of an ad cannot be used.
pub fn environment_ad(request: &Ad, offers: &[Ad], gang: &Gang) -> Result<Ad, PortFault> {
    let mut contexts = vec![GangContext::new(request)?];
    // Offers still to be added, the next one last: the index of the context above, and the offer.
    let mut pending: Vec<(usize, &DockedOffer)> = gang.ports.iter().rev().map(|docked| (0, docked)).collect();
    while let Some((above, docked)) = pending.pop() {
        let own = contexts.len();
        let mut context = GangContext::new(offers.get(docked.offer).unwrap_or(request))?;
        let parent = &mut contexts[above];
        if let Some(port) = parent.ports.list.iter().position(|port| port.label.is(&docked.label)) {
            context.bind(docked.link, parent.port_reference(above, port));
            let link = context.port_reference(own, docked.link);
            parent.bind(port, link);
        }
        contexts.push(context);
        pending.extend(docked.ports.iter().rev().map(|below| (own, below)));
    }
    let named = contexts.into_iter().enumerate();
    Ok(named.map(|(number, context)| (context_name(number), Expression::ad(context.into_ad()))).collect())
}

/// The context of an ad: the ad, its ports, and what their labels stand for.
struct GangContext<'a> {
    ad: &'a Ad,
    ports: Ports,
    bindings: Vec<(Name, Expression)>,
}

impl<'a> GangContext<'a> {
    fn new(ad: &'a Ad) -> Result<Self, PortFault> {
        Ok(GangContext { ad, ports: read_ports(ad)?, bindings: Vec::new() })
    }

    /// Binds the label of a port to the port docked there.
    fn bind(&mut self, port: usize, to: Expression) {
        if let Some(port) = self.ports.list.get(port) {
            self.bindings.push((port.label.clone(), to));
        }
    }

    /// Returns a reference to the record of a port, such as `_ctx_1._ad.Ports[0]`. The record of the implicit port is
    /// the ad itself. `number` is that of this context.
    fn port_reference(&self, number: usize, port: usize) -> Expression {
        let ad = select(Expression::attribute(context_name(number)), "_ad");
        if !has_ports(self.ad) {
            return ad;
        }
        let path = path_to(&self.ports.group, port).unwrap_or_default();
        path.into_iter().fold(ad, |scope, index| {
            let index = Expression::literal(Value::Integer(i64::try_from(index).unwrap_or(i64::MAX)));
            ExpressionKind::Subscript(select(scope, PORTS.as_str()), index).into()
        })
    }

    fn into_ad(self) -> Ad {
        let ad = (Name::new("_ad"), Expression::ad(self.ad.clone()));
        self.bindings.into_iter().chain([ad]).collect()
    }
}

fn context_name(number: usize) -> Name {
    Name::new(&format!("_ctx_{number}"))
}

fn select(scope: Expression, name: &str) -> Expression {
    ExpressionKind::Select(scope, Name::new(name)).into()
}

/// Returns the position of a port in the list of ports, then in the list of each group that contains it, outermost
/// first. `None` if the group does not contain the port.
fn path_to(group: &PortGroup, port: usize) -> Option<Vec<usize>> {
    group.entries.iter().enumerate().find_map(|(index, entry)| match entry {
        PortGroupEntry::Port(of) => (*of == port).then(|| vec![index]),
        PortGroupEntry::Group(group) => {
            let mut path = path_to(group, port)?;
            path.insert(0, index);
            Some(path)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::environment_ad;
    use crate::ad::{Ad, Dialect};
    use crate::eval::{Context, Environment, Evaluator};
    use crate::matching::gang::Gangmatcher;
    use crate::protocol::Protocol;
    use crate::syntax::{ParseOptions, parse_ad, parse_expression};

    fn ad(text: &str) -> Ad {
        parse_ad(text.as_bytes(), ParseOptions::default()).unwrap()
    }

    /// The constraint of every docked port is true in the environment, and ranks have their values.
    #[test]
    fn expressions_have_their_values_in_the_gang() {
        let request = ad("[ Name = \"j\"; need = 5; Ports = { \
                          [ Label = cpu; Constraint = cpu.Mem > need && cpu.Type == \"M\"; Rank = cpu.Mem + cpu.Extra ], \
                          [ Ports = { [ Label = none; Constraint = none.Type == \"N\" ], \
                                      [ Label = lic; Host = cpu.Name; Constraint = lic.Type == \"L\" && cpu.Mem > 1 ] }; \
                            Min = 1; Max = 1 ] } ]");
        let offers = [
            "[ Name = \"m\"; Type = \"M\"; Mem = 7; Extra = other.need; Constraint = other.need < Mem ]",
            "[ Name = \"l\"; Type = \"L\"; Ports = { [ Label = user; Constraint = user.Host == \"m\" ], \
             [ Label = key; Constraint = key.Type == \"K\" && user.Host == \"m\" ] } ]",
            "[ Name = \"k\"; Type = \"K\"; Constraint = other.Type == \"L\" ]",
        ]
        .map(ad);
        let context = Context::new(Dialect::Classad);
        let (mut matcher, _) = Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), context.clone());
        let gang = matcher.marshal(0, &request).unwrap().unwrap();
        let (environment, frame) = Environment::single(environment_ad(&request, &offers, &gang).unwrap());
        for (expression, value) in [
            ("_ctx_0._ad.Ports[0].Constraint", "true"),
            ("_ctx_0._ad.Ports[0].Rank", "12"),
            ("_ctx_0._ad.Ports[1].Ports[1].Constraint", "true"),
            ("_ctx_0._ad.Ports[1].Ports[0].Constraint", "undefined"),
            ("_ctx_0.cpu.Name", "\"m\""),
            ("_ctx_1._ad.Constraint", "true"),
            ("_ctx_2._ad.Ports[0].Constraint", "true"),
            ("_ctx_2._ad.Ports[1].Constraint", "true"),
            ("_ctx_3._ad.Constraint", "true"),
        ] {
            let parsed = parse_expression(expression.as_bytes(), ParseOptions::default()).unwrap();
            let found = Evaluator::new(&environment, &context).evaluate(&parsed, &frame).unwrap();
            assert_eq!(found.to_string(), value, "{expression}");
        }
    }
}
