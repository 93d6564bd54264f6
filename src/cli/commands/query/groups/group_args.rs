//! The options of groups: `--group-by`, `--sum` and so on.

use clap::Args;

use super::aggregate::AggregateFunction;
use super::having::GroupCondition;
use super::{Aggregate, GroupColumns};
use crate::cli::args::named_expressions::{named_expressions, refuse_equal_names, split_expressions};
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// The options about groups.
#[derive(Args, Default)]
pub struct GroupArgs {
    /// Group the ads by these expressions, and print the number of ads in each group
    ///
    /// `NAME=EXPR` names a column. The largest groups come first. `"a"` and `"A"` are two groups; `toLower(NAME)`
    /// ignores case. --sort then takes names of columns, such as `ads` or `sum(EXPR)`.
    #[arg(long, value_name = "[NAME=]EXPR,...")]
    pub group_by: Option<String>,
    /// Print the sum of each expression over the ads of each group, or over all selected ads
    ///
    /// Booleans count as 1 and 0; other values that are not numbers are ignored.
    #[arg(long, value_name = "[NAME=]EXPR,...", allow_hyphen_values = true)]
    sum: Vec<String>,
    /// Print the mean of each expression, over numbers and booleans
    #[arg(long, value_name = "[NAME=]EXPR,...", allow_hyphen_values = true)]
    mean: Vec<String>,
    /// Print the median of each expression, over numbers and booleans
    #[arg(long, value_name = "[NAME=]EXPR,...", allow_hyphen_values = true)]
    median: Vec<String>,
    /// Print the percentile P of each expression, P from 0 to 100, such as `95:Memory`
    ///
    /// P also applies to the expressions after it: `50:A,B,95:A`. Between two numbers, the percentile is interpolated
    /// linearly.
    #[arg(long, value_name = "P:[NAME=]EXPR,...", allow_hyphen_values = true)]
    percentile: Vec<String>,
    /// Print the least value of each expression; values compare as in --sort
    #[arg(long, value_name = "[NAME=]EXPR,...", allow_hyphen_values = true)]
    min: Vec<String>,
    /// Print the greatest value of each expression; values compare as in --sort
    #[arg(long, value_name = "[NAME=]EXPR,...", allow_hyphen_values = true)]
    max: Vec<String>,
    /// Print only groups for which EXPR is true, such as `ads > 20 && sum(Cpus) > 100`
    ///
    /// EXPR refers to columns by their names: `sum(Cpus)` needs --sum Cpus.
    #[arg(long, value_name = "EXPR", requires = "group_by", allow_hyphen_values = true)]
    having: Option<String>,
    /// Also print the share of each group in the number of ads and in each sum, in percent
    ///
    /// The columns are `percent(ads)` and `percent(sum(EXPR))`. 100 is the total of all groups, printed or not.
    #[arg(long, requires = "group_by")]
    percent: bool,
    /// Also print a last row with the totals of all groups, printed or not
    #[arg(long, requires = "group_by")]
    totals: bool,
}

impl GroupArgs {
    /// Whether rows about groups are wanted.
    pub fn is_given(&self) -> bool {
        let aggregates = [&self.sum, &self.mean, &self.median, &self.percentile, &self.min, &self.max];
        self.group_by.is_some() || aggregates.into_iter().any(|expressions| !expressions.is_empty())
    }

    /// Parses the options; `None` if no groups are wanted. `sort` names the columns that decide the order.
    pub fn columns(
        &self,
        session: &mut Session,
        sort: &[String],
        is_reversed: bool,
    ) -> Result<Option<GroupColumns>, Failure> {
        use AggregateFunction::{Max, Mean, Median, Min, Sum};
        let mut options = vec![
            (Sum, "--sum", self.sum.clone()),
            (Mean, "--mean", self.mean.clone()),
            (Median, "--median", self.median.clone()),
        ];
        for list in &self.percentile {
            let mut percentile = None;
            for part in split_expressions(list) {
                let (own, expression) = split_percentile(part);
                percentile = own.or(percentile);
                if let Some(AggregateFunction::Percentile(hundredths @ 1..100)) = own {
                    let percent = f64::from(hundredths) / 100.0;
                    session.note(&format!("--percentile counts in percent: {percent} is less than 1 percent"));
                }
                let Some(function) = percentile else {
                    return refuse(
                        "--percentile needs a number from 0 to 100, a colon and an expression, such as 95:Memory",
                    );
                };
                options.push((function, "--percentile", vec![expression.to_owned()]));
            }
        }
        options.extend([(Min, "--min", self.min.clone()), (Max, "--max", self.max.clone())]);
        let mut aggregates = Vec::new();
        for (function, option, texts) in options {
            for (name, text, expression) in named_expressions(session, option, &texts)? {
                let name = name.unwrap_or_else(|| format!("{}({text})", function.name()));
                aggregates.push(Aggregate { name, function, expression });
            }
        }
        if self.group_by.is_none() && aggregates.is_empty() {
            return Ok(None);
        }
        let keys = named_expressions(session, "--group-by", self.group_by.as_slice())?;
        let keys = keys.into_iter().map(|(name, text, expression)| (name.unwrap_or(text), expression)).collect();
        let mut columns = GroupColumns {
            keys,
            aggregates,
            order: Vec::new(),
            having: None,
            has_percentages: self.percent,
            has_totals: self.totals,
            usage: None,
        };
        refuse_equal_names(&columns.header())?;
        if let Some(condition) = &self.having {
            columns.having = Some(GroupCondition::new(session, condition, &columns.header())?);
        }
        columns.order = sort.iter().map(|name| columns.find(name, is_reversed)).collect::<Result<_, _>>()?;
        Ok(Some(columns))
    }
}

/// Splits `95:EXPR` into the percentile and the expression. A text that does not begin so is an expression.
fn split_percentile(text: &str) -> (Option<AggregateFunction>, &str) {
    let split = text.split_once(':').and_then(|(percent, expression)| {
        let percent = percent.trim().parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent))?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 10,000
        Some((Some(AggregateFunction::Percentile((percent * 100.0).round() as u16)), expression))
    });
    split.unwrap_or((None, text))
}
