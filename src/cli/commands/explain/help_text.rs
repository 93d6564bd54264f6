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

Equivalent requests are explained together. A request with ports is explained as in `gangmatch --explain`. If an offer
has ports, all requests are explained as in `gangmatch --explain`.
Exit status, for the requests that are explained: 0 if every idle job matches a free slot, and every request that is not
a job matches an offer; else 1. Without --unmatched, it is also 1 if there are only jobs that are not waiting. With
--reverse, it is 0 if every offer matches a request. With --offer, but not --reverse, it does not depend on states. With
--exit-zero, it is 0 instead of 1.

-o json: {\"schema\": \"classad.explain/2\", \"totals\": {...}, \"reports\": [...]}. With --offer, but not
--reverse, the schema is another one: see `classad help schema explain-pair`. Each report has these members:
  requests        names of the requests
  verdict         `matches`, a word from `classad help explain`, or, with --reverse, `ports` for a request with ports
  attributes      the attributes on which the verdict depends
  summary         the reason, as a sentence
  job             {state, hold_reason, hold_codes, ending, slot, last_rejection, concurrency_limits}; null if the
                  request is not a job, or with --all-states
  slots           numbers of slots: `slots` is the number of all slots, and each slot is in one of the other numbers
                  {rejected_by_request, rejecting_request, free, claimed_by_user, claimed_by_others, owner, draining,
                  offline, if_drained}; null without slots, and with --all-states or --reverse
  if_drained      the first of the slots that would match if drained, by name; all with --all-offers
  suitable        number of offers that the request accepts
  accepting       number of offers that accept the request
  clauses         an object for each clause of the constraint: see below
  conflicts       [[INDEX, ...], ...]: sets of clauses that no offer meets together, by their indexes in `clauses`
  changes         [{change, steps, matches, free}, ...]: changes with which the request would match, the number of
                  offers that match then, and how many of these are free (null if states do not matter)
  far_less        further changes of this kind, with which the request would ask for less than half as much
  nearest         [{offer, fails, refuses}, ...]: the nearest offers, the indexes of the clauses that they fail, and
                  their own clauses that the request fails
  refusals        [{clause, offers, suitable, example}, ...]: `clause` is the first clause of an offer's constraint
                  that the request does not meet (null without a constraint); `offers`, the number of offers with this
                  first unmet clause; `suitable`, how many of them the request accepts; `example`, one of them
  refusal_count   number of all refusals
  names           [{kind, clause, text}, ...]: remarks on names and types in a clause
  not_examined    possible reasons that explain does not examine, because the ads do not show them

A clause has these members:
  text            the text of the clause
  span            [START, END]: its position in the text of the attribute or, in a bracketed ad, in the text of the ad
  true, false, undefined, error
                  numbers of offers for which the clause has this value
  remaining       number of offers that meet this clause and all clauses before it
  sole_blocker    number of offers that fail only this clause
  best            the value that comes closest to meeting the clause
  best_if_drained
                  the same, if all partitionable slots were without jobs

A report as in `gangmatch --explain` has these members instead of `job`, `slots`, `suitable`, `accepting` and
`far_less`. A gang is [{label, offer, link, ranks, ports}, ...]:
  gang            the gang that the request gets, or null
  ports           [{label, alone, given, used}, ...]: `alone` is the number of remaining offers that could fill the
                  port if it were the only one; `given`, how many of these leave an offer for each other port; `used`,
                  the number of offers that would fit, but are used up by other requests
  optional        labels of optional ports
  empty           [{label, conditions}, ...]: the ports that no offer fits
  deepest         the best gang that fills as many of the first ports as possible
  stuck           [{label, held, discarded, fitting, conditions, unserved, unserved_count, needs}, ...]: the ports
                  that cannot be filled after those of `deepest`

Each element of `changes` then has, instead of `free`, the `gang` that the request would get. A condition is {text, by,
reads, theirs, labels, offers, offer_count}. `classad help schema explain` describes all members.
With --config, `totals` has policies: [{knob, line, effect, reason, jobs, examples}, ...]. These objects say what each
transform, submit requirement and periodic policy of the configuration does, and to how many jobs.
The first 10 elements of `refusals`, of `unserved` and of the `offers` of a condition are listed; --all-offers lists all.

--partial --share 1/4 writes a partial result: the reports on the first quarter of the distinct requests. `classad
merge` merges the shares. `classad scatter --shares` plans the runs.";
