//! Import of accounts from HTCondor's accountant.

use crate::ad::{Ad, Value};
use crate::eval::{Context, Environment, Evaluator};
use crate::format::ACCOUNT_TABLE;

use super::usage::{Account, Accountant};

/// Beginning of the names of the attributes that name submitters: `Name1`, `Name2` and so on.
const NAME: &str = "Name";

/// Name of the attribute that holds the maximum weight of a submitter; -1 stands for none.
const CEILING: &str = "Ceiling";

/// Names of the attributes that hold numbers, without the numbers of their submitters.
const NUMBERS: [&str; 8] = [
    "Priority",
    "PriorityFactor",
    CEILING,
    "Floor",
    "ResourcesUsed",
    "WeightedResourcesUsed",
    "AccumulatedUsage",
    "WeightedAccumulatedUsage",
];

impl Accountant {
    /// Reads accounts from the ad that `condor_userprio -long` prints, or the account of an ad of type `Accounting`, whose
    /// names have no numbers. An ad of the negotiator's `Accountantnew.log`, of type `Customer`, is such an account, with the
    /// real priority. Entries of accounting groups are left out. `None` if the ad names neither submitters nor groups.
    ///
    /// HTCondor prints effective priorities, so that a real priority is the quotient of `Priority1` and
    /// `PriorityFactor1`. The factor of an entry without one is 1, so that its effective priority stays. HTCondor charges slots by weight: `WeightedResourcesUsed1`, `WeightedAccumulatedUsage1`.
    #[must_use]
    pub fn from_userprio(ad: &Ad, context: &Context) -> Option<Self> {
        let (environment, frame) = Environment::single(ad.clone());
        let value = |name: &str| {
            let value = Evaluator::new(&environment, context).evaluate(ad.get_str(name)?, &frame).ok()?;
            Some(value).filter(|value| !value.is_exceptional())
        };
        let number = |name: &str| match value(name)? {
            #[allow(clippy::cast_precision_loss)] // a number of slots or seconds
            Value::Integer(number) => Some(number as f64),
            Value::Real(number) => Some(number).filter(|number| number.is_finite()),
            _ => None,
        };
        let is_logged = value("MyType") == Some(Value::string(ACCOUNT_TABLE));
        let (mut accountant, mut has_entries) = (Accountant::default(), false);
        for attribute in ad.iter() {
            let entry = attribute.name.as_str();
            let Some((prefix, entry)) = entry.split_at_checked(NAME.len()) else { continue };
            let is_numbered = entry.bytes().all(|byte| byte.is_ascii_digit());
            let is_other_ad = entry.is_empty() && value("Priority").is_none() && !is_logged;
            if !is_numbered || is_other_ad || !prefix.eq_ignore_ascii_case(NAME) {
                continue;
            }
            let Some(Value::String(name)) = value(attribute.name.as_str()) else { continue };
            has_entries = true;
            // The log does not say which customers are groups. The name of a submitter has a domain.
            let is_group = is_logged && !name.to_str().contains('@');
            if is_group || matches!(value(&format!("IsAccountingGroup{entry}")), Some(Value::Boolean(true))) {
                continue;
            }
            let of_entry = |name: &str| number(&format!("{name}{entry}")).filter(|number| *number >= 0.0);
            let default = Account::default();
            let factor = of_entry("PriorityFactor").filter(|factor| *factor > 0.0);
            let (real_priority, factor) = match of_entry("Priority") {
                // HTCondor's real priorities are at least that of a new submitter.
                Some(priority) if is_logged => (priority.max(default.real_priority), factor.unwrap_or(default.factor)),
                Some(priority) => (priority / factor.unwrap_or(1.0), factor.unwrap_or(1.0)),
                None => (default.real_priority, factor.unwrap_or(default.factor)),
            };
            let resources = of_entry("WeightedResourcesUsed").or_else(|| of_entry("ResourcesUsed"));
            let usage = of_entry("WeightedAccumulatedUsage").or_else(|| of_entry("AccumulatedUsage"));
            let account = Account {
                real_priority,
                factor,
                resources: resources.unwrap_or_default(),
                usage: usage.unwrap_or_default(),
            };
            let name = name.to_str().into_owned();
            // HTCondor prints -1 for no ceiling, and 0 for no floor.
            accountant.ceilings.extend(of_entry("Ceiling").map(|ceiling| (name.clone(), ceiling)));
            accountant.floors.extend(of_entry("Floor").filter(|floor| *floor > 0.0).map(|floor| (name.clone(), floor)));
            accountant.submitters.insert(name, account);
        }
        accountant.accounted_until = time_of_accounts(ad, context);
        has_entries.then_some(accountant)
    }
}

/// Returns the time until which usage is accounted for, if an ad tells it: that of `condor_userprio`, or the one of type
/// `Accountant` in `Accountantnew.log`.
#[must_use]
pub fn time_of_accounts(ad: &Ad, context: &Context) -> Option<i64> {
    let (environment, frame) = Environment::single(ad.clone());
    let mut times = ["LastUpdate", "LastUpdateTime"].into_iter().filter_map(|name| ad.get_str(name));
    times.find_map(|time| match Evaluator::new(&environment, context).evaluate(time, &frame) {
        Ok(Value::Integer(at)) => Some(at),
        _ => None,
    })
}

/// Returns the attributes of an ad of accounts that should be numbers of at least 0 and are not, with their values, such as
/// `Priority3 is -5.0`. [`Accountant::from_userprio`] ignores them.
#[must_use]
pub fn impossible_numbers(ad: &Ad, context: &Context) -> Vec<String> {
    let (environment, frame) = Environment::single(ad.clone());
    let mut found = Vec::new();
    for attribute in ad.iter() {
        let name = attribute.name.as_str().trim_end_matches(|letter: char| letter.is_ascii_digit());
        if !NUMBERS.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            continue;
        }
        let value = Evaluator::new(&environment, context).evaluate(attribute.expression, &frame);
        let is_possible = match &value {
            Ok(Value::Integer(number)) => *number >= 0 || *number == -1 && name.eq_ignore_ascii_case(CEILING),
            Ok(Value::Real(number)) => number.is_finite() && *number >= 0.0,
            Ok(Value::Undefined) => true,
            _ => false,
        };
        if !is_possible {
            found.push(format!("{} is {}", attribute.name, value.unwrap_or(Value::Undefined)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::format::{FileFormat, read};
    use crate::matching::policy::{Account, Accountant};

    use super::{impossible_numbers, time_of_accounts};

    fn imported(text: &str) -> Option<Accountant> {
        let ad: Ad = read(text.as_bytes(), FileFormat::Long, Dialect::Condor).next().unwrap().unwrap().ad;
        Accountant::from_userprio(&ad, &Context::new(Dialect::Condor))
    }

    #[test]
    fn numbers_that_cannot_be_are_named() {
        let text = "Name1 = \"a@x\"\nPriority1 = -5.0\nPriorityFactor1 = real(\"NaN\")\nCeiling1 = -1\nFloor1 = 0\nName2 = \"b@x\"\n\
            Priority2 = \"many\"\nCeiling2 = -2\nWeightedResourcesUsed2 = 0.0\nPriority3 = undefined\nNumSubmittors = -1\n";
        let ad: Ad = read(text.as_bytes(), FileFormat::Long, Dialect::Condor).next().unwrap().unwrap().ad;
        let found = impossible_numbers(&ad, &Context::new(Dialect::Condor));
        let expected =
            ["Priority1 is -5.0", "PriorityFactor1 is real(\"NaN\")", "Priority2 is \"many\"", "Ceiling2 is -2"];
        assert_eq!(found, expected);
        let accounts = imported(text).unwrap();
        assert_eq!(accounts.submitters["a@x"], Account::default());
        assert_eq!(accounts.submitters["b@x"], Account::default());
        assert!(accounts.ceilings.is_empty());
    }

    /// As in a log that a negotiator of HTCondor 25.14.1 wrote, shortened.
    #[test]
    fn the_log_of_the_accountant_has_real_priorities() {
        let log = "107 1 CreationTimestamp 1795905551\n101 Customer.<none> * *\n103 Customer.<none> PriorityFactor 1000.0\n\
            101 Accountant. * *\n103 Accountant. LastUpdateTime 1795905551\n101 Customer.a@x * *\n105 \n\
            103 Customer.a@x PriorityFactor 10000.000000\n103 Customer.a@x Priority 5.5\n103 Customer.a@x Ceiling 2\n\
            103 Customer.a@x WeightedResourcesUsed 3.000000\n106 \n101 Customer.bio.b@x * *\n\
            103 Customer.bio.b@x PriorityFactor 2.0\n103 Customer.bio.b@x Floor 4\n\
            101 Resource.slot1@h@<1:2> * *\n103 Resource.slot1@h@<1:2> RemoteUser \"a@x\"\n";
        let context = Context::new(Dialect::Condor);
        let ads = read(log.as_bytes(), FileFormat::JobQueueLog, Dialect::Condor).map(|item| item.unwrap().ad);
        let (mut accounts, mut times) = (Accountant::default(), Vec::new());
        for ad in ads {
            times.extend(time_of_accounts(&ad, &context));
            let read = Accountant::from_userprio(&ad, &context).unwrap_or_default();
            accounts.submitters.extend(read.submitters);
            accounts.ceilings.extend(read.ceilings);
            accounts.floors.extend(read.floors);
        }
        let first = Account { real_priority: 5.5, factor: 10000.0, resources: 3.0, usage: 0.0 };
        let second = Account { factor: 2.0, ..Account::default() };
        let expected = [("a@x".to_owned(), first), ("bio.b@x".to_owned(), second)];
        assert_eq!((accounts.submitters, times), (expected.into(), vec![1_795_905_551]));
        assert_eq!(accounts.ceilings, [("a@x".to_owned(), 2.0)].into());
        assert_eq!(accounts.floors, [("bio.b@x".to_owned(), 4.0)].into());
    }

    #[test]
    fn a_real_priority_is_the_effective_one_without_the_factor() {
        // Printed by condor_userprio of HTCondor 23.9, shortened.
        let text = "IsAccountingGroup1 = true\nIsAccountingGroup4 = false\nLastUpdate = 1795390644\nName1 = \"<none>\"\n\
            Name4 = \"group_biology.carol@pool.example\"\nName5 = \"alice@pool.example\"\nNumSubmittors = 9\n\
            Priority1 = 507.189\nPriority4 = 500.464\nPriority5 = 50437.6\nPriorityFactor1 = 0.0\n\
            PriorityFactor4 = 1000.0\nPriorityFactor5 = 10000.0\nWeightedAccumulatedUsage5 = 614.0\n\
            WeightedResourcesUsed5 = 5.0\n";
        let accountant = imported(text).unwrap();
        assert_eq!(accountant.accounted_until, Some(1_795_390_644));
        let names: Vec<&str> = accountant.submitters.keys().map(String::as_str).collect();
        assert_eq!(names, ["alice@pool.example", "group_biology.carol@pool.example"]);
        let alice = Account { real_priority: 5.04376, factor: 10000.0, resources: 5.0, usage: 614.0 };
        assert_eq!(accountant.submitters["alice@pool.example"], alice);
        let accounting =
            imported("MyType = \"Accounting\"\nName = \"bob@cs\"\nPriority = 500.0\nPriorityFactor = 1000.0\n");
        let bob = Account { real_priority: 0.5, factor: 1000.0, ..Account::default() };
        assert_eq!(accounting.unwrap().submitters["bob@cs"], bob);
        let bare = imported("Name1 = \"eve@cs\"\nPriority1 = 10.0\n").unwrap();
        let eve = Account { real_priority: 10.0, factor: 1.0, ..Account::default() };
        assert_eq!(bare.submitters["eve@cs"], eve);
        let bounded =
            imported("Name1 = \"a@cs\"\nCeiling1 = 5\nName2 = \"b@cs\"\nCeiling2 = -1\nFloor2 = 0\n").unwrap();
        assert_eq!((bounded.ceilings, bounded.floors.len()), ([("a@cs".to_owned(), 5.0)].into(), 0));
        // A pool in which nobody had jobs yet.
        let fresh =
            imported("Name = \"bio\"\nIsAccountingGroup = true\nPriority = 500.0\nLastUpdate = 1795901514\n").unwrap();
        assert_eq!((fresh.submitters.len(), fresh.accounted_until), (0, Some(1_795_901_514)));
        assert_eq!(imported("Name = \"slot1\"\nNames = 1\nName1 = 2\n"), None);
    }
}
