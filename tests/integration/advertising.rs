//! Advertising, notification, the registrar and claims through the binary, on ads of the papers.

use serde_json::Value;

use super::binary::{classad, file, run};

/// The requests of thesis Figure 8 (as mended) and of another user, without names.
const UNNAMED: [&str; 2] = [
    "[ Owner = \"raman\"; Address = \"<froth.cs.wisc.edu:2020>\"; Constraint = other.Memory >= 64; Rank = other.Memory ]",
    "[ Owner = \"miron\"; Address = \"<froth.cs.wisc.edu:2021>\"; Constraint = other.Memory >= 32 ]",
];

const MACHINES: &str = "[ Name = \"cobra\"; Type = \"Machine\"; Memory = 251; ClaimId = \"c1\"; Constraint = true ]
    [ Name = \"viper\"; Type = \"Machine\"; Memory = 32; ClaimId = \"v1\"; Constraint = true ]";

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

#[test]
fn ads_without_names_are_found_by_their_contents() {
    let requests = file("advertising-unnamed.ad", UNNAMED.join("\n"));
    let turned = file("advertising-unnamed-turned.ad", [UNNAMED[1], UNNAMED[0]].join("\n"));
    let offers = file("advertising-machines.ad", MACHINES);
    let (status, records, told) = classad(&["match", &requests, "--offers", &offers, "--notify", "-"]);
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("2 ads without a name"), "{told}");
    let of_raman = lines(&records)[0].clone();
    assert!(of_raman["to"].as_str().is_some_and(|to| to.starts_with("content:")), "{of_raman}");
    assert_eq!(of_raman["address"], "<froth.cs.wisc.edu:2020>");
    assert_eq!(of_raman["members"][1]["submatch"], format!("{}.1", of_raman["match"].as_str().unwrap()));
    // The order of the file does not count, and another ad in it does not either.
    let matches = file("advertising-unnamed.jsonl", &records);
    let (status, claimed, _) = classad(&["claim", &matches, "--ads", &turned, "--ads", &offers, "-o", "tsv"]);
    assert_eq!((status, claimed.matches("committed").count()), (Some(0), 2), "{claimed}");
    let further = file("advertising-further.ad", "[ Owner = \"new\"; Constraint = true ]");
    let free = file("advertising-free.ad", "[ Name = \"free\"; Constraint = true ]");
    let arguments = ["match", &further, &turned, "--offers", &free, "--matched", &matches, "-o", "tsv", "--no-header"];
    let (status, rows, told) = classad(&arguments);
    assert_eq!(status, Some(0), "{told}");
    assert!(rows.starts_with(&further) && rows.lines().count() == 1, "{rows}");
    assert!(told.contains("2 of 3 requests left out"), "{told}");
}

/// Rows of `match` call an ad without a name by its place. They are understood as before.
#[test]
fn rows_call_unnamed_ads_by_place() {
    let requests = file("advertising-rows.ad", UNNAMED.join("\n"));
    let offers = file("advertising-rows-machines.ad", MACHINES);
    let rows = run(&["match", &requests, "--offers", &offers, "-o", "jsonl"], b"");
    let matches = file("advertising-rows.jsonl", rows.stdout);
    let (status, claimed, _) = classad(&["claim", &matches, "--ads", &requests, "--ads", &offers, "-o", "tsv"]);
    assert_eq!((status, claimed.matches("committed").count()), (Some(0), 2), "{claimed}");
}

/// A record in the long form, of which `match` reads only a part, has copies of the whole ads. Secrets go only to those
/// who may know them.
#[test]
fn notices_carry_copies_of_the_ads() {
    let requests = file(
        "advertising-copies.long",
        "Owner = \"raman\"\nName = \"j\"\nRequirements = TARGET.Memory > 64\nCmd = \"run_sim\"\nClaimId = \"secret-of-j\"\n",
    );
    let offers = file(
        "advertising-copies-m.long",
        "Name = \"cobra\"\nMemory = 251\nMips = 550\nKFlops = 63685.5\nClaimId = \"c1\"\nCapability = \"cap\"\nRequirements = true\n",
    );
    let (_, records, _) = classad(&["match", &requests, "--offers", &offers, "--notify", "-", "--with-ads"]);
    let records = lines(&records);
    let ad = |record: usize, member: usize| records[record]["members"][member]["ad"].clone();
    assert_eq!(ad(0, 0)["Cmd"], "run_sim");
    assert_eq!((&ad(0, 1)["Mips"], &ad(0, 1)["KFlops"]), (&550.into(), &63685.5.into()));
    assert_eq!((&ad(0, 1)["ClaimId"], &ad(0, 1)["Capability"]), (&"c1".into(), &"cap".into()));
    assert_eq!(ad(1, 0).get("ClaimId"), None, "the machine may not know the ticket of its customer");
    assert_eq!(ad(0, 0)["ClaimId"], "secret-of-j");
    let (_, without, _) = classad(&["match", &requests, "--offers", &offers, "--notify", "-"]);
    assert!(!without.contains("Cmd") && without.contains("\"claim_id\":\"c1\""), "{without}");
    assert_eq!(classad(&["match", &requests, "--offers", &offers, "--with-ads"]).0, Some(2));
}
