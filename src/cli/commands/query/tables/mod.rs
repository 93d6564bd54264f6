//! The tables of `condor_q` and `condor_status`. Each is a print format, and the totals that follow its rows.

mod ad_table;
mod batches;
mod choice;
mod dag_nodes;
mod job_facts;
mod machine_rows;
mod machine_slots;
mod slot_totals;
mod table_output;

use slot_totals::TotalsStyle;

pub use ad_table::{AdTable, TableRecord};
pub use choice::{TableChoice, choose_table};
pub use job_facts::JobFacts;
pub use table_output::TableOutput;

/// Which ads a table is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TableSubject {
    Jobs,
    Slots,
}

/// What becomes of the rows before they are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RowGrouping {
    /// Each ad has a row.
    None,
    /// The jobs of a batch have one row.
    Batches,
    /// Jobs are below the DAG that they are nodes of.
    DagNodes,
    /// The slots of a machine have one row.
    Machines,
}

/// A table of HTCondor's tools.
pub struct StandardTable {
    /// Name by which [`TableChoice`](choice::TableChoice) finds the table.
    pub name: &'static str,
    /// The text of the print format.
    pub format: &'static str,
    pub subject: TableSubject,
    pub grouping: RowGrouping,
    /// The totals after the rows of slots.
    totals: Option<&'static TotalsStyle>,
    /// `MyType` of the ads in the table; empty if the table takes ads of every type.
    pub ad_type: &'static str,
}

const fn jobs(name: &'static str, format: &'static str, grouping: RowGrouping) -> StandardTable {
    StandardTable { name, format, subject: TableSubject::Jobs, grouping, totals: None, ad_type: "" }
}

const fn slots(
    name: &'static str,
    format: &'static str,
    totals: Option<&'static TotalsStyle>,
    ad_type: &'static str,
) -> StandardTable {
    StandardTable { name, format, subject: TableSubject::Slots, grouping: RowGrouping::None, totals, ad_type }
}

/// The tables.
static STANDARD_TABLES: [StandardTable; 22] = [
    jobs("batches", include_str!("formats/batches"), RowGrouping::Batches),
    jobs("jobs", include_str!("formats/jobs"), RowGrouping::None),
    jobs("held", include_str!("formats/held"), RowGrouping::None),
    jobs("running", include_str!("formats/running"), RowGrouping::None),
    jobs("idle", include_str!("formats/idle"), RowGrouping::None),
    jobs("dag", include_str!("formats/dag"), RowGrouping::DagNodes),
    jobs("io", include_str!("formats/io"), RowGrouping::None),
    jobs("grid", include_str!("formats/grid"), RowGrouping::None),
    jobs("goodput", include_str!("formats/goodput"), RowGrouping::None),
    jobs("job-totals", include_str!("formats/job-totals"), RowGrouping::None),
    slots("slots", include_str!("formats/slots"), Some(&slot_totals::BY_STATE), ""),
    slots("states", include_str!("formats/states"), Some(&slot_totals::BY_ACTIVITY), ""),
    slots("claimed", include_str!("formats/claimed"), Some(&slot_totals::SPEEDS), ""),
    slots("servers", include_str!("formats/servers"), Some(&slot_totals::SIZES), ""),
    slots("gpus", include_str!("formats/gpus"), Some(&slot_totals::BY_ACTIVITY), ""),
    StandardTable {
        grouping: RowGrouping::Machines,
        ..slots("machines", include_str!("formats/machines"), Some(&slot_totals::BY_STATE), "")
    },
    slots("schedds", include_str!("formats/schedds"), Some(&slot_totals::SCHEDDS), "Scheduler"),
    slots("submitters", include_str!("formats/submitters"), Some(&slot_totals::SUBMITTERS), "Submitter"),
    slots("masters", include_str!("formats/masters"), None, "DaemonMaster"),
    slots("startds", include_str!("formats/startds"), Some(&slot_totals::DAEMONS), "StartD"),
    slots("negotiators", include_str!("formats/negotiators"), None, "Negotiator"),
    slots("collectors", include_str!("formats/collectors"), None, "Collector"),
];

/// Finds a table by its name.
pub fn find_table(name: &str) -> Option<&'static StandardTable> {
    STANDARD_TABLES.iter().find(|table| table.name == name)
}

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;

    use super::{STANDARD_TABLES, find_table};
    use crate::cli::commands::query::print_format::{WidthRule, read_print_format};

    #[test]
    fn the_format_of_each_table_can_be_read() {
        for table in &STANDARD_TABLES {
            for dialect in [Dialect::Condor, Dialect::Classad] {
                let format = read_print_format(table.format, dialect, WidthRule::Cuts);
                assert!(format.is_ok_and(|format| format.has_title), "{}", table.name);
            }
            assert_eq!(find_table(table.name).map(|found| found.format), Some(table.format));
        }
        assert!(find_table("nothing").is_none());
    }
}
