//! The budget of a run: how many steps it takes, how deep it nests and how many bytes it computes.

use super::super::Context;
use super::operand::Bail;
use super::program::Program;

/// Maximum number of steps of a run, also the interval at which the tree walker checks the interrupt.
const MAX_STEPS: u32 = 4096;

/// Maximum nesting of operations in a run, which is recursive.
const MAX_DEPTH: u32 = 200;

/// Budget of a run, and what the run has spent of it.
pub(super) struct ProgramBudget {
    /// Maximum of [`ProgramBudget::steps`].
    max_steps: u32,
    /// Maximum of [`ProgramBudget::depth`].
    max_depth: u32,
    /// Number of steps that the tree walker takes at most for the programs begun so far.
    steps: u32,
    /// Number of bytes of the computed values.
    pub bytes: u64,
    /// Sum of the heights of the running programs.
    depth: u32,
}

impl ProgramBudget {
    pub(super) fn new(context: &Context) -> Self {
        ProgramBudget {
            max_steps: u32::try_from(context.max_steps).map_or(MAX_STEPS, |most| most.min(MAX_STEPS)),
            max_depth: context.max_depth.min(MAX_DEPTH),
            steps: 0,
            bytes: 0,
            depth: 0,
        }
    }

    /// Forgets what was spent.
    #[inline]
    pub(super) fn begin_anew(&mut self) {
        (self.steps, self.bytes, self.depth) = (0, 0, 0);
    }

    /// Counts a program that begins. Returns the depth before it, for [`ProgramBudget::end`].
    #[inline]
    pub(super) fn begin(&mut self, program: &Program) -> Result<u32, Bail> {
        let depth = self.depth;
        self.steps = self.steps.saturating_add(program.steps);
        self.depth = depth.saturating_add(program.height);
        if self.is_spent() || self.depth > self.max_depth { Err(Bail) } else { Ok(depth) }
    }

    /// Returns to the depth before the program that ends.
    #[inline]
    pub(super) fn end(&mut self, depth: u32) {
        self.depth = depth;
    }

    /// Counts steps that a function or a pattern takes.
    pub(super) fn count_steps(&mut self, steps: u64) {
        self.steps = self.steps.saturating_add(u32::try_from(steps).unwrap_or(u32::MAX));
    }

    /// Number of steps that the tree walker takes at most for the programs begun so far.
    pub(super) fn steps(&self) -> u32 {
        self.steps
    }

    /// Number of steps that are left.
    pub(super) fn steps_left(&self) -> u64 {
        u64::from(self.max_steps.saturating_sub(self.steps))
    }

    /// Whether the steps exceed their maximum.
    #[inline]
    pub(super) fn is_spent(&self) -> bool {
        self.steps > self.max_steps
    }
}
