//! The configuration that a spec names, whose expressions are tested by the names of their variables.

use crate::ad::{Expression, closest_names};
use crate::configuration::{Configuration, ConfiguredPolicy};
use crate::eval::Context;
use crate::format::document_tree::{ConfigReader, YamlNode};
use crate::format::{Position, Problem, Severity};
use crate::text::suggestion;

use super::ads::{AdLibrary, report_in_file};

/// Configuration of a spec.
pub(super) struct SpecConfiguration<'o> {
    /// The name of the dump's file.
    node: &'o YamlNode,
    configuration: Configuration,
}

impl<'o> SpecConfiguration<'o> {
    /// Reads a dump. `None` after reporting that it cannot be read.
    pub fn read(library: &mut AdLibrary<'o, '_>, reader: &mut ConfigReader<'o>, node: &'o YamlNode) -> Option<Self> {
        let bytes = library.read_bytes(reader, node)?;
        let (configuration, problems) = Configuration::read(&bytes);
        let spec = SpecConfiguration { node, configuration };
        problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error)
            .for_each(|problem| spec.report(reader, problem));
        Some(spec)
    }

    /// Returns the expression of the variable that `node` names. `None` after reporting an error.
    pub fn expression(&self, reader: &mut ConfigReader<'o>, node: &YamlNode, context: &Context) -> Option<Expression> {
        let knob = node.text().unwrap_or_default();
        match ConfiguredPolicy::find(&self.configuration, knob, context) {
            Ok(Some(policy)) => Some(policy.expression),
            Ok(None) => {
                let file = self.node.text().unwrap_or_default();
                let near = closest_names(knob, self.configuration.variables().names());
                let message = format!("{file} has no value for {knob}{}", suggestion(&near));
                reader.report(node, message, "`knob: START` asks for the value of START in the configuration");
                None
            }
            Err(problem) => {
                self.report(reader, &problem);
                None
            }
        }
    }

    fn report(&self, reader: &mut ConfigReader<'o>, problem: &Problem) {
        let at = Position::of_offset(self.configuration.text().as_bytes(), problem.range.start);
        report_in_file(reader, self.node, at, problem);
    }
}
