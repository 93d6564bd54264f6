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
    /// The identifiers of causes, each with the texts of [`KEYS`].
    causes: Vec<(String, [Option<String>; 3])>,
}

impl SiteReasons {
    /// Reads a YAML document: a mapping from causes to mappings with `advice`, `contact` and `link`. A cause is an identifier of
    /// [`Cause`], or one with what it is about, as in `missing-attribute:HasJava`.
    pub fn parse(text: &[u8]) -> Result<Self, Vec<Problem>> {
        let tree = YamlTree::parse(text).map_err(|problem| vec![problem])?;
        let mut settings = ConfigReader::new(&tree, Dialect::Condor);
        let identifiers: Vec<&'static str> = Cause::ALL.iter().map(|cause| cause.identifier()).collect();
        let mut causes = Vec::new();
        for (key, node) in settings.entries(&tree.root, "the file of reasons") {
            let written = key.text().unwrap_or_default();
            let class = written.split(':').next().unwrap_or_default();
            if settings.known_key((key, class), "the file of reasons", &identifiers).is_none() {
                continue;
            }
            let entries = settings.known_entries(node, "a cause", &KEYS);
            let mut text = |key: &str| {
                let (_, node): &(_, &YamlNode) = entries.iter().find(|(known, _)| *known == key)?;
                let text = node.text().map(str::to_owned);
                if text.is_none() {
                    settings.report(node, format!("expected a text as {key}"), "write the text on the line of its key");
                }
                text
            };
            causes.push((written.to_owned(), KEYS.map(&mut text)));
        }
        settings.finish(SiteReasons { causes })
    }

    /// Returns what the site says of a cause: `ask first; contact: gpu@example.org; see https://...`. `None` if nothing. What it
    /// says of `cause_id`, which names what the cause is about, comes before what it says of all causes of the kind.
    pub fn phrase(&self, cause: Cause, cause_id: &str) -> Option<String> {
        let said = |of: &str| self.causes.iter().find(|(known, _)| known.eq_ignore_ascii_case(of));
        let (_, [advice, contact, link]) = said(cause_id).or_else(|| said(cause.identifier()))?;
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
        let text = "owner-rule:\n  advice: ask first\n  contact: gpu@example.org\nsize: { link: 'https://example.org/big' }\n\
             'missing-attribute:HasJava': { advice: use a container }\n";
        let reasons = SiteReasons::parse(text.as_bytes()).unwrap();
        for (cause, id, expected) in [
            (Cause::OwnerRule, "owner-rule", Some("ask first; contact: gpu@example.org")),
            (Cause::Size, "size:Memory", Some("see https://example.org/big")),
            (Cause::MissingAttribute, "missing-attribute:hasjava", Some("use a container")),
            (Cause::MissingAttribute, "missing-attribute:HasDocker", None),
            (Cause::InUse, "in-use", None),
        ] {
            assert_eq!(reasons.phrase(cause, id).as_deref(), expected, "{cause:?}");
        }
        for (text, message) in [
            ("owner-rul: { advice: a }", "has no key `owner-rul`"),
            ("'missing:HasJava': { advice: a }", "has no key `missing`"),
            ("size: { advise: a }", "has no key `advise`"),
            ("size: { advice: [a] }", "expected a text as advice"),
            ("size: ask", "must be a mapping"),
        ] {
            let problems = SiteReasons::parse(text.as_bytes()).unwrap_err();
            assert!(problems[0].message.contains(message), "{text}: {}", problems[0].message);
        }
    }
}
