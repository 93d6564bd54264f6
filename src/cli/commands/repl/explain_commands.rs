//! The commands `:gang` and `:explain`.

use classad::matching::gang::{Gang, Gangmatcher};
use classad::protocol::Protocol;

use super::argument::CommandArgument;
use super::state::ReplState;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::args::policy::LoadedPolicy;
use crate::cli::io::parties::Parties;
use crate::cli::render::explanation::ExplanationInput;
use crate::cli::render::explanation::gangs::GangExplainer;
use crate::cli::render::explanation::pair;
use crate::cli::render::explanation::writer::ExplanationWriter;
use crate::cli::render::gang_writer::GangWriter;
use crate::cli::render::output::OutputForm;
use crate::cli::session::Session;
use crate::cli::{Failure, refuse};

/// `:gang`: prints the best gangs of the own side, or why there is none.
pub fn gang(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    let most = argument.number(desk.session)?.unwrap_or(1);
    let request = desk.request()?;
    if desk.pool.files.is_empty() {
        return refuse("there is nobody to fill the ports: `:pool FILE` loads offers");
    }
    desk.pool.parties.requests = vec![request];
    let protocol = desk.protocol();
    let parties = &desk.pool.parties;
    let request = &parties.requests[0];
    let (mut matcher, bad) = Gangmatcher::new(&desk.pool.ads(), protocol.clone(), desk.session.context());
    for bad in bad {
        parties.offers[bad.index].report_bad_ports(desk.session, &bad.fault)?;
    }
    let mut found = match matcher.gangs(0, &request.ad) {
        Ok(found) => found,
        Err(fault) => return refuse(format!("{}: {fault}", request.id())),
    };
    let gangs: Vec<Gang> = found.by_ref().take(most).collect();
    if let Some(fault) = found.fault() {
        return refuse(fault.to_string());
    }
    desk.session.check_interrupt()?;
    if gangs.is_empty() {
        return explain_request(desk.session, parties, protocol, 0);
    }
    desk.session.report_budget_failures(matcher.statistics().failures);
    let mut writer = GangWriter::new(TableOutputArgs { form: Some(OutputForm::Tree), no_header: false });
    for gang in &gangs {
        writer.write(desk.session, gang, parties)?;
    }
    writer.finish()
}

/// `:explain`: prints why the own side matches nothing in the pool, or does not match one ad.
pub fn explain(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    let request = desk.request()?;
    let (mut evidence, mut wanted) = (0, None);
    for word in argument.words() {
        match word.text.as_str() {
            "-v" => evidence += 1,
            "-vv" => evidence += 2,
            _ if wanted.is_none() => wanted = Some(word),
            _ => return Err(argument.part(word.range).report_error(desk.session, "one ad is explained at a time")),
        }
    }
    let is_target = match &wanted {
        Some(word) => word.text == "target",
        None => desk.pool.files.is_empty() && desk.target.is_some(),
    };
    let against;
    let parties = match (is_target, &desk.target) {
        (true, Some(target)) => {
            against = Parties::new([vec![request], vec![target.clone()]]);
            &against
        }
        (true, None) => return refuse("there is no other side: `:target FILE` or `:target [ ... ]` gives an ad"),
        (false, _) if desk.pool.files.is_empty() => {
            return refuse("there is nobody to match: `:pool FILE` loads offers");
        }
        (false, _) => {
            desk.pool.parties.requests = vec![request];
            &desk.pool.parties
        }
    };
    let protocol = desk.protocol();
    let other = match &wanted {
        _ if is_target => parties.offers[0].id(),
        None => return explain_request(desk.session, parties, protocol, evidence),
        Some(word) if parties.offers.iter().any(|offer| offer.id() == word.text) => &word.text,
        Some(word) => {
            let message = format!("no ad of the pool is called {}", word.text);
            return Err(argument.part(word.range.clone()).report_error(desk.session, message));
        }
    };
    let given = LoadedPolicy::default();
    let case = ExplanationInput::new(parties, false, protocol, &given, evidence);
    let mut explainer = case.explainer(desk.session);
    pair::explain_pair(desk.session, &case, &mut explainer, (other, None), None)?;
    Ok(())
}

/// Prints the explanation of the only request of `parties`.
fn explain_request(session: &mut Session, parties: &Parties, protocol: Protocol, evidence: u8) -> Result<(), Failure> {
    let given = LoadedPolicy::default();
    let case = ExplanationInput::new(parties, false, protocol, &given, evidence);
    let mut page = ExplanationWriter::new(&case, None);
    if case.needs_gang(0) {
        let mut gangs = GangExplainer::new(session, &case)?;
        let report = gangs.explain(session, 0, None)?;
        session.check_interrupt()?;
        session.report_budget_failures(gangs.budget_failures());
        if let Some(report) = report {
            page.add_gang(session, &[0], &report)?;
        }
    } else {
        let report = case.explainer(session).explain(&parties.requests[0].ad);
        session.check_interrupt()?;
        page.add_report(session, &[0], &report)?;
    }
    page.finish()
}
