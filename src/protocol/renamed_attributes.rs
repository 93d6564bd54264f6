//! The table of attributes that HTCondor has renamed, and the search for the attribute that a name means.
//!
//! A slot once advertised the properties of its GPUs with the prefix of their interface, as in `CUDACapability`, and with
//! the number of the GPU if they differed, as in `CUDA0Capability`. Now it advertises `GPUs_Capability`, and each ad in
//! `AvailableGPUs` has the plain `Capability`. Sources: HTCondor's `condor_gpu_discovery.cpp` (`-not-nested`, `-extra`,
//! `-dynamic`), and its manual page.

use crate::ad::Name;
use crate::text::{closest_name, closest_names};

/// The prefix of the properties of all GPUs of a slot.
const GPUS_PREFIX: &str = "GPUs_";

/// The prefixes of other times: of CUDA, `OpenCL` and HIP.
const OLD_PREFIXES: [&str; 3] = ["CUDA", "OCL", "GPU"];

/// The properties of GPUs. After the name of a property that is no longer advertised comes the one that took its place.
const GPU_PROPERTIES: [(&str, Option<&str>); 24] = [
    ("AmdDriverVersion", None),
    ("Capability", None),
    ("ClockMhz", None),
    ("ComputeUnits", None),
    ("CoresPerCU", None),
    ("DeviceMemoryMb", None),
    ("DeviceName", None),
    ("DevicePciBusId", None),
    ("DeviceUuid", None),
    ("DieTempC", None),
    ("DriverVersion", None),
    ("ECCEnabled", None),
    ("EccErrorsDoubleBit", None),
    ("EccErrorsSingleBit", None),
    ("FanSpeedPct", None),
    ("FreeGlobalMemory", None),
    ("GlobalMemoryMb", None),
    ("MaxSupportedVersion", None),
    ("NvidiaDriver", None),
    ("OpenCLVersion", None),
    ("PowerUsage_mw", None),
    ("RuntimeVersion", Some("DriverVersion")),
    ("UtilizationPct", None),
    ("WarpSize", None),
];

/// Attributes of slots that are no properties of GPUs, with the names that they have now.
const RENAMED: [(&str, &str); 2] = [("TotalVirtualMachines", "TotalSlots"), ("VirtualMachineID", "SlotID")];

/// Returns the names by which HTCondor now calls an attribute that has another name, as of the slot and as of a single
/// GPU: `GPUs_Capability` and `Capability` for `CUDACapability`. Empty if it has no other
/// name.
#[must_use]
pub fn current_names(name: &str) -> Vec<String> {
    if let Some((_, current)) = RENAMED.iter().find(|(old, _)| old.eq_ignore_ascii_case(name)) {
        return vec![(*current).to_owned()];
    }
    let written = without_prefix(name, GPUS_PREFIX).into_iter().chain(old_properties(name)).chain([name]);
    let is_property = |rest: &str| {
        GPU_PROPERTIES.into_iter().find(|(property, _)| property.eq_ignore_ascii_case(rest.trim_start_matches('_')))
    };
    let mut names = names_of(written.into_iter().find_map(is_property));
    names.retain(|current| !current.eq_ignore_ascii_case(name));
    names
}

/// Returns the current names of an attribute as [`current_names`] does, also for an old name that is misspelt, such as
/// `CUDACapabilty`.
#[must_use]
pub fn likely_current_names(name: &str) -> Vec<String> {
    let current = current_names(name);
    if !current.is_empty() {
        return current;
    }
    let known = || GPU_PROPERTIES.iter().map(|(property, _)| *property);
    let near = old_properties(name).find_map(|rest| closest_name(rest.trim_start_matches('_'), known()));
    names_of(near.and_then(|near| GPU_PROPERTIES.into_iter().find(|(property, _)| *property == near)))
}

/// Returns the rest of a name that begins with `prefix`, ignoring case.
fn without_prefix<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)).then(|| &name[prefix.len()..])
}

/// Returns what follows the old prefixes of a name, and the number of a GPU.
fn old_properties(name: &str) -> impl Iterator<Item = &str> {
    let rests = OLD_PREFIXES.into_iter().filter_map(move |prefix| without_prefix(name, prefix));
    rests.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Returns the names of a property of GPUs, and of the property that took its place.
fn names_of(property: Option<(&str, Option<&str>)>) -> Vec<String> {
    let properties = property.into_iter().flat_map(|(property, successor)| [Some(property), successor]).flatten();
    properties.flat_map(|property| [format!("{GPUS_PREFIX}{property}"), property.to_owned()]).collect()
}

/// Returns the attribute of `among` that took the place of one with the old name `name`. `None` if there is none.
#[must_use]
pub fn renamed_attribute<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    first_known(&current_names(name), among)
}

/// Returns the attribute of a slot for one of its job: `RemoteOwner` for `Owner`. `None` if slots have none.
#[must_use]
pub fn slot_counterpart(name: &Name) -> Option<Name> {
    const COUNTERPARTS: [(&str, &str); 3] =
        [("Owner", "RemoteOwner"), ("User", "RemoteUser"), ("AccountingGroup", "RemoteGroup")];
    let (_, counterpart) = COUNTERPARTS.into_iter().find(|(known, _)| name.is(known))?;
    Some(Name::new(counterpart))
}

fn first_known<'a>(current: &[String], among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let place = |known: &str| current.iter().position(|name| name.eq_ignore_ascii_case(known));
    among.into_iter().filter_map(|known| Some((place(known)?, known))).min().map(|(_, known)| known)
}

/// Minimum length of the beginning or the end that names share, in characters.
const MIN_SHARED_CHARS: usize = 8;

/// Maximum number of names that begin or end as one does.
const MAX_SHARED_NAMES: usize = 3;

/// Returns the attributes of `among` that may be meant by `name`, best first: the one that took its place, or those that
/// are spelt most similarly, or the one that took the place of an old name spelt similarly.
#[must_use]
pub fn closest_attributes<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let among: Vec<&str> = among.into_iter().collect();
    if let Some(renamed) = renamed_attribute(name, among.iter().copied()) {
        return vec![renamed];
    }
    if let Some(repository) = without_prefix(name, REPOSITORY_PREFIX) {
        return of_same_repository(repository, name, &among);
    }
    let mut near = closest_names(name, among.iter().copied());
    // That both are names of features makes them no more similar.
    near.retain(|other| match [name, other].map(|name| without_prefix(name, "Has")) {
        [Some(own), Some(other)] => !closest_names(own, [other]).is_empty(),
        _ => true,
    });
    // A name that goes on is meant, and none of another number: `has_avx512f` for `has_avx512`, and not `has_avx2`.
    let goes_on = |other: &&str| other.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    if near.iter().any(goes_on) {
        near.retain(goes_on);
    }
    // A long name that goes on behind an underscore is meant, too, however long the rest is.
    let begins =
        |other: &&str| name.len() >= MIN_SHARED_CHARS && goes_on(other) && other[name.len()..].starts_with('_');
    // `AVX2` is the feature `has_avx2`.
    let feature = name_of_feature(name);
    let is_feature = |other: &&str| feature.len() >= MIN_FEATURE_CHARS && name_of_feature(other) == feature;
    // `ComputeCapability` is a `Capability`, `GPUMemoryMb` a `GlobalMemoryMb`.
    let has_end = |other: &&str| shares_last_words(name, other);
    let ways: [&dyn Fn(&&str) -> bool; 3] = [&begins, &is_feature, &has_end];
    for is_meant in ways {
        if near.is_empty() {
            near = among.iter().copied().filter(is_meant).take(MAX_SHARED_NAMES).collect();
        }
    }
    let likely = || first_known(&likely_current_names(name), among.iter().copied());
    if near.is_empty() { likely().into_iter().collect() } else { near }
}

/// The beginning of attributes that tell that a slot has a repository of CVMFS.
const REPOSITORY_PREFIX: &str = "HAS_CVMFS_";

/// Returns the attributes of the repository that `name` means: another repository has other files, however similar its name is.
/// `repository` is what stands behind the prefix.
fn of_same_repository<'a>(repository: &str, name: &str, among: &[&'a str]) -> Vec<&'a str> {
    let first_word = |repository: &str| repository.split('_').next().unwrap_or_default().to_ascii_lowercase();
    let own = first_word(repository);
    let is_same = |other: &&str| {
        let other = without_prefix(other, REPOSITORY_PREFIX).map(first_word);
        other.is_some_and(|other| other == own || !closest_names(&own, [other.as_str()]).is_empty())
    };
    let same: Vec<&str> = among.iter().copied().filter(is_same).collect();
    let near = closest_names(name, same.iter().copied());
    if near.is_empty() { same.into_iter().take(MAX_SHARED_NAMES).collect() } else { near }
}

/// Whether names end with the same words, which begin behind an underscore or with a capital letter.
fn shares_last_words(name: &str, other: &str) -> bool {
    let pairs = name.bytes().rev().zip(other.bytes().rev());
    let shared = pairs.take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count();
    let begins_word = |name: &str, length: usize| {
        let (before, words) = name.split_at_checked(name.len() - length).unwrap_or_default();
        before.is_empty() || before.ends_with('_') || words.starts_with(|first: char| first.is_ascii_uppercase())
    };
    (MIN_SHARED_CHARS..=shared).any(|length| begins_word(name, length) && begins_word(other, length))
}

/// Minimum length of the name of a feature by which attributes are the same, in characters.
const MIN_FEATURE_CHARS: usize = 3;

/// Returns the feature that the name of an attribute names, in lowercase, without `Has` or `Is`, and without underscores.
fn name_of_feature(name: &str) -> String {
    let name = name.to_ascii_lowercase().replace('_', "");
    let feature = name.strip_prefix("has").or_else(|| name.strip_prefix("is"));
    feature.map_or_else(|| name.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{closest_attributes, current_names, likely_current_names};

    #[test]
    fn a_misspelt_old_name_leads_to_the_current_one() {
        for name in ["CUDACapabilty", "cuda0Capabillity", "GPU_Capabilty", "OCLCapabilities"] {
            assert!(current_names(name).is_empty(), "{name}");
            assert_eq!(likely_current_names(name), ["GPUs_Capability", "Capability"], "{name}");
            assert_eq!(closest_attributes(name, ["Memory", "GPUs_Capability"]), ["GPUs_Capability"], "{name}");
        }
        for name in ["CUDA", "CUDAVersion", "GPUs", "GPUsUsage", "Capabilty", "Memory", "", "CUDA\u{e4}"] {
            assert!(likely_current_names(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn another_repository_is_not_meant() {
        let known = [
            "HAS_CVMFS_eic_opensciencegrid_org",
            "HAS_CVMFS_gwosc_osgstorage_org",
            "HAS_CVMFS_oasis_opensciencegrid_org",
        ];
        for (name, expected) in [
            ("HAS_CVMFS_gwosc_opensciencegrid_org", &known[1..2]),
            ("HAS_CVMFS_gwosc", &known[1..2]),
            ("has_cvmfs_oasis_opensciencegird_org", &known[2..]),
            ("HAS_CVMFS_oassis_opensciencegrid_org", &known[2..]),
            ("HAS_CVMFS_ara_opensciencegrid_org", &[]),
        ] {
            assert_eq!(closest_attributes(name, known), expected, "{name}");
        }
    }

    #[test]
    fn a_name_that_goes_on_is_meant() {
        let known = ["HAS_avx512f", "has_avx2", "HAS_avx512bw"];
        assert_eq!(closest_attributes("has_avx512", known), ["HAS_avx512f", "HAS_avx512bw"]);
        assert_eq!(closest_attributes("has_avx3", known), ["has_avx2"]);
        assert_eq!(closest_attributes("AVX2", known), ["has_avx2"]);
        assert_eq!(closest_attributes("IS_AVX_2", known), ["has_avx2"]);
        assert!(closest_attributes("Is_R", ["HasR"]).is_empty());
        assert_eq!(closest_attributes("ComputeCapability", ["Capability", "DeviceName"]), ["Capability"]);
        assert_eq!(closest_attributes("compute_capability", ["Capability"]), ["Capability"]);
        assert!(closest_attributes("computecapability", ["Capability"]).is_empty());
        assert_eq!(closest_attributes("GPUMemoryMb", ["Capability", "GlobalMemoryMb"]), ["GlobalMemoryMb"]);
        assert!(closest_attributes("NodeMemory", ["Memory"]).is_empty());
        let known = ["HAS_CVMFS_oasis_opensciencegrid_org", "HAS_CVMFS_oasisx", "Memory"];
        assert_eq!(closest_attributes("HAS_CVMFS_oasi", known), known[..1]);
        let known = ["HAS_CVMFS_oasis_opensciencegrid_org", "Memory"];
        assert_eq!(closest_attributes("has_cvmfs_oasis", known), ["HAS_CVMFS_oasis_opensciencegrid_org"]);
    }

    #[test]
    fn an_old_name_of_a_property_of_gpus_leads_to_the_current_one() {
        for name in ["CUDACapability", "cudacapability", "CUDA0Capability", "OCL12Capability", "GPU_Capability"] {
            assert_eq!(current_names(name), ["GPUs_Capability", "Capability"], "{name}");
            let known = ["CUDACapability2", "HasCapability", "Capability", "GPUs_Capability"];
            assert_eq!(closest_attributes(name, known), ["GPUs_Capability"], "{name}");
        }
        assert_eq!(current_names("GPUs_Capability"), ["Capability"]);
        assert_eq!(current_names("GlobalMemoryMb"), ["GPUs_GlobalMemoryMb"]);
        assert_eq!(closest_attributes("CUDARuntimeVersion", ["GPUs_DriverVersion"]), ["GPUs_DriverVersion"]);
        for name in ["CUDA", "CUDAVersion", "GPUs", "Capabilities", "Memory", "", "CUDA\u{e4}"] {
            assert!(current_names(name).is_empty(), "{name}");
        }
        assert_eq!(closest_attributes("CUDACapability", ["Memory", "CUDACapabilty"]), ["CUDACapabilty"]);
    }
}
