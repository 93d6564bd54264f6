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

Equivalent requests are explained together. Requests with ports, and all requests if offers have ports, are explained as
`gangmatch` serves them.
Exit status: 0 if every idle job matches a free slot and every other request matches an offer; 1 if some do not, or if no
job is idle. --exit-zero makes it 0.
-o json: {\"schema\": \"classad.explain/2\", \"reports\": [...]}, of each report:
  requests, verdict, attributes, summary   who; matches, taken, claimed, not-waiting, contradiction, type-clash,
      missing-attribute, unsatisfied-clause, conflict or refused (ports: with --reverse, what has some); the attributes
      that decide; the sentence
  job, slots   of jobs: {state, hold_reason, hold_codes, slot, last_rejection, concurrency_limits}; how many slots
      {slots, rejected_by_request, rejecting_request, free, claimed_by_user, claimed_by_others, owner, draining, offline,
      if_drained}, each slot in one of them
  clauses   {text, span, true, false, undefined, error, remaining, sole_blocker, best}: in how many offers the clause
      is what, how many meet it and those before it, how many meet all others, what comes nearest to what it asks for;
      the span is in the text of its attribute, in bracketed ads in that of the ad
  conflicts, changes, nearest   positions in `clauses`; {change, matches}; {offer, fails, refuses}
  refusals, refusal_count   {clause, offers, suitable, example}: the first clause of an offer's constraint that is not
      met, null if it has none, in how many offers, and in how many that the request accepts; the first 10, and how
      many there are
  names, not_examined   {kind, clause, text}; what the ads cannot tell
  gang, ports, optional, empty, deepest, stuck   of requests with ports: {label, offer, ports}; {label, alone, given,
      used}; labels; {label, conditions}; as many first ports as can be filled; {label, held, discarded, fitting,
      conditions, unserved, unserved_count, needs}; a condition is {text, by, reads, theirs, labels, offers,
      offer_count}; each of the changes has its `gang`
--config adds to totals: policies: [{knob, line, effect, reason, jobs, examples}]: what the configuration's transforms, submit
requirements and periodic policies do to how many jobs.
Of refusals, unserved, and the offers of a condition the first 10 are listed: --all-offers lists all.

--partial --share 1/4 writes a partial result: the reports on the first quarter of the requests that differ. `classad
merge` puts the shares together, `classad scatter --shares` plans them.";
