use super::EventLogReader;
use crate::ad::Dialect;
use crate::format::{Position, Severity};
use crate::syntax::{Style, print_ad};

fn items(text: &str) -> Vec<String> {
    EventLogReader::new(text.as_bytes(), Dialect::Condor)
        .map(|item| match item {
            Ok(entry) => String::from_utf8(print_ad(&entry.ad, Style::New)).unwrap(),
            Err(problem) => {
                let at = Position::of_offset(text.as_bytes(), problem.range.start);
                let mark = if problem.severity == Severity::Warning { "~" } else { "!" };
                format!("{mark}{}:{}: {}", at.line, at.column, problem.message)
            }
        })
        .collect()
}

const SUBMIT: &str = "000 (001.000.000) 2026-11-22 23:35:27 Job submitted from host: <1.2.3.4:5>\n...\n";

const SUBMITTED: &str = "[ MyType = \"SubmitEvent\"; EventTypeNumber = 0; EventTime = \"2026-11-22T23:35:27\"; Cluster = 1; \
                         Proc = 0; Subproc = 0; SubmitHost = \"<1.2.3.4:5>\" ]";

#[test]
fn what_is_torn_is_told_and_the_rest_is_read() {
    assert_eq!(items(SUBMIT), [SUBMITTED]);
    for (text, problem) in [
        ("000 (001.000.000) 2026-11-22 23:3\n", "!1:1: this event does not end with a line `...`"),
        ("000 (001.000.000) yesterday Job\n...\n", "!1:1: this line does not begin an event"),
        ("000 (001.000.000) 13/45 10:00:00 Job\n...\n", "!1:1: `13/45 10:00:00` is not a time"),
        ("000 (001.000.000) 02/30 10:00:00 Job\n...\n", "!1:1: `02/30 10:00:00` is not a time"),
        ("000 (001.000.000) 02/28 10:60:00 Job\n...\n", "!1:1: `02/28 10:60:00` is not a time"),
        ("000 (001.000.000) 2025-02-29 10:00:00 Job\n...\n", "!1:1: `2025-02-29T10:00:00` is not a time"),
        ("odd\n...\n", "!1:1: this line does not begin an event"),
    ] {
        assert_eq!(items(&format!("{text}{SUBMIT}")), [problem, SUBMITTED], "{text}");
    }
    let unfinished = "~3:1: the last event is skipped: it does not end with a line `...`";
    assert_eq!(items(&format!("{SUBMIT}001 (001.000.000) 2026-11-22 23:35:28 Job exec")), [SUBMITTED, unfinished]);
}

#[test]
fn events_have_the_attributes_that_htcondor_names() {
    let event =
        |text: &str, time: &str| items(&format!("{} (012.003.000) {time} {}\n...\n", &text[..3], &text[4..])).remove(0);
    for (text, expected) in [
        ("009 Job was aborted.\n\tvia condor_rm (by user dave)", "Reason = \"via condor_rm (by user dave)\""),
        (
            "012 Job was held.\n\tbad luck\n\tCode 13 Subcode 2",
            "HoldReasonCode = 13; HoldReasonSubCode = 2; HoldReason = \"bad luck\"",
        ),
        (
            "005 Job terminated.\n\tJob terminated of its own accord at 2026-09-01T11:40:00Z with exit-code 3.\n\
             \t(1) Normal termination (return value 3)",
            "ToE = [ Who = \"itself\"; How = \"OF_ITS_OWN_ACCORD\"; HowCode = 0; When = 1788262800; ExitBySignal = false; \
             ExitCode = 3 ]; TerminatedNormally = true; ReturnValue = 3",
        ),
        (
            "005 Job terminated.\n\tJob terminated of its own accord at 2026-09-01T11:40:00Z with signal 9.\n\
             \t(0) Abnormal termination (signal 9)",
            "ToE = [ Who = \"itself\"; How = \"OF_ITS_OWN_ACCORD\"; HowCode = 0; When = 1788262800; ExitBySignal = true; \
             ExitSignal = 9 ]; TerminatedNormally = false; TerminatedBySignal = 9",
        ),
        ("013 Job was released.\n\tvia condor_release", "Reason = \"via condor_release\""),
        ("040 Started transferring output files\n\tTransferring to host: <h>", "Type = 5; Host = \"<h>\""),
        ("035 Cluster submitted from host: <h>", "SubmitHost = \"<h>\""),
        ("033 Changing job attribute JobPrio from 1 to 2", "Attribute = \"JobPrio\"; Value = \"2\""),
        ("028 Job ad information event triggered.\nSize = 1\nName = \"a\"", "Size = 1; Name = \"a\""),
        ("007 Shadow exception!\n\tError\n\t10  -  Run Bytes Sent By Job", "Message = \"Error\"; SentBytes = 10.0"),
        (
            "022 Job disconnected, attempting to reconnect\n    lost\n    Trying to reconnect to slot1@h <a>",
            "EventDescription = \"Job disconnected, attempting to reconnect\"; DisconnectReason = \"lost\"; StartdName = \
             \"slot1@h\"; StartdAddr = \"<a>\"",
        ),
        (
            "099 News of the future\n\tmore\n\tand more",
            "EventHead = \"News of the future\"; EventPayloadLines = \"more\\nand more\"",
        ),
        // A cell is of the column in which it ends, and of the last one if it ends behind all.
        (
            "006 Image size of job updated: 1\n\tPartitionable Resources :  Usage  Request Allocated\n\
             \t   Cpus                 :   0.5        1         2\n\
             \t   Memory (MB)          :             16       123\n\
             \t   Disk (KB)            :     7       15 1234567890",
            "Size = 1; CpusUsage = 0.5; RequestCpus = 1; Cpus = 2; RequestMemory = 16; Memory = 123; DiskUsage = 7; \
             RequestDisk = 15; Disk = 1234567890",
        ),
        (
            "006 Image size of job updated: 1\n\tPartitionable Resources :  Usage  Request Allocated Assigned\n\
             \t   Cpus                 :              1         1\n\
             \t   GPUs                 :   0.1        1         1 \"GPU-0123456789abcdef\"",
            "Size = 1; RequestCpus = 1; Cpus = 1; GPUsUsage = 0.1; RequestGPUs = 1; GPUs = 1; AssignedGPUs = \
             \"GPU-0123456789abcdef\"",
        ),
    ] {
        let ad = event(text, "2026-11-22 23:35:27");
        let common = "Cluster = 12; Proc = 3; Subproc = 0; ";
        let own = ad.split_once(common).map(|(_, own)| own.trim_end_matches(" ]"));
        assert_eq!(own, Some(expected), "{ad}");
    }
    for (time, expected) in [("11/22 23:35:27", "11/22 23:35:27"), ("2026-11-22T23:35:27.5Z", "2026-11-22T23:35:27.5Z")]
    {
        assert!(event("011 Job was unsuspended.", time).contains(&format!("EventTime = \"{expected}\"")), "{time}");
    }
}
