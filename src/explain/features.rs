//! The features of slots, as `HasDocker`: which jobs need one, and what to do where no slot has it.

use crate::ad::{Name, Value};
use crate::protocol::words;

use super::clause_analysis::ClauseAnalysis;
use super::job_reader::JobReader;

/// The attribute of slots that tells from which kinds of URLs they fetch files.
pub const TRANSFER_METHODS: &str = "HasFileTransferPluginMethods";

/// A feature of slots.
struct Feature {
    /// The attributes of slots that tell of it.
    names: &'static str,
    /// The universe whose jobs cannot run without it.
    universe: Option<i64>,
    /// The attributes of jobs that cannot run without it. `condor_submit` adds the clause because of them.
    settings: &'static str,
    /// What to do if no slot has it.
    remedy: &'static str,
}

const FEATURES: [Feature; 13] = [
    Feature {
        names: "HasJava JavaMFlops JavaSpecificationVersion JavaVendor JavaVersion",
        universe: Some(10),
        settings: "",
        remedy: "ask the admin for Java on the slots, or bring it along in an image: universe = container",
    },
    Feature {
        names: "HasVM VM_AvailNum VM_GuestMem VM_HardwareVT VM_Memory VM_Networking VM_Networking_Types VM_Type",
        universe: Some(13),
        settings: "",
        remedy: "ask the admin for slots with virtual machines, or use an image instead: universe = container",
    },
    Feature {
        names: "HasDocker HasDockerURL",
        universe: None,
        settings: "DockerImage WantDocker WantDockerImage",
        remedy: "ask the admin for slots with Docker, or let Apptainer run the image: universe = container, container_image = docker://...",
    },
    Feature {
        names: "HasContainer HasSandboxImage HasSIF HasSingularity",
        universe: None,
        settings: "ContainerImage SingularityImage WantContainer WantSIF",
        remedy: "ask the admin for slots with Apptainer, or bring the programs along as files",
    },
    Feature {
        names: "HasEncryptExecuteDirectory",
        universe: None,
        settings: "EncryptExecuteDirectory",
        remedy: "take encrypt_execute_directory out of the submit file, or ask the admin for slots that encrypt",
    },
    Feature {
        names: "HasPerFileEncryption",
        universe: None,
        settings: "DontEncryptInputFiles DontEncryptOutputFiles EncryptInputFiles EncryptOutputFiles",
        remedy: "take encrypt_input_files and encrypt_output_files out of the submit file, or ask the admin for slots that encrypt",
    },
    Feature {
        names: "HasJobDeferral",
        universe: None,
        settings: "CronDayOfMonth CronDayOfWeek CronHour CronMinute CronMonth DeferralTime",
        remedy: "take deferral_time out of the submit file, or ask the admin for slots that defer jobs",
    },
    Feature {
        names: "HasTDP",
        universe: None,
        settings: "ToolDaemonCmd",
        remedy: "take tool_daemon_cmd out of the submit file, or ask the admin for slots that run tools beside jobs",
    },
    Feature {
        names: "HasSelfCheckpointTransfers",
        universe: None,
        settings: "WantFTOnCheckpoint",
        remedy: "take checkpoint_exit_code out of the submit file, or ask the admin for slots that transfer checkpoints",
    },
    Feature {
        names: "HasCommonFilesTransfer",
        universe: None,
        settings: "RequireCommonFilesTransfer",
        remedy: "take the common files out of the submit file, or ask the admin for slots that transfer them",
    },
    Feature {
        names: "HasJobTransferPlugins",
        universe: None,
        settings: "TransferPlugins",
        remedy: "take transfer_plugins out of the submit file, or ask the admin for slots that run a job's plugins",
    },
    Feature {
        names: "HasFileTransfer",
        universe: None,
        settings: "ShouldTransferFiles",
        remedy: "ask the admin for slots that transfer files, or use a shared file system: should_transfer_files = NO",
    },
    Feature {
        names: TRANSFER_METHODS,
        universe: None,
        settings: "WantTransferPluginMethods",
        remedy: "correct the URLs in transfer_input_files and submit again, or bring a plugin along with transfer_plugins",
    },
];

/// Returns the attributes of jobs that tell which features they cannot run without.
pub fn feature_settings() -> impl Iterator<Item = &'static str> {
    FEATURES.iter().flat_map(|feature| words(feature.settings)).chain(["JobUniverse"])
}

impl Feature {
    fn of(name: &Name) -> Option<&'static Feature> {
        FEATURES.iter().find(|feature| words(feature.names).any(|known| name.is(known)))
    }
}

/// Says what to do if no slot has a feature of which one of `names` tells. `None` if none does.
pub fn feature_remedy<'n>(mut names: impl Iterator<Item = &'n Name>) -> Option<&'static str> {
    names.find_map(Feature::of).map(|feature| feature.remedy)
}

/// Whether a job can run in no slot without a feature, because of its universe, its image or another setting.
pub fn runs_by(job: &JobReader, name: &Name) -> bool {
    let sets = |setting: &str| job.is_true(setting) || job.text(setting).is_some() || job.amount(setting).is_some();
    Feature::of(name).is_some_and(|feature| {
        feature.universe.is_some_and(|universe| job.number("JobUniverse") == Some(universe))
            || words(feature.settings).any(sets)
    })
}

/// Whether an attribute of slots tells of a feature, as `HasDocker` and `HAS_R` do. A job that asks for one needs it.
pub fn names_feature(name: &Name) -> bool {
    let behind = name.as_str().get(3..).filter(|_| name.starts_with("Has"));
    behind.is_some_and(|behind| behind.starts_with(|letter: char| letter.is_ascii_uppercase() || letter == '_'))
}

/// Whether a clause asks for a feature and for nothing else: `TARGET.HasVM`, or `HasVM == true`.
pub fn is_of_feature(analysis: &ClauseAnalysis) -> bool {
    let mut names = analysis.offer_attributes.iter();
    let is_plain = analysis.comparison.as_ref().is_none_or(|comparison| matches!(comparison.bound, Value::Boolean(_)));
    is_plain && names.next().is_some_and(names_feature) && names.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::{feature_remedy, names_feature, runs_by};
    use crate::ad::{Dialect, Name};
    use crate::eval::Context;
    use crate::explain::job_reader::JobReader;
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn what_a_job_cannot_run_without() {
        for (attributes, feature, is_needed) in [
            ("JobUniverse = 10", "HasJava", true),
            ("JobUniverse = 5", "HasJava", false),
            ("JobUniverse = 13", "HasVM", true),
            ("JobUniverse = 13", "HasJava", false),
            ("WantDocker = true", "hasdocker", true),
            ("WantDocker = false", "HasDocker", false),
            ("DockerImage = \"debian\"", "HasDocker", true),
            ("WantContainer = true; WantDockerImage = true", "HasDockerURL", true),
            ("WantContainer = true; WantSIF = true", "HasDockerURL", false),
            ("WantContainer = true", "HasSIF", true),
            ("SingularityImage = \"a.sif\"", "HasSingularity", true),
            ("SingularityImage = \"a.sif\"", "HasDocker", false),
            ("ShouldTransferFiles = \"YES\"", "HasFileTransfer", true),
            ("ShouldTransferFiles = \"\"", "HasFileTransfer", false),
            ("ShouldTransferFiles = \"YES\"", "HasJobTransferPlugins", false),
            ("EncryptOutputFiles = \"a,b\"", "HasPerFileEncryption", true),
            ("EncryptExecuteDirectory = false", "HasEncryptExecuteDirectory", false),
            ("DeferralTime = 1783286388", "HasJobDeferral", true),
            ("DeferralTime = undefined", "HasJobDeferral", false),
            ("CronMinute = \"0\"", "HasJobDeferral", true),
            ("", "HasR", false),
        ] {
            let ad = parse_ad(format!("[ {attributes} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let job = JobReader { ad: &ad, context: &Context::new(Dialect::Condor) };
            assert_eq!(runs_by(&job, &Name::new(feature)), is_needed, "{attributes}: {feature}");
        }
    }

    #[test]
    fn what_tells_of_a_feature_and_what_to_do_without_it() {
        for (name, tells, remedy) in [
            ("HasSingularity", true, Some("ask the admin for slots with Apptainer")),
            ("HAS_R", true, None),
            ("hash", false, None),
            ("Has", false, None),
            ("HasFileTransfer", true, Some("ask the admin for slots that transfer files")),
            ("VM_Type", false, Some("ask the admin for slots with virtual machines")),
        ] {
            let name = Name::new(name);
            assert_eq!(names_feature(&name), tells, "{name}");
            let found = feature_remedy([&Name::new("Memory"), &name].into_iter());
            assert_eq!(found.and_then(|found| found.split(',').next()), remedy, "{name}");
        }
    }
}
