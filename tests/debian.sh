# A function for scripts that need programs of Debian; to be sourced.

# Installs the packages of the programs that are missing. An argument is PROGRAM, or PROGRAM:PACKAGE where they differ.
install_missing() {
    local missing=() program as_root=()
    for program; do
        PATH=$PATH:/usr/sbin:/sbin command -v "${program%%:*}" >/dev/null || missing+=("${program##*:}")
    done
    ((${#missing[@]})) || return 0
    ((EUID == 0)) || as_root=(sudo)
    # No daemon starts when its package is installed.
    "${as_root[@]}" sh -ec '
        export DEBIAN_FRONTEND=noninteractive
        policy=/usr/sbin/policy-rc.d
        if ! [ -e "$policy" ]; then
            trap "rm -f $policy" EXIT
            printf "#!/bin/sh\nexit 101\n" >"$policy"
            chmod 755 "$policy"
        fi
        apt-get update --quiet
        apt-get install --yes --no-install-recommends "$@"
    ' install_missing "${missing[@]}" >&2
}
