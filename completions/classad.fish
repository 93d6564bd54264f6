# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_classad_global_optspecs
    string join \n dialect= from= now= seed= max-steps= max-depth= max-value-bytes= max-search-tests= map= threads= strict lenient fail-fast exit-zero v/verbose q/quiet color= h/help V/version
end

function __fish_classad_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_classad_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_classad_using_subcommand
    set -l cmd (__fish_classad_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c classad -n "__fish_classad_needs_command" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_needs_command" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_needs_command" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_needs_command" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_needs_command" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_needs_command" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_needs_command" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_needs_command" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_needs_command" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_needs_command" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_needs_command" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_needs_command" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_needs_command" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_needs_command" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_needs_command" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_needs_command" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_needs_command" -s V -l version -d 'Print version'
complete -c classad -n "__fish_classad_needs_command" -f -a "fmt" -d 'Format ads and keep their comments'
complete -c classad -n "__fish_classad_needs_command" -f -a "check" -d 'Find probable mistakes: syntax errors, contradictions, wrong precedence, misspelt names'
complete -c classad -n "__fish_classad_needs_command" -f -a "eval" -d 'Evaluate an expression, alone or in each ad of files'
complete -c classad -n "__fish_classad_needs_command" -f -a "query" -d 'Print the ads that a constraint is true of'
complete -c classad -n "__fish_classad_needs_command" -f -a "gangmatch" -d 'Match requests with all the offers that their ports need'
complete -c classad -n "__fish_classad_needs_command" -f -a "claim" -d 'Claim matches, checked against the current ads'
complete -c classad -n "__fish_classad_needs_command" -f -a "autocluster" -d 'Group requests that no offer and no policy can tell apart'
complete -c classad -n "__fish_classad_needs_command" -f -a "convert" -d 'Write ads in another form, without loss'
complete -c classad -n "__fish_classad_needs_command" -f -a "parts" -d 'Plan parts of files, for many processes or machines'
complete -c classad -n "__fish_classad_needs_command" -f -a "scatter" -d 'Plan a command over many files as jobs of HTCondor, or as lines for GNU parallel'
complete -c classad -n "__fish_classad_needs_command" -f -a "merge" -d 'Merge partial results of parts of files, as one run over all files prints them'
complete -c classad -n "__fish_classad_needs_command" -f -a "specialize" -d 'Evaluate expressions as far as the ad is known, and print the residues'
complete -c classad -n "__fish_classad_needs_command" -f -a "route" -d 'Show which route of HTCondor\'s job router takes each job, and why the other jobs have no route'
complete -c classad -n "__fish_classad_needs_command" -f -a "test" -d 'Run unit tests of ads and policies: cases in YAML with their expected results'
complete -c classad -n "__fish_classad_needs_command" -f -a "workload" -d 'Write synthetic ads: the workloads of the papers, and a modern pool'
complete -c classad -n "__fish_classad_needs_command" -f -a "repl" -d 'Evaluate, match and explain at a prompt'
complete -c classad -n "__fish_classad_needs_command" -f -a "completions" -d 'Print the completions of commands and options for a shell'
complete -c classad -n "__fish_classad_needs_command" -f -a "man" -d 'Print a manual page, or write all of them'
complete -c classad -n "__fish_classad_needs_command" -f -a "help" -d 'Print the help of a command or a topic'
complete -c classad -n "__fish_classad_needs_command" -f -a "census" -d 'Count the attributes of ads: how many ads have them, types, values, ranges'
complete -c classad -n "__fish_classad_needs_command" -f -a "collect" -d 'Print the ads that a collector holds: the latest of each agent, with the updates of single attributes'
complete -c classad -n "__fish_classad_needs_command" -f -a "diff" -d 'Show what changed between two files of ads, by identity and meaning'
complete -c classad -n "__fish_classad_needs_command" -f -a "explain" -d 'Explain why requests match nothing'
complete -c classad -n "__fish_classad_needs_command" -f -a "why" -d 'Explain why requests match nothing'
complete -c classad -n "__fish_classad_needs_command" -f -a "functions" -d 'List the built-in functions, or explain one'
complete -c classad -n "__fish_classad_needs_command" -f -a "join" -d 'Pair the ads of two sets by equal values, such as jobs of a history with machines'
complete -c classad -n "__fish_classad_needs_command" -f -a "match" -d 'Match requests with offers, one offer for each request'
complete -c classad -n "__fish_classad_needs_command" -f -a "negotiate" -d 'Run a negotiation cycle: a policy decides which offers requests get'
complete -c classad -n "__fish_classad_needs_command" -f -a "parse" -d 'Check that files parse, and print their ads'
complete -c classad -n "__fish_classad_needs_command" -f -a "refs" -d 'List external and internal references'
complete -c classad -n "__fish_classad_needs_command" -f -a "transform" -d 'Change ads: set, copy, rename and delete attributes, or apply HTCondor\'s transform rules'
complete -c classad -n "__fish_classad_using_subcommand fmt" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand fmt" -s w -l write -d 'Rewrite the files, each at once and only if every ad of it parses; =SUFFIX keeps the old ones' -r
complete -c classad -n "__fish_classad_using_subcommand fmt" -l width -d 'Break lines that are wider than N columns' -r
complete -c classad -n "__fish_classad_using_subcommand fmt" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand fmt" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand fmt" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand fmt" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand fmt" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand fmt" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand fmt" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand fmt" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand fmt" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand fmt" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand fmt" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand fmt" -l check -d 'Print only the names of the files that would change'
complete -c classad -n "__fish_classad_using_subcommand fmt" -s d -l diff -d 'Print what would change'
complete -c classad -n "__fish_classad_using_subcommand fmt" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand fmt" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand fmt" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand fmt" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand fmt" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand fmt" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand fmt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand check" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l pool -d 'Check whether a pool has the attributes, types and spellings that the ads ask for' -r
complete -c classad -n "__fish_classad_using_subcommand check" -s e -l expr -d 'Check this expression instead of files' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l config -d 'Check the policies of a configuration: START, RANK and their like, submit requirements, periodic policies, transforms and routes. DUMP is a file of what `condor_config_val -dump` prints' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l only -d 'Apply only these rules; --rules lists all' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l allow -d 'Do not apply these rules' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l fail-level -d 'Exit with 1 if there is a finding of this level or worse' -r -f -a "note\t''
warning\t''
error\t''"
complete -c classad -n "__fish_classad_using_subcommand check" -l level -d 'Report only findings of this level or worse' -r -f -a "note\t''
warning\t''
error\t''"
complete -c classad -n "__fish_classad_using_subcommand check" -l constraint-attr -d 'The attribute that is an ad\'s constraint' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l rank-attr -d 'The attribute that is an ad\'s rank' -r
complete -c classad -n "__fish_classad_using_subcommand check" -s o -l output -d 'The form of the output' -r -f -a "text\t'Annotated excerpts for people'
json\t'One JSON document'
sarif\t'SARIF 2.1.0, for code review'
github\t'Annotations of GitHub\'s workflows'"
complete -c classad -n "__fish_classad_using_subcommand check" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand check" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand check" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand check" -l rules -d 'List the rules'
complete -c classad -n "__fish_classad_using_subcommand check" -l partial -d 'Write a partial result for `classad merge`, of parts of files'
complete -c classad -n "__fish_classad_using_subcommand check" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand check" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand check" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand check" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand check" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand check" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand check" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand eval" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l attr -d 'Evaluate this attribute of each ad' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l my -d 'The ad to evaluate in: the first ad of this file' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l target -d 'The ad on the other side of a match: the first ad of this file' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -s D -l define -d 'Define an attribute of the ad to evaluate in' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l cases -d 'Read cases {"id","ad","target","expr"} from a file of JSON lines' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand eval" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand eval" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand eval" -l each -d 'Put the identity of each ad before its value'
complete -c classad -n "__fish_classad_using_subcommand eval" -l type -d 'Print the type after the value'
complete -c classad -n "__fish_classad_using_subcommand eval" -l trace -d 'Print the expression as a tree, with the value of every part'
complete -c classad -n "__fish_classad_using_subcommand eval" -s e -d 'Exit with 1 for false, 4 for undefined, 5 for error'
complete -c classad -n "__fish_classad_using_subcommand eval" -s r -l raw -d 'Print strings without quotes'
complete -c classad -n "__fish_classad_using_subcommand eval" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand eval" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand eval" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand eval" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand eval" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand eval" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand eval" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand query" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l constraint -d 'A constraint, instead of the first argument; of several constraints, all must be true' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l ads -d 'A file of ads; with this option, a query without a constraint prints all ads' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l userlog -d 'An event log of jobs; the ads are the jobs with their last states, and the attributes of their events' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l log-time -d 'Read a `job_queue.log` only as far as it was written at TIME, by the times that it sets' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l af -d 'Print the values of these expressions for each ad; `NAME=EXPR` names a column' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l mask -d 'Columns of HTCondor\'s `-autoformat` and `-format`, which `condor_options` translates into this option' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l append -d 'Columns of HTCondor\'s `-aaf`, translated likewise' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l condor-table -d 'HTCondor\'s words that ask for a table, translated likewise' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l called -d 'Numbers and owners of jobs, names of slots and machines among HTCondor\'s words' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l print-format -d 'Print a table as one of HTCondor\'s print formats describes it' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l attributes -d 'Print only these attributes of the ads' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l sort -d 'Sort the ads by the value of this expression; of several, the first one counts first' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l limit -l top -d 'Print at most N ads, rows or groups' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l at -d 'Query only the ads that a collector holds at TIME: the latest of each name, if it has not expired' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l since -d 'Stop, from the last ad backwards, at the first ad that is this job or for which the expression is true' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l completed-since -d 'Stop, from the last ad backwards, at the first ad that was completed at TIME or before' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l group-by -d 'Print how many ads there are for each value of these expressions' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l sum -d 'Print the sum of these expressions over the ads of each group, or over all ads' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l mean -d 'Print the mean of these expressions: their sum divided by the number of ads that have a number' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l min -d 'Print the least value of these expressions, in the order of --sort' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l max -d 'Print the greatest value of these expressions, in the order of --sort' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l id -d 'Expression whose value is the identity of an ad' -r
complete -c classad -n "__fish_classad_using_subcommand query" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
tree\t'Indented trees, of gangs'
long\t'Ads in HTCondor\'s long form'
new\t'Bracketed ads'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
xml\t'HTCondor\'s XML'
yaml\t'A YAML document for each ad'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand query" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand query" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand query" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand query" -l desc -d 'Turn the order of every --sort round'
complete -c classad -n "__fish_classad_using_subcommand query" -l newest -d 'Print the ads of a history from the last one to the first, as `condor_history` does'
complete -c classad -n "__fish_classad_using_subcommand query" -l count -d 'Print only the number of ads or rows; groups have it anyway'
complete -c classad -n "__fish_classad_using_subcommand query" -l invert -d 'Print the ads that the constraint is not true of'
complete -c classad -n "__fish_classad_using_subcommand query" -l verbose -d 'Report more: the dialect and why it was chosen'
complete -c classad -n "__fish_classad_using_subcommand query" -s v -d 'The former short name of `--invert`, which is refused'
complete -c classad -n "__fish_classad_using_subcommand query" -l undefined -d 'Print the ads for which the constraint is undefined, and the attributes that they lack'
complete -c classad -n "__fish_classad_using_subcommand query" -l totals -d 'Print a last row for all groups together, those beyond --limit, too'
complete -c classad -n "__fish_classad_using_subcommand query" -l distinct -d 'Print equal rows of --af once'
complete -c classad -n "__fish_classad_using_subcommand query" -l partial -d 'Write a partial result for `classad merge`, of parts of files'
complete -c classad -n "__fish_classad_using_subcommand query" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand query" -l strict-input -d 'Parse every ad whole, and report all its errors'
complete -c classad -n "__fish_classad_using_subcommand query" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand query" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand query" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand query" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand query" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand query" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand query" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand query" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l pool -d 'Files of offers' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l algorithm -d 'How to search for gangs: `best` finds the best gang by ranks or by a docking vector; the others, from the thesis, take the first gang that they find' -r -f -a "best\t''
naive\t''
lr\t''
rl\t''
lrc\t''
rlc\t''
dyn\t''
dyns\t''
dynsr\t''"
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l limit -d 'Print the N best gangs that each request could have; no offer is used up' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l policy -d 'A policy in YAML, or the ready policy `htcondor`: see `classad help policy`' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l roots -d 'Which requests are served; offers for which it is true are not served' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l order -d 'Which requests come first: the greatest; several make a vector' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l dock -d 'Which candidate is best: the greatest; `label` is the candidate, several make a vector' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l config -d 'The configuration for the variables, groups and limits of the policy: what `condor_config_val -dump` prints' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l notify -d 'Write a record of each match for each of its parties, as lines of JSON; `-` is standard output, instead of the matches' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l at -d 'When ads must not have expired, by their `ExpirationTime`, or `LastHeardFrom` and `ClassAdLifetime`: a time as of --now [default: the time of --now]' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l matched -d 'Leave out ads that were matched before and have no greater `UpdateSequenceNumber` since: files that --notify wrote, or `-o jsonl`. Rows of `claim -o jsonl` after the matches say which of them are aborted or released' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l constraint-attr -d 'The attribute that is an ad\'s constraint' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l rank-attr -d 'The attribute that is an ad\'s rank' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l id -d 'Expression whose value is the identity of an ad' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
tree\t'Indented trees, of gangs'
long\t'Ads in HTCondor\'s long form'
new\t'Bracketed ads'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
xml\t'HTCondor\'s XML'
yaml\t'A YAML document for each ad'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l all -d 'Print every gang that each request could have, the best first; no offer is used up'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l explain -d 'Print why each request without a gang has none, instead of the gangs'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l environment -d 'Print of each gang the ad in which its expressions are evaluated: its ads, and what their labels stand for'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l with-ads -d 'Give each record copies of the ads of the match, as JSON; a `ClaimId` only to those who may know it'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l as-given -d 'Take the ads as they are given: expired ones, too, and all of several that have one name'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l all-states -d 'Take jobs and slots of every state, also jobs that do not wait and slots that are not free'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l stats -d 'Print counters on standard error'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l strict-input -d 'Parse all of every ad, and report whatever is bad in it'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand gangmatch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand claim" -l ads -d 'Files of the ads as they are now, requests and offers' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l usage -d 'Tell the accountant: in this file of `negotiate --usage`, the offers of a claim count as used until its release' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l by -d 'Expression whose value in a request names its submitter, for --usage' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l follow -d 'Write the ads that follow: of the offers, claimed or with --release free again, with no `ClaimId`' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l at -d 'When ads must not have expired, by their `ExpirationTime`, or `LastHeardFrom` and `ClassAdLifetime`: a time as of --now [default: the time of --now]' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l constraint-attr -d 'The attribute that is an ad\'s constraint' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l rank-attr -d 'The attribute that is an ad\'s rank' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l id -d 'Expression whose value is the identity of an ad' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
tree\t'Indented trees, of gangs'
long\t'Ads in HTCondor\'s long form'
new\t'Bracketed ads'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
xml\t'HTCondor\'s XML'
yaml\t'A YAML document for each ad'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand claim" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand claim" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand claim" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand claim" -l list -d 'List the matches in force instead of claiming them. With --ads, leave out offers that were advertised afresh'
complete -c classad -n "__fish_classad_using_subcommand claim" -l transcript -d 'Print each message of the two phases instead of the outcomes of the matches'
complete -c classad -n "__fish_classad_using_subcommand claim" -l release -d 'Release the matches, which were claimed before, instead of claiming them'
complete -c classad -n "__fish_classad_using_subcommand claim" -l as-given -d 'Take the ads as they are given: expired ones, too, and all of several that have one name'
complete -c classad -n "__fish_classad_using_subcommand claim" -l stats -d 'Print counters on standard error'
complete -c classad -n "__fish_classad_using_subcommand claim" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand claim" -l strict-input -d 'Parse all of every ad, and report whatever is bad in it'
complete -c classad -n "__fish_classad_using_subcommand claim" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand claim" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand claim" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand claim" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand claim" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand claim" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand claim" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand claim" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand claim" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l pool -d 'Files of offers; without any, only the attributes that the requests and the policy read are significant' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l policy -d 'A policy in YAML, or the ready policy `htcondor`: see `classad help policy`' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l roots -d 'Which requests are served; offers for which it is true are not served' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l order -d 'Which requests come first: the greatest; several make a vector' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l dock -d 'Which candidate is best: the greatest; `label` is the candidate, several make a vector' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l config -d 'The configuration for the variables, groups and limits of the policy: what `condor_config_val -dump` prints' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l constraint-attr -d 'The attribute that is an ad\'s constraint' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l rank-attr -d 'The attribute that is an ad\'s rank' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l id -d 'Expression whose value is the identity of an ad' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
tree\t'Indented trees, of gangs'
long\t'Ads in HTCondor\'s long form'
new\t'Bracketed ads'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
xml\t'HTCondor\'s XML'
yaml\t'A YAML document for each ad'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l significant -d 'Print the names of the significant attributes'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l requests -d 'Print an ad for each cluster: its significant attributes, `AutoClusterId`, and its number of requests in `ResourceRequestCount`'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l annotate -d 'Print the requests with `AutoClusterId` and `AutoClusterAttrs`, the significant attributes that it was made of'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l submitters -d 'Print an ad for each submitter: `IdleJobs`, and in `ResourceRequests` the ads of --requests for its requests'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l stats -d 'Print counters on standard error'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l strict-input -d 'Parse all of every ad, and report whatever is bad in it'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand autocluster" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand convert" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand convert" -s o -l to -l output -d 'The form to write' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand convert" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand convert" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand convert" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand convert" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand convert" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand convert" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand convert" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand convert" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand convert" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand convert" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand convert" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand convert" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand convert" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand convert" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand convert" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand convert" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand convert" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand convert" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand parts" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand parts" -l size -d 'Number of bytes of a part; K, M, G and T are powers of 1024' -r
complete -c classad -n "__fish_classad_using_subcommand parts" -s o -l output -d 'The form of the output' -r -f -a "lines\t'A line for each process, for a shell or xargs'
json\t'One JSON document'"
complete -c classad -n "__fish_classad_using_subcommand parts" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand parts" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand parts" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand parts" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand parts" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand parts" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand parts" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand parts" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand parts" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand parts" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand parts" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand parts" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand parts" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand parts" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand parts" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand parts" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand parts" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand parts" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand parts" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand scatter" -l dag -d 'Write a submit file, a DAG and a plan into the folder DIR, for `condor_submit_dag`' -r
complete -c classad -n "__fish_classad_using_subcommand scatter" -l plan -d 'Write the plan to this file, for `classad merge --plan`' -r
complete -c classad -n "__fish_classad_using_subcommand scatter" -l size -d 'Number of bytes of a part; K, M, G and T are powers of 1024' -r
complete -c classad -n "__fish_classad_using_subcommand scatter" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand scatter" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand scatter" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand scatter" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand scatter" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand scatter" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand scatter" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand scatter" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand scatter" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand scatter" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand scatter" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand scatter" -l command -d 'Print a command line for each part'
complete -c classad -n "__fish_classad_using_subcommand scatter" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand scatter" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand scatter" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand scatter" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand scatter" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand scatter" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand scatter" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand merge" -l plan -d 'Check that the partial results have all parts of this plan, which `parts` or `scatter` wrote' -r
complete -c classad -n "__fish_classad_using_subcommand merge" -l files-from -d 'Merge the partial results that LIST names, too: a name on each line, or with a NUL after each' -r
complete -c classad -n "__fish_classad_using_subcommand merge" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand merge" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand merge" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand merge" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand merge" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand merge" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand merge" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand merge" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand merge" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand merge" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand merge" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand merge" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand merge" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand merge" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand merge" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand merge" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand merge" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand merge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand specialize" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l expr -d 'The expression to specialize' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l attr -d 'The attribute to specialize' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l known -d 'The known ad: the first ad of this file' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -s D -l define -d 'Define an attribute of the known ad' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l unknown -d 'Treat these attributes as unknown; target.NAME means an attribute of the ad of --target' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l target -d 'The ad on the other side of a match: the first ad of this file' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l cases -d 'Read cases {"id","ad","expr"} from a file of JSON lines' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
tree\t'Indented trees, of gangs'
long\t'Ads in HTCondor\'s long form'
new\t'Bracketed ads'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
xml\t'HTCondor\'s XML'
yaml\t'A YAML document for each ad'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand specialize" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand specialize" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand specialize" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand specialize" -l closed -d 'Assume that the known ads have no other attributes than the given ones'
complete -c classad -n "__fish_classad_using_subcommand specialize" -l loose -d 'Assume that no unknown value is an error, and reorder sums and products, as the thesis does'
complete -c classad -n "__fish_classad_using_subcommand specialize" -l inline -d 'Replace attributes by their residues, and assume that no unknown value makes a circular reference'
complete -c classad -n "__fish_classad_using_subcommand specialize" -l verdict -d 'Print whether the constraint can be true (never, always, depends), and on which unknowns it depends; without --expr and --attr, for the constraint of each port of the ads'
complete -c classad -n "__fish_classad_using_subcommand specialize" -l each -d 'Put the identity of each ad before its result'
complete -c classad -n "__fish_classad_using_subcommand specialize" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand specialize" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand specialize" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand specialize" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand specialize" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand specialize" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand specialize" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand specialize" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand specialize" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand specialize" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand route" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand route" -l config -d 'The configuration with the routes, as `condor_config_val -dump` prints it' -r
complete -c classad -n "__fish_classad_using_subcommand route" -l id -d 'Expression whose value is the identity of an ad' -r
complete -c classad -n "__fish_classad_using_subcommand route" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
tree\t'Indented trees, of gangs'
long\t'Ads in HTCondor\'s long form'
new\t'Bracketed ads'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
xml\t'HTCondor\'s XML'
yaml\t'A YAML document for each ad'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand route" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand route" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand route" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand route" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand route" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand route" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand route" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand route" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand route" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand route" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand route" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand route" -l summary -d 'Print only the routes, with the number of jobs that each takes'
complete -c classad -n "__fish_classad_using_subcommand route" -l all-states -d 'Route jobs of every state, not only idle jobs'
complete -c classad -n "__fish_classad_using_subcommand route" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand route" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand route" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand route" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand route" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand route" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand route" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand route" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand route" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand route" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand test" -l tag -d 'Run only cases with this tag; with several tags, cases with any of them' -r
complete -c classad -n "__fish_classad_using_subcommand test" -l filter -d 'Run only cases whose name contains this text, ignoring case' -r
complete -c classad -n "__fish_classad_using_subcommand test" -s o -l output -d 'The form of the output' -r -f -a "text\t'A summary, and an annotated excerpt for each failed case'
junit\t'`JUnit` XML, which build servers read'
tap\t'The Test Anything Protocol, version 14'
json\t'A JSON document, "schema": "classad.test/1"'"
complete -c classad -n "__fish_classad_using_subcommand test" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand test" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand test" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand test" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand test" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand test" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand test" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand test" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand test" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand test" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand test" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand test" -l update -d 'Replace each unmet expectation by the actual result; comments and layout stay'
complete -c classad -n "__fish_classad_using_subcommand test" -l list -d 'Print the selected cases with their tags, and run nothing'
complete -c classad -n "__fish_classad_using_subcommand test" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand test" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand test" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand test" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand test" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand test" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand test" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -f -a "index" -d 'Objects and as many queries, each with bounds on the attributes of the other side (thesis §4.6.1)'
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -f -a "gang" -d 'Machines, licences valid on some of them, and jobs that need one of each (thesis §5.2.1)'
complete -c classad -n "__fish_classad_using_subcommand workload; and not __fish_seen_subcommand_from index gang pool" -f -a "pool" -d 'Machines of a modern HTCondor pool, and the jobs of many users'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l n -d 'How many objects, and how many queries' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l attrs -d 'How many attributes, and how many bounds, an ad has' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l mix -d 'The domains of the attributes' -r -f -a "T\t'Ten values each'
M\t'Ten values for the first half of them, N for the others'
D\t'N values each'"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l omit -d 'The share of attributes and bounds that is left out' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l constraint-attr -d 'Name of the attribute that holds the constraint' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l form -d 'The form of the ads [default: long for a pool, else new]' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l kind -d 'Write only this kind of ads; without --out, to standard output' -r -f -a "objects\t''
queries\t''
machines\t''
licenses\t''
jobs\t''"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l out -d 'Write a file for each kind of ads into this folder, and print what was written' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from index" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l machines -d 'How many machines [default: 100, with --variant heuristic 500]' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l jobs -d 'How many jobs [default: as many as machines]' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l licenses -d 'How many licences, in percent of the machines [default: 100, with --variant heuristic 200]' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l selectivity -d 'Into how many parts machines and licences are divided; a licence is valid only in its part' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l variant -d 'What makes the search for gangs hard' -r -f -a "base\t'Nothing'
dud\t'Seven machines that no licence accepts, and a licence that no machine suits'
heuristic\t'All machines suit all jobs; the licences, many more, are valid on the last fifth of the machines only'"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l form -d 'The form of the ads [default: long for a pool, else new]' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l kind -d 'Write only this kind of ads; without --out, to standard output' -r -f -a "objects\t''
queries\t''
machines\t''
licenses\t''
jobs\t''"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l out -d 'Write a file for each kind of ads into this folder, and print what was written' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from gang" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l machines -d 'How many machines' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l jobs -d 'How many jobs' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l users -d 'How many users' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l shapes -d 'How many different requests there are at most; every job makes one of them' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l never -d 'The share of requests that no machine can ever meet' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l few -d 'The share of requests that few machines meet' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l form -d 'The form of the ads [default: long for a pool, else new]' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l kind -d 'Write only this kind of ads; without --out, to standard output' -r -f -a "objects\t''
queries\t''
machines\t''
licenses\t''
jobs\t''"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l out -d 'Write a file for each kind of ads into this folder, and print what was written' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand workload; and __fish_seen_subcommand_from pool" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand repl" -l my -d 'The ad in which expressions are evaluated: the first ad of this file' -r
complete -c classad -n "__fish_classad_using_subcommand repl" -l target -d 'The ad on the other side of a match: the first ad of this file' -r
complete -c classad -n "__fish_classad_using_subcommand repl" -s f -l file -d 'Read the entries from this file' -r
complete -c classad -n "__fish_classad_using_subcommand repl" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand repl" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand repl" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand repl" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand repl" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand repl" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand repl" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand repl" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand repl" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand repl" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand repl" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand repl" -l echo -d 'Print each entry before its result'
complete -c classad -n "__fish_classad_using_subcommand repl" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand repl" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand repl" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand repl" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand repl" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand repl" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand repl" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand completions" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand completions" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand completions" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand completions" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand completions" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand completions" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand completions" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand completions" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand completions" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand completions" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand completions" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand completions" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand completions" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand completions" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand completions" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand completions" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand man" -l out -d 'Write all pages into this folder instead of printing one' -r -F
complete -c classad -n "__fish_classad_using_subcommand man" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand man" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand man" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand man" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand man" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand man" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand man" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand man" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand man" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand man" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand man" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand man" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand man" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand man" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand man" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand man" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand man" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand help" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand help" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand help" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand help" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand help" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand help" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand help" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand help" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand help" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand help" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand help" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand help" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand help" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand help" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand help" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand help" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand help" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand census" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand census" -l attr -d 'Describe only these attributes, in detail' -r
complete -c classad -n "__fish_classad_using_subcommand census" -l top -d 'Show the N most frequent values of each attribute [default: 1; with --attr: 10]' -r
complete -c classad -n "__fish_classad_using_subcommand census" -l at -d 'Count only the ads that a collector holds at TIME: the latest of each name, if it has not expired' -r
complete -c classad -n "__fish_classad_using_subcommand census" -l sort -d 'The order of the attributes' -r -f -a "name\t'By the alphabet'
count\t'Most frequent attributes first'
distinct\t'Attributes with the most distinct values first'"
complete -c classad -n "__fish_classad_using_subcommand census" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand census" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand census" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand census" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand census" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand census" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand census" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand census" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand census" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand census" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand census" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand census" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand census" -l nested -d 'Count the attributes of nested ads too, as `Outer.Inner`'
complete -c classad -n "__fish_classad_using_subcommand census" -l partial -d 'Write a partial result for `classad merge`, of parts of files'
complete -c classad -n "__fish_classad_using_subcommand census" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand census" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand census" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand census" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand census" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand census" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand census" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand census" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand census" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand census" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand collect" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -l update -d 'A file of updates, in the order in which they came' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -l at -d 'When the ads are held: a time as of --now [default: the time of --now]' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -l matched -d 'Leave out ads that were matched before and have no greater `UpdateSequenceNumber` since: files that --notify wrote, or `-o jsonl`. Rows of `claim -o jsonl` after the matches say which of them are aborted or released' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -l id -d 'Expression whose value is the identity of an ad' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -s o -l output -d 'The form of the output' -r -f -a "long\t'Ads in HTCondor\'s long form'
new\t'Bracketed ads'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
xml\t'HTCondor\'s XML'
yaml\t'A YAML document for each ad'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand collect" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand collect" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand collect" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand collect" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand collect" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand collect" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand collect" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand collect" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand collect" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand collect" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand collect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand diff" -l id -d 'Expression whose value is the identity of an ad' -r
complete -c classad -n "__fish_classad_using_subcommand diff" -l ignore -d 'Leave these attributes out; `*` means any letters' -r
complete -c classad -n "__fish_classad_using_subcommand diff" -l only -d 'Compare only these attributes; `*` means any letters' -r
complete -c classad -n "__fish_classad_using_subcommand diff" -s o -l output -d 'The form of the output, instead of lines with `~`, `-` and `+`' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand diff" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand diff" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand diff" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand diff" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand diff" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand diff" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand diff" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand diff" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand diff" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand diff" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand diff" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand diff" -l numeric -d 'Take `2` and `2.0` for equal'
complete -c classad -n "__fish_classad_using_subcommand diff" -l textual -d 'Compare expressions as printed: the spelling of names and parentheses count'
complete -c classad -n "__fish_classad_using_subcommand diff" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand diff" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand diff" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand diff" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand diff" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand diff" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand diff" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand diff" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand diff" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand explain" -l pool -d 'Files of offers' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l constraint -d 'Explain only requests for which this expression is true; of several expressions, all must be true' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l request -d 'Explain only this request; of jobs: its `ClusterId.ProcId` or `GlobalJobId`, or all of a `ClusterId` or of an `Owner`' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l offer -l slot -d 'Explain why this offer and a request do not match; with --reverse, explain only this offer, or all slots of a machine' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l offer-constraint -d 'Explain against only those offers for which this expression is true; of several expressions, all must be true' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l what-if -d 'Add this attribute to every request, or with offer.NAME to every offer, before explaining, and tell who gains or loses a match by it; in EXPR, NAME is the old value' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l config -d 'Put START and RANK of a configuration in force on all machines, and tell which jobs its policies refuse, change, hold, release or remove. DUMP is a file of what `condor_config_val -dump` prints' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l policy -d 'A policy in YAML, or the ready policy `htcondor`: see `classad help policy`' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l roots -d 'Which requests are served; offers for which it is true are not served' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l order -d 'Which requests come first: the greatest; several make a vector' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l dock -d 'Which candidate is best: the greatest; `label` is the candidate, several make a vector' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l at -d 'When ads must not have expired, by their `ExpirationTime`, or `LastHeardFrom` and `ClassAdLifetime`: a time as of --now [default: the time of --now]' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l matched -d 'Leave out ads that were matched before and have no greater `UpdateSequenceNumber` since: files that --notify wrote, or `-o jsonl`. Rows of `claim -o jsonl` after the matches say which of them are aborted or released' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l constraint-attr -d 'The attribute that is an ad\'s constraint' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l rank-attr -d 'The attribute that is an ad\'s rank' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l id -d 'Expression whose value is the identity of an ad' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'"
complete -c classad -n "__fish_classad_using_subcommand explain" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand explain" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand explain" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand explain" -l unmatched -d 'Explain the requests that greedy matching leaves without an offer'
complete -c classad -n "__fish_classad_using_subcommand explain" -l reverse -d 'Explain why offers match no request'
complete -c classad -n "__fish_classad_using_subcommand explain" -l summary -d 'Print only the totals and the causes, each with the number of requests and the change that helps most of them'
complete -c classad -n "__fish_classad_using_subcommand explain" -l unmatchable -d 'Leave out the requests that match some offer, free or not'
complete -c classad -n "__fish_classad_using_subcommand explain" -l all-offers -d 'List all offers and all their refusals in JSON, not only the first 10 of each list'
complete -c classad -n "__fish_classad_using_subcommand explain" -l as-given -d 'Take the ads as they are given: expired ones, too, and all of several that have one name'
complete -c classad -n "__fish_classad_using_subcommand explain" -l all-states -d 'Take jobs and slots of every state, also jobs that do not wait and slots that are not free'
complete -c classad -n "__fish_classad_using_subcommand explain" -l stats -d 'Print counters on standard error'
complete -c classad -n "__fish_classad_using_subcommand explain" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand explain" -l strict-input -d 'Parse all of every ad, and report whatever is bad in it'
complete -c classad -n "__fish_classad_using_subcommand explain" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand explain" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand explain" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand explain" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand explain" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand explain" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand explain" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand explain" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand why" -l pool -d 'Files of offers' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l constraint -d 'Explain only requests for which this expression is true; of several expressions, all must be true' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l request -d 'Explain only this request; of jobs: its `ClusterId.ProcId` or `GlobalJobId`, or all of a `ClusterId` or of an `Owner`' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l offer -l slot -d 'Explain why this offer and a request do not match; with --reverse, explain only this offer, or all slots of a machine' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l offer-constraint -d 'Explain against only those offers for which this expression is true; of several expressions, all must be true' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l what-if -d 'Add this attribute to every request, or with offer.NAME to every offer, before explaining, and tell who gains or loses a match by it; in EXPR, NAME is the old value' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l config -d 'Put START and RANK of a configuration in force on all machines, and tell which jobs its policies refuse, change, hold, release or remove. DUMP is a file of what `condor_config_val -dump` prints' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l policy -d 'A policy in YAML, or the ready policy `htcondor`: see `classad help policy`' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l roots -d 'Which requests are served; offers for which it is true are not served' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l order -d 'Which requests come first: the greatest; several make a vector' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l dock -d 'Which candidate is best: the greatest; `label` is the candidate, several make a vector' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l at -d 'When ads must not have expired, by their `ExpirationTime`, or `LastHeardFrom` and `ClassAdLifetime`: a time as of --now [default: the time of --now]' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l matched -d 'Leave out ads that were matched before and have no greater `UpdateSequenceNumber` since: files that --notify wrote, or `-o jsonl`. Rows of `claim -o jsonl` after the matches say which of them are aborted or released' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l constraint-attr -d 'The attribute that is an ad\'s constraint' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l rank-attr -d 'The attribute that is an ad\'s rank' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l id -d 'Expression whose value is the identity of an ad' -r
complete -c classad -n "__fish_classad_using_subcommand why" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'"
complete -c classad -n "__fish_classad_using_subcommand why" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand why" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand why" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand why" -l unmatched -d 'Explain the requests that greedy matching leaves without an offer'
complete -c classad -n "__fish_classad_using_subcommand why" -l reverse -d 'Explain why offers match no request'
complete -c classad -n "__fish_classad_using_subcommand why" -l summary -d 'Print only the totals and the causes, each with the number of requests and the change that helps most of them'
complete -c classad -n "__fish_classad_using_subcommand why" -l unmatchable -d 'Leave out the requests that match some offer, free or not'
complete -c classad -n "__fish_classad_using_subcommand why" -l all-offers -d 'List all offers and all their refusals in JSON, not only the first 10 of each list'
complete -c classad -n "__fish_classad_using_subcommand why" -l as-given -d 'Take the ads as they are given: expired ones, too, and all of several that have one name'
complete -c classad -n "__fish_classad_using_subcommand why" -l all-states -d 'Take jobs and slots of every state, also jobs that do not wait and slots that are not free'
complete -c classad -n "__fish_classad_using_subcommand why" -l stats -d 'Print counters on standard error'
complete -c classad -n "__fish_classad_using_subcommand why" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand why" -l strict-input -d 'Parse all of every ad, and report whatever is bad in it'
complete -c classad -n "__fish_classad_using_subcommand why" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand why" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand why" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand why" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand why" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand why" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand why" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand why" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand why" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand functions" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand functions" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand functions" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand functions" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand functions" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand functions" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand functions" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand functions" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand functions" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand functions" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand functions" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand functions" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand functions" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand functions" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand functions" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand functions" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand functions" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand functions" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand functions" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand functions" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand functions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand join" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand join" -l with -d 'The files of the other set' -r
complete -c classad -n "__fish_classad_using_subcommand join" -l on -d 'The expressions that are equal, of the files and of --with; one expression alone is that of both' -r
complete -c classad -n "__fish_classad_using_subcommand join" -l af -d 'Print these expressions of each pair; NAME=EXPR names a column' -r
complete -c classad -n "__fish_classad_using_subcommand join" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand join" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand join" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand join" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand join" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand join" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand join" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand join" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand join" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand join" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand join" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand join" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand join" -l left -d 'Also print the ads of the files that no ad of --with is equal to, with TARGET undefined'
complete -c classad -n "__fish_classad_using_subcommand join" -l count -d 'Print only the number of rows'
complete -c classad -n "__fish_classad_using_subcommand join" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand join" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand join" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand join" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand join" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand join" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand join" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand join" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand join" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand join" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand match" -l pool -d 'Files of offers' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l strategy -d 'How offers are assigned to requests' -r -f -a "greedy\t'Requests in order, each takes its best offer'
stable\t'No request and offer rank each other higher than what they got'
max\t'As many requests as possible get an offer'"
complete -c classad -n "__fish_classad_using_subcommand match" -l best -d 'Print the N best offers for each request, best first; no offer is used up' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l what-if -d 'Add this attribute to every request, or with offer.NAME to every offer, before matching; in EXPR, NAME is the old value' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l cases -d 'Read cases {"id","left","right"} from a file of JSON lines' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l policy -d 'A policy in YAML, or the ready policy `htcondor`: see `classad help policy`' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l roots -d 'Which requests are served; offers for which it is true are not served' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l order -d 'Which requests come first: the greatest; several make a vector' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l dock -d 'Which candidate is best: the greatest; `label` is the candidate, several make a vector' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l config -d 'The configuration for the variables, groups and limits of the policy: what `condor_config_val -dump` prints' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l notify -d 'Write a record of each match for each of its parties, as lines of JSON; `-` is standard output, instead of the matches' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l at -d 'When ads must not have expired, by their `ExpirationTime`, or `LastHeardFrom` and `ClassAdLifetime`: a time as of --now [default: the time of --now]' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l matched -d 'Leave out ads that were matched before and have no greater `UpdateSequenceNumber` since: files that --notify wrote, or `-o jsonl`. Rows of `claim -o jsonl` after the matches say which of them are aborted or released' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l constraint-attr -d 'The attribute that is an ad\'s constraint' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l rank-attr -d 'The attribute that is an ad\'s rank' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l id -d 'Expression whose value is the identity of an ad' -r
complete -c classad -n "__fish_classad_using_subcommand match" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand match" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand match" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand match" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand match" -l all -d 'Print every compatible pair; no offer is used up'
complete -c classad -n "__fish_classad_using_subcommand match" -l no-consume -d 'Leave matched offers to later requests'
complete -c classad -n "__fish_classad_using_subcommand match" -l why -d 'Print the next best offer of each request, too, and what decided against it'
complete -c classad -n "__fish_classad_using_subcommand match" -l count -d 'Print only the number of matches'
complete -c classad -n "__fish_classad_using_subcommand match" -l no-autocluster -d 'Consider each request by itself, though others are like it'
complete -c classad -n "__fish_classad_using_subcommand match" -l no-matchlist -d 'Find the candidates of each request anew'
complete -c classad -n "__fish_classad_using_subcommand match" -l no-index -d 'Evaluate the constraints of each pair'
complete -c classad -n "__fish_classad_using_subcommand match" -l with-ads -d 'Give each record copies of the ads of the match, as JSON; a `ClaimId` only to those who may know it'
complete -c classad -n "__fish_classad_using_subcommand match" -l as-given -d 'Take the ads as they are given: expired ones, too, and all of several that have one name'
complete -c classad -n "__fish_classad_using_subcommand match" -l all-states -d 'Take jobs and slots of every state, also jobs that do not wait and slots that are not free'
complete -c classad -n "__fish_classad_using_subcommand match" -l stats -d 'Print counters on standard error'
complete -c classad -n "__fish_classad_using_subcommand match" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand match" -l strict-input -d 'Parse all of every ad, and report whatever is bad in it'
complete -c classad -n "__fish_classad_using_subcommand match" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand match" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand match" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand match" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand match" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand match" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand match" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand match" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand match" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l pool -d 'Files of offers' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l policy -d 'A policy in YAML, or the ready policy `htcondor`: see `classad help policy`' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l roots -d 'Which requests are served; offers for which it is true are not served' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l order -d 'Which requests come first: the greatest; several make a vector' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l dock -d 'Which candidate is best: the greatest; `label` is the candidate, several make a vector' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l config -d 'The configuration for the variables, groups and limits of the policy: what `condor_config_val -dump` prints' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l usage -d 'Compute priorities from the usage in this file, and add the usage of this cycle to it' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l userprio -d 'Compute priorities from the accounts in this file, which has what `condor_userprio -long` prints; with --usage, begin that file with them. Without shares in the policy, jobs share by `AccountingGroup` and `User` as in HTCondor' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l notify -d 'Write a record of each match for each of its parties, as lines of JSON; `-` is standard output, instead of the matches' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l at -d 'When ads must not have expired, by their `ExpirationTime`, or `LastHeardFrom` and `ClassAdLifetime`: a time as of --now [default: the time of --now]' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l matched -d 'Leave out ads that were matched before and have no greater `UpdateSequenceNumber` since: files that --notify wrote, or `-o jsonl`. Rows of `claim -o jsonl` after the matches say which of them are aborted or released' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l constraint-attr -d 'The attribute that is an ad\'s constraint' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l rank-attr -d 'The attribute that is an ad\'s rank' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l id -d 'Expression whose value is the identity of an ad' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l no-autocluster -d 'Consider each request by itself, though others are like it'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l no-matchlist -d 'Find the candidates of each request anew'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l no-index -d 'Evaluate the constraints of each pair'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l transcript -d 'Print the events of the cycle: rounds, turns and shares, and the outcome of each request'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l why -d 'Print the next best offer, too, and what decided against it'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l compare -d 'Print what the cycle costs without and with autoclusters, match lists, resource requests and an index'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l with-ads -d 'Give each record copies of the ads of the match, as JSON; a `ClaimId` only to those who may know it'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l as-given -d 'Take the ads as they are given: expired ones, too, and all of several that have one name'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l all-states -d 'Take jobs and slots of every state, also jobs that do not wait and slots that are not free'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l stats -d 'Print counters on standard error'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l strict-input -d 'Parse all of every ad, and report whatever is bad in it'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand negotiate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand parse" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand parse" -l cases -d 'Read cases {"id","text","form"} from a file of JSON lines' -r
complete -c classad -n "__fish_classad_using_subcommand parse" -s o -l output -d 'The form of the output' -r -f -a "long\t'Ads in HTCondor\'s long form'
new\t'Bracketed ads'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
xml\t'HTCondor\'s XML'
yaml\t'A YAML document for each ad'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand parse" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand parse" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand parse" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand parse" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand parse" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand parse" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand parse" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand parse" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand parse" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand parse" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand parse" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand parse" -l count -d 'Print only how many ads each file has'
complete -c classad -n "__fish_classad_using_subcommand parse" -l ast -d 'Print the tree of each expression'
complete -c classad -n "__fish_classad_using_subcommand parse" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand parse" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand parse" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand parse" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand parse" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand parse" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand parse" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand parse" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand refs" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -l attr -d 'List only the references of these attributes' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -l expr -d 'List the references of this expression in each ad' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -l pool -d 'List the references that no ad of this pool resolves, with similar names of the pool' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -l cases -d 'Read cases {"id","ad","expr"} from a file of JSON lines' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -s o -l output -d 'The form of the output' -r -f -a "table\t'A table for people'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
csv\t'Comma-separated values'
tsv\t'Tab-separated values'
markdown\t'A Markdown table'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand refs" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand refs" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand refs" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand refs" -l internal -d 'List internal references, to attributes of the ad itself, instead of external ones'
complete -c classad -n "__fish_classad_using_subcommand refs" -l union -d 'Print one list for all ads'
complete -c classad -n "__fish_classad_using_subcommand refs" -l count -d 'Print one list, with the number of ads that have each reference'
complete -c classad -n "__fish_classad_using_subcommand refs" -l dot -d 'Draw which attribute refers to what, and which port depends on which, as a graph in the DOT language'
complete -c classad -n "__fish_classad_using_subcommand refs" -l rectangle -d 'List the rectangles of the ads as an index sees them: the value of each attribute, and for each alternative of a constraint the interval of each attribute of the partner. With --count, the number of ads with each attribute'
complete -c classad -n "__fish_classad_using_subcommand refs" -l partial -d 'Write a partial result for `classad merge`, of parts of files'
complete -c classad -n "__fish_classad_using_subcommand refs" -l no-header -d 'Leave the heading out'
complete -c classad -n "__fish_classad_using_subcommand refs" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand refs" -l csv -d 'Same as -o csv'
complete -c classad -n "__fish_classad_using_subcommand refs" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand refs" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand refs" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand refs" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand refs" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand refs" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand refs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c classad -n "__fish_classad_using_subcommand transform" -l files-from -d 'Read the files that LIST names, too: a name on each line, or names with a NUL after each; `-` is standard input' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l set -d 'Set an attribute; flags and rules are applied in the order given' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l default -d 'Set an attribute that the ad does not have' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l eval-set -d 'Set an attribute to the value of an expression in the ad' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l copy -d 'Give attributes a second name' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l rename -d 'Give attributes another name' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l delete -d 'Delete attributes' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l rules -d 'Apply a file of HTCondor\'s transform rules, or of rules in brackets' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l config -d 'Apply the transforms of a configuration, or a route (--route). DUMP is a file of what `condor_config_val -dump` prints' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l route -d 'Change the jobs that satisfy this route\'s requirements as the job router does: by the route of the configuration and the transforms before and after it' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l constraint -d 'Change only the ads for which this expression is true; the other ads stay as they are' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -s w -l write -d 'Rewrite the files, each at once and only if every ad of it parses; =SUFFIX keeps the old ones' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l id -d 'Expression whose value is the identity of an ad' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -s o -l output -d 'The form of the output; with -n, only json or jsonl' -r -f -a "long\t'Ads in HTCondor\'s long form'
new\t'Bracketed ads'
json\t'One JSON document'
jsonl\t'A JSON object on each line'
xml\t'HTCondor\'s XML'
yaml\t'A YAML document for each ad'
names\t'Only the identities, one a line'"
complete -c classad -n "__fish_classad_using_subcommand transform" -l dialect -d 'Whose language: the papers\' or HTCondor\'s [default: `CLASSAD_DIALECT`, else HTCondor\'s if any input is in a form of HTCondor\'s, else the papers\']' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l from -d 'The form of the input, instead of finding it out' -r -f -a "long\t'HTCondor\'s long form'
new\t'Bracketed ads'
json\t'JSON: an array of objects; objects back to back are read, too'
jsonl\t'JSON, an object on each line'
xml\t'HTCondor\'s XML'
yaml\t'YAML'
events\t'A text event log of jobs'
queue-log\t'A `job_queue.log`: the ads at its end'"
complete -c classad -n "__fish_classad_using_subcommand transform" -l now -d 'The time that functions read: seconds since 1970, or as in absTime("..."), or `now`; `dump` is the newest time that the ads tell' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l seed -d 'Where chance starts: `random()`, synthetic ads' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l max-steps -d 'How many steps one evaluation may take' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l max-depth -d 'How many evaluations may be nested in one another' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l max-value-bytes -d 'Maximum number of bytes of the values that functions make in one evaluation' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l max-search-tests -d 'Maximum number of candidates that one search for a gang tests' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l map -d 'Give `userMap()` a map of this name, from a map file of HTCondor\'s: lines of a method, a key and a result' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l threads -d 'Maximum number of threads that work at once, on large files and many requests.  What is printed does not depend on it [default: as many as there are processors, 8 at most]' -r
complete -c classad -n "__fish_classad_using_subcommand transform" -l color -d 'When to use colour' -r -f -a "auto\t''
always\t''
never\t''"
complete -c classad -n "__fish_classad_using_subcommand transform" -l print-rules -d 'Print the rules in the language of rules instead of applying them; those in brackets are converted'
complete -c classad -n "__fish_classad_using_subcommand transform" -s n -l diff -d 'Print what would change, and which rule or flag would change it'
complete -c classad -n "__fish_classad_using_subcommand transform" -l json -d 'Same as -o json'
complete -c classad -n "__fish_classad_using_subcommand transform" -l strict -d 'Refuse to write what a form cannot carry, instead of changing it'
complete -c classad -n "__fish_classad_using_subcommand transform" -l lenient -d 'Bad ads are warnings: they do not change the exit status'
complete -c classad -n "__fish_classad_using_subcommand transform" -l fail-fast -d 'Stop at the first bad ad'
complete -c classad -n "__fish_classad_using_subcommand transform" -l exit-zero -d 'Exit with 0 whatever is found'
complete -c classad -n "__fish_classad_using_subcommand transform" -s v -l verbose -d 'Report more: the dialect and why it was chosen; in `explain` the evidence, with -vv also its values'
complete -c classad -n "__fish_classad_using_subcommand transform" -s q -l quiet -d 'Print nothing on standard output'
complete -c classad -n "__fish_classad_using_subcommand transform" -s h -l help -d 'Print help (see more with \'--help\')'
