//! The end of `classad explain --help`.

pub const EXAMPLES: &str = "\
Examples:
  classad explain samples/pool/jobs.long --pool samples/pool/machines.long --unmatched
  classad explain samples/papers/thesis-figure-2-job.ad \\
      --pool samples/papers/thesis-figure-1-machine.ad -v
  classad explain samples/pool/jobs.long --id 'Name ?: ClusterId' --request 106 \\
      --offer slot1@node01.example.org --pool samples/pool/machines.long
  classad explain samples/pool/jobs.long --pool samples/pool/machines.long --reverse
  classad explain samples/pool/jobs.long --pool samples/pool/machines.long -o json
  classad explain samples/pool/jobs.long --pool samples/pool/machines.long --unmatched -o svg
  classad explain -better-analyze 105.0 -jobads samples/pool/jobs.long \\
      -slotads samples/pool/machines.long
  classad explain samples/pool/jobs.long --pool samples/pool/machines.long \\
      --config samples/policies/config.dump
  classad explain samples/license/jobs.ad --pool samples/license/machines.ad \\
      --pool samples/license/licenses.ad

Equivalent requests are explained together. A request with ports is explained as in `gangmatch`; if offers have ports,
every request is.
Exit status: 0 if every idle job matches a free slot and every other request matches an offer; 1 if some do not, or if no
job is idle. --exit-zero makes it 0.
-o json: {\"schema\": \"classad.explain/2\", \"reports\": [...]}. A report has these members:
  requests, verdict, attributes, summary   names of the requests; matches, taken, claimed, not-waiting, contradiction,
      type-clash, missing-attribute, unsatisfied-clause, conflict or refused (ports: with --reverse, a request with
      ports); the attributes that decide; the sentence
  job, slots   for jobs: {state, hold_reason, hold_codes, slot, last_rejection, concurrency_limits}; numbers of slots
      {slots, rejected_by_request, rejecting_request, free, claimed_by_user, claimed_by_others, owner, draining, offline,
      if_drained}, each slot counted once
  clauses   {text, span, true, false, undefined, error, remaining, sole_blocker, best}: numbers of offers for which the
      clause has each value, of offers that meet it and all clauses before it, and of offers that fail only this clause;
      the value that comes closest; the span is a position in the text of the attribute, in bracketed ads in the ad
  conflicts, changes, nearest   positions in `clauses`; {change, matches}; {offer, fails, refuses}
  refusals, refusal_count   {clause, offers, suitable, example}: the first clause that is not met in the constraint of
      offers (null if they have no constraint), the number of these offers, and of those that the request accepts; the
      first 10, and the number of all
  names, not_examined   {kind, clause, text}; what the ads cannot show
  gang, ports, optional, empty, deepest, stuck   for requests with ports: {label, offer, ports}; {label, alone, given,
      used}: candidates for the port alone, beside the offers at the other ports, and given to other requests; labels of
      optional ports; {label, conditions}; the most first ports that can be filled; {label, held, discarded, fitting,
      conditions, unserved, unserved_count, needs}; a condition is {text, by, reads, theirs, labels, offers,
      offer_count}; each of the changes has its `gang`
--config adds to totals: policies: [{knob, line, effect, reason, jobs, examples}]: what each transform, submit requirement
and periodic policy of the configuration does, and to how many jobs.
The first 10 of refusals, of unserved, and of the offers of a condition are listed; --all-offers lists all.

--partial --share 1/4 writes a partial result: the reports on the first quarter of the distinct requests. `classad merge`
merges the shares, `classad scatter --shares` plans them.";
