//! The ads that options such as `--request` name.

use classad::ad::{Name, Value};
use classad::eval::Context;
use classad::protocol::evaluate_attribute;

use super::named_ad::NamedAd;

/// The names of some ads, as they are given on the command line.
pub struct WantedAds {
    names: Vec<WantedName>,
}

/// A name of one or more ads.
struct WantedName {
    text: String,
    /// The first and the last `ClusterId` that are meant; `None` if the text is a name.
    clusters: Option<[i64; 2]>,
}

impl WantedAds {
    /// Reads names: several are separated by commas, and `105-110` means the jobs of these clusters, and `105` those of one. A text by which an ad
    /// is called is that ad's name, whatever is in it. Returns `None` without names: all ads are meant.
    pub fn new(texts: &[String], ads: &[NamedAd], context: &Context) -> Option<Self> {
        let is_called = |text: &str| ads.iter().any(|ad| ad.is_called(text, context));
        let parts = texts.iter().flat_map(|text| {
            if text.contains(',') && !is_called(text) {
                text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
            } else {
                vec![text.as_str()]
            }
        });
        let names = parts.map(|text| {
            let clusters = cluster_range(text).filter(|_| !is_called(text));
            WantedName { text: text.to_owned(), clusters }
        });
        (!texts.is_empty()).then(|| WantedAds { names: names.collect() })
    }

    /// Whether one of the names is a name of the ad.
    pub fn selects(&self, ad: &NamedAd, context: &Context) -> bool {
        self.names.iter().any(|name| name.selects(ad, context))
    }

    /// Returns the first name that is of none of the ads.
    pub fn unknown(&self, ads: &[NamedAd], context: &Context) -> Option<&str> {
        let unknown = self.names.iter().find(|name| !ads.iter().any(|ad| name.selects(ad, context)));
        unknown.map(|name| name.text.as_str())
    }
}

impl WantedName {
    fn selects(&self, ad: &NamedAd, context: &Context) -> bool {
        match self.clusters {
            None => ad.is_called(&self.text, context),
            Some([first, last]) => {
                let cluster = evaluate_attribute(ad.advertisement(), &Name::new("ClusterId"), context);
                cluster.is_some_and(
                    |cluster| matches!(cluster, Value::Integer(number) if (first..=last).contains(&number)),
                )
            }
        }
    }
}

/// Returns the number of a cluster or a job: `7`, `7.0`.
pub fn job_number(text: &str) -> Option<(i64, Option<i64>)> {
    let number = |part: &str| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { part.parse().ok() } else { None }
    };
    match text.split_once('.') {
        None => Some((number(text)?, None)),
        Some((cluster, process)) => Some((number(cluster)?, Some(number(process)?))),
    }
}

/// Reads `105-110` or `105`. `None` if the text is neither.
fn cluster_range(text: &str) -> Option<[i64; 2]> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |part: &str| job_number(part).filter(|(_, process)| process.is_none());
    let ((first, _), (last, _)) = (number(first)?, number(last)?);
    (first <= last).then_some([first, last])
}

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::eval::Context;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::{NamedAd, WantedAds, cluster_range, job_number};

    #[test]
    fn ranges_are_of_numbers_in_order() {
        assert_eq!(cluster_range("105-110"), Some([105, 110]));
        assert_eq!(cluster_range("105"), Some([105, 105]));
        for text in ["105.0", "-5", "5-", "110-105", "1.0-2.0", "a-b", "1-2-3", "+1-2"] {
            assert_eq!(cluster_range(text), None, "{text}");
        }
    }

    #[test]
    fn ads_are_wanted_by_names_and_ranges() {
        let context = Context::new(Dialect::Condor);
        let job = |cluster: i64, name: &str| {
            let text =
                format!("[ MyType = \"Job\"; ClusterId = {cluster}; ProcId = 0; JobStatus = 1; Owner = \"ann\" ]");
            NamedAd::unnamed(parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap())
                .with_name(name.to_owned())
        };
        let ads = [job(5, "5.0"), job(6, "6.0"), job(8, "8-9"), job(9, "a,b")];
        for (texts, selected, unknown) in [
            ("5.0", "5.0", None),
            ("5", "5.0", None),
            ("5-6", "5.0 6.0", None),
            ("5-9", "5.0 6.0 8-9 a,b", None),
            ("5,8", "5.0 8-9", None),
            ("5, ,6 7", "5.0 6.0", Some("7")),
            // A name is a name, whatever it looks like.
            ("8-9", "8-9", None),
            ("a,b", "a,b", None),
            ("a,5", "5.0", Some("a")),
            ("6-5", "", Some("6-5")),
            ("7-7", "", Some("7-7")),
            ("ann", "5.0 6.0 8-9 a,b", None),
        ] {
            let texts: Vec<String> = texts.split(' ').map(str::to_owned).collect();
            let wanted = WantedAds::new(&texts, &ads, &context).unwrap();
            let found: Vec<&str> = ads.iter().filter(|ad| wanted.selects(ad, &context)).map(NamedAd::id).collect();
            assert_eq!((found.join(" ").as_str(), wanted.unknown(&ads, &context)), (selected, unknown), "{texts:?}");
        }
        assert!(WantedAds::new(&[], &ads, &context).is_none());
    }

    #[test]
    fn numbers_of_jobs_have_a_process_or_none() {
        for (text, expected) in [
            ("7", Some((7, None))),
            ("7.0", Some((7, Some(0)))),
            ("7.", None),
            (".7", None),
            ("7.x", None),
            ("x", None),
            ("", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(job_number(text), expected, "{text}");
        }
    }
}
