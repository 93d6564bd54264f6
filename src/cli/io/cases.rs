//! `--cases`: one question and one answer a line, as JSON, for bulk work and conformance suites.

use std::io::{self, BufRead, BufReader, Read, Write};

use clap::ValueEnum;
use classad::ad::{Ad, Dialect, Name, Value};
use classad::eval::{ConstraintVerdict, Context, Environment, Evaluator, SpecializeOptions};
use classad::format::{self, FileFormat, Position};
use classad::matching::{Pair, PairSide};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, Style, SyntaxError, parse_expression, print, print_ad, print_value};
use indexmap::IndexSet;
use serde_json::{Map, Value as Json, json};

use crate::cli::args::global::AdForm;
use crate::cli::args::partial_scope::{PartialKnowledge, dependency_names};
use crate::cli::render::output::out;
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

/// Answers each case of a file, one JSON object a line. Lines that are no JSON object are reported and skipped.
pub fn run(
    session: &mut Session,
    file: &str,
    answer: fn(&Map<String, Json>, &Context) -> Map<String, Json>,
) -> Result<Status, Failure> {
    let input: Box<dyn Read> = if file == "-" {
        Box::new(io::stdin().lock())
    } else {
        let opened = std::fs::File::open(file);
        Box::new(opened.map_err(|error| Failure::unreadable(file, &error))?)
    };
    let mut out = out();
    for (number, line) in BufReader::new(input).split(b'\n').enumerate() {
        let line = line?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Map<String, Json>>(&line) {
            Ok(case) => {
                let mut reply = Map::new();
                reply.insert("id".to_owned(), case.get("id").cloned().unwrap_or(Json::Null));
                reply.extend(answer(&case, &session.context()));
                writeln!(out, "{}", Json::Object(reply))?;
            }
            Err(error) => {
                let text = error.to_string();
                let reason = text.split(" at line ").next().unwrap_or_default();
                session.error(&format!("{file}:{}:{}: this is no case: {reason}", number + 1, error.column().max(1)));
                if session.options.fail_fast {
                    break;
                }
            }
        }
    }
    out.flush()?;
    Ok(Status::Yes)
}

fn text<'c>(case: &'c Map<String, Json>, key: &str) -> Option<&'c str> {
    case.get(key).and_then(Json::as_str)
}

/// Returns the form of a name, as `--from` accepts it; `None` if there is no such form.
fn named_form(name: &str) -> Option<FileFormat> {
    AdForm::from_str(name, false).ok().map(FileFormat::from)
}

/// Whether a case has the field, with any value but null.
fn is_given(case: &Map<String, Json>, key: &str) -> bool {
    case.get(key).is_some_and(|value| !value.is_null())
}

/// Reads the ad in a field of a case: bracketed, or in the form of the field `form`. A missing field is an empty ad.
/// `None` if the text is not exactly one ad.
fn ad(case: &Map<String, Json>, key: &str, dialect: Dialect) -> Option<Ad> {
    if !is_given(case, key) {
        return Some(Ad::default());
    }
    let text = text(case, key)?;
    let form = self::text(case, "form").and_then(named_form).unwrap_or(FileFormat::Bracketed);
    let mut items = format::read(text.as_bytes(), form, dialect)
        .filter(|item| !matches!(item, Err(problem) if problem.severity == format::Severity::Warning));
    match (items.next(), items.next()) {
        (Some(Ok(entry)), None) => Some(entry.ad),
        (None, _) if form == FileFormat::Long => Some(Ad::default()),
        _ => None,
    }
}

fn into_object(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(object) => object,
        _ => Map::new(),
    }
}

fn lossy_string(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Answers `{"id","ad","target","expr"}` with `{"id","value","type"}`, and a case with `"exprs":[...]` with
/// `{"id","values":[{"value","type"},...]}`.
pub fn eval(case: &Map<String, Json>, context: &Context) -> Map<String, Json> {
    let ad = ad(case, "ad", context.dialect);
    let target = is_given(case, "target").then(|| self::ad(case, "target", context.dialect));
    let environment = match (ad, target) {
        (Some(_), None) if !is_given(case, "ad") => Some(Environment::empty()),
        (Some(ad), None) => Some(Environment::single(ad)),
        (Some(ad), Some(Some(target))) => {
            let (environment, [frame, _]) = Environment::pair(ad, target);
            Some((environment, frame))
        }
        _ => None,
    };
    let evaluate = |expression: &str| {
        let Some((environment, frame)) = &environment else { return json!({"value": "", "type": "parse-error"}) };
        match parse_expression(expression.as_bytes(), ParseOptions::new(context.dialect)) {
            Err(_) => json!({"value": "", "type": "parse-error"}),
            Ok(tree) => match Evaluator::new(environment, context).evaluate(&tree, frame) {
                Ok(value) => typed_value_json(&value),
                Err(halt) => json!({"value": halt.to_string(), "type": "failure"}),
            },
        }
    };
    match case.get("exprs").and_then(Json::as_array) {
        Some(expressions) => {
            let values: Vec<Json> = expressions.iter().map(|e| evaluate(e.as_str().unwrap_or(""))).collect();
            into_object(json!({ "values": values }))
        }
        None => into_object(evaluate(text(case, "expr").unwrap_or(""))),
    }
}

fn typed_value_json(value: &Value) -> Json {
    json!({"value": lossy_string(&print_value(value, Style::New)), "type": value.value_type().as_str()})
}

/// Answers `{"id","ad","expr"}` with `{"id","value","verdict"}`: the residue of the expression, where the ad is known
/// in part. If the residue depends on unknown names, `"unknowns"` lists them.
///
/// Further fields of a case: `"target"`, `"unknown":[...]`, and the flags `"closed"`, `"loose"`, `"inline"`, `"now"`.
pub fn specialize(case: &Map<String, Json>, context: &Context) -> Map<String, Json> {
    let flag = |name: &str| case.get(name).and_then(Json::as_bool).unwrap_or(false);
    let failed = || into_object(json!({"value": "", "verdict": "parse-error"}));
    let Ok(expression) =
        parse_expression(text(case, "expr").unwrap_or("").as_bytes(), ParseOptions::new(context.dialect))
    else {
        return failed();
    };
    let [known, target] = ["ad", "target"].map(|key| is_given(case, key).then(|| ad(case, key, context.dialect)));
    if matches!(known, Some(None)) || matches!(target, Some(None)) {
        return failed();
    }
    let unknown = case.get("unknown").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let partly = PartialKnowledge { unknown: unknown.map(str::to_owned).collect(), is_complete: flag("closed") };
    let (environment, frame) = partly.environment(known.flatten().as_ref(), target.flatten().as_ref());
    let liberties = SpecializeOptions { loose: flag("loose"), inline: flag("inline") };
    let context = Context { random: None, now: context.now.filter(|_| flag("now")), ..context.clone() };
    let left = classad::eval::specialize(&expression, &frame, &environment, &context, liberties);
    let mut reply = into_object(
        json!({"value": lossy_string(&print(&left.expression, Style::New)), "verdict": left.verdict.as_str()}),
    );
    if left.verdict == ConstraintVerdict::Depends {
        let unknowns = classad::eval::unknowns(&left.expression, &frame, &environment, &context);
        reply.insert("unknowns".to_owned(), dependency_names(&unknowns).into());
    }
    reply
}

/// Answers `{"id","ad","expr"}` with `{"id","external":[...],"internal":[...]}`, and with `"everything"` if the
/// expression may read any name.
pub fn refs(case: &Map<String, Json>, context: &Context) -> Map<String, Json> {
    let expression = parse_expression(text(case, "expr").unwrap_or("").as_bytes(), ParseOptions::new(context.dialect));
    let (Ok(expression), Some(ad)) = (expression, ad(case, "ad", context.dialect)) else {
        return into_object(json!({"external": [], "internal": [], "error": "parse-error"}));
    };
    let (environment, frame) = Environment::single(ad);
    let found = classad::eval::references(&expression, &frame, &environment, context);
    let external: IndexSet<String> = found.external.iter().map(ToString::to_string).collect();
    let internal: Vec<&str> = found.internal.iter().map(Name::as_str).collect();
    let mut reply = into_object(json!({"external": external.into_iter().collect::<Vec<_>>(), "internal": internal}));
    if found.reads_anything {
        reply.insert("everything".to_owned(), true.into());
    }
    reply
}

/// Answers `{"id","text","form":"new|long|json|xml|expr"}` with `{"id","ok","ads":[...]|"expr","error":{...}}`.
pub fn parse(case: &Map<String, Json>, context: &Context) -> Map<String, Json> {
    let source = text(case, "text").unwrap_or("");
    let place = |offset: usize, message: String| {
        let position = Position::of_offset(source.as_bytes(), offset);
        json!({"line": position.line, "column": position.column, "message": message})
    };
    if text(case, "form") == Some("expr") {
        return into_object(match parse_expression(source.as_bytes(), ParseOptions::new(context.dialect)) {
            Ok(tree) => json!({"ok": true, "expr": lossy_string(&print(&tree, Style::New))}),
            Err(SyntaxError { span, message, .. }) => json!({"ok": false, "error": place(span.range().start, message)}),
        });
    }
    let form = match text(case, "form").map(|name| named_form(name).ok_or(name)) {
        Some(Ok(form)) => form,
        Some(Err(other)) => {
            let message = format!("there is no form `{other}`");
            return into_object(json!({"ok": false, "ads": [], "error": place(0, message)}));
        }
        None => format::detect(source.as_bytes()).unwrap_or(FileFormat::Bracketed),
    };
    let mut ads = Vec::new();
    let mut first_error = None;
    for item in format::read(source.as_bytes(), form, context.dialect) {
        match item {
            Ok(entry) => ads.push(Json::from(lossy_string(&print_ad(&entry.ad, Style::New)))),
            Err(problem) if problem.severity == format::Severity::Error && first_error.is_none() => {
                first_error = Some(place(problem.range.start, problem.message));
            }
            Err(_) => {}
        }
    }
    into_object(match first_error {
        None => json!({"ok": true, "ads": ads}),
        Some(error) => json!({"ok": false, "ads": ads, "error": error}),
    })
}

/// Answers `{"id","left","right"}` with whether each ad accepts the other, and the ranks of both.
pub fn match_pair(case: &Map<String, Json>, context: &Context) -> Map<String, Json> {
    let (Some(left), Some(right)) = (ad(case, "left", context.dialect), ad(case, "right", context.dialect)) else {
        return into_object(json!({"error": "an ad of this case does not parse"}));
    };
    let pair = Pair::new(left, right, Protocol::new(context.dialect), context.clone());
    let sides = [PairSide::Request, PairSide::Offer]
        .map(|side| Ok::<_, classad::eval::Abort>((pair.accepts(side)?, pair.rank(side)?)));
    into_object(match sides {
        [Ok((left, left_rank)), Ok((right, right_rank))] => json!({
            "left_accepts": left,
            "right_accepts": right,
            "match": left && right,
            "left_rank": left_rank,
            "right_rank": right_rank,
        }),
        [Err(halt), _] | [_, Err(halt)] => json!({"error": halt.to_string()}),
    })
}
