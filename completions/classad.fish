# Completions of classad for fish. The program prints the words.
function __classad_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l later (commandline -op)
    set -l first_later (math (count $before) + 1)
    test -n "$current"; and set first_later (math $first_later + 1)
    set later $later[$first_later..-1]
    for line in ($before[1] completions --at (math (count $before) - 1) -- $before[2..-1] "$current" $later 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            printf '%s\n' $line
        end
    end
end

complete -c classad -f -a '(__classad_complete)'
