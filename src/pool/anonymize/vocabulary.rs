//! Words that tell nothing of a site or a person, and on which matching and reading an ad depend.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// The words, separated by blanks: constants of the language, kinds of ads, states and activities, systems and
/// processors, units, and what HTCondor writes into strings of its own.
const WORDS: &str = "\
    true false undefined error yes no none any all and or not \
    Job Machine Slot Daemon DaemonMaster Scheduler Negotiator Collector Submitter Query Accounting Grid Defrag HAD \
    StartD StartDaemon CredD Replication Storage Gateway Any XferService LeaseManager TransferD CkptServer \
    License Generic Partitionable Dynamic Static Backfill \
    Owner Unclaimed Claimed Matched Preempting Drained Idle Busy Retiring Vacating Suspended Benchmarking Killing \
    Running Completed Held Removed Transferring Output Unexpanded Active Inactive \
    X86_64 INTEL x86 i386 i686 aarch64 arm64 ppc64 ppc64le riscv64 AMD64 GenuineIntel AuthenticAMD ARM \
    Vanilla Standard Local Parallel Java VM Docker Container Singularity Apptainer \
    Cpus Memory Disk Swap GPUs Gpu CUDA \
    KB MB GB TB sec min hour day \
    CondorVersion CondorPlatform BuildID PackageID \
    v1 v2 v3 v4 http https ftp file data s3 gs osdf stash pelican box gdrive \
    NEVER ALWAYS IF_NEEDED ON_EXIT ON_EXIT_OR_EVICT";

/// The names of systems, separated by blanks. `OpSysAndVer` adds the number of a version.
const SYSTEMS: &str = "\
    LINUX WINDOWS MACOS OSX Darwin FREEBSD Debian Ubuntu CentOS RedHat RHEL Rocky AlmaLinux Fedora SUSE openSUSE SLES SL \
    OracleLinux Oracle Amazon AmazonLinux ScientificLinux Scientific";

static COMMON_WORDS: LazyLock<FxHashSet<String>> = LazyLock::new(|| in_lower_case(WORDS));
static COMMON_SYSTEMS: LazyLock<FxHashSet<String>> = LazyLock::new(|| in_lower_case(SYSTEMS));

fn in_lower_case(words: &str) -> FxHashSet<String> {
    words.split_whitespace().map(str::to_ascii_lowercase).collect()
}

/// Units of sizes, which may stand behind a number.
const SIZE_UNITS: [&str; 10] = ["kb", "mb", "gb", "tb", "pb", "kib", "mib", "gib", "tib", "pib"];

/// Whether a word is kept, in any case: one of the table, a system such as `Debian12`, the name of a slot such as
/// `slot1_2`, or a size such as `12GB`.
pub(super) fn is_common_word(word: &[u8]) -> bool {
    str::from_utf8(word).is_ok_and(|word| {
        let word = word.to_ascii_lowercase();
        let numbers = word.strip_prefix("slot").unwrap_or_default();
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
        COMMON_WORDS.contains(&word)
            || unit.len() < word.len() && SIZE_UNITS.contains(&unit)
            || COMMON_SYSTEMS.contains(word.trim_end_matches(|c: char| c.is_ascii_digit()))
            || numbers.split('_').all(is_number)
    })
}

#[cfg(test)]
mod tests {
    use super::is_common_word;

    #[test]
    fn words_that_tell_nothing_are_kept() {
        for (word, expected) in [
            ("TRUE", true),
            ("x86_64", true),
            ("Debian", true),
            ("Debian12", true),
            ("12Debian", false),
            ("slot1", true),
            ("Slot1_2", true),
            ("slot", true),
            ("slots", false),
            ("slot1_", false),
            ("slot_1", false),
            ("slot1_x", false),
            ("12GB", true),
            ("12gib", true),
            ("GB", true),
            ("GiB", false),
            ("12x", false),
            ("12", false),
            ("", false),
            ("alice", false),
        ] {
            assert_eq!(is_common_word(word.as_bytes()), expected, "{word}");
        }
        assert!(!is_common_word(b"\xff"));
    }
}
