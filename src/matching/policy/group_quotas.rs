//! Accounting groups with quotas, and how a pool is shared out among them (HTCondor's manual, "Group Accounting" and
//! "Accounting Groups with Hierarchical Group Quotas"; `GroupEntry.cpp`).

/// Name of the group of the submitters that are in no group. It is the root of the tree of groups.
pub const ROOT_GROUP: &str = "<none>";

/// Maximum number of parts in the name of a group.
const MAX_GROUP_DEPTH: usize = 32;

/// The quota of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GroupQuota {
    /// A weight of slots: the static quota of HTCondor.
    Static(f64),
    /// A fraction of what the parent has after its static quotas: the dynamic quota of HTCondor. Fractions of siblings
    /// that add up to more than 1 are scaled down.
    Dynamic(f64),
}

/// An accounting group as it is configured.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountingGroup {
    /// The name, with the names of the groups above it: `physics.atlas`.
    pub name: String,
    /// The quota.
    pub quota: GroupQuota,
    /// Whether the group may get what other groups leave.
    pub accepts_surplus: bool,
    /// Whether the submitters of the group negotiate once more as if they were in no group.
    pub regroups: bool,
}

/// The accounting groups as a tree. The root, [`ROOT_GROUP`], has the index 0; a parent comes before its children.
#[derive(Clone, Debug)]
pub struct GroupTree {
    /// Whether a group may use the quotas of its children, too: `NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION` of HTCondor. The
    /// root may not.
    pub oversubscribes: bool,
    groups: Vec<AccountingGroup>,
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
}

/// What the groups of a tree get in a round of allocation. All vectors are by index of the group.
#[derive(Clone, Debug)]
pub struct GroupAllocation {
    /// The quotas of the groups themselves, without those of their children unless these are oversubscribed.
    pub quotas: Vec<f64>,
    /// The quotas of the groups with their children.
    subtree_quotas: Vec<f64>,
    /// What the groups ask for and have not got yet: the weight of running and idle jobs.
    pub requested: Vec<f64>,
    /// What groups and the children that accept surplus ask for and have not got yet.
    subtree_requested: Vec<f64>,
    /// What the groups may use.
    pub allocated: Vec<f64>,
}

impl GroupTree {
    /// Makes the tree of these groups. Leaves out groups without parents, later groups of the same name, and groups whose
    /// names have too many parts. Returns what is wrong with each of these, such as `a.b has no parent group`.
    #[must_use]
    pub fn new(mut groups: Vec<AccountingGroup>) -> (Self, Vec<String>) {
        groups.sort_by_key(|group| group.name.to_ascii_lowercase());
        let root = AccountingGroup {
            name: ROOT_GROUP.to_owned(),
            quota: GroupQuota::Dynamic(1.0),
            accepts_surplus: true,
            regroups: groups.iter().any(|group| group.regroups),
        };
        let (groups_of_root, children) = (vec![root], vec![Vec::new()]);
        let mut tree = GroupTree { oversubscribes: false, groups: groups_of_root, parents: vec![None], children };
        let mut left_out = Vec::new();
        for group in groups {
            let (above, _) = group.name.rsplit_once('.').unwrap_or_default();
            let is_shallow = group.name.split('.').count() <= MAX_GROUP_DEPTH;
            match (tree.find(above).filter(|_| is_shallow), tree.find(&group.name)) {
                (Some(parent), None) => {
                    tree.children[parent].push(tree.groups.len());
                    tree.parents.push(Some(parent));
                    tree.children.push(Vec::new());
                    tree.groups.push(group);
                }
                (_, Some(_)) => left_out.push(format!("{} occurs twice", group.name)),
                _ if !is_shallow => left_out.push(format!("{} has more than {MAX_GROUP_DEPTH} levels", group.name)),
                _ => left_out.push(format!("{} has no parent group", group.name)),
            }
        }
        (tree, left_out)
    }

    /// Sets [`GroupTree::oversubscribes`].
    #[must_use]
    pub fn with_oversubscription(self, oversubscribes: bool) -> Self {
        GroupTree { oversubscribes, ..self }
    }

    /// Returns the groups. The root comes first.
    #[must_use]
    pub fn groups(&self) -> &[AccountingGroup] {
        &self.groups
    }

    /// Returns the indexes of the groups, level by level from the root on. HTCondor keeps its groups in this order.
    #[must_use]
    pub fn breadth_first(&self) -> Vec<usize> {
        let mut order = vec![0];
        let mut next = 0;
        while let Some(group) = order.get(next).copied() {
            order.extend(&self.children[group]);
            next += 1;
        }
        order
    }

    /// Returns the index of the group of this name. Case does not count. The empty name is that of the root.
    fn find(&self, name: &str) -> Option<usize> {
        if name.is_empty() {
            return Some(0);
        }
        let mut found = 0;
        let mut length = 0;
        for part in name.split('.') {
            length += part.len() + usize::from(length > 0);
            let path = &name[..length];
            let is_named = |child: &&usize| self.groups[**child].name.eq_ignore_ascii_case(path);
            found = *self.children[found].iter().find(is_named)?;
        }
        Some(found)
    }

    /// Returns the index of the group of a submitter. The group is the part of the submitter's name before the last dot
    /// before the `@`. Of a group that is not configured, its nearest configured parent counts.
    #[must_use]
    pub fn group_of(&self, submitter: &str) -> usize {
        let Some((user, _)) = submitter.rsplit_once('@') else { return 0 };
        let mut name = user.rsplit_once('.').map_or("", |(group, _)| group);
        loop {
            if let Some(group) = self.find(name) {
                return group;
            }
            name = name.rsplit_once('.').map_or("", |(above, _)| above);
        }
    }

    /// Divides `total` among the groups. `requested` is what each group asks for.
    #[must_use]
    pub fn allocation(&self, total: f64, requested: Vec<f64>) -> GroupAllocation {
        let none = vec![0.0; self.groups.len()];
        let mut allocation = GroupAllocation {
            quotas: none.clone(),
            subtree_quotas: none.clone(),
            requested,
            subtree_requested: none.clone(),
            allocated: none,
        };
        self.assign_quotas(0, total, &mut allocation);
        allocation
    }

    /// Divides the quota of a group among the group and its children. Static quotas come first.
    fn assign_quotas(&self, group: usize, quota: f64, to: &mut GroupAllocation) {
        if quota <= 0.0 {
            return;
        }
        to.subtree_quotas[group] = quota;
        let (mut fixed, mut fractions) = (0.0, 0.0);
        for child in &self.children[group] {
            match self.groups[*child].quota {
                GroupQuota::Static(weight) => fixed += weight,
                GroupQuota::Dynamic(fraction) => fractions += fraction,
            }
        }
        let for_fixed = if self.oversubscribes { fixed } else { f64::min(fixed, quota) };
        let for_fractions = f64::max(quota - for_fixed, 0.0);
        let mut given = 0.0;
        for child in &self.children[group] {
            let part = match self.groups[*child].quota {
                // Quotas beyond all numbers would have no part that is a number.
                GroupQuota::Static(weight) if fixed > 0.0 && fixed.is_finite() => weight * (for_fixed / fixed),
                GroupQuota::Static(_) => 0.0,
                GroupQuota::Dynamic(fraction) => fraction * (for_fractions / f64::max(fractions, 1.0)),
            };
            self.assign_quotas(*child, part, to);
            given += part;
        }
        to.quotas[group] = if self.oversubscribes && group > 0 { quota } else { f64::max(quota - given, 0.0) };
    }

    /// Allocates to each group what it asks for, within its quota, and the surplus to the groups that accept surplus.
    /// Must be called once for each round of allocation.
    pub fn allocate(&self, to: &mut GroupAllocation) {
        self.allocate_subtree(0, to);
    }

    /// Allocates to a group and its children. Returns the surplus.
    fn allocate_subtree(&self, group: usize, to: &mut GroupAllocation) -> f64 {
        to.allocated[group] = f64::min(to.requested[group], to.quotas[group]);
        to.requested[group] -= to.allocated[group];
        to.subtree_requested[group] = to.requested[group];
        let mut surplus = to.quotas[group] - to.allocated[group];
        for child in &self.children[group] {
            surplus += self.allocate_subtree(*child, to);
            if self.groups[*child].accepts_surplus {
                to.subtree_requested[group] += to.subtree_requested[*child];
            }
        }
        self.allocate_surplus(group, surplus, to)
    }

    /// Allocates a surplus to a group and those of its children that accept surplus, on an equal footing. Returns what is
    /// left.
    fn allocate_surplus(&self, group: usize, surplus: f64, to: &mut GroupAllocation) -> f64 {
        let asked = to.subtree_requested[group];
        if surplus <= 0.0 || asked <= 0.0 {
            return f64::max(surplus, 0.0);
        }
        // What each child and, last, the group itself asks for, and the quota by which they compete.
        let mut claims: Vec<(f64, f64)> = Vec::new();
        for child in &self.children[group] {
            let asks = if self.groups[*child].accepts_surplus { to.subtree_requested[*child] } else { 0.0 };
            claims.push((asks, to.subtree_quotas[*child]));
        }
        claims.push((to.requested[group], to.quotas[group]));
        let mut given = vec![0.0; claims.len()];
        let mut left = surplus;
        if surplus >= asked {
            for (given, (asks, _)) in given.iter_mut().zip(&claims) {
                *given = f64::max(*asks, 0.0);
            }
            left -= asked;
        } else {
            left = share_surplus(&mut claims, &mut given, left, |quota| quota);
            // What is left goes to the groups without quota.
            left = share_surplus(&mut claims, &mut given, left, |_| 1.0);
        }
        for (child, part) in self.children[group].iter().zip(&given) {
            if *part > 0.0 {
                self.allocate_surplus(*child, *part, to);
            }
        }
        let own = given.last().copied().unwrap_or_default();
        to.allocated[group] += own;
        to.requested[group] -= own;
        to.subtree_requested[group] = f64::max(asked - given.iter().sum::<f64>(), 0.0);
        left
    }

    /// Limits what a group may use, so that no group above it that accepts no surplus uses more than its quota. `usage`
    /// is what each group itself uses now.
    #[must_use]
    pub fn enforced(&self, group: usize, slots: f64, allocation: &GroupAllocation, usage: &[f64]) -> f64 {
        let mut more = slots - usage[group];
        let mut limiting = Some(group);
        while let Some(at) = limiting {
            if !self.groups[at].accepts_surplus {
                let quota = match self.groups[at].quota {
                    GroupQuota::Static(weight) => weight,
                    GroupQuota::Dynamic(_) => allocation.subtree_quotas[at],
                };
                more = more.min(f64::max(quota - self.subtree_sum(at, usage), 0.0));
            }
            limiting = self.parents[at];
        }
        more + usage[group]
    }

    /// Returns the sum over a group and all groups below it.
    fn subtree_sum(&self, group: usize, of: &[f64]) -> f64 {
        let below: f64 = self.children[group].iter().map(|child| self.subtree_sum(*child, of)).sum();
        of[group] + below
    }
}

/// Shares a surplus among claims in proportion to `weight` of their quotas, and none more than it asks for. Updates the
/// claims and what they are given. Returns what is left.
fn share_surplus(claims: &mut [(f64, f64)], given: &mut [f64], mut surplus: f64, weight: impl Fn(f64) -> f64) -> f64 {
    while surplus > 0.0 {
        let all: f64 = claims.iter().filter(|(asks, _)| *asks > 0.0).map(|(_, quota)| weight(*quota)).sum();
        if all <= 0.0 {
            return surplus;
        }
        let (mut shared, mut is_satisfied) = (0.0, false);
        for ((asks, quota), given) in claims.iter_mut().zip(given.iter_mut()).filter(|((asks, _), _)| *asks > 0.0) {
            let part = surplus * (weight(*quota) / all);
            is_satisfied |= part > *asks;
            let part = part.min(*asks);
            *given += part;
            *asks -= part;
            shared += part;
        }
        surplus -= shared;
        // In each pass either a claim is satisfied, or all is shared but for a rounding error.
        if !is_satisfied {
            return 0.0;
        }
    }
    0.0
}

#[cfg(test)]
mod tests;
