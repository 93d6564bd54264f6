//! Gangs, and why there is no match.

use classad::matching::gang::{Gang, Gangmatcher};

use super::argument::Argument;
use super::desk::Desk;
use crate::cli::explain::{Case, Page, pair};
use crate::cli::gangmatch::{self, GangWriter};
use crate::cli::output::{OutputForm, out};
use crate::cli::{Failure, report};

fn refused<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Refused(Some(message.into())))
}

/// `:gang`
pub fn gang(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    let most = argument.number(desk.session)?.unwrap_or(1);
    let request = desk.request()?;
    if desk.pool.files.is_empty() {
        return refused("there is nobody to fill the ports: `:pool FILE` loads offers");
    }
    let (ad, id) = (request.ad.clone(), request.id.clone());
    desk.pool.parties.requests = vec![request];
    let context = desk.session.context();
    let (mut matcher, bad) = Gangmatcher::new(&desk.pool.ads(), desk.protocol(), context.clone());
    let parties = &desk.pool.parties;
    for bad in bad {
        parties.offers[bad.index].bad_ports(desk.session, &bad.fault)?;
    }
    let mut found = match matcher.gangs(0, &ad) {
        Ok(found) => found,
        Err(fault) => return refused(format!("{id}: {fault}")),
    };
    let gangs: Vec<Gang> = found.by_ref().take(most).collect();
    if let Some(fault) = found.fault() {
        return refused(fault.to_string());
    }
    desk.session.go_on()?;
    let impasse = match gangs.as_slice() {
        [] => matcher.impasse(0, &ad).or_else(|fault| refused(format!("{id}: {fault}")))?,
        _ => None,
    };
    desk.session.go_on()?;
    desk.session.failures(matcher.statistics().failures);
    if desk.session.options.quiet {
        return Ok(());
    }
    if let Some(impasse) = impasse {
        return desk.print(gangmatch::explain::text(&impasse, &id, parties, report::width()).trim_end());
    }
    let mut writer = GangWriter::new(Some(OutputForm::Tree), true)?;
    for gang in &gangs {
        let notice = || gangmatch::notice(gang, parties, &context, None);
        writer.write(desk.session, &mut out(), gang, parties, notice)?;
    }
    writer.finish(&mut out())
}

/// `:explain`
pub fn explain(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    let request = desk.request()?;
    let (mut evidence, mut wanted) = (0, None);
    for word in argument.words() {
        match word.text.as_str() {
            "-v" => evidence += 1,
            "-vv" => evidence += 2,
            _ if wanted.is_none() => wanted = Some(word),
            _ => return Err(argument.part(word.range).refuse(desk.session, "one ad is explained at a time")),
        }
    }
    let is_target = match &wanted {
        Some(word) => word.text == "target",
        None => desk.pool.files.is_empty() && desk.target.is_some(),
    };
    let protocol = desk.protocol();
    let offered = match (is_target, &desk.target) {
        (true, Some(target)) => std::slice::from_ref(target),
        (true, None) => return refused("there is no other side: `:target FILE` or `:target [ ... ]` gives an ad"),
        (false, _) if desk.pool.files.is_empty() => {
            return refused("there is nobody to match: `:pool FILE` loads offers");
        }
        (false, _) => &desk.pool.parties.offers,
    };
    if let Some(word) = wanted.as_ref().filter(|_| !is_target)
        && !offered.iter().any(|offer| offer.id == word.text)
    {
        let message = format!("no ad of the pool is called {}", word.text);
        return Err(argument.part(word.range.clone()).refuse(desk.session, message));
    }
    let asking = std::slice::from_ref(&request);
    let case = Case { asking, offered, ads: ["offer", "offers"], protocol, evidence };
    let mut explainer = case.explainer(desk.session);
    if is_target || wanted.is_some() {
        let other = if is_target { &offered[0].id } else { &wanted.as_ref().map_or("", |word| &word.text).to_owned() };
        pair::explain(desk.session, &case, &mut explainer, (other, None), None)?;
        return Ok(());
    }
    let report = explainer.explain(&request.ad);
    desk.session.go_on()?;
    if desk.session.options.quiet {
        return Ok(());
    }
    let mut page = Page::new(&case, None);
    page.add(desk.session, &[0], &report)?;
    page.finish()
}
