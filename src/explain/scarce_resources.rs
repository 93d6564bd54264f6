//! What slots have too little of for a request.

use std::cmp::Reverse;

use crate::ad::{Ad, Name};
use crate::eval::Context;
use crate::protocol::{evaluate_attribute, requested_resource};
use crate::text::{join_and, with_commas};

use super::distance::as_number;

/// The resources that a request asks for and that slots do not have enough of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScarceResources {
    /// Number of slots.
    pub slots: usize,
    /// The resources, each with the number of slots that have too little of it. The scarcest comes first.
    pub resources: Vec<(Name, usize)>,
}

impl ScarceResources {
    /// Finds the scarce resources of divided slots. `rests` has what is left of each slot.
    #[must_use]
    pub fn of_rests(request: &Ad, rests: &[&Ad], context: &Context) -> Self {
        Self::find(request, rests.len(), context, |resource| {
            rests.iter().map(|rest| as_number(&evaluate_attribute(rest, resource, context)?)).collect()
        })
    }

    /// Finds the scarce resources of a number of slots. `left` returns how much each slot has left of a resource; `None`
    /// for a slot that does not say.
    pub(super) fn find(
        request: &Ad,
        slots: usize,
        context: &Context,
        left: impl Fn(&Name) -> Vec<Option<f64>>,
    ) -> Self {
        let scarce = |attribute: &Name| {
            let resource = requested_resource(attribute)?;
            let wanted = as_number(&evaluate_attribute(request, attribute, context)?)?;
            let is_too_little = |left: &Option<f64>| left.is_some_and(|left| left < wanted);
            let number = left(&resource).iter().filter(|left| is_too_little(left)).count();
            Some((resource, number))
        };
        let found = request.iter().filter_map(|attribute| scarce(attribute.name));
        let mut resources: Vec<(Name, usize)> = found.filter(|(_, slots)| *slots > 0).collect();
        resources.sort_by_key(|(_, slots)| Reverse(*slots));
        ScarceResources { slots, resources }
    }

    /// Whether no resource is scarce.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// Names the resources: `none has enough Cpus left, 2 do not have enough Memory left`, where `none` is `none has`. Empty
    /// if there are none.
    #[must_use]
    pub fn phrase(&self, none: &str) -> String {
        let of_all = Some(self.phrase_of_all(none)).filter(|phrase| !phrase.is_empty());
        let some = self.resources.iter().filter(|(_, number)| *number < self.slots).map(|(name, number)| {
            let have = if *number == 1 { "1 does".to_owned() } else { format!("{} do", with_commas(*number)) };
            format!("{have} not have enough {name} left")
        });
        of_all.into_iter().chain(some).collect::<Vec<_>>().join(", ")
    }

    /// The names of the resources that some slots do not have enough of.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.resources.iter().map(|(name, _)| name.to_string()).collect()
    }

    /// Names the resources that no slot has enough of. Empty if there are none.
    #[must_use]
    pub fn phrase_of_all(&self, none: &str) -> String {
        let of_all = self.resources.iter().filter(|(_, number)| *number == self.slots);
        let names: Vec<String> = of_all.map(|(name, _)| name.to_string()).collect();
        if names.is_empty() { String::new() } else { format!("{none} enough {} left", join_and(&names)) }
    }
}

#[cfg(test)]
mod tests {
    use super::ScarceResources;
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    fn ad(text: &str) -> Ad {
        parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
    }

    /// A slot that does not tell how much it has left is not scarce.
    #[test]
    fn what_slots_have_too_little_of() {
        for (request, rests, names, phrase) in [
            ("RequestCpus = 2", &["Cpus = 2"][..], "", ""),
            ("RequestCpus = 2", &["Cpus = 1"], "Cpus", "none has enough Cpus left"),
            ("RequestCpus = 2", &["Cpus = 1", "Cpus = 1.5"], "Cpus", "none has enough Cpus left"),
            ("RequestCpus = 2", &["Cpus = 1", "Cpus = 2"], "Cpus", "1 does not have enough Cpus left"),
            ("RequestCpus = 2", &["Cpus = 1", "Cpus = 1", "x = 1"], "Cpus", "2 do not have enough Cpus left"),
            ("RequestCpus = 2", &["Cpus = \"a\"", "Cpus = undefined"], "", ""),
            ("RequestCpus = \"a\"; Cpus = 9", &["Cpus = 1"], "", ""),
            (
                "RequestCpus = 2; RequestMemory = 8; RequestDisk = 4",
                &["Cpus = 1; Memory = 1; Disk = 1", "Cpus = 1; Memory = 9; Disk = 1"],
                "Cpus Disk Memory",
                "none has enough Cpus and Disk left, 1 does not have enough Memory left",
            ),
            (
                "RequestMemory = 8; RequestCpus = 2 * 2",
                &["Memory = 1; Cpus = 4", "Memory = 9; Cpus = 3", "Memory = 9; Cpus = 1"],
                "Cpus Memory",
                "2 do not have enough Cpus left, 1 does not have enough Memory left",
            ),
            ("RequestCpus = 2", &[], "", ""),
        ] {
            let rests: Vec<Ad> = rests.iter().map(|rest| ad(rest)).collect();
            let rests: Vec<&Ad> = rests.iter().collect();
            let scarce = ScarceResources::of_rests(&ad(request), &rests, &Context::new(Dialect::Condor));
            assert_eq!(
                (scarce.names().join(" ").as_str(), scarce.phrase("none has").as_str()),
                (names, phrase),
                "{request}"
            );
            assert_eq!(scarce.is_empty(), names.is_empty(), "{request}");
            let of_all = phrase.split(", ").find(|part| part.starts_with("none")).unwrap_or_default();
            assert_eq!(scarce.phrase_of_all("none has"), of_all, "{request}");
        }
    }
}
