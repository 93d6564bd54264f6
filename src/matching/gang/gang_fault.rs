//! Why a search for gangs fails.

use std::fmt;

use crate::matching::policy::PolicyFault;
use crate::protocol::PortFault;

/// Why a search for gangs fails with an error.
#[derive(Clone, Debug, PartialEq)]
pub enum GangFault {
    /// The ports of the request cannot be used.
    Ports(PortFault),
    /// Docking vectors of candidates cannot be compared: one has a boolean where another has a number, for example.
    Policy(PolicyFault),
}

impl fmt::Display for GangFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GangFault::Ports(fault) => fault.fmt(f),
            GangFault::Policy(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for GangFault {}

impl From<PortFault> for GangFault {
    fn from(fault: PortFault) -> Self {
        GangFault::Ports(fault)
    }
}

impl From<PolicyFault> for GangFault {
    fn from(fault: PolicyFault) -> Self {
        GangFault::Policy(fault)
    }
}
