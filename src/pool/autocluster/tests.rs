use super::{PolicyExpressions, RequestClusters};
use crate::ad::{Ad, Dialect, Name};
use crate::eval::Context;
use crate::protocol::Protocol;
use crate::syntax::{ParseOptions, Style, parse_ad, parse_expression, print_ad};

const DIALECT: Dialect = Dialect::Condor;

fn ads(texts: &[&str]) -> Vec<Ad> {
    texts.iter().map(|text| parse_ad(text.as_bytes(), ParseOptions::new(DIALECT)).unwrap()).collect()
}

fn clusters(requests: &[&str], offers: &[&str], docking: &[&str]) -> RequestClusters {
    let in_requests = docking.iter().map(|text| parse_expression(text.as_bytes(), ParseOptions::new(DIALECT)).unwrap());
    let policies = PolicyExpressions { in_requests: in_requests.collect(), ..PolicyExpressions::default() };
    RequestClusters::new(&ads(requests), &ads(offers), &policies, &Protocol::new(DIALECT), &Context::new(DIALECT))
}

/// Returns the names of the significant attributes of a single request, except its constraint and rank.
fn significant(request: &str, offers: &[&str], docking: &[&str]) -> String {
    let found = clusters(&[request], offers, docking);
    let names = found.significant().into_iter().map(Name::as_str);
    names.filter(|name| !["Requirements", "Rank"].contains(name)).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_significant() {
    let request =
        "[ Requirements = TARGET.Cpus >= Wanted && Far; Wanted = MY.Min + 1; Min = 1; Far = TARGET.Site; Owner = User;
                     User = 1; Args = 2 ]";
    let plain = "[ Requirements = true; Cpus = 4; Site = 1 ]";
    let own = "Far Min Wanted";
    assert_eq!(significant(request, &[plain], &[]), own);
    // The offer reads `Owner`, whose expression reads `User`.
    assert_eq!(significant(request, &["[ Requirements = TARGET.Owner == 1 ]"], &[]), "Far Min Owner User Wanted");
    // A name without a scope is read from the request only if the offer lacks the attribute.
    assert_eq!(significant(request, &["[ Requirements = Owner == 1; Owner = 2 ]"], &[]), own);
    assert_eq!(significant(request, &["[ Requirements = Nothing ]"], &[]), "Far Min Nothing Wanted");
    // The request reads `Site` of the offer, which refers to an attribute of the request.
    assert_eq!(significant(request, &["[ Site = TARGET.Args ]"], &[]), "Args Far Min Wanted");
    assert_eq!(significant(request, &["[ Site = Next; Next = other.Args ]"], &[]), "Args Far Min Wanted");
    // Of each offer counts what it has itself.
    let offers = ["[ Site = Next; Next = 1 ]", "[ Site = 1; Next = TARGET.Args ]"];
    assert_eq!(significant(request, &offers, &[]), own);
    // The policy reads an attribute of the request, directly or through an attribute of the offer.
    assert_eq!(significant(request, &[plain], &["label.Cpus - Args"]), "Args Far Min Wanted");
    assert_eq!(significant(request, &["[ Cpus = 1; Size = TARGET.User ]"], &["label.Size"]), "Far Min User Wanted");
    // `eval` may read anything, so all attributes are significant.
    let texts = request.replace("Args = 2", "Text = \"Args\"; Args = 2");
    assert_eq!(significant(&texts, &["[ Requirements = eval(Text) ]"], &[]), "Args Far Min Owner Text User Wanted");
    // Nothing, if no request has a text, or if a condition keeps it away.
    assert_eq!(significant(request, &["[ Requirements = eval(Text) ]"], &[]), "Far Min Text Wanted");
    let guarded = "[ Requirements = ifThenElse(Keys is undefined, 1, TARGET[Key]) > 0; Key = \"Args\" ]";
    assert_eq!(significant(request, &[guarded], &[]), "Far Key Keys Min Wanted");
    let keys = request.replace("Args = 2", "Keys = 1; Args = 2");
    assert_eq!(significant(&keys, &[guarded], &[]), "Args Far Key Keys Min Owner User Wanted");
}

/// What an attribute of offers reads splits the requests that read the attribute, and no others.
#[test]
fn what_offers_read_for_some_requests_splits_these() {
    let offer = ["[ Requirements = TARGET.Owner == 1; Site = TARGET.Args; Far = Site ]"];
    let request =
        |reads: &str, arguments: u32| format!("[ Requirements = {reads} > 0; Owner = 1; Args = {arguments} ]");
    for (reads, expected) in
        [("TARGET.Cpus", 1), ("TARGET.Site", 2), ("TARGET.Far", 2), ("Far", 2), ("eval(\"x\")", 1), ("eval(Owner)", 2)]
    {
        let (one, other) = (request(reads, 1), request(reads, 2));
        let found = clusters(&[&one, &other, &request("TARGET.Cpus", 3), &request("TARGET.Cpus", 4)], &offer, &[]);
        let all = if reads == "TARGET.Cpus" { 1 } else { expected + 1 };
        assert_eq!(found.clusters.len(), all, "{reads}: {:?}", found.significant());
    }
}

#[test]
fn ports_are_significant_with_all_that_they_read() {
    let request = |size: u32, system: &str| {
        format!(
            "[ Size = {size}; Note = \"{size}\"; Ports = {{ [ Label = cpu; Constraint = cpu.OpSys == \"{system}\" && cpu.Memory > Size ] }} ]"
        )
    };
    let requests = [request(1, "a"), request(1, "b"), request(1, "a"), request(2, "a")];
    let found = clusters(&requests.each_ref().map(String::as_str), &["[ OpSys = \"a\"; Memory = other.Note ]"], &[]);
    assert_eq!(found.cluster_of, [0, 1, 0, 2]);
    let cluster = &found.clusters[0];
    assert_eq!(cluster.members, 2);
    assert!(cluster.resource_request(1, 2).get(&Name::new("Ports")).is_some());
    // The port reads `Memory` of the offer, which reads `Note` of the request.
    assert!(cluster.significant.iter().any(|name| name.as_str() == "Note"), "{:?}", cluster.significant);
}

/// Labels and the attributes of offers do not tell requests apart, unless something reads them of the request.
#[test]
fn only_what_is_read_of_a_request_splits_gangs() {
    let ports = "Ports = { [ Label = cpu; Constraint = cpu.Mem > 3 && cpu.u != \"x\" ], \
                 [ Label = lic; Need = MY.Size; H = 2; Constraint = lic.App == cpu.Name && H == Need ] }";
    let plain = "[ Name = \"m\"; Mem = 8; App = \"a\"; Requirements = other.Size > 1 ]";
    for (difference, offer, expected) in [
        ("Note = 1;", plain, 1),
        ("Mem = 5;", plain, 1),
        ("App = \"b\"; Name = \"b\"; u = 7;", plain, 1),
        ("H = 3; Need = 4;", plain, 1),
        ("Label = 3;", plain, 1),
        ("Size = 9;", plain, 2),
        // An attribute hides the label.
        ("cpu = [ Mem = 9 ];", plain, 2),
        // An offer reads them: of the request, of what it lacks itself, or for what the request reads.
        ("Mem = 5;", "[ Requirements = other.Mem > 1 ]", 2),
        ("u = 5;", "[ Requirements = u > 1 ]", 2),
        ("u = 5;", "[ Mem = other.u; Requirements = true ]", 2),
        ("u = 5;", "[ Ports = { [ Label = job; Constraint = job.u ], [ Label = node; Constraint = true ] } ]", 2),
        // A node docks at a service, whose attribute reads the request.
        (
            "u = 5;",
            "[ Ports = { [ Label = job; Constraint = true ], [ Label = node; Constraint = other.Y ] }; Y = job.u ]",
            2,
        ),
    ] {
        let request = |own: &str| format!("[ Size = 2; {own} {ports} ]");
        let (one, other) = (request(""), request(difference));
        let found = clusters(&[&one, &other], &[offer, "[ Requirements = other.Y ]"], &[]);
        assert_eq!(found.clusters.len(), expected, "{difference} {offer}: {:?}", found.significant());
    }
    let found = clusters(&[&format!("[ Size = 2; {ports} ]")], &[plain], &[]);
    let names: Vec<&str> = found.significant().into_iter().map(Name::as_str).collect();
    assert_eq!(names, ["Ports", "Rank", "Size"]);
}

#[test]
fn alike_and_not() {
    let offer = ["[ Requirements = TARGET.Owner == \"a\" ]"];
    let same = [
        "[ Owner = \"a\"; Requirements = TARGET.x>1; n = 1 ]",
        "[ requirements = target.X > 1; n = 2; owner = \"a\" ]",
    ];
    assert_eq!(clusters(&same, &offer, &[]).cluster_of, [0, 0]);
    for other in [
        "[ Owner = \"A\"; Requirements = TARGET.x > 1 ]",
        "[ Requirements = TARGET.x > 1 ]",
        "[ Owner = undefined; Requirements = TARGET.x > 1 ]",
        "[ Owner = \"a\"; Requirements = TARGET.x > 2 ]",
        "[ Owner = \"a\"; Requirements = TARGET.x > 1; Rank = 0 ]",
        "[ Owner = \"a\"; Constraint = TARGET.x > 1 ]",
    ] {
        assert_eq!(clusters(&[same[0], other, same[1]], &offer, &[]).cluster_of, [0, 1, 0], "{other}");
    }
    assert_eq!(clusters(&[], &offer, &[]).cluster_of, [0; 0]);
}

#[test]
fn resource_requests_carry_what_counts() {
    let found = clusters(
        &["[ Args = 1; Owner = \"a\"; Requirements = TARGET.x ]"; 2],
        &["[ Requirements = TARGET.Owner == 1 ]"],
        &[],
    );
    let ad = found.clusters[0].resource_request(1, found.clusters[0].members);
    assert_eq!(
        String::from_utf8(print_ad(&ad, Style::New)).unwrap(),
        "[ Owner = \"a\"; Requirements = TARGET.x; AutoClusterId = 1; ResourceRequestCount = 2 ]"
    );
}

/// Offers that differ in literals only do not all have to be visited; the clusters are as if they were.
#[test]
fn offers_of_one_shape_are_as_good_as_all() {
    let mut random = fastrand::Rng::with_seed(11);
    let names = ["a", "b", "c", "d"];
    for _ in 0..300 {
        let mut ad = |most: usize| {
            let mut text = "[ ".to_owned();
            for name in ["Requirements", "Rank", "a", "b", "c", "d"] {
                let [left, right] = [0, 1].map(|_| names[random.usize(0..4)]);
                let attribute = match random.usize(0..most) {
                    0 => format!("{name} = TARGET.{left} > {right}; "),
                    1 => format!("{name} = {left}; "),
                    2 => format!("{name} = {{ MY.{left}, {} }}; ", random.u8(0..3)),
                    3 => String::new(),
                    _ => format!("{name} = {}; ", random.u8(0..3)),
                };
                text.push_str(&attribute);
            }
            text + "]"
        };
        let offers: Vec<String> = (0..20).map(|_| ad(12)).collect();
        let requests: Vec<String> = (0..8).map(|_| ad(8)).collect();
        let [offers, requests] = [&offers, &requests].map(|texts| texts.iter().map(String::as_str).collect::<Vec<_>>());
        // An offer with an attribute that nothing mentions has a shape of its own.
        let marked: Vec<String> = offers
            .iter()
            .enumerate()
            .map(|(number, text)| text.replace("[ ", &format!("[ Mark{number} = 1; ")))
            .collect();
        let marked: Vec<&str> = marked.iter().map(String::as_str).collect();
        let [found, expected] = [&offers, &marked].map(|offers| clusters(&requests, offers, &[]));
        assert_eq!(found.cluster_of, expected.cluster_of);
        assert_eq!(found.significant(), expected.significant());
    }
}

/// An autocluster keeps the identifier for which most of its requests vouch; the others get new ones.
#[test]
fn identifiers_are_kept_and_new_ones_are_greater() {
    let demand = ["[ Requirements = TARGET.RequestMemory < 9 ]"];
    for (requests, expected) in [
        (&[(1, None), (2, None)][..], &[1, 2][..]),
        (&[(1, None), (2, Some(2)), (3, None), (4, Some(5)), (1, None)], &[6, 2, 7, 5]),
        (&[(1, Some(3)), (1, Some(4)), (1, Some(4)), (2, None)], &[4, 5]),
        // One identifier goes to the autocluster with most requests that have it.
        (&[(1, Some(3)), (2, Some(3)), (2, Some(3))], &[4, 3]),
        (&[(1, Some(3)), (2, Some(3))], &[3, 4]),
        // Identifiers are positive.
        (&[(1, Some(-4)), (2, None)], &[1, 2]),
        (&[(1, Some(0)), (2, Some(1))], &[2, 1]),
        (&[(1, Some(i64::MAX)), (2, None)], &[i64::MAX, 1]),
    ] {
        let texts: Vec<String> =
            requests.iter().map(|(memory, _)| format!("[ Requirements = true; RequestMemory = {memory} ]")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found = clusters(&texts, &demand, &[]);
        let of_all = |number| vec![number; expected.len()];
        let annotated = ads(&texts).into_iter().zip(requests).enumerate().map(|(index, (ad, (_, number)))| {
            number.map_or_else(|| ad.clone(), |number| found.annotated(index, &ad, &of_all(number)))
        });
        assert_eq!(found.identifiers(&annotated.collect::<Vec<_>>()), expected, "{requests:?}");
    }
}

#[test]
fn a_request_vouches_for_an_identifier_by_its_list_and_its_signature() {
    let text = "[ Requirements = true; RequestMemory = 1 ]";
    let found = clusters(&[text, text], &["[ Requirements = TARGET.RequestMemory < 9 ]"], &[]);
    let request = ads(&[text]).remove(0);
    let list = found.clusters[0].attribute_list();
    let marked = |number: i64, list: &str, signature: &str| {
        let own = format!("[ AutoClusterId = {number}; AutoClusterAttrs = \"{list}\"; {signature} ]");
        ads(&[&own])[0].iter().fold(request.clone(), |ad, own| ad.with(own.name.clone(), own.expression.clone()))
    };
    let reversed = list.split(',').rev().collect::<Vec<_>>().join(" ");
    for (one, other, expected) in [
        (marked(7, &list, ""), request.clone(), 7),
        (marked(7, &reversed, ""), request.clone(), 7),
        // The others are from before an edit, or of other attributes.
        (marked(7, &list, "AutoClusterSignature = \"other\""), request.clone(), 8),
        (marked(7, "Other", ""), request.clone(), 1),
        (marked(7, "Other", ""), marked(5, &list, ""), 5),
        // A signature counts more than none.
        (marked(7, &list, ""), found.annotated(0, &request, &[3]), 3),
    ] {
        assert_eq!(found.identifiers(&[one, other]), [expected]);
    }
}
