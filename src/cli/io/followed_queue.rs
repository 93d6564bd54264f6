//! A `job_queue.log` that is read on while the schedd writes it: the ads of the jobs, and again those that change.

use std::hash::{Hash, Hasher};
use std::io::{self, Read};

use classad::ad::Dialect;
use classad::format::{FileFormat, read, write};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHasher};

use super::followed_file::FollowedFile;

/// Number of bytes that each read requests.
const READ_BYTES: usize = 64 * 1024;

/// Reader of the ads of the jobs of a followed queue log, in the long form. At the end of each transaction come the jobs
/// that it has changed. A log that was begun anew repeats all jobs, of which those come that differ from what was read.
pub struct FollowedQueue {
    file: FollowedFile,
    dialect: Dialect,
    /// What was read and is no complete line.
    line: Vec<u8>,
    /// The lines that make each ad, by its key and the name of the attribute; the first has no name.
    ads: FxHashMap<Vec<u8>, IndexMap<Vec<u8>, Vec<u8>>>,
    /// The lines of a transaction that has not ended.
    transaction: Option<Vec<Vec<u8>>>,
    /// The keys of ads that have changed since they were written, in the order of the changes.
    changed: IndexMap<Vec<u8>, ()>,
    /// The hash of what was written of each job.
    written: FxHashMap<Vec<u8>, u64>,
    /// Whether the log has been read to its end since it was begun, so that each transaction is news.
    is_caught_up: bool,
    /// What is to be returned, and how much of it was.
    text: Vec<u8>,
    returned: usize,
}

impl FollowedQueue {
    pub fn new(file: FollowedFile, dialect: Dialect) -> Self {
        FollowedQueue {
            file,
            dialect,
            line: Vec::new(),
            ads: FxHashMap::default(),
            transaction: None,
            changed: IndexMap::new(),
            written: FxHashMap::default(),
            is_caught_up: false,
            text: Vec::new(),
            returned: 0,
        }
    }

    fn take_line(&mut self, line: Vec<u8>) {
        match line.get(..3) {
            Some(b"105") => self.transaction = Some(Vec::new()),
            Some(b"106") => {
                self.transaction.take().into_iter().flatten().for_each(|line| self.carry_out(line));
                if self.is_caught_up {
                    self.write_changed();
                }
            }
            // A log begins so, and then repeats what there is.
            Some(b"107") => {
                self.ads.clear();
                self.is_caught_up = false;
            }
            _ => match &mut self.transaction {
                Some(lines) => lines.push(line),
                None => self.carry_out(line),
            },
        }
    }

    fn carry_out(&mut self, line: Vec<u8>) {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let (code, key) = (words.next().unwrap_or_default(), words.next().unwrap_or_default().to_vec());
        let name = words.next().unwrap_or_default().to_ascii_lowercase();
        match code {
            b"101" => drop(self.ads.insert(key.clone(), [(Vec::new(), line)].into_iter().collect())),
            b"102" => {
                self.ads.remove(&key);
                self.written.remove(&key);
            }
            b"103" => drop(self.ads.get_mut(&key).map(|ad| ad.insert(name, line))),
            b"104" => drop(self.ads.get_mut(&key).map(|ad| ad.shift_remove(&name))),
            _ => return,
        }
        self.changed.insert(key, ());
    }

    /// Writes the jobs that have changed, if they differ from what was written of them.
    fn write_changed(&mut self) {
        let mut changed = std::mem::take(&mut self.changed);
        let clusters: Vec<Vec<u8>> = changed.keys().filter_map(|key| cluster_of(key)).collect();
        for cluster in clusters {
            changed.extend(self.ads.keys().filter(|key| key.starts_with(&cluster)).map(|key| (key.clone(), ())));
        }
        for (key, ()) in changed {
            let Some(ad) = self.ads.get(&key) else { continue };
            // The cluster has what its jobs have in common.
            let cluster = key.iter().position(|byte| *byte == b'.').map(|dot| [b"0", &key[..dot], b".-1"].concat());
            let cluster = cluster.and_then(|cluster| self.ads.get(&cluster));
            let lines = cluster.into_iter().flat_map(IndexMap::values).chain(ad.values());
            let log: Vec<u8> = lines.flat_map(|line| [line, &b"\n"[..]].concat()).collect();
            let mut text = Vec::new();
            // A bad value is left out with its ad, as one line of a log that goes on.
            for entry in read(&log, FileFormat::JobQueueLog, self.dialect).flatten() {
                // Writing to memory cannot fail.
                let _ = write(&mut text, &entry.ad, FileFormat::Long);
            }
            let mut hasher = FxHasher::default();
            text.hash(&mut hasher);
            if !text.is_empty() && self.written.insert(key, hasher.finish()) != Some(hasher.finish()) {
                self.text.extend_from_slice(&text);
            }
        }
    }
}

/// Returns what the keys of the jobs of a cluster begin with, such as `12.` of `012.-1`. `None` for the key of a job.
fn cluster_of(key: &[u8]) -> Option<Vec<u8>> {
    Some([key.strip_prefix(b"0")?.strip_suffix(b".-1")?, b"."].concat())
}

impl Read for FollowedQueue {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.returned == self.text.len() {
            (self.text, self.returned) = (Vec::new(), 0);
            let mut bytes = vec![0; READ_BYTES];
            if let Some(count) = self.file.read_available(&mut bytes)? {
                self.line.extend_from_slice(&bytes[..count]);
                let lines = std::mem::take(&mut self.line);
                let end = memchr::memrchr(b'\n', &lines).map_or(0, |end| end + 1);
                self.line = lines[end..].to_vec();
                lines[..end].split(|byte| *byte == b'\n').for_each(|line| self.take_line(line.to_vec()));
            } else {
                self.is_caught_up = true;
                self.write_changed();
                if self.text.is_empty() && !FollowedFile::wait() {
                    return Ok(0);
                }
            }
        }
        let count = into.len().min(self.text.len() - self.returned);
        into[..count].copy_from_slice(&self.text[self.returned..self.returned + count]);
        self.returned += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes the lines of a log, and returns the values that are written of it, by `name=value`.
    fn written(queue: &mut FollowedQueue, log: &str) -> Vec<String> {
        log.split_terminator('\n').for_each(|line| queue.take_line(line.as_bytes().to_vec()));
        taken(queue)
    }

    fn taken(queue: &mut FollowedQueue) -> Vec<String> {
        let text = String::from_utf8(std::mem::take(&mut queue.text)).unwrap();
        let ads = text.split_terminator("\n\n").filter(|ad| !ad.trim().is_empty());
        ads.map(|ad| ad.trim().replace(" = ", "=").replace('\n', " ")).collect()
    }

    fn queue() -> FollowedQueue {
        let file = tempfile::NamedTempFile::new().unwrap();
        FollowedQueue::new(FollowedFile::open(file.path().to_str().unwrap()).unwrap(), Dialect::Condor)
    }

    #[test]
    fn ads_are_written_when_the_log_is_read_and_when_they_change() {
        let mut queue = queue();
        assert_eq!(
            written(&mut queue, "107 1 CreationTimestamp 5\n105\n101 1.0 Job Machine\n103 1.0 A 1\n106\n103 1.0 B 2\n"),
            [""; 0]
        );
        queue.write_changed();
        let [first] = <[String; 1]>::try_from(taken(&mut queue)).unwrap();
        assert!(first.contains("A=1 B=2"), "{first}");
        queue.write_changed();
        assert_eq!(taken(&mut queue), [""; 0]);
        queue.is_caught_up = true;
        // Now each transaction is written at its end.
        assert_eq!(written(&mut queue, "105\n103 1.0 A 3\n"), [""; 0]);
        assert_eq!(written(&mut queue, "106\n"), [first.replace("A=1", "A=3")]);
        assert_eq!(written(&mut queue, "105\n103 1.0 A 3\n106\n"), [""; 0]);
        assert_eq!(written(&mut queue, "105\n104 1.0 B\n106\n"), [first.replace("A=1", "A=3").replace(" B=2", "")]);
        // Names have no upper and lower case.
        assert_eq!(written(&mut queue, "105\n103 1.0 a 4\n106\n").len(), 1);
        assert_eq!(written(&mut queue, "105\n104 1.0 A\n106\n").len(), 1);
        assert_eq!(written(&mut queue, "105\n999 1.0 A 7\n103 2.0 A 7\n106\n"), [""; 0]);
        // An ad that comes back is new.
        assert_eq!(written(&mut queue, "105\n102 1.0\n106\n"), [""; 0]);
        assert_eq!(written(&mut queue, "105\n101 1.0 Job Machine\n103 1.0 A 4\n106\n").len(), 1);
        // A new log repeats what there is.
        assert_eq!(
            written(&mut queue, "107 2 CreationTimestamp 5\n105\n101 3.0 Job Machine\n103 3.0 A 1\n106\n"),
            [""; 0]
        );
        assert!(!queue.is_caught_up && queue.ads.len() == 1);
    }

    #[test]
    fn a_change_of_a_cluster_is_one_of_its_jobs() {
        let mut queue = queue();
        queue.is_caught_up = true;
        let log = "105\n101 01.-1 Job Machine\n103 01.-1 A 1\n101 1.0 Job Machine\n103 1.0 P 0\n\
                   101 1.1 Job Machine\n103 1.1 P 1\n101 11.0 Job Machine\n103 11.0 P 2\n106\n";
        assert_eq!(written(&mut queue, log).iter().filter(|ad| ad.contains("A=1 ") && ad.contains("P=")).count(), 2);
        let changed = written(&mut queue, "105\n103 01.-1 A 5\n106\n");
        let jobs = changed.iter().filter(|ad| ad.contains("P=")).count();
        assert!(jobs == 2 && changed.iter().all(|ad| ad.contains("A=5")), "{changed:?}");
        assert_eq!(written(&mut queue, "105\n103 1.1 P 7\n106\n").len(), 1);
        assert_eq!(
            [&b"01.-1"[..], b"0123.-1", b"1.0", b"01.0", b"1.-1"].map(cluster_of),
            [Some(b"1.".to_vec()), Some(b"123.".to_vec()), None, None, None]
        );
    }

    #[test]
    fn the_text_is_read_in_pieces_of_any_length() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "105\n101 1.0 Job Machine\n103 1.0 A 1\n106\n103 1.0 A").unwrap();
        for length in [1, 7, 4096] {
            let followed = FollowedFile::open(file.path().to_str().unwrap()).unwrap();
            let mut queue = FollowedQueue::new(followed, Dialect::Condor);
            let mut all = Vec::new();
            while !all.ends_with(b"\n\n") {
                let mut piece = vec![0; length];
                let count = queue.read(&mut piece).unwrap();
                assert!(0 < count && count <= length);
                all.extend_from_slice(&piece[..count]);
            }
            assert!(String::from_utf8(all).unwrap().contains("A = 1\n"));
            // The line that is not whole waits for its end.
            assert_eq!((queue.line.as_slice(), queue.is_caught_up), (&b"103 1.0 A"[..], true));
        }
    }
}
