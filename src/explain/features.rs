//! What to do where no slot has a feature that a job needs.

use crate::ad::{Name, Value};
use crate::protocol::words;

use super::clause_analysis::ClauseAnalysis;

/// The attribute of slots that tells from which kinds of URLs they fetch files.
pub const TRANSFER_METHODS: &str = "HasFileTransferPluginMethods";

/// Attributes of slots that tell of a feature, with what to do if no slot has it.
const REMEDIES: [(&str, &str); 8] = [
    (
        "HasJava JavaMFlops JavaSpecificationVersion JavaVendor JavaVersion",
        "ask the admin for Java on the slots, or bring it along in an image: universe = container",
    ),
    (
        "HasVM VM_AvailNum VM_GuestMem VM_HardwareVT VM_Memory VM_Networking VM_Networking_Types VM_Type",
        "ask the admin for slots with virtual machines, or use an image instead: universe = container",
    ),
    (
        "HasDocker HasDockerURL",
        "ask the admin for slots with Docker, or let Apptainer run the image: universe = container, container_image = docker://...",
    ),
    (
        "HasContainer HasSandboxImage HasSIF HasSingularity",
        "ask the admin for slots with Apptainer, or bring the programs along as files",
    ),
    (
        "HasEncryptExecuteDirectory",
        "take encrypt_execute_directory out of the submit file, or ask the admin for slots that encrypt",
    ),
    (
        "HasPerFileEncryption",
        "take encrypt_input_files and encrypt_output_files out of the submit file, or ask the admin for slots that encrypt",
    ),
    ("HasJobDeferral", "take deferral_time out of the submit file, or ask the admin for slots that defer jobs"),
    (
        TRANSFER_METHODS,
        "correct the URLs in transfer_input_files and submit again, or bring a plugin along with transfer_plugins",
    ),
];

/// Says what to do if no slot has a feature of which one of `names` tells. `None` if none does.
pub fn feature_remedy<'n>(mut names: impl Iterator<Item = &'n Name>) -> Option<&'static str> {
    names.find_map(|name| {
        let tells = |(features, _): &&(&str, &str)| words(features).any(|known| name.is(known));
        REMEDIES.iter().find(tells).map(|(_, remedy)| *remedy)
    })
}

/// Whether a clause asks for a feature and for nothing else: `TARGET.HasVM`, or `HasVM == true`.
pub fn is_of_feature(analysis: &ClauseAnalysis) -> bool {
    let mut names = analysis.offer_attributes.iter();
    let is_feature = |name: &Name| name.as_str().get(..3).is_some_and(|start| start.eq_ignore_ascii_case("Has"));
    let is_plain = analysis.comparison.as_ref().is_none_or(|comparison| matches!(comparison.bound, Value::Boolean(_)));
    is_plain && names.next().is_some_and(is_feature) && names.next().is_none()
}
