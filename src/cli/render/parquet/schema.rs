//! The types of columns from a file.

use std::collections::HashMap;

use classad::ad::{Expression, ExpressionKind, Name, Type};

use serde::Deserialize;

use super::column_type::{ColumnType, ObservedTypes};
use crate::cli::outcome::{Failure, refuse};

/// The types of columns by the names of columns or attributes.
pub struct ColumnSchema {
    /// The file, for messages.
    path: String,
    types: HashMap<Name, ColumnType>,
}

/// What a file of types has.
#[derive(Deserialize)]
#[serde(untagged)]
enum SchemaFile {
    /// A census, as `census -o json` writes it.
    Census { attributes: Vec<CensusAttribute> },
    /// The name of a type for each name.
    Types(HashMap<String, ColumnType>),
}

#[derive(Deserialize)]
struct CensusAttribute {
    name: String,
    /// Number of ads by the type of the value.
    types: HashMap<String, usize>,
}

impl ColumnSchema {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is neither a census nor an object with the names of types.
    pub fn read(path: &str) -> Result<Self, Failure> {
        let text = std::fs::read(path).map_err(|error| Failure::unreadable(path, &error))?;
        let Ok(file) = serde_json::from_slice(&text) else {
            return refuse(format!(
                "{path} is not a schema: give the output of `census -o json`, or an object such as {{\"Memory\": \
                \"integer\"}}"
            ));
        };
        let types = match file {
            SchemaFile::Census { attributes } => {
                attributes.into_iter().map(|attribute| (Name::new(&attribute.name), attribute.column_type())).collect()
            }
            SchemaFile::Types(types) => types.into_iter().map(|(name, given)| (Name::new(&name), given)).collect(),
        };
        Ok(ColumnSchema { path: path.to_owned(), types })
    }

    /// Returns the type of a column: that of its name, or of the attribute that it shows.
    ///
    /// # Errors
    ///
    /// The schema has neither.
    pub fn column_type(&self, name: &str, expression: &Expression) -> Result<ColumnType, Failure> {
        let attribute = match expression.kind() {
            ExpressionKind::Attribute(attribute) => self.types.get(attribute),
            _ => None,
        };
        match self.types.get(&Name::new(name)).or(attribute) {
            Some(found) => Ok(*found),
            None => refuse(format!("{} has no type for the column `{name}`", self.path)),
        }
    }
}

impl CensusAttribute {
    fn column_type(&self) -> ColumnType {
        let mut types = ObservedTypes::default();
        for (word, ads) in &self.types {
            // The values of expressions are unknown.
            types.add_type(Type::of_name(word).unwrap_or(Type::Undefined), *ads);
        }
        types.column_type()
    }
}
