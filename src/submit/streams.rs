//! The standard input, output and error of a job.

use crate::format::Problem;

use super::job_builder::JobBuilder;
use super::job_kind::Universe;

/// The file that stands for no file.
const NULL_FILE: &str = "/dev/null";

/// A standard stream of a job: its commands and attributes.
struct StandardStream {
    file: [&'static str; 3],
    transfer: [&'static str; 2],
    streamed: [&'static str; 2],
}

/// Sets the standard input, output and error.
pub(super) fn set_input(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let (file, transfer, stream) =
        (["input", "stdin", "In"], ["transfer_input", "TransferIn"], ["stream_input", "StreamIn"]);
    set_stream(job, &StandardStream { file, transfer, streamed: stream })
}

pub(super) fn set_output(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let (file, transfer, stream) =
        (["output", "stdout", "Out"], ["transfer_output", "TransferOut"], ["stream_output", "StreamOut"]);
    set_stream(job, &StandardStream { file, transfer, streamed: stream })
}

pub(super) fn set_error(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let (file, transfer, stream) =
        (["error", "stderr", "Err"], ["transfer_error", "TransferErr"], ["stream_error", "StreamErr"]);
    set_stream(job, &StandardStream { file, transfer, streamed: stream })
}

fn set_stream(
    job: &mut JobBuilder<'_>,
    StandardStream { file, transfer, streamed: stream }: &StandardStream,
) -> Result<(), Problem> {
    let usual = job.boolean(transfer[1]).unwrap_or(true);
    let mut transfers = job.truth(transfer)?.unwrap_or(usual);
    let is_changed = transfers != usual;
    let mut streams = job.boolean(stream[1]).unwrap_or(false);
    streams = job.truth(stream)?.unwrap_or(streams);
    let value = job.value(&file[..2])?;
    let attribute = file[2];
    if value.is_some() || !job.has(attribute) {
        if let Some(value) = value.filter(|value| value.text != NULL_FILE) {
            if job.kind.universe == Universe::Vm {
                return Err(value.fault(format!("a job of the vm universe has no {}", file[0])));
            }
            job.assign_value(attribute, value.text.as_str(), &value);
        } else {
            (transfers, streams) = (false, false);
            job.assign(attribute, NULL_FILE);
        }
    }
    if transfers {
        job.assign(stream[1], streams);
        if is_changed {
            job.assign(transfer[1], true);
        }
    } else {
        job.assign(transfer[1], false);
    }
    Ok(())
}
