//! `query` with groups, sums and orders, compared with what is computed from its rows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::binary::{classad, file};

/// Ads with integers, reals, undefined and unfit values.
fn pool(ads: usize) -> String {
    let mut text = String::new();
    for number in 0..ads {
        let _ = write!(text, "Id = {number}\nOwner = \"o{}\"\nUniverse = {}\n", number % 5, number % 3);
        let _ = writeln!(text, "Cpus = {}", number % 7);
        let _ = writeln!(text, "Load = {}.{}", number * 37 % 11, number * 7919 % 100_000);
        match number % 10 {
            3 => text += "Time = \"long\"\n",
            4 => {}
            _ => {
                let _ = writeln!(text, "Time = {}", number * number % 1000);
            }
        }
        text += "\n";
    }
    text
}

/// Number of ads, sum of `Cpus`, the numbers among the values of `Time`, and whether one is a text.
type GroupOfRows = (usize, i64, Vec<i64>, bool);

#[test]
fn groups_are_those_of_the_rows() {
    let path = file("groups.long", pool(3000));
    let (_, rows, _) = classad(&["query", "Cpus > 1", &path, "--af", "Owner,Universe,Cpus,Time"]);
    let mut expected: BTreeMap<(String, String), GroupOfRows> = BTreeMap::new();
    for row in rows.lines() {
        let cells: Vec<&str> = row.split('\t').collect();
        let group = expected.entry((cells[0].to_owned(), cells[1].to_owned())).or_default();
        group.0 += 1;
        group.1 += cells[2].parse::<i64>().expect("an integer");
        group.2.extend(cells[3].parse::<i64>());
        group.3 |= cells[3] == "long";
    }
    let arguments = [
        "query",
        "Cpus > 1",
        &path,
        "--group-by",
        "Owner, U = Universe",
        "--sum",
        "Cpus",
        "--min",
        "Time",
        "--max",
        "Most=Time",
        "--mean",
        "Time",
        "--median",
        "Time",
        "-o",
        "csv",
        "--sort",
        "Owner",
        "--sort",
        "U",
    ];
    // Texts are greater than numbers, so that the sum and the mean alone leave them out.
    let (status, out, told) = classad(&arguments);
    assert_eq!(status, Some(0));
    assert!(told.contains("mean(Time) ignores ") && told.contains(" values that are not numbers"), "{told}");
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("Owner,U,ads,sum(Cpus),mean(Time),median(Time),min(Time),Most"));
    for (((owner, universe), (ads, sum, times, has_text)), line) in expected.iter_mut().zip(lines.by_ref()) {
        let cells: Vec<&str> = line.split(',').collect();
        #[allow(clippy::cast_precision_loss)]
        let mean = times.iter().sum::<i64>() as f64 / times.len() as f64;
        let least = times.iter().min().expect("one").to_string();
        times.sort_unstable();
        #[allow(clippy::cast_precision_loss)]
        let median = (times[(times.len() - 1) / 2] + times[times.len() / 2]) as f64 / 2.0;
        assert_eq!(cells[..4], [owner.as_str(), universe, &ads.to_string(), &sum.to_string()], "{line}");
        assert!((cells[4].parse::<f64>().expect("a number") - mean).abs() < 1e-9, "{line}");
        let most = if *has_text { "long".to_owned() } else { times.iter().max().expect("one").to_string() };
        assert!((cells[5].parse::<f64>().expect("a number") - median).abs() < 1e-9, "{line}");
        assert_eq!(cells[6..], [least, most], "{line}");
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn sums_of_reals_do_not_depend_on_the_order_or_on_threads() {
    let text = pool(4000);
    let forward = file("groups-forward.long", &text);
    let ads: Vec<&str> = text.split("\n\n").filter(|ad| !ad.is_empty()).collect();
    let turned = ads.iter().rev().copied().collect::<Vec<_>>().join("\n\n") + "\n\n";
    let backward = file("groups-backward.long", turned);
    let sum = |path: &str, threads: &str| {
        let options = [
            "--group-by=Universe",
            "--sum=Load / 3.0",
            "--mean=Load",
            "--percentile=90:Load / 7",
            "--sort=Universe",
            "--threads",
        ];
        classad(&[&["query", "true", path][..], &options, &[threads]].concat()).1
    };
    let expected = sum(&forward, "1");
    assert_eq!(expected.lines().count(), 4);
    assert_eq!(sum(&forward, "4"), expected);
    assert_eq!(sum(&backward, "2"), expected);
}

#[test]
fn totals_orders_and_faults() {
    let path = file("groups-few.long", "A = 1\nB = 2\n\nA = 1\nB = 0.5\n\nA = 2\nB = true\n\nA = 3\n");
    let query = |options: &[&str]| classad(&[&["query", "true", &path, "--no-header"], options].concat());
    assert_eq!(query(&["--group-by", "A", "--sum", "B"]).1, "1\t2\t2.5\n2\t1\t1\n3\t1\tundefined\n");
    assert_eq!(query(&["--group-by", "A", "--top", "1", "--totals", "--sum", "B"]).1, "1\t2\t2.5\ntotal\t4\t3.5\n");
    assert_eq!(query(&["--group-by", "A", "--sort", "-A", "--count"]).1, "3\t1\n2\t1\n1\t2\n");
    assert_eq!(query(&["--group-by", "A", "--sort", "A", "--desc", "--limit", "2"]).1, "3\t1\n2\t1\n");
    assert_eq!(query(&["--group-by", "{A, A > 1}"]).1, "{ 1, false }\t2\n{ 2, true }\t1\n{ 3, true }\t1\n");
    assert_eq!(query(&["--sum", "B", "--max", "B"]).1, "4\t3.5\t2\n");
    assert_eq!(query(&["--percentile", "25:B,Half=A/2.0, 100:A"]).1, "4\t0.75\t0.5\t3.0\n");
    let shares = ["--group-by", "A", "--percent", "--sum", "B", "--max", "B", "--totals", "--sort", "-percent(ads)"];
    assert_eq!(
        query(&shares).1,
        "1\t2\t50.0\t2.5\t71.43\t2\n2\t1\t25.0\t1\t28.57\ttrue\n\
         3\t1\t25.0\tundefined\tundefined\tundefined\ntotal\t4\t100.0\t3.5\t100.0\t2\n"
    );
    assert_eq!(query(&["--group-by", "A", "--percent", "--having", "percent(ads) > 30"]).1, "1\t2\t50.0\n");
    let (status, _, told) = query(&["--percentile", "101:B"]);
    assert!(status == Some(2) && told.contains("a number from 0 to 100"), "{told}");
    assert_eq!(classad(&["query", "A > 9", &path, "--sum", "B", "--no-header"]).1, "0\tundefined\n");
    let (_, out, _) =
        classad(&["query", "true", &path, "--af", "Twice=A*2,A == 1", "-o", "csv", "--sort", "-A", "--limit", "1"]);
    assert_eq!(out, "Twice,A == 1\n6,false\n");
    let (status, _, told) = query(&["--group-by", "A", "--sort", "Sum(B)"]);
    assert!(status == Some(2) && told.contains("the columns of the groups are A, ads"), "{told}");
    assert_eq!(query(&["--group-by", "A +"]).0, Some(2));
    assert_eq!(query(&["--totals"]).0, Some(2));
}

#[test]
fn the_first_ones_of_an_order_are_those_of_all() {
    let path = file("groups-sorted.long", pool(5000));
    let query = |options: &[&str]| {
        classad(
            &[&["query", "Cpus > 0", &path, "--af", "Id,Load", "--sort", "-Universe", "--sort", "Load"], options]
                .concat(),
        )
        .1
    };
    let all = query(&[]);
    for limit in ["0", "1", "7", "2000", "9000"] {
        let first: String = all.split_inclusive('\n').take(limit.parse().expect("a number")).collect();
        assert_eq!(query(&["--limit", limit]), first);
    }
    let lines: Vec<&str> = all.lines().collect();
    let turned = query(&["--desc"]);
    assert_eq!(turned.lines().count(), lines.len());
    assert_ne!(turned, all);
}

/// A sum that no ad of a group has is undefined, and a note says of how many ads.
#[test]
fn groups_without_a_number_are_noted() {
    let text =
        "MyType = \"Machine\"\nCpus = 2\n\nMyType = \"Machine\"\n\nMyType = \"Scheduler\"\n\nMyType = \"Negotiator\"\n";
    let ads = file("groups-daemons.long", text);
    let query = |options: &[&str]| classad(&[&["query", "true", &ads, "--group-by", "MyType"], options].concat());
    let (_, out, told) = query(&["--sum", "Cpus"]);
    assert!(out.contains("undefined"), "{out}");
    assert_eq!(told, "note: sum(Cpus) is undefined for 2 groups: none of the 2 ads in them has a number\n");
    assert_eq!(query(&["--max", "Cpus"]).2, "");
}
