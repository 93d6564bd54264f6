# Functions for scripts that run a command in parts on an engine and kill a worker in the middle; to be sourced. The
# scripts set `root`, the folder of this project.

fail() {
    printf 'error: %s\n' "$1" >&2
    shift
    (($# == 0)) || cat "$@" >&2
    exit 1
}

# Makes target/$1 a Python environment with the other arguments, packages of PyPI, unless it has them. Sets `environment`.
prepare_environment() {
    environment=$root/target/$1
    local have
    shift
    have=$("$environment/bin/pip" freeze 2>/dev/null) || true
    if [ "$(printf '%s\n' "$@" | grep -cxF -- "$have")" != $# ]; then
        python3 -m venv "$environment"
        "$environment/bin/pip" install --quiet "$@"
    fi
}

# Prints a process and what descends from it.
process_tree() {
    local child
    printf '%s\n' "$1"
    for child in $(ps -o pid= --ppid "$1"); do
        process_tree "$child"
    done
}

# Ends what the script started, and removes its folder.
clean_up() {
    local job doomed=()
    for job in $(jobs -p); do
        doomed+=($(process_tree "$job"))
    done
    ((${#doomed[@]} == 0)) || kill -KILL "${doomed[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$folder"
}

# Goes into a new folder with two files of ads, `question`, its answer `expected`, and bin/classad, which is $1. The folder
# goes away with the script.
prepare_parts() {
    folder=$(mktemp -d)
    trap clean_up EXIT
    trap 'exit 130' INT TERM HUP
    cd "$folder"
    mkdir bin tmp
    export TMPDIR=$folder/tmp
    # The first run of a part stops itself, so that it cannot end before its worker does.
    cat >bin/classad <<SHIM
#!/bin/sh
case "\$*" in *--partial*)
    if mv "$folder/stop" "$folder/stopped" 2>/dev/null; then
        echo \$\$ >"$folder/pid"
        kill -STOP \$\$
    fi ;;
esac
exec "$1" "\$@"
SHIM
    chmod +x bin/classad
    touch stop
    PATH=$folder/bin:$PATH
    local seed
    for seed in 1 2; do
        classad workload pool --kind machines --machines 3000 --seed "$seed" >"pool-$seed.long"
    done
    question=(query 'regexp("^slot[0-9]*[13]", Name)' --group-by OpSysAndVer,Arch --sum 'Memory / 7.0' --totals --now 1700000000)
    classad "${question[@]}" pool-*.long >expected
}

# Waits until a command succeeds, while the process $1 runs; $2 is its log.
wait_until() {
    local process=$1 log=$2
    shift 2
    until "$@"; do
        kill -0 "$process" 2>/dev/null || fail "a process ended before \`$*\`" "$log"
        sleep 0.05
    done
}

# Waits until a worker runs a part for the client $1, whose log is $2, and kills this worker with all that descends from it.
# The other arguments are the workers. Sets `killed` to its number, from 0.
kill_worker() {
    local client=$1 log=$2 worker processes
    shift 2
    wait_until "$client" "$log" [ -s pid ]
    killed=0
    for worker; do
        processes=$(process_tree "$worker")
        if grep -qxF "$(cat pid)" <<<"$processes"; then
            kill -KILL $processes
            wait "$worker" 2>/dev/null || true
            return
        fi
        killed=$((killed + 1))
    done
    fail "no worker runs the part" "$log"
}

# Waits for the client $1, whose log is $2, and compares its standard output, in the file `output`, with that of one run.
compare_output() {
    wait "$1" || fail "the client exits with $?" "$2"
    cmp expected output || fail "the output is not that of one run" "$2"
}
