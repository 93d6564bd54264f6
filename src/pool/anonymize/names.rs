//! Pseudonyms of identifiers in the names of attributes.
//!
//! HTCondor makes attributes of identifiers: `GPUs_GPU_a0223334` is the ad of the device `GPU-a0223334`, which
//! `AssignedGPUs` names. The parts of a name between `_` get the pseudonyms that they have as words of a string, so that
//! both still agree.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::pseudonyms::Pseudonyms;
use crate::ad::{Ad, Expression, ExpressionKind, Name, Value};

/// Minimum number of digits of a hexadecimal number that is taken for an identifier.
const MIN_IDENTIFIER_DIGITS: usize = 6;

/// Attributes that list the names of others or, as the names of resources, parts of them.
const LISTS_OF_NAMES: [&str; 2] = ["MachineResources", "AutoClusterAttrs"];

/// Beginnings of the names of attributes that list the devices of a resource, as `AssignedGPUs` does.
const DEVICE_LISTS: [&str; 3] = ["Assigned", "Detected", "Offline"];

/// Whether the strings of an attribute are lists of names.
pub(super) fn is_list_of_names(name: &Name) -> bool {
    LISTS_OF_NAMES.iter().any(|known| known.eq_ignore_ascii_case(name.as_str()))
}

impl Pseudonyms {
    /// Returns the name of an attribute with pseudonyms: for the parts that identify something or that are to be
    /// replaced, and for the words of a name that has to stand in quotes.
    pub fn of_name<'n>(&mut self, name: &'n str) -> Cow<'n, str> {
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return match self.pseudonym(name.as_bytes()) {
                Cow::Borrowed(_) => Cow::Borrowed(name),
                Cow::Owned(pseudonym) => Cow::Owned(String::from_utf8_lossy(&pseudonym).into_owned()),
            };
        }
        let is_value = is_numbered(name);
        if !name.contains('_') && !is_value && identifier_length(name) == 0 && !self.is_replaced(name.as_bytes()) {
            return Cow::Borrowed(name);
        }
        let parts: Vec<&str> = name.split('_').collect();
        let device = device_place(&parts);
        let groups = uuid_places(&parts);
        let mut result: Option<Vec<u8>> = None;
        let mut at = 0;
        for (place, part) in parts.iter().enumerate() {
            // The identifier may end within a part, before a word that says what is told of the device.
            let is_group = groups.contains(&place);
            let length = match () {
                () if is_value || self.is_replaced(part.as_bytes()) => part.len(),
                () if is_group => group_length(part),
                () => match identifier_length(part) {
                    0 if device.is_some_and(|device| place >= device) => part.len(),
                    length => length,
                },
            };
            let (identifier, rest) = part.split_at(length);
            if !identifier.is_empty()
                && (self.is_replaced(part.as_bytes()) || !self.is_kept_word(identifier.as_bytes()))
            {
                let result = result.get_or_insert_with(|| name.as_bytes()[..at].to_vec());
                self.push_word(identifier.as_bytes(), result);
                result.extend_from_slice(rest.as_bytes());
            } else if let Some(result) = &mut result {
                result.extend_from_slice(part.as_bytes());
            }
            at += part.len();
            if place + 1 < parts.len() {
                at += 1;
                if let Some(result) = &mut result {
                    result.push(b'_');
                }
            }
        }
        result.map_or(Cow::Borrowed(name), |result| Cow::Owned(String::from_utf8_lossy(&result).into_owned()))
    }

    /// Returns a list of names of attributes with the pseudonyms of these names.
    pub fn of_list_of_names(&mut self, text: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(text);
        let is_of_name = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || c == '_';
        let mut result = String::with_capacity(text.len());
        for piece in text.split_inclusive(|c| !is_of_name(c)) {
            let name = piece.trim_end_matches(|c| !is_of_name(c));
            result.push_str(&self.of_name(name));
            result.push_str(&piece[name.len()..]);
        }
        result.into_bytes()
    }

    /// Returns the attributes of an ad that are called after its devices, in lower case, with their pseudonyms: those
    /// whose value is an ad with this `Id`, and those of the devices that `AssignedGPUs` and its like list.
    pub fn of_devices(&mut self, ad: &Ad) -> FxHashMap<String, Name> {
        let mut found = FxHashMap::default();
        let mut add = |pseudonyms: &mut Pseudonyms, resource: &str, id: &[u8]| {
            let name = format!("{resource}_{}", as_part_of_name(id)).to_ascii_lowercase();
            let pseudonym = format!("{resource}_{}", as_part_of_name(&pseudonyms.pseudonym(id)));
            found.insert(name, Name::new(&pseudonym));
        };
        for attribute in ad.iter() {
            let name = attribute.name.as_str();
            match attribute.expression.kind() {
                ExpressionKind::Literal(Value::String(text)) => {
                    let resource = DEVICE_LISTS.iter().find_map(|beginning| name.strip_prefix(beginning));
                    let Some(resource) = resource.filter(|resource| !resource.is_empty()) else { continue };
                    let ids = text.as_bytes().split(|byte| matches!(byte, b',' | b' '));
                    ids.filter(|id| !id.is_empty()).for_each(|id| add(self, resource, id));
                }
                ExpressionKind::Ad(device) => self.add_device(name, device, &mut add),
                ExpressionKind::Literal(Value::Ad(device)) => self.add_device(name, device.ad(), &mut add),
                _ => {}
            }
        }
        found
    }

    /// Calls `add` if the name of an attribute ends with the `Id` of its value.
    fn add_device(&mut self, name: &str, device: &Ad, add: &mut impl FnMut(&mut Pseudonyms, &str, &[u8])) {
        let Some(ExpressionKind::Literal(Value::String(id))) = device.get(&Name::new("Id")).map(Expression::kind)
        else {
            return;
        };
        let ending = format!("_{}", as_part_of_name(id.as_bytes()));
        let resource = name.len().checked_sub(ending.len()).and_then(|at| name.split_at_checked(at));
        if let Some((resource, found)) = resource
            && found.eq_ignore_ascii_case(&ending)
        {
            add(self, resource, id.as_bytes());
        }
    }
}

/// Number of digits of the groups of a UUID.
const UUID_GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// Returns the length of the hexadecimal number at the beginning of a part of a name, if a program made it: the whole part,
/// or up to a capital letter, as in `1234abcdGlobalMemoryMb`. 0 if there is none.
fn identifier_length(part: &str) -> usize {
    let length = group_length(part);
    let has_digit = part[..length].bytes().any(|byte| byte.is_ascii_digit());
    if length >= MIN_IDENTIFIER_DIGITS && has_digit { length } else { 0 }
}

/// Returns the length of the hexadecimal number at the beginning of a part of a name: the whole part, or up to a capital
/// letter. 0 if there is none.
fn group_length(part: &str) -> usize {
    if part.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return part.len();
    }
    let is_lower = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    let length = part.bytes().take_while(|byte| is_lower(byte)).count();
    if part.as_bytes().get(length).is_some_and(u8::is_ascii_uppercase) { length } else { 0 }
}

/// Returns the place of the parts of a name that identify a device: those behind `GPUs_GPU_`, also if more words stand
/// before or between, as in `DeviceGPUs_GPU_...` and `GPUs_MIG_GPU_...`. `None` if the name has no device.
fn device_place(parts: &[&str]) -> Option<usize> {
    let (resource, rest) = parts.split_first()?;
    let kind = rest.iter().take(2).position(|kind| {
        let beginning = resource.len().checked_sub(kind.len() + 1).and_then(|at| resource.get(at..));
        !kind.is_empty()
            && beginning.is_some_and(|end| end.ends_with(['s', 'S']) && end[..kind.len()].eq_ignore_ascii_case(kind))
    })?;
    let place = kind + 2;
    (place < parts.len()).then_some(place)
}

/// Returns the places of the groups of a UUID among the parts of a name. Empty if there is none.
fn uuid_places(parts: &[&str]) -> Range<usize> {
    let is_uuid = |parts: &[&str]| parts.iter().zip(UUID_GROUPS).all(|(part, digits)| group_length(part) == digits);
    parts.windows(UUID_GROUPS.len()).position(is_uuid).map_or(0..0, |at| at..at + UUID_GROUPS.len())
}

/// Whether a name is a short word with a number, as those of machines and racks are. A constraint has such a name where the
/// quotes of a string are missing: `Rack == r01`. `condor_userprio -long` numbers its attributes, too: `Name12`.
fn is_numbered(name: &str) -> bool {
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (1..=4).contains(&word.len())
        && name.len() - word.len() >= 2
        && word.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !word.eq_ignore_ascii_case("name")
}

/// Returns an identifier as HTCondor writes it in a name: with `_` in place of what cannot stand there.
fn as_part_of_name(id: &[u8]) -> String {
    id.iter().map(|byte| if byte.is_ascii_alphanumeric() { char::from(*byte) } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        Pseudonyms, device_place, group_length, identifier_length, is_list_of_names, is_numbered, uuid_places,
    };
    use crate::ad::Dialect;
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn identifiers_are_long_hexadecimal_numbers_with_a_digit() {
        // The length of the number, and of the identifier.
        for (part, number, identifier) in [
            ("", 0, 0),
            ("12345", 5, 0),
            ("123456", 6, 6),
            ("abcdef", 6, 0),
            ("abcde1", 6, 6),
            ("ABCDE1", 6, 6),
            ("abcde1X", 6, 6),
            ("abcd1X", 5, 0),
            ("abcde1x", 0, 0),
            ("abcde1_", 0, 0),
            ("abcde1AX", 6, 6),
            ("ABCDE1X", 0, 0),
            ("X", 0, 0),
        ] {
            assert_eq!((group_length(part), identifier_length(part)), (number, identifier), "{part}");
        }
    }

    #[test]
    fn short_words_with_numbers_are_names_of_machines() {
        for (name, expected) in [
            ("r01", true),
            ("rack12", true),
            ("racks12", false),
            ("r1", false),
            ("r", false),
            ("12", false),
            ("r_12", false),
            ("Name12", false),
            ("NAME12", false),
            ("nam12", true),
        ] {
            assert_eq!(is_numbered(name), expected, "{name}");
        }
    }

    #[test]
    fn devices_stand_behind_their_resource_and_kind() {
        for (name, expected) in [
            ("GPUs_GPU_x", Some(2)),
            ("gpuS_gpu_x", Some(2)),
            ("GPUs_MIG_GPU_x", Some(3)),
            ("DeviceGPUs_GPU_x", Some(2)),
            ("GPUs_GPU", None),
            ("GPUs_a_b_GPU_x", None),
            ("GPUx_GPU_x", None),
            ("GPUs__x", None),
            ("s_GPU_x", None),
            ("GPUs_GPUs_x", None),
            ("GPUs", None),
        ] {
            let parts: Vec<&str> = name.split('_').collect();
            assert_eq!(device_place(&parts), expected, "{name}");
        }
        for (name, expected) in [
            ("6368cb58_1b2c_4444_8888_abbccddeeff0", 0..5),
            ("a_6368cb58_1b2c_4444_8888_abbccddeeff0X_b", 1..6),
            ("a_6368cb58_1b2c_4444_8888_abbccddeeff", 0..0),
            ("6368cb58_1b2c_4444_8888", 0..0),
        ] {
            let parts: Vec<&str> = name.split('_').collect();
            assert_eq!(uuid_places(&parts), expected, "{name}");
        }
        assert_eq!(
            ["machineresources", "AutoClusterAttrs", "Machine"].map(|name| is_list_of_names(&name.into())),
            [true, true, false]
        );
    }

    #[test]
    fn attributes_are_called_after_the_devices_of_an_ad() {
        let mut pseudonyms = Pseudonyms::new(b"key");
        let mut names = |text: &str| {
            let ad = parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let mut found: Vec<String> = pseudonyms.of_devices(&ad).into_keys().collect();
            found.sort();
            found.join(" ")
        };
        for (ad, expected) in [
            ("AssignedGPUs = \"GPU-a1, GPU-b2\"", "gpus_gpu_a1 gpus_gpu_b2"),
            ("DetectedX = \"a,b c\"", "x_a x_b x_c"),
            ("OfflineX = \"\"", ""),
            ("Assigned = \"a\"", ""),
            ("Other = \"a\"", ""),
            ("AssignedGPUs = 1", ""),
            ("GPUs_GPU_c3 = [ Id = \"GPU-c3\" ]", "gpus_gpu_c3"),
            ("gpus_gpu_c3 = [ Id = \"GPU-C3\" ]", "gpus_gpu_c3"),
            ("GPUs_GPU_c3 = [ Id = \"GPU-c4\" ]", ""),
            ("GPUs_GPU_c3 = [ Id = 3 ]", ""),
            ("GPUs_GPU_c3 = [ Name = \"GPU-c3\" ]", ""),
            ("c3 = [ Id = \"GPU-c3\" ]", ""),
            ("_c3 = [ Id = \"c3\" ]", "_c3"),
        ] {
            assert_eq!(names(ad), expected, "{ad}");
        }
    }

    #[test]
    fn identifiers_in_names_have_their_pseudonyms_as_words() {
        let mut pseudonyms = Pseudonyms::new(b"key");
        pseudonyms.replace(b"alice, cs");
        let mut word = |text: &str| String::from_utf8(pseudonyms.pseudonym(text.as_bytes()).into_owned()).unwrap();
        let [device, alice, cs, host, rack] = ["a0223334", "alice", "cs", "ap2.wisc.edu", "r01"].map(&mut word);
        let uuid = word("6368cb58-1b2c-4444-8888-abbccddeeff0").replace('-', "_");
        for (name, expected) in [
            ("GPUs_GPU_a0223334", format!("GPUs_GPU_{device}")),
            ("gpus_gpu_a0223334", format!("gpus_gpu_{device}")),
            ("GPUs_GPU_6368cb58_1b2c_4444_8888_abbccddeeff0", format!("GPUs_GPU_{uuid}")),
            ("Job_a0223334_State", format!("Job_{device}_State")),
            ("Quota_alice", format!("Quota_{alice}")),
            ("alice_of_cs", format!("{alice}_of_{cs}")),
            ("slot1@ap2.wisc.edu", format!("slot1@{host}")),
            ("GPU_a0223334GlobalMemoryMb", format!("GPU_{device}GlobalMemoryMb")),
            ("DeviceGPUs_GPU_a0223334Usage", format!("DeviceGPUs_GPU_{device}Usage")),
            ("GPUs_MIG_GPU_a0223334", format!("GPUs_MIG_GPU_{device}")),
            ("GPUs_MIG_GPU_6368cb58_1b2c_4444_8888_abbccddeeff0", format!("GPUs_MIG_GPU_{uuid}")),
            ("GPU_6368cb58_1b2c_4444_8888_abbccddeeff0EccEnabled", format!("GPU_{uuid}EccEnabled")),
            ("a0223334Usage", format!("{device}Usage")),
            ("DeviceGPUsAverageUsage", "DeviceGPUsAverageUsage".to_owned()),
            ("GPUs_DeviceName", "GPUs_DeviceName".to_owned()),
            ("has_avx512f", "has_avx512f".to_owned()),
            ("PORT_27017", "PORT_27017".to_owned()),
            ("slot1_2_State", "slot1_2_State".to_owned()),
            ("r01", rack),
            ("Name12", "Name12".to_owned()),
            ("Quota_alice_", format!("Quota_{alice}_")),
            ("_alice", format!("_{alice}")),
            ("abcdef_1", "abcdef_1".to_owned()),
            ("GPUs_GPU_slot1", "GPUs_GPU_slot1".to_owned()),
            ("Cpus", "Cpus".to_owned()),
            ("Memory", "Memory".to_owned()),
            ("_", "_".to_owned()),
        ] {
            assert_eq!(pseudonyms.of_name(name), expected, "{name}");
        }
        assert_eq!(
            pseudonyms.of_list_of_names(b"Cpus FPGA,Quota_alice"),
            format!("Cpus FPGA,Quota_{alice}").into_bytes()
        );
    }
}
