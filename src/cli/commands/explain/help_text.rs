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
  classad explain samples/pool/jobs.long --pool samples/pool/machines.long \\
      --request 101 --when-start --run-time 3600
  classad explain samples/pool/job.log
  classad explain samples/license/jobs.ad --pool samples/license/machines.ad \\
      --pool samples/license/licenses.ad

The reports on requests with ports are about gangs: see `classad help gangs`.

Exit status: 0 if every request matches a free offer; else 1. Jobs that are not idle do not count; if all requests are
such jobs, the status is 1. With --unmatched, 0 if every waiting request gets an offer; with --reverse, if every offer
matches a request; with only --offer, if every request matches this offer; with --when, if every request matches an
offer at some time; with --when-start, if a start is expected of every job.

`classad help schema explain` describes the output of -o json. With --offer and without --reverse, see `classad help
schema explain-pair`, with --when `explain-times`, with
--when-start `explain-starts`. `classad help explain` lists the verdicts.";
