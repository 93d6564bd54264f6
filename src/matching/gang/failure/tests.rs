//! Compares the failure analysis with docking every offer at every port.

mod told;

use super::super::participants::{DockingVerdict, ParticipantTable, PortPlace};
use super::super::tests::{ExhaustiveSearch, GangAdGenerator, members, text};
use super::super::{GangFailure, Gangmatcher, MemberCause, MemberFailure};
use super::port_list_prefixes;
use crate::ad::{Ad, Dialect, Participant};
use crate::eval::Context;
use crate::protocol::{Protocol, read_ports};
use crate::syntax::{ParseOptions, parse_ad};

/// Computes the expected counts by docking offers one by one in a separate table.
struct ReferenceDocking {
    table: ParticipantTable,
    unused: Vec<bool>,
}

impl ReferenceDocking {
    fn accept(&mut self, pairs: &[(PortPlace, PortPlace)]) -> bool {
        for (above, link) in pairs {
            self.table.dock(*above, *link);
        }
        let places = pairs.iter().flat_map(|(above, link)| [*above, *link]);
        let accepted = places.into_iter().all(|place| self.table.accepts(place) != DockingVerdict::Refused);
        for (above, link) in pairs {
            self.table.undock(*above, *link);
        }
        accepted
    }

    /// Returns the ports of an offer. The offer may dock with any of them.
    fn links(&self, offer: usize) -> Vec<PortPlace> {
        self.table.ports(Participant::of_offer(offer)).collect()
    }

    /// Returns the number of offers with a port that satisfies `suits`. Counts the unused offers if `unused` is true,
    /// otherwise the used-up offers.
    fn count(&mut self, unused: bool, mut suits: impl FnMut(&mut Self, PortPlace) -> bool) -> usize {
        let offers = (0..self.table.offer_count()).filter(|offer| self.unused[*offer] == unused);
        let offers: Vec<usize> = offers.collect();
        offers.into_iter().filter(|offer| self.links(*offer).into_iter().any(|link| suits(self, link))).count()
    }

    fn has_partner(&mut self, first: (PortPlace, PortPlace), other: PortPlace) -> bool {
        let partners = self.count(true, |trying, partner| {
            partner.participant != first.1.participant
                && trying.accept(&[(other, partner)])
                && trying.accept(&[first, (other, partner)])
        });
        partners > 0
    }

    /// Checks the counts that the failure analysis reports for each port, and that each unused offer is ruled out once.
    fn check_ports(&mut self, request: &Ad, impasse: &GangFailure) {
        self.table.replace(Participant::REQUEST, request).unwrap();
        let list = read_ports(request).unwrap();
        let patterns = list.group.patterns(list.list.len()).unwrap();
        for (port, prospect) in impasse.ports.iter().enumerate() {
            let place = PortPlace::of_request;
            assert_eq!(prospect.label, list.list[port].label.to_string());
            let alone = self.count(true, |trying, link| trying.accept(&[(place(port), link)]));
            let used = self.count(false, |trying, link| trying.accept(&[(place(port), link)]));
            let beside: Vec<usize> = (0..list.list.len())
                .filter(|other| *other != port)
                .filter(|other| patterns.iter().all(|ports| !ports.contains(port) || ports.contains(*other)))
                .collect();
            let given = self.count(true, |trying, link| {
                let first = (place(port), link);
                trying.accept(&[first]) && beside.iter().all(|other| trying.has_partner(first, place(*other)))
            });
            assert_eq!(
                (prospect.independent, prospect.used_up, prospect.consistent),
                (alone, used, given),
                "{}",
                prospect.label
            );
            let is_needed = patterns.iter().all(|ports| ports.contains(port));
            assert_eq!(prospect.is_required, is_needed);
            // If no offer fits the port, each unused offer is ruled out exactly once.
            let mut ruled_out: Vec<usize> =
                prospect.ruled_out.iter().flat_map(|condition| condition.offers.clone()).collect();
            ruled_out.sort_unstable();
            let left = (0..self.table.offer_count()).filter(|offer| alone == 0 && self.unused[*offer]);
            assert_eq!(ruled_out, left.collect::<Vec<_>>());
        }
    }

    /// Checks the reasons why the blocked ports cannot be filled while the deepest gang is docked. Returns the number
    /// of offers ruled out.
    fn check_stuck(&mut self, request: &Ad, impasse: &GangFailure) -> usize {
        self.table.replace(Participant::REQUEST, request).unwrap();
        let docked = self.table.dock_gang(&impasse.deepest);
        let first = impasse.blocked[0].port;
        self.table.reopen_unfilled(Participant::REQUEST, &(0..first).collect());
        let mut ruled_out = 0;
        for stuck in &impasse.blocked {
            let offers: Vec<usize> = stuck.conditions.iter().flat_map(|condition| condition.offers.clone()).collect();
            let place = PortPlace::of_request(stuck.port);
            for offer in &offers {
                let links = self.links(*offer);
                assert!(links.into_iter().all(|link| !self.accept(&[(place, link)])), "{offer} is not ruled out");
            }
            for offer in &stuck.unserved {
                let links = self.links(*offer);
                assert!(links.len() > 1 && links.into_iter().any(|link| self.accept(&[(place, link)])));
            }
            let all = stuck.held.len() + offers.len() + stuck.unacceptable + stuck.unserved.len() + stuck.fitting;
            assert_eq!(all, impasse.ports[stuck.port].independent);
            assert!(impasse.blocked.len() > 1 || stuck.fitting == 0);
            ruled_out += offers.len();
        }
        self.table.undock_gang(&docked);
        ruled_out
    }
}

#[test]
fn it_tells_what_trying_everything_tells() {
    let (mut told, mut deep, mut ruled_out, mut narrowed, mut used) = (0, 0, 0, 0, 0);
    for case in 0..1200 {
        let mut writer = GangAdGenerator(fastrand::Rng::with_seed(case));
        let offers: Vec<Ad> = (0..writer.0.usize(2..8)).map(|_| writer.offer()).collect();
        let (earlier, request) = (writer.request(2), writer.request(4));
        let new = || Protocol::new(Dialect::Classad);
        let (mut matcher, _) = Gangmatcher::new(&offers, new(), Context::new(Dialect::Classad));
        let mut exhaustive = ExhaustiveSearch::new(&offers);
        let (table, _) = ParticipantTable::new(&offers, new(), Context::new(Dialect::Classad));
        let mut trying = ReferenceDocking { table, unused: vec![true; offers.len()] };
        for docked in matcher.marshal(0, &earlier).unwrap().iter().flat_map(|gang| gang.members()) {
            exhaustive.unused[docked.offer] = false;
            trying.unused[docked.offer] = false;
        }
        let before = matcher.statistics();
        let impasse = matcher.gang_failure(1, &request).unwrap();
        assert_eq!(matcher.statistics(), before);
        let mut gangs: Vec<_> = port_list_prefixes(&request).iter().map(|prefix| exhaustive.gangs(prefix)).collect();
        let shown = || text(&offers.iter().chain([&request]).collect::<Vec<_>>());
        assert_eq!(impasse.is_some(), gangs.last().is_some_and(Vec::is_empty), "case {case}\n{}", shown());
        let Some(impasse) = impasse else { continue };
        gangs.retain(|gangs| !gangs.is_empty());
        let deepest = gangs.last().map(|gangs| (gangs[0].offers.clone(), gangs[0].links.clone())).unwrap_or_default();
        assert_eq!(members(&impasse.deepest), deepest, "case {case}\n{}", shown());
        trying.check_ports(&request, &impasse);
        ruled_out += trying.check_stuck(&request, &impasse);
        told += 1;
        deep += usize::from(!impasse.deepest.ports.is_empty());
        narrowed +=
            usize::from(impasse.ports.iter().any(|port| 0 < port.consistent && port.consistent < port.independent));
        used += usize::from(impasse.ports.iter().any(|port| port.used_up > 0));
    }
    // Require enough cases without a gang: otherwise the comparison would prove little.
    assert!(
        told > 600 && deep > 100 && ruled_out > 50 && narrowed > 20 && used > 100,
        "{told} {deep} {ruled_out} {narrowed} {used}"
    );
}

fn impasse(request: &str, offers: &[&str]) -> GangFailure {
    let ad = |text: &str| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
    let offers: Vec<Ad> = offers.iter().map(|text| ad(text)).collect();
    let context = Context::new(Dialect::Classad);
    let (mut matcher, bad) = Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), context);
    assert_eq!(bad, []);
    matcher.gang_failure(0, &ad(request)).unwrap().unwrap()
}

#[test]
fn the_condition_is_told_from_both_sides() {
    let request = "[ Ports = {
        [ Label = cpu; Constraint = cpu.Type == \"Machine\" ],
        [ Label = license; HostId = cpu.Key + 1; Constraint = license.Type == \"License\" ] } ]";
    let license = |from: u32| {
        format!("[ Type = \"License\"; Ports = {{ [ Label = Site; Constraint = Site.HostId >= {from} && true ] }} ]")
    };
    let found = impasse(
        request,
        &["[ Type = \"Machine\"; Key = 3; Constraint = true ]", &license(7), &license(7), &license(9)],
    );
    let stuck = &found.blocked[0];
    assert_eq!(
        (found.deepest.ports.len(), stuck.port, found.ports[1].independent, found.ports[1].consistent),
        (1, 1, 3, 0)
    );
    let told: Vec<_> =
        stuck.conditions.iter().map(|condition| (condition.text.as_str(), condition.offers.len())).collect();
    assert_eq!(told, [("Site.HostId >= 7", 2), ("Site.HostId >= 9", 1)]);
    let condition = &stuck.conditions[0];
    assert!(!condition.is_of_port);
    let read = &condition.request_attributes[0];
    assert_eq!((read.name.as_str(), read.text.as_str(), read.value.as_str()), ("Site.HostId", "cpu.Key + 1", "4"));
    assert_eq!(condition.labels, ["cpu"]);
}

#[test]
fn offers_that_cannot_fill_their_own_ports_are_told() {
    let service = "[ Kind = 1; Ports = { [ Label = client; Constraint = true ],
        [ Label = cpu; Constraint = cpu.Memory > 5 ], [ Label = disk; Constraint = disk.Memory is undefined ] } ]";
    let found = impasse(
        "[ Ports = { [ Label = service; Constraint = service.Kind == 1 ] } ]",
        &[service, "[ Constraint = true ]"],
    );
    assert_eq!(found.blocked[0].unserved, [0]);
    let Some(MemberFailure { offer: 0, link, cause: MemberCause::OwnPorts(own) }) = &found.blocked[0].member else {
        panic!("{found:?}")
    };
    let [client, cpu, disk] = own.ports.as_slice() else { panic!("{found:?}") };
    let counts = [client, cpu, disk].map(|port| (port.label.as_str(), port.independent));
    assert_eq!((link.as_str(), counts), ("client", [("client", 1), ("cpu", 0), ("disk", 1)]));
    let condition = &cpu.ruled_out[0];
    assert_eq!((condition.text.as_str(), condition.is_of_port), ("cpu.Memory > 5", true));
    assert_eq!((cpu.ruled_out.len(), condition.offers.as_slice(), disk.ruled_out.len()), (1, &[1][..], 0));
}

#[test]
fn ports_that_want_the_same_offers_are_told() {
    let request = "[ Ports = { [ Label = a; Constraint = true ], [ Label = b; Constraint = b.X == 1 ] } ]";
    let found = impasse(request, &["[ X = 1; Constraint = true ]"]);
    assert_eq!((found.blocked[0].held.len(), found.ports[1].independent, found.ports[1].consistent), (1, 1, 0));
}
