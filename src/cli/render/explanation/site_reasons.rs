//! What a site says of causes in addition: advice, whom to ask, where to read more. The file of `--reasons`.

use classad::ad::Dialect;
use classad::explain::Cause;
use classad::format::Problem;
use classad::format::document_tree::{ConfigReader, YamlNode, YamlTree};

/// The keys of a cause.
const KEYS: [&str; 3] = ["advice", "contact", "link"];

/// What a site says of causes.
#[derive(Debug, Default)]
pub struct SiteReasons {
    /// The causes, each with the texts of [`KEYS`].
    causes: Vec<(&'static str, [Option<String>; 3])>,
}

impl SiteReasons {
    /// Reads a YAML document: a mapping from identifiers of causes to mappings with `advice`, `contact` and `link`.
    pub fn parse(text: &[u8]) -> Result<Self, Vec<Problem>> {
        let tree = YamlTree::parse(text).map_err(|problem| vec![problem])?;
        let mut settings = ConfigReader::new(&tree, Dialect::Condor);
        let identifiers: Vec<&'static str> = Cause::ALL.iter().map(|cause| cause.identifier()).collect();
        let mut causes = Vec::new();
        for (identifier, node) in settings.known_entries(&tree.root, "the file of reasons", &identifiers) {
            let entries = settings.known_entries(node, "a cause", &KEYS);
            let mut text = |key: &str| {
                let (_, node): &(_, &YamlNode) = entries.iter().find(|(known, _)| *known == key)?;
                let text = node.text().map(str::to_owned);
                if text.is_none() {
                    settings.report(node, format!("expected a text as {key}"), "write the text on the line of its key");
                }
                text
            };
            causes.push((identifier, KEYS.map(&mut text)));
        }
        settings.finish(SiteReasons { causes })
    }

    /// Returns what the site says of a cause: `ask first; contact: gpu@example.org; see https://...`. `None` if nothing.
    pub fn phrase(&self, cause: Cause) -> Option<String> {
        let (_, [advice, contact, link]) = self.causes.iter().find(|(known, _)| *known == cause.identifier())?;
        let contact = contact.as_ref().map(|contact| format!("contact: {contact}"));
        let link = link.as_ref().map(|link| format!("see {link}"));
        let parts: Vec<String> = [advice.clone(), contact, link].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::SiteReasons;
    use classad::explain::Cause;

    #[test]
    fn a_site_says_something_of_causes() {
        let text =
            "owner-rule:\n  advice: ask first\n  contact: gpu@example.org\nsize: { link: 'https://example.org/big' }\n";
        let reasons = SiteReasons::parse(text.as_bytes()).unwrap();
        for (cause, expected) in [
            (Cause::OwnerRule, Some("ask first; contact: gpu@example.org")),
            (Cause::Size, Some("see https://example.org/big")),
            (Cause::InUse, None),
        ] {
            assert_eq!(reasons.phrase(cause).as_deref(), expected, "{cause:?}");
        }
        for (text, message) in [
            ("owner-rul: { advice: a }", "has no key `owner-rul`"),
            ("size: { advise: a }", "has no key `advise`"),
            ("size: { advice: [a] }", "expected a text as advice"),
            ("size: ask", "must be a mapping"),
        ] {
            let problems = SiteReasons::parse(text.as_bytes()).unwrap_err();
            assert!(problems[0].message.contains(message), "{text}: {}", problems[0].message);
        }
    }
}
