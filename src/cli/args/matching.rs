//! The arguments that bilateral and gang matching share.

use clap::Args;
use classad::eval::Mentions;
use classad::protocol::Protocol;

use crate::cli::Failure;
use crate::cli::io::input::{self, Identified};
use crate::cli::io::selective_load::{self, Labels};
use crate::cli::io::source::Source;
use crate::cli::render::output::OutputForm;
use crate::cli::session::Session;

/// Which attributes of the ads are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// All attributes.
    Whole,
    /// The attributes that bilateral matching needs, if they can be determined; else all.
    Needed,
    /// As `Needed`, but all attributes if some ad has ports.
    NeededOrPorts,
    /// As `Needed`, and the attributes of the advertising protocol.
    NeededAndAdvertisements,
}

/// What bilateral and gang matching have in common.
#[derive(Args)]
pub struct Common {
    /// The attribute that is an ad's constraint
    #[arg(long, value_name = "NAME")]
    constraint_attr: Option<String>,
    /// The attribute that is an ad's rank
    #[arg(long, value_name = "NAME")]
    rank_attr: Option<String>,
    /// What an ad is called
    #[arg(long, value_name = "EXPR")]
    pub id: Option<String>,
    /// Print counters on standard error
    #[arg(long)]
    pub stats: bool,
    /// The form of the output
    #[arg(short, long, value_name = "FORM")]
    pub output: Option<OutputForm>,
    /// Leave the heading out
    #[arg(long)]
    pub no_header: bool,
    /// Parse all of every ad, and report whatever is bad in it
    #[arg(long)]
    strict_input: bool,
}

impl Common {
    pub fn protocol(&self, session: &Session) -> Protocol {
        Protocol::new(session.dialect()).with(self.constraint_attr.as_deref(), self.rank_attr.as_deref())
    }

    /// Reads the requests and the offers. `also` holds further names that the caller looks up in them.
    ///
    /// # Errors
    ///
    /// `--id` is no expression, or an ad is bad and `--fail-fast` is given.
    pub fn ads(
        &self,
        session: &mut Session,
        [requests, offers]: [Vec<Source>; 2],
        reading: Reading,
        also: &Mentions,
    ) -> Result<[Vec<Identified>; 2], Failure> {
        let id = input::optional(session, "--id", self.id.as_deref())?;
        let keeps_advertisements = reading == Reading::NeededAndAdvertisements;
        let no_ports = reading == Reading::NeededOrPorts;
        let labels = Labels { id: id.as_ref(), keeps_advertisements, no_ports, also };
        if reading != Reading::Whole
            && !self.strict_input
            && let Some(ads) =
                selective_load::selected(session, [&requests, &offers], &labels, &self.protocol(session))?
        {
            return Ok(ads);
        }
        Ok([input::identified(session, requests, id.as_ref())?, input::identified(session, offers, id.as_ref())?])
    }
}
