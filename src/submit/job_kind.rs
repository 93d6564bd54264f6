//! What kind of jobs a submit file describes: their universe, container and grid.

use crate::format::Problem;

use super::SubmitSettings;
use super::variables::{CommandValue, SubmitVariables};

/// Universe of a job, with what decides how its commands count.
#[derive(Clone, Debug, Default)]
pub(super) struct JobKind {
    pub universe: Universe,
    pub is_docker: bool,
    pub is_container: bool,
    /// First word of the grid resource in lower case; empty in other universes.
    pub grid_type: String,
}

/// Universe that `condor_submit` knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Universe {
    #[default]
    Vanilla = 5,
    Scheduler = 7,
    Grid = 9,
    Java = 10,
    Parallel = 11,
    Local = 12,
    Vm = 13,
}

const UNIVERSES: [(&str, Universe); 7] = [
    ("vanilla", Universe::Vanilla),
    ("scheduler", Universe::Scheduler),
    ("grid", Universe::Grid),
    ("java", Universe::Java),
    ("parallel", Universe::Parallel),
    ("local", Universe::Local),
    ("vm", Universe::Vm),
];

/// Types of grids that `condor_submit` knows.
const GRID_TYPES: [&str; 12] =
    ["blah", "batch", "pbs", "sge", "lsf", "nqs", "naregi", "condor", "arc", "ec2", "gce", "azure"];

/// The command and the attribute of an image.
pub(super) const CONTAINER_IMAGE: [&str; 2] = ["container_image", "ContainerImage"];
pub(super) const DOCKER_IMAGE: [&str; 2] = ["docker_image", "DockerImage"];

impl JobKind {
    /// Returns the kind of the jobs that these variables describe.
    pub fn of(variables: &SubmitVariables, settings: &SubmitSettings) -> Result<Self, Problem> {
        let value = |names: &[&str]| variables.value(names).map(|(value, _)| value);
        let universe = value(&["universe", "JobUniverse"])?;
        let word =
            universe.as_ref().map_or_else(|| settings.setting("DEFAULT_UNIVERSE"), |value| Some(value.text.clone()));
        let mut kind = JobKind::default();
        match word.as_deref().map(str::to_ascii_lowercase).as_deref() {
            None => {}
            Some("docker") => kind.is_docker = true,
            Some("container") => kind.is_container = true,
            Some(word) => kind.universe = Self::universe_of(word, universe.as_ref())?,
        }
        if matches!(kind.universe, Universe::Vanilla | Universe::Local) {
            let (container, docker) = (value(&CONTAINER_IMAGE)?, value(&DOCKER_IMAGE)?);
            match (container, docker) {
                (Some(image), _) if kind.is_docker => {
                    return Err(image
                        .fault("a job of the docker universe has no container_image")
                        .with_help("write docker_image, or universe = container"));
                }
                (Some(image), Some(_)) => {
                    return Err(image.fault("a job has container_image or docker_image, not both"));
                }
                (None, None) => {}
                _ if kind.is_docker => {}
                _ => kind.is_container = true,
            }
        }
        if kind.universe == Universe::Grid {
            kind.grid_type = Self::grid_type(value(&["grid_resource", "GridResource"])?, universe.as_ref())?;
        }
        Ok(kind)
    }

    pub fn universe_of(word: &str, command: Option<&CommandValue>) -> Result<Universe, Problem> {
        let number = word.parse::<i64>().ok();
        let known = UNIVERSES.iter().find(|(name, universe)| *name == word || number == Some(*universe as i64));
        known.map(|(_, universe)| *universe).ok_or_else(|| {
            let names = UNIVERSES.map(|(name, _)| name);
            let near = crate::ad::closest_names(word, names.into_iter().chain(["docker", "container"]));
            let help = match near.first() {
                Some(near) => format!("did you mean {near}?"),
                None => format!("the universes are {}, docker and container", names.join(", ")),
            };
            let message = format!("there is no universe `{word}`");
            command
                .map_or_else(|| Problem::error_at(0..0, 0, &*message), |value| value.fault(&*message))
                .with_help(help)
        })
    }

    fn grid_type(resource: Option<CommandValue>, universe: Option<&CommandValue>) -> Result<String, Problem> {
        let Some(resource) = resource else {
            let message = "a job of the grid universe needs grid_resource";
            return Err(universe.map_or_else(|| Problem::error_at(0..0, 0, message), |value| value.fault(message)));
        };
        let word = resource.text.split(' ').next().unwrap_or_default().to_ascii_lowercase();
        if word.is_empty() || GRID_TYPES.contains(&word.as_str()) {
            return Ok(word);
        }
        let help = "write condor, batch, arc, ec2, gce or azure first";
        Err(resource.fault(format!("there is no grid of the type `{word}`")).with_help(help))
    }

    /// Whether the files of a job may be transferred.
    pub fn may_transfer(&self) -> bool {
        matches!(self.universe, Universe::Vanilla | Universe::Parallel | Universe::Java | Universe::Vm)
    }

    /// Whether a job has no executable of its own, but an image of a machine.
    pub fn is_cloud(&self) -> bool {
        matches!(self.grid_type.as_str(), "ec2" | "gce" | "azure")
    }
}
