//! The lines of events, with the attributes that they give.

/// Beginnings of the texts of events, each with the attribute that has the rest of the line. An empty name drops the
/// line, because the type of the event says the same.
pub const HEADS: [(&str, &str); 30] = [
    ("Job submitted from host: ", "SubmitHost"),
    ("Job executing on host: ", "ExecuteHost"),
    ("Cluster submitted from host: ", "SubmitHost"),
    ("Job reconnected to ", "StartdName"),
    ("Image size of job updated: ", "Size"),
    ("Job was aborted by the user.", ""),
    ("Job was aborted.", ""),
    ("Job was held.", ""),
    ("Job was released.", ""),
    ("Job was evicted.", ""),
    ("Job was checkpointed.", ""),
    ("Job was suspended.", ""),
    ("Job was unsuspended.", ""),
    ("Job terminated.", ""),
    ("Job disconnected, attempting to reconnect", ""),
    ("Job reconnection failed", ""),
    ("Job ad information event triggered.", ""),
    ("Shadow exception!", ""),
    ("Cluster removed", ""),
    ("Job Materialization Paused", ""),
    ("Job Materialization Resumed", ""),
    ("POST Script terminated.", ""),
    ("The job's remote status is unknown", ""),
    ("The job's remote status is known again", ""),
    ("Job is performing stage-in of input files", ""),
    ("Job is performing stage-out of output files", ""),
    ("Job submitted to grid resource", ""),
    ("Grid Resource Back Up", ""),
    ("Detected Down Grid Resource", ""),
    ("Node ", "Node"),
];

/// The texts of file transfers, in the order of their numbers, which begin with 1.
pub const TRANSFERS: [&str; 6] = [
    "Entered queue to transfer input files",
    "Started transferring input files",
    "Finished transferring input files",
    "Entered queue to transfer output files",
    "Started transferring output files",
    "Finished transferring output files",
];

/// Labels behind `  -  `, each with its attribute and whether the number is a real one.
pub const LABELS: [(&str, &str, bool); 11] = [
    ("Run Bytes Sent By", "SentBytes", true),
    ("Run Bytes Received By", "ReceivedBytes", true),
    ("Total Bytes Sent By", "TotalSentBytes", true),
    ("Total Bytes Received By", "TotalReceivedBytes", true),
    ("MemoryUsage of job", "MemoryUsage", false),
    ("ResidentSetSize of job", "ResidentSetSize", false),
    ("ProportionalSetSize of job", "ProportionalSetSize", false),
    ("Run Remote Usage", "RunRemoteUsage", false),
    ("Run Local Usage", "RunLocalUsage", false),
    ("Total Remote Usage", "TotalRemoteUsage", false),
    ("Total Local Usage", "TotalLocalUsage", false),
];

/// Beginnings of further lines, each with the attribute that has the rest of the line.
pub const LINES: [(&str, &str); 14] = [
    ("SlotName: ", "SlotName"),
    ("startd address: ", "StartdAddr"),
    ("starter address: ", "StarterAddr"),
    ("Seconds spent in queue: ", "QueueingDelay"),
    ("Transferring to host: ", "Host"),
    ("Transferring from host: ", "Host"),
    ("Number of processes actually suspended: ", "NumberOfPIDs"),
    ("DAG Node: ", "DAGNodeName"),
    ("GridResource: ", "GridResource"),
    ("GridJobId: ", "GridJobId"),
    ("PauseCode ", "PauseCode"),
    ("HoldCode ", "HoldCode"),
    ("Reason: ", "Reason"),
    ("(1) Corefile in: ", "CoreFile"),
];
