//! The variables of one text, such as a submit file, with its expansions.

use std::sync::Arc;

use crate::ad::{Ad, Name};
use crate::eval::Context;
use crate::syntax::ParseOptions;

use super::condition::IfCondition;
use super::edited_ad::EditedAd;
use super::edited_shapes::EditedShapes;
use super::expander::{EnvironmentReaders, MacroExpander, MacroGap};
use super::macros::{self, MacroVariables, StatementFailure, VariableTable};

/// Variables that get values one after the other, over a table of default values. There is no ad.
#[derive(Debug, Default)]
pub(crate) struct MacroScope {
    own: MacroVariables,
    defaults: VariableTable,
    /// Whether `$ENV()` reads the environment.
    pub allows_environment: bool,
    /// The folder below which `$Ff()` makes full paths; `None` where there is none.
    pub folder: Option<Arc<str>>,
}

/// A text with its macros expanded in a scope.
#[derive(Debug, Default)]
pub(crate) struct ScopedExpansion {
    pub text: String,
    /// The variables that were looked up.
    pub looked_up: Vec<Name>,
    /// A variable without a value and a default, in whose place nothing stands.
    pub unknown: Option<String>,
    /// Macros in whose place nothing stands.
    pub gaps: Vec<MacroGap>,
    /// Whether a random number was drawn.
    pub is_random: bool,
}

impl MacroScope {
    pub fn new(defaults: VariableTable, allows_environment: bool) -> Self {
        MacroScope { own: MacroVariables::default(), defaults, allows_environment, folder: None }
    }

    /// Sets a variable to a text, whose macros are expanded when it is used.
    pub fn set(&mut self, name: Name, text: &str) {
        let own = self.own.entry(name).or_default();
        own.bytes.clear();
        own.bytes.extend_from_slice(text.as_bytes());
    }

    /// Assigns a text to a variable. The variable in its own text stands for its text before.
    ///
    /// # Errors
    ///
    /// The reason, as a phrase, if the text becomes too long.
    pub fn assign(&mut self, name: &str, text: &str) -> Result<(), String> {
        let key = Name::new(name);
        let before = self.own.get(&key).or_else(|| self.defaults.0.get(&key));
        let text = macros::expand_own(text, name, before).map_err(|failure| failure.message)?;
        self.own.insert(key, text);
        Ok(())
    }

    /// Returns the text of a variable, or of its default, with its macros; `None` if there is neither.
    pub fn get(&self, name: &Name) -> Option<&[u8]> {
        self.own.get(name).or_else(|| self.defaults.0.get(name)).map(|text| text.bytes.as_slice())
    }

    /// Whether a variable has a value of its own.
    pub fn has(&self, name: &Name) -> bool {
        self.own.contains_key(name)
    }

    /// Returns a text with its macros expanded.
    ///
    /// # Errors
    ///
    /// The reason, as a phrase, if a macro stands for itself.
    pub fn expand(&self, text: &str, context: &Context) -> Result<ScopedExpansion, String> {
        if !text.contains('$') {
            return Ok(ScopedExpansion { text: text.to_owned(), ..ScopedExpansion::default() });
        }
        let expand = |expander: &mut MacroExpander<'_, '_>| {
            expander.expand(text.as_bytes(), ParseOptions::long(context.dialect))
        };
        let (text, found) = self.with_expander(context, expand);
        let text = text.map_err(|failure| failure.message)?;
        Ok(ScopedExpansion { text: String::from_utf8_lossy(&text).into_owned(), ..found })
    }

    /// Whether a condition holds, and what its expansion used.
    ///
    /// # Errors
    ///
    /// The reason, as a phrase, if it cannot be told.
    pub fn holds(&self, condition: &IfCondition, context: &Context) -> Result<(bool, ScopedExpansion), String> {
        let (holds, found) = self.with_expander(context, |expander| condition.holds_without_ad(expander));
        Ok((holds.map_err(|failure| failure.message)?, found))
    }

    fn with_expander<T>(
        &self,
        context: &Context,
        work: impl FnOnce(&mut MacroExpander<'_, '_>) -> Result<T, StatementFailure>,
    ) -> (Result<T, StatementFailure>, ScopedExpansion) {
        let mut ad = EditedAd::new(&Ad::default(), &EditedShapes::default());
        let mut expander = MacroExpander::new((&self.own, &self.defaults), &mut ad, context);
        if !self.allows_environment {
            expander.environment = EnvironmentReaders::Nobody;
        }
        expander.folder.clone_from(&self.folder);
        expander.looked_up = Some(Vec::new());
        let done = work(&mut expander);
        let found = ScopedExpansion {
            text: String::new(),
            looked_up: expander.looked_up.take().unwrap_or_default(),
            unknown: expander.take_unknown(),
            gaps: std::mem::take(&mut expander.gaps),
            is_random: expander.is_random,
        };
        (done, found)
    }
}
