# Completions of classad for bash. The program prints the words.
_classad() {
    local word about cur=${COMP_WORDS[COMP_CWORD]} files=
    # bash takes `=` for a word of its own.
    cur=${cur#=}
    COMPREPLY=()
    while IFS=$'\t' read -r word about; do
        if [[ $word == :files ]]; then
            files=1
        elif [[ -n $word ]]; then
            COMPREPLY+=("$word")
        fi
    done < <("$1" completions --at "$((COMP_CWORD - 1))" -- "${COMP_WORDS[@]:1}" 2>/dev/null)
    if [[ -n $files ]]; then
        compopt -o filenames 2>/dev/null || true
        while IFS= read -r word; do
            COMPREPLY+=("$word")
        done < <(compgen -f -- "$cur")
    fi
}

complete -F _classad classad
