//! `--cases`: one question and one answer a line, as JSON, for bulk work and conformance suites.

use std::io::{BufRead, BufReader, Write};

use classad::ad::{Ad, Dialect, Expression, Name};
use classad::eval::{ConstraintVerdict, Context, Environment, Evaluator, SpecializeOptions};
use classad::format::{self, FileFormat, Position};
use classad::matching::{Pair, PairSide};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, Style, SyntaxError, parse_expression, print_ad};
use indexmap::IndexSet;
use serde_json::{Map, Value as Json, json};

use crate::cli::args::partial_scope::{PartialKnowledge, dependency_names};
use crate::cli::io::input::report_error;
use crate::cli::io::whole_file::open;
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::json::{JoinedRecord, JsonValueWriter};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::session::Session;

/// Answers each case of a file, one JSON object a line. Lines that are no JSON object are reported and skipped.
pub fn run(
    session: &mut Session,
    file: &str,
    answer: fn(&Map<String, Json>, &Context) -> Json,
) -> Result<Status, Failure> {
    let input = open(file).map_err(|error| Failure::unreadable(file, &error))?;
    let mut out = out();
    let mut writer = JsonValueWriter::new(OutputForm::Jsonl);
    for (number, line) in BufReader::new(input).split(b'\n').enumerate() {
        let line = line.map_err(|error| Failure::unreadable(file, &error))?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Map<String, Json>>(&line) {
            Ok(case) => {
                let head = json!({ "id": case.get("id") });
                writer.write(&mut out, &JoinedRecord { head, tail: answer(&case, &session.context()) })?;
            }
            Err(error) => {
                let text = error.to_string();
                let reason = text.split(" at line ").next().unwrap_or_default();
                let place = format!("{file}:{}:{}", number + 1, error.column().max(1));
                report_error(session, &format!("{place}: this is not a case: {reason}"))?;
            }
        }
    }
    out.flush()?;
    Ok(Status::Yes)
}

fn text<'c>(case: &'c Map<String, Json>, key: &str) -> Option<&'c str> {
    case.get(key).and_then(Json::as_str)
}

/// Returns the form that `--from` calls `name`; `None` if there is no such form.
fn named_form(name: &str) -> Option<FileFormat> {
    FileFormat::of_name(name)
}

/// Whether a case has the field, with any value but null.
fn is_given(case: &Map<String, Json>, key: &str) -> bool {
    case.get(key).is_some_and(|value| !value.is_null())
}

/// Reads the ad in the field `key` of a case. The field `form` names the form of the ad; without it the ad is
/// bracketed. A missing field is an empty ad. `None` if the text is not exactly one ad.
fn ad(case: &Map<String, Json>, key: &str, dialect: Dialect) -> Option<Ad> {
    if !is_given(case, key) {
        return Some(Ad::default());
    }
    let text = text(case, key)?;
    let form = self::text(case, "form").and_then(named_form).unwrap_or(FileFormat::Bracketed);
    let mut items = format::read_document(text.as_bytes(), form, dialect)
        .filter(|item| !matches!(item, Err(problem) if problem.severity == format::Severity::Warning));
    match (items.next(), items.next()) {
        (Some(Ok(entry)), None) => Some(entry.ad),
        (None, _) if form == FileFormat::Long => Some(Ad::default()),
        _ => None,
    }
}

/// Reads the ads in the fields `ad` and `target`. A missing field gives an inner `None`. The result is `None` if a text
/// is not exactly one ad.
fn known_ads(case: &Map<String, Json>, context: &Context) -> Option<[Option<Ad>; 2]> {
    let read = |key| if is_given(case, key) { ad(case, key, context.dialect).map(Some) } else { Some(None) };
    Some([read("ad")?, read("target")?])
}

/// Reads the expression in the field `expr`.
fn expression(case: &Map<String, Json>, context: &Context) -> Result<Expression, SyntaxError> {
    parse_expression(text(case, "expr").unwrap_or("").as_bytes(), ParseOptions::new(context.dialect))
}

/// Answers `{"id","ad","target","expr"}` with `{"id","value","type"}`, and a case with `"exprs":[...]` with
/// `{"id","values":[{"value","type"},...]}`.
pub fn eval(case: &Map<String, Json>, context: &Context) -> Json {
    let environment = known_ads(case, context).map(|[ad, target]| Environment::known(ad, target));
    let evaluate = |text: &str| {
        let tree = parse_expression(text.as_bytes(), ParseOptions::new(context.dialect));
        let (Some((environment, frame)), Ok(tree)) = (&environment, tree) else {
            return json!({"value": "", "type": "parse-error"});
        };
        match Evaluator::new(environment, context).evaluate(&tree, frame) {
            Ok(value) => json!({"value": value.to_string(), "type": value.value_type().as_str()}),
            Err(halt) => json!({"value": halt.to_string(), "type": "failure"}),
        }
    };
    match case.get("exprs").and_then(Json::as_array) {
        Some(expressions) => {
            let values = expressions.iter().map(|text| evaluate(text.as_str().unwrap_or("")));
            json!({ "values": values.collect::<Json>() })
        }
        None => evaluate(text(case, "expr").unwrap_or("")),
    }
}

/// Answers `{"id","ad","expr"}` with `{"id","value","verdict"}`. `value` is the residue of the expression, given what
/// is known of the ad. If the residue depends on unknown names, `"unknowns"` lists them.
///
/// Further fields of a case: `"target"`, `"unknown":[...]`, and the flags `"closed"`, `"loose"`, `"inline"`, `"now"`.
pub fn specialize(case: &Map<String, Json>, context: &Context) -> Json {
    let flag = |name: &str| case.get(name).and_then(Json::as_bool).unwrap_or(false);
    let (Ok(expression), Some([known, target])) = (expression(case, context), known_ads(case, context)) else {
        return json!({"value": "", "verdict": "parse-error"});
    };
    let unknown = case.get("unknown").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let partly = PartialKnowledge { unknown: unknown.map(str::to_owned).collect(), is_complete: flag("closed") };
    let (environment, frame) = partly.environment(known.as_ref(), target.as_ref());
    let options = SpecializeOptions { loose: flag("loose"), inline: flag("inline") };
    let context = Context { random: None, now: context.now.filter(|_| flag("now")), ..context.clone() };
    let residue = classad::eval::specialize(&expression, &frame, &environment, &context, options);
    let mut reply = json!({"value": residue.expression.to_string(), "verdict": residue.verdict.as_str()});
    if residue.verdict == ConstraintVerdict::Depends {
        let unknowns = classad::eval::unknowns(&residue.expression, &frame, &environment, &context);
        reply["unknowns"] = dependency_names(&unknowns).into();
    }
    reply
}

/// Answers `{"id","ad","expr"}` with `{"id","external":[...],"internal":[...]}`, and with `"everything"` if the
/// expression may read any name.
pub fn refs(case: &Map<String, Json>, context: &Context) -> Json {
    let (Ok(expression), Some(ad)) = (expression(case, context), ad(case, "ad", context.dialect)) else {
        return json!({"external": [], "internal": [], "error": "parse-error"});
    };
    let (environment, frame) = Environment::single(ad);
    let references = classad::eval::references(&expression, &frame, &environment, context);
    let external: IndexSet<String> = references.external.iter().map(ToString::to_string).collect();
    let internal: Vec<&str> = references.internal.iter().map(Name::as_str).collect();
    let mut reply = json!({"external": external.into_iter().collect::<Vec<_>>(), "internal": internal});
    if references.reads_anything {
        reply["everything"] = true.into();
    }
    reply
}

/// Answers `{"id","text","form":"new|long|json|xml|expr"}` with `{"id","ok","ads":[...]|"expr","error":{...}}`.
pub fn parse(case: &Map<String, Json>, context: &Context) -> Json {
    let source = text(case, "text").unwrap_or("");
    let place = |offset: usize, message: String| {
        let position = Position::of_offset(source.as_bytes(), offset);
        json!({"line": position.line, "column": position.column, "message": message})
    };
    let form = match text(case, "form") {
        Some("expr") => {
            return match parse_expression(source.as_bytes(), ParseOptions::new(context.dialect)) {
                Ok(tree) => json!({"ok": true, "expr": tree.to_string()}),
                Err(error) => json!({"ok": false, "error": place(error.span.range().start, error.message)}),
            };
        }
        Some(name) => match named_form(name) {
            Some(form) => form,
            None => return json!({"ok": false, "ads": [], "error": place(0, format!("there is no form `{name}`"))}),
        },
        None => format::detect(source.as_bytes()).unwrap_or(FileFormat::Bracketed),
    };
    let mut ads = Vec::new();
    let mut first_error = None;
    for item in format::read_document(source.as_bytes(), form, context.dialect) {
        match item {
            Ok(entry) => ads.push(String::from_utf8_lossy(&print_ad(&entry.ad, Style::New)).into_owned()),
            Err(problem) if problem.severity == format::Severity::Error => {
                first_error.get_or_insert_with(|| place(problem.range.start, problem.message));
            }
            Err(_) => {}
        }
    }
    match first_error {
        None => json!({"ok": true, "ads": ads}),
        Some(error) => json!({"ok": false, "ads": ads, "error": error}),
    }
}

/// Answers `{"id","left","right"}` with whether each ad accepts the other, and the ranks of both.
pub fn match_pair(case: &Map<String, Json>, context: &Context) -> Json {
    let (Some(left), Some(right)) = (ad(case, "left", context.dialect), ad(case, "right", context.dialect)) else {
        return json!({"error": "an ad of this case does not parse"});
    };
    let pair = Pair::new(left, right, Protocol::new(context.dialect), context.clone());
    let sides = [PairSide::Request, PairSide::Offer]
        .map(|side| Ok::<_, classad::eval::Abort>((pair.accepts(side)?, pair.rank(side)?)));
    match sides {
        [Ok((left, left_rank)), Ok((right, right_rank))] => json!({
            "left_accepts": left,
            "right_accepts": right,
            "match": left && right,
            "left_rank": left_rank,
            "right_rank": right_rank,
        }),
        [Err(halt), _] | [_, Err(halt)] => json!({"error": halt.to_string()}),
    }
}
