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
    assert_eq!(items(&SUBMIT.replace('\n', "\r\n")), [SUBMITTED]);
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

/// Returns the ad of an event, whose text begins with its number.
fn event(text: &str, time: &str) -> String {
    items(&format!("{} (012.003.000) {time} {}\n...\n", &text[..3], &text[4..])).remove(0)
}

/// Returns the attributes that not all events have.
fn own_attributes(text: &str) -> String {
    let ad = event(text, "2026-11-22 23:35:27");
    let (_, own) = ad.split_once("Cluster = 12; Proc = 3; Subproc = 0; ").expect(text);
    own.strip_suffix(" ]").expect(text).to_owned()
}

/// What lines of events mean, and what becomes of lines that mean nothing.
#[test]
fn lines_of_events() {
    for (text, expected) in [
        (
            "000 Job submitted from host: <h>\n    notes\n    user notes\n    more",
            "SubmitHost = \"<h>\"; LogNotes = \"notes\"; UserNotes = \"user notes\"; EventPayloadLines = \"more\"",
        ),
        (
            "000 Job submitted from host: <h>\n    DAG Node: A",
            "SubmitHost = \"<h>\"; LogNotes = \"DAG Node: A\"; StructuredNotes = [ DAGNodeName = \"A\" ]",
        ),
        (
            "000 Job submitted from host: <h>\n\tWARNING: Committed job submission into the queue with the following \
             warning(s): w",
            "SubmitHost = \"<h>\"; Warnings = \"w\"",
        ),
        (
            "001 Job executing on host: <h>\n\tSlotName: slot1@h\n\tCpus = 2\n\tMemory = 5",
            "ExecuteHost = \"<h>\"; SlotName = \"slot1@h\"; ExecuteProps = [ Cpus = 2; Memory = 5 ]",
        ),
        ("008 Job was held.", "Info = \"Job was held.\""),
        ("014 Node 3 executing on host: <h>", "Node = 3; ExecuteHost = \"<h>\""),
        ("015 Node 3 terminated.", "Node = 3"),
        ("033 Setting job attribute X to 5 to 6", "Attribute = \"X\"; Value = \"5 to 6\""),
        ("033 Changing job attribute X from 5", "EventHead = \"Changing job attribute X from 5\""),
        (
            "004 Job was evicted.\n\t(0) Job was not checkpointed.\n\tCode 3 Subcode 4",
            "Checkpointed = false; TerminatedAndRequeued = false; TerminatedNormally = false; ReasonCode = 3; ReasonSubCode = 4",
        ),
        (
            "004 Job was evicted.\n\t(1) Job was checkpointed.\n\twhy not",
            "Checkpointed = true; TerminatedAndRequeued = false; TerminatedNormally = false; Reason = \"why not\"",
        ),
        (
            "004 Job was evicted.\n\t(1) Job terminated and was requeued\n\t(0) No core file",
            "Checkpointed = false; TerminatedAndRequeued = true; TerminatedNormally = false",
        ),
        ("012 Job was held.\n\tReason unspecified", "HoldReasonCode = 0; HoldReasonSubCode = 0"),
        (
            "012 Job was held.\n\tbad\n\n\tmore",
            "HoldReasonCode = 0; HoldReasonSubCode = 0; HoldReason = \"bad\"; EventPayloadLines = \"more\"",
        ),
        (
            "024 Job reconnection failed\n    gone\n    Can not reconnect to slot1@h, rescheduling job",
            "EventDescription = \"Job reconnect impossible: rescheduling job\"; Reason = \"gone\"; StartdName = \"slot1@h\"",
        ),
        ("021 Error from starter on h:\n\tboom", "EventHead = \"Error from starter on h:\"; ErrorMsg = \"boom\""),
        (
            "006 Image size of job updated: 12\n\t3  -  MemoryUsage of job (MB)\n\t\tUsr 0 00:00:01, Sys 0 00:00:00  -  Run \
             Remote Usage\n\tx  -  Run Bytes Sent By Job",
            "Size = 12; MemoryUsage = 3; RunRemoteUsage = \"Usr 0 00:00:01, Sys 0 00:00:00\"; SentBytes = \"x\"",
        ),
        (
            "005 Job terminated.\n\t(1) Normal termination (return value x)\n\t(2) Normal termination (return value 2)",
            "EventPayloadLines = \"(1) Normal termination (return value x)\\n(2) Normal termination (return value 2)\"",
        ),
        (
            "005 Job terminated.\n\t(0) Abnormal termination (signal 9)\n\t(0) No core file\n\t(1) Corefile in: /c",
            "TerminatedNormally = false; TerminatedBySignal = 9; CoreFile = \"/c\"",
        ),
        ("036 Cluster removed\n\tnote", "Notes = \"note\""),
        (
            "037 Job Materialization Paused\n\tError\n\tPauseCode 3\n\tHoldCode 4",
            "Reason = \"Error\"; PauseCode = 3; HoldCode = 4",
        ),
        ("010 Job was suspended.\n\tNumber of processes actually suspended: 2", "NumberOfPIDs = 2"),
        (
            "028 Job ad information event triggered.\nSize = 1 +\n= 3\na b = 4",
            "EventPayloadLines = \"Size = 1 +\\n= 3\\na b = 4\"",
        ),
    ] {
        assert_eq!(own_attributes(text), expected, "{text}");
    }
}

#[test]
fn events_have_the_attributes_that_htcondor_names() {
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
        assert_eq!(own_attributes(text), expected, "{text}");
    }
    for (time, expected) in [("11/22 23:35:27", "11/22 23:35:27"), ("2026-11-22T23:35:27.5Z", "2026-11-22T23:35:27.5Z")]
    {
        assert!(event("011 Job was unsuspended.", time).contains(&format!("EventTime = \"{expected}\"")), "{time}");
    }
}
