//! The attributes that HTCondor adds to the ad of a job once the job was matched or has run.

use crate::ad::Name;

use super::words;

/// The attributes of jobs that are not there before the first run.
const SET_BY_RUN: &str = "JobCurrentStartDate, JobStartDate, LastClaimId, LastPublicClaimId, LastRemoteHost, LastRemotePool, \
    LastVacateTime, MemoryUsage, RemoteHost, RemoteSlotID, ResidentSetSize, StartdIpAddr, StartdName";

/// The starts of the names of further ones: `MachineAttrName0`, `LastMatchName0`, `MATCH_EXP_Site`.
const STARTS_SET_BY_RUN: [&str; 3] = ["MachineAttr", "LastMatch", "MATCH_"];

/// Whether HTCondor adds an attribute to the ad of a job once the job was matched or has run.
#[must_use]
pub fn is_set_by_run(name: &Name) -> bool {
    let starts_with = |start: &&str| {
        let found = name.as_str().get(..start.len());
        name.as_str().len() > start.len() && found.is_some_and(|found| found.eq_ignore_ascii_case(start))
    };
    words(SET_BY_RUN).any(|known| name.is(known)) || STARTS_SET_BY_RUN.iter().any(starts_with)
}

#[cfg(test)]
mod tests {
    use super::is_set_by_run;
    use crate::ad::Name;

    #[test]
    fn what_is_not_there_before_the_first_run() {
        for (name, is_set) in [
            ("MachineAttrName0", true),
            ("machineattrMachine1", true),
            ("MachineAttr", false),
            ("LastMatchName0", true),
            ("LastRemoteHost", true),
            ("MATCH_GLIDEIN_Site", true),
            ("MemoryUsage", true),
            ("Machine", false),
            ("NumJobStarts", false),
        ] {
            assert_eq!(is_set_by_run(&Name::new(name)), is_set, "{name}");
        }
    }
}
