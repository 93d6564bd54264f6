//! What is said of anonymized pools: name by name what is said of the pools themselves.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use super::binary::{classad, file};

/// Pseudonyms of words, in lower case, by the words. A number of an address has one at each place.
#[derive(Default)]
struct Pseudonyms(HashMap<String, HashSet<String>>);

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

impl Pseudonyms {
    /// Learns the pseudonyms from two texts that say the same.
    fn learn(&mut self, before: &str, after: &str) {
        assert_eq!(before.lines().count(), after.lines().count());
        for (line, anonymous) in before.lines().zip(after.lines()) {
            assert_eq!(words(line).count(), words(anonymous).count(), "{line}\n{anonymous}");
            for (word, pseudonym) in words(line).zip(words(anonymous)).filter(|(word, pseudonym)| word != pseudonym) {
                let pseudonym = pseudonym.to_ascii_lowercase();
                let known = self.0.entry(word.to_ascii_lowercase()).or_default();
                known.insert(pseudonym);
                let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
                assert!(known.len() == 1 || is_number, "{word}: {known:?}");
            }
        }
    }

    /// Whether two texts say the same. A word of the program is kept, also where it is a word of an ad.
    fn are_same_texts(&self, before: &str, after: &str) -> bool {
        let is_same = |(word, after): (&str, &str)| {
            let word = word.to_ascii_lowercase();
            let after = after.to_ascii_lowercase();
            word == after || self.0.get(&word).is_some_and(|known| known.contains(&after))
        };
        words(before).count() == words(after).count() && words(before).zip(words(after)).all(is_same)
    }

    /// Asserts that two results say the same. Columns differ, because pseudonyms are longer.
    fn compare(&self, before: &Json, after: &Json, path: &str) {
        match (before, after) {
            (Json::Object(before), Json::Object(after)) => {
                assert_eq!(before.len(), after.len(), "{path}");
                for ((key, one), (anonymous, other)) in before.iter().zip(after) {
                    assert!(self.are_same_texts(key, anonymous), "{path}: {key} {anonymous}");
                    if !["span", "column", "end_column"].contains(&key.as_str()) {
                        self.compare(one, other, &format!("{path}/{key}"));
                    }
                }
            }
            (Json::Array(before), Json::Array(after)) => {
                assert_eq!(before.len(), after.len(), "{path}: {before:?}\n{after:?}");
                for (place, (one, other)) in before.iter().zip(after).enumerate() {
                    self.compare(one, other, &format!("{path}/{place}"));
                }
            }
            (Json::String(before), Json::String(after)) => {
                // Of equally frequent values, the first by name is named, which is another by pseudonym.
                let rest = |text: &str| match text.strip_prefix("the most frequent value is ") {
                    Some(value) => value.split_once("; ").map(|(_, rest)| rest.to_owned()).unwrap_or_default(),
                    None => text.to_owned(),
                };
                // The reason of a rejection, which names the limit, is replaced as a whole.
                if before.starts_with("wait until jobs with the concurrency limit ") {
                    return;
                }
                let (before, after) = (&rest(before), &rest(after));
                assert!(self.are_same_texts(before, after), "{path}: {before}\n{after}");
            }
            (before, after) => assert_eq!(before, after, "{path}"),
        }
    }
}

/// Anonymizes jobs and slots. Returns both pairs of files, and the pseudonyms.
fn anonymized(name: &str, paths: [&str; 2]) -> ([[String; 2]; 2], Pseudonyms) {
    let mut pseudonyms = Pseudonyms::default();
    let files = ["jobs", "slots"].map(|kind| {
        let path = paths[usize::from(kind == "slots")];
        let before = classad(&["convert", "--to", "long", path]).1;
        let after = classad(&["anonymize", "--key", "key", "-o", "long", path]).1;
        pseudonyms.learn(&before, &after);
        // A message names the file.
        let stem = format!("{name}-{kind}.long");
        [file(&stem, before.as_bytes()), file(&stem.replace(kind, &format!("anonymous_{kind}")), after.as_bytes())]
    });
    let [[jobs, anonymous_jobs], [slots, anonymous_slots]] = files;
    ([[jobs, slots], [anonymous_jobs, anonymous_slots]], pseudonyms)
}

#[test]
fn explain_match_and_check_say_the_same_of_anonymous_pools() {
    let now = std::fs::read_to_string("tests/pool/dumps/now").unwrap();
    for (name, jobs, slots, now) in [
        ("pool", "tests/pool/dumps/queue.long", "tests/pool/dumps/machines.long", now.trim()),
        ("settled", "tests/pool/settled/jobs.long.xz", "tests/pool/settled/slots.long.xz", "1795813644"),
        ("samples", "samples/pool/jobs.long", "samples/pool/machines.long", "1790000000"),
    ] {
        let ([before, after], pseudonyms) = anonymized(name, [jobs, slots]);
        for arguments in [
            &["explain", "JOBS", "--pool", "SLOTS"][..],
            &["explain", "JOBS", "--pool", "SLOTS", "--unmatched"],
            &["match", "JOBS", "--pool", "SLOTS"],
            &["match", "JOBS", "--pool", "SLOTS", "--all"],
            &["check", "JOBS", "SLOTS"],
            &["check", "JOBS", "--against", "SLOTS"],
            &["check", "SLOTS", "--against", "JOBS"],
            &["autocluster", "JOBS", "--pool", "SLOTS"],
        ] {
            let [one, other] = [&before, &after].map(|[jobs, slots]| {
                let given = arguments.iter().map(|word| match *word {
                    "JOBS" => jobs.as_str(),
                    "SLOTS" => slots.as_str(),
                    word => word,
                });
                let given: Vec<&str> = given.chain(["-o", "json", "--now", now]).collect();
                let (status, out, _) = classad(&given);
                (status, out.replace("anonymous_", ""))
            });
            assert_eq!(one.0, other.0, "{name}: {arguments:?}");
            // What says that a string is similar to another one cannot be said of pseudonyms.
            let [one, other] = [one.1, other.1].map(|text| text.replace("the most similar is", "the most frequent is"));
            let [one, other] = [one, other].map(|text| serde_json::from_str(&text).expect(&text));
            pseudonyms.compare(&one, &other, &format!("{name}: {arguments:?}"));
        }
    }
}

/// Attributes of devices have the names of the devices, whose list is a string.
#[test]
fn devices_have_one_pseudonym_in_values_and_in_names() {
    let slot = "Name = \"slot1@node\"\nMachineResources = \"Cpus GPUs Boards\"\n\
        AssignedGPUs = \"GPU-a0223334,GPU-b1223334\"\nDetectedBoards = \"left-foot, right-foot\"\n\
        GPUs_GPU_a0223334 = [ Id = \"GPU-a0223334\"; Memory = 5 ]\n\
        GPUs_GPU_b1223334 = [ Id = \"GPU-b1223334\"; Memory = 6 ]\n\
        Boards_left_foot = [ Id = \"left-foot\"; Speed = 7 ]\nAvailableBoards = { Boards_left_foot, Boards_right_foot }\n\
        'secret@host.org' = 5\nRequirements = TARGET.Memory < GPUs_GPU_b1223334.Memory\nAvailableGPUs = { GPUs_GPU_a0223334 }\n";
    let job = "MyType = \"Job\"\nMemory = 5\nFast = Boards_left_foot.Speed\n\
        Wanted = TARGET.GPUs_GPU_a0223334.Id == \"GPU-a0223334\" && TARGET.gpus_gpu_B1223334.memory == 6\n\
        Requirements = Wanted && countMatches(Memory > 4, TARGET.AvailableGPUs) == 1\n";
    let (slot, job) = (file("devices-slot.long", slot.as_bytes()), file("devices-job.long", job.as_bytes()));
    let [hidden_slot, hidden_job] = [&slot, &job].map(|path| classad(&["anonymize", "--key", "k", path]).1);
    let names: HashSet<&str> = words(&hidden_slot).collect();
    for (text, secrets) in [
        (&hidden_slot, &["a0223334", "b1223334", "left", "foot", "secret", "host", "node"][..]),
        (&hidden_job, &["a0223334", "b1223334"]),
    ] {
        let mut parts = words(text).flat_map(|word| word.split('_'));
        let found = parts.find(|part| secrets.iter().any(|secret| part.eq_ignore_ascii_case(secret)));
        assert_eq!(found, None, "{text}");
    }
    assert!(names.contains("Boards") && names.contains("GPUs") && names.contains("MachineResources"), "{hidden_slot}");
    let [hidden_slot, hidden_job] = [("slot", &hidden_slot), ("job", &hidden_job)]
        .map(|(name, text)| file(&format!("devices-{name}-2.long"), text.as_bytes()));
    for [job, slot] in [[&job, &slot], [&hidden_job, &hidden_slot]] {
        let (status, out, told) = classad(&["match", job, "--pool", slot, "--count"]);
        assert_eq!((status, out.as_str()), (Some(0), "1\n"), "{told}");
    }
}

#[test]
fn words_to_replace_are_replaced_in_names_of_attributes() {
    let ad =
        file("replaced.long", b"Owner = \"alice\"\nQuota_Alice = 5\nOk = MY.quota_alice > 3 && Owner == \"alice\"\n");
    let (_, out, _) = classad(&["anonymize", "--key", "k", "--replace", "alice,bob", &ad]);
    assert!(!out.to_ascii_lowercase().contains("alice"), "{out}");
    let ad = file("replaced-2.long", out.as_bytes());
    assert_eq!(classad(&["query", "Ok", &ad, "--count"]).1, "1\n");
}
