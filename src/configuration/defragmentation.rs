//! Which machines `condor_defrag` drains, as its `poll` chooses them.

use crate::ad::{Ad, Expression, Truth, Value};
use crate::constraint::conjuncts;
use crate::eval::{Context, Environment, Evaluator};
use crate::format::Problem;
use crate::protocol::evaluate_attribute;
use crate::syntax::{ParseOptions, parse_expression};

use super::default_variables::default_value;
use super::dump::Configuration;
use super::policy::ConfiguredPolicy;

/// Slots that can be drained, and those that drain or are whole.
const BASE_SLOTS: &str = "PartitionableSlot && Offline =!= true";

/// Seconds between two decisions by default.
const DEFAULT_INTERVAL: f64 = 600.0;

/// The settings of `condor_defrag`.
#[derive(Clone, Debug)]
pub struct Defragmentation {
    /// The slots that it may drain (`DEFRAG_REQUIREMENTS`); all if `None`.
    requirements: Option<Expression>,
    /// The slots that are whole (`DEFRAG_WHOLE_MACHINE_EXPR`).
    whole: Expression,
    /// Which slots it drains first (`DEFRAG_RANK`).
    rank: Expression,
    /// The reason that it gives (`DrainReason`).
    reason: String,
    /// Machines that it drains in an hour (`DEFRAG_DRAINING_MACHINES_PER_HOUR`). Without that, a part of a configuration was
    /// given, and the rate is unknown.
    per_hour: Option<f64>,
    /// Seconds between two decisions (`DEFRAG_INTERVAL`).
    interval: f64,
    /// Maximum number of machines that drain at once (`DEFRAG_MAX_CONCURRENT_DRAINING`); `None` if there is none.
    max_draining: Option<usize>,
    /// Number of whole machines from which it drains none (`DEFRAG_MAX_WHOLE_MACHINES`); `None` if there is none.
    max_whole: Option<usize>,
}

/// What `condor_defrag` does with the slots of a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct DrainingPlan {
    /// Number of partitionable slots that are online.
    pub slots: usize,
    /// The slots that it can drain, by index: those of the highest rank first.
    pub candidates: Vec<usize>,
    /// Machines that it drains in an hour; `None` if unknown.
    pub per_hour: Option<f64>,
    /// Maximum number of machines that drain at once.
    pub max_draining: Option<usize>,
    /// Why it drains none now.
    pub obstacle: Option<DrainingObstacle>,
}

/// Why `condor_defrag` drains no machine now.
#[derive(Clone, Debug, PartialEq)]
pub enum DrainingObstacle {
    /// `DEFRAG_DRAINING_MACHINES_PER_HOUR` is 0, or so little that it is none.
    NoRate,
    /// `DEFRAG_INTERVAL` has more than an hour: HTCondor then counts the rate as 0.
    LongInterval,
    /// So many machines drain as may drain at once.
    Draining(usize),
    /// So many machines are whole as are enough.
    Whole(usize),
    /// A clause of `DEFRAG_REQUIREMENTS` is true of no slot, or all of it if each clause is true of some.
    Requirements(Expression),
    /// All slots that it could drain are whole or drain.
    NoneLeft,
}

impl Defragmentation {
    /// Reads the settings. `None` if the configuration does not run `condor_defrag` (`DAEMON_LIST`), or sets nothing for it.
    ///
    /// # Errors
    ///
    /// A setting that is no expression, or no number.
    pub fn read(configuration: &Configuration, context: &Context) -> Result<Option<Self>, Problem> {
        let runs = configuration
            .entry("DAEMON_LIST")
            .is_none_or(|list| configuration.raw_value(list).to_ascii_uppercase().contains("DEFRAG"));
        let is_set = configuration.entries().iter().any(|entry| entry.name.to_ascii_uppercase().starts_with("DEFRAG_"));
        if !runs || !is_set {
            return Ok(None);
        }
        let number = |name: &str| configuration.number(name, context);
        let policy = |name: &str| {
            let found = ConfiguredPolicy::find(configuration, name, context)?;
            Ok::<_, Problem>(found.map(|found| found.expression))
        };
        let or_default = |name: &str| {
            let default = || expression(&default_value(name).unwrap_or_default(), context);
            Ok::<_, Problem>(policy(name)?.unwrap_or_else(default))
        };
        let name = configuration.entry("DEFRAG_NAME").map(|name| configuration.raw_value(name).trim().to_owned());
        Ok(Some(Defragmentation {
            requirements: policy("DEFRAG_REQUIREMENTS")?,
            whole: or_default("DEFRAG_WHOLE_MACHINE_EXPR")?,
            rank: or_default("DEFRAG_RANK")?,
            reason: format!("Defrag {}", name.unwrap_or_default()),
            per_hour: number("DEFRAG_DRAINING_MACHINES_PER_HOUR")?,
            interval: number("DEFRAG_INTERVAL")?.unwrap_or(DEFAULT_INTERVAL),
            max_draining: configuration.maximum("DEFRAG_MAX_CONCURRENT_DRAINING", context)?,
            max_whole: configuration.maximum("DEFRAG_MAX_WHOLE_MACHINES", context)?,
        }))
    }

    /// Chooses the slots of a pool that are drained.
    #[must_use]
    pub fn plan<'a>(&self, offers: impl IntoIterator<Item = &'a Ad>, context: &Context) -> DrainingPlan {
        let base = expression(BASE_SLOTS, context);
        let offers = offers.into_iter().enumerate().map(|(index, ad)| SlotView { index, ad, context });
        let slots: Vec<SlotView<'_>> = offers.filter(|slot| slot.is_true(&base)).collect();
        let is_draining = |slot: &&SlotView<'_>| slot.is_true(&Expression::attribute("Draining"));
        let drained_here =
            |slot: &&SlotView<'_>| slot.reason().is_none_or(|reason| reason.trim() == self.reason.trim());
        let draining = slots.iter().filter(is_draining).filter(drained_here).count();
        let is_whole = |slot: &&SlotView<'_>| slot.is_true(&self.whole) && drained_here(slot);
        let whole = slots.iter().filter(is_whole).count();
        let free: Vec<&SlotView<'_>> = slots.iter().filter(|slot| !is_draining(slot)).collect();
        let meets = |slot: &&&SlotView<'_>| self.requirements.as_ref().is_none_or(|condition| slot.is_true(condition));
        let accepted: Vec<&SlotView<'_>> = free.iter().filter(meets).copied().collect();
        let mut candidates: Vec<&SlotView<'_>> = accepted.iter().filter(|slot| !is_whole(slot)).copied().collect();
        candidates.sort_by(|one, other| other.rank(&self.rank).total_cmp(&one.rank(&self.rank)));
        let obstacle = self.limit([draining, whole]).or_else(|| match &self.requirements {
            Some(condition) if accepted.is_empty() && !free.is_empty() => {
                let is_unmet = |clause: &&Expression| !free.iter().any(|slot| slot.is_true(clause));
                let unmet = conjuncts(condition).into_iter().find(is_unmet).unwrap_or(condition);
                Some(DrainingObstacle::Requirements(unmet.clone()))
            }
            _ => candidates.is_empty().then_some(DrainingObstacle::NoneLeft),
        });
        DrainingPlan {
            slots: slots.len(),
            candidates: candidates.iter().map(|slot| slot.index).collect(),
            per_hour: self.per_hour,
            max_draining: self.max_draining,
            obstacle,
        }
    }

    /// Returns the limit that is reached when so many machines drain and so many are whole.
    fn limit(&self, [draining, whole]: [usize; 2]) -> Option<DrainingObstacle> {
        // Fewer than half a machine in a day are none.
        let is_none = |per_hour: f64| per_hour * 24.0 < 0.5;
        if self.per_hour.is_some_and(is_none) || self.interval <= 0.0 {
            return Some(DrainingObstacle::NoRate);
        }
        if self.interval > 3600.0 {
            return Some(DrainingObstacle::LongInterval);
        }
        if self.max_draining.is_some_and(|most| draining >= most) {
            return Some(DrainingObstacle::Draining(draining));
        }
        self.max_whole.filter(|most| whole >= *most).map(|_| DrainingObstacle::Whole(whole))
    }
}

/// One slot of the pool.
struct SlotView<'a> {
    index: usize,
    ad: &'a Ad,
    context: &'a Context,
}

impl SlotView<'_> {
    fn value(&self, expression: &Expression) -> Value {
        let (environment, frame) = Environment::single(self.ad.clone());
        Evaluator::new(&environment, self.context).evaluate(expression, &frame).unwrap_or(Value::Undefined)
    }

    fn is_true(&self, condition: &Expression) -> bool {
        Truth::of(&self.value(condition), self.context.dialect) == Truth::True
    }

    fn rank(&self, rank: &Expression) -> f64 {
        self.value(rank).as_real().unwrap_or(0.0)
    }

    /// Why the slot drains.
    fn reason(&self) -> Option<String> {
        match evaluate_attribute(self.ad, &"DrainReason".into(), self.context) {
            Some(Value::String(reason)) => Some(reason.to_str().into_owned()),
            _ => None,
        }
    }
}

/// Parses an expression of this file.
fn expression(text: &str, context: &Context) -> Expression {
    parse_expression(text.as_bytes(), ParseOptions::new(context.dialect))
        .unwrap_or_else(|_| Expression::literal(Value::Undefined))
}

#[cfg(test)]
mod tests {
    use super::{Defragmentation, DrainingObstacle};
    use crate::ad::{Ad, Dialect};
    use crate::configuration::Configuration;
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    const SETTINGS: &str = "DAEMON_LIST = MASTER, DEFRAG\nDEFRAG_DRAINING_MACHINES_PER_HOUR = 6\n";

    /// Returns what is drained of five slots: those in use of 4 Cpus, one whole, one that drains.
    fn drained(settings: &str) -> Option<(usize, Vec<usize>, Option<String>)> {
        let context = Context::new(Dialect::Condor);
        let (configuration, _) = Configuration::read(settings.as_bytes());
        let slot = |text: &str| -> Ad {
            let text = format!("[ PartitionableSlot = true; TotalSlotCpus = 4; {text} ]");
            parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
        };
        let offers = [
            slot("Cpus = 1; ExpectedMachineGracefulDrainingBadput = 50"),
            slot("Cpus = 0; ExpectedMachineGracefulDrainingBadput = 10"),
            slot("Cpus = 4"),
            slot("Cpus = 2; Draining = true; DrainReason = \"Defrag \""),
            slot("Cpus = 2; Draining = true; DrainReason = \"reboot\""),
            slot("Cpus = 1; Offline = true"),
        ];
        let plan = Defragmentation::read(&configuration, &context).unwrap()?.plan(&offers, &context);
        let obstacle = plan.obstacle.map(|obstacle| match obstacle {
            DrainingObstacle::Requirements(clause) => clause.to_string(),
            other => format!("{other:?}"),
        });
        Some((plan.slots, plan.candidates, obstacle))
    }

    #[test]
    fn the_settings_choose_the_machines_that_are_drained() {
        for (settings, candidates, obstacle) in [
            ("", vec![1, 0], None),
            ("DEFRAG_DRAINING_MACHINES_PER_HOUR = 0", vec![1, 0], Some("NoRate")),
            ("DEFRAG_REQUIREMENTS = Cpus > 0", vec![0], None),
            ("DEFRAG_RANK = Cpus", vec![0, 1], None),
            ("DEFRAG_REQUIREMENTS = Cpus >= 0 && Cpus > 8", vec![], Some("Cpus > 8")),
            ("DEFRAG_REQUIREMENTS = Cpus == 4", vec![], Some("NoneLeft")),
            ("DEFRAG_WHOLE_MACHINE_EXPR = Cpus > 0", vec![1], None),
            ("DEFRAG_MAX_CONCURRENT_DRAINING = 1", vec![1, 0], Some("Draining(1)")),
            ("DEFRAG_MAX_CONCURRENT_DRAINING = 2", vec![1, 0], None),
            ("DEFRAG_NAME = other\nDEFRAG_MAX_CONCURRENT_DRAINING = 1", vec![1, 0], None),
            ("DEFRAG_MAX_CONCURRENT_DRAINING = -1", vec![1, 0], None),
            ("DEFRAG_MAX_WHOLE_MACHINES = 1", vec![1, 0], Some("Whole(1)")),
            ("DEFRAG_MAX_WHOLE_MACHINES = 2", vec![1, 0], None),
            ("DEFRAG_DRAINING_MACHINES_PER_HOUR = 0.01", vec![1, 0], Some("NoRate")),
            ("DEFRAG_INTERVAL = 7200", vec![1, 0], Some("LongInterval")),
        ] {
            let expected = Some((5, candidates, obstacle.map(str::to_owned)));
            assert_eq!(drained(&format!("{SETTINGS}{settings}\n")), expected, "{settings}");
        }
        // The rate is unknown in a part of a configuration.
        assert_eq!(drained("DEFRAG_REQUIREMENTS = Cpus > 0\n"), Some((5, vec![0], None)));
        assert_eq!(drained("DAEMON_LIST = MASTER\nDEFRAG_REQUIREMENTS = true\n"), None);
        assert_eq!(drained("DAEMON_LIST = DEFRAG\n"), None);
    }
}
