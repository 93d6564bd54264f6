# Functions for scripts that run a pool of HTCondor in a tree of Debian; to be sourced. The scripts set `root`, the folder
# of this project. Root is needed: Debian's archive goes into a tree (debootstrap), and the pool runs in it under chroot,
# as an ordinary user, in namespaces of its own. Nothing of the machine is changed but the tree.

fail() {
    printf 'error: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf '  help: %s\n' "$2" >&2
    exit 1
}

# Makes the tree $1 unless it is there already: of Debian sid, or of SUITE, which must have HTCondor as `condor`. Without $1 it
# is target/pool-tree with the name of the suite. Sets `tree` and `version`.
prepare_tree() {
    suite=${SUITE:-sid}
    mirror=${MIRROR:-http://deb.debian.org/debian}

    ((EUID == 0)) || fail "a pool needs root: chroot and mount are root's" "run it as root, as in a container"
    for program in debootstrap flock unshare chroot setpriv mount; do
        command -v "$program" >/dev/null || fail "there is no \`$program\`" "apt-get install debootstrap util-linux"
    done
    unshare --mount --pid --net --uts --fork true 2>/dev/null ||
        fail "this machine does not let root have namespaces of its own" "in a container: start it with --privileged"

    tree=${1:-$root/target/pool-tree-$suite}
    mkdir -p "$tree"
    tree=$(cd "$tree" && pwd)
    [ "$tree" != / ] || fail "the tree cannot be /"

    # One at a time. What runs in the tree holds the lock, too.
    exec 9>"$tree.lock"
    flock --nonblock 9 || fail "a pool runs in $tree already" "name another tree, or stop the other command"

    # Only a tree with the first file is ours to remove; with the second it is complete, and a broken one is made anew.
    ours=$tree/.made-by-tests-pool-run
    complete=$tree/.complete
    if ! [ -e "$complete" ]; then
        if [ -n "$(ls -A "$tree")" ]; then
            [ -e "$ours" ] || fail "$tree is neither empty nor a tree that this script made" "name another folder"
            rm -rf --one-file-system "${tree:?}"/*
        fi
        touch "$ours"
        debootstrap --variant=minbase "$suite" "$tree" "$mirror" >"$tree.log" 2>&1 ||
            fail "debootstrap of $suite from $mirror failed: $(tail -n 1 "$tree.log")" "see $tree.log"
        # No daemon starts when its package is installed.
        printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
        chmod 755 "$tree/usr/sbin/policy-rc.d"
        unshare --mount chroot "$tree" sh -c '
            mount -t proc proc /proc
            export DEBIAN_FRONTEND=noninteractive LC_ALL=C
            apt-get install -y --no-install-recommends condor iproute2 procps' >>"$tree.log" 2>&1 ||
            fail "Debian $suite has no condor, or it cannot be installed: $(tail -n 1 "$tree.log")" "see $tree.log"
        chroot "$tree" useradd --no-create-home --home-dir /pool --shell /bin/bash pool
        touch "$complete"
    fi
    version=$(chroot "$tree" condor_version | sed -n 's/.*CondorVersion: \([0-9.]*\) .*/\1/p')
    [ -n "$version" ] || fail "condor_version in $tree says nothing"
    printf 'HTCondor %s in %s\n' "$version" "$tree"
}

# Makes the pool's folder in the tree from nothing, with the files of the folder $1 in /pool/setup.
prepare_pool() {
    local setup=$1
    rm -rf --one-file-system "${tree:?}/pool"
    mkdir "$tree/pool"
    cp -r "$setup" "$tree/pool/setup"
    chroot "$tree" chown -R pool:pool /pool
    cat >"$tree/etc/hosts" <<HOSTS
127.0.0.1 access.pool.example access localhost
127.0.0.1 node1.pool.example node1
127.0.0.1 node2.pool.example node2
127.0.0.1 node3.pool.example node3
127.0.0.1 node4.pool.example node4
HOSTS
    printf 'access.pool.example\n' >"$tree/etc/hostname"
}

# All daemons end with the first process of their namespace. It only ends by KILL, which unshare hands on.
inside() {
    trap 'kill -KILL "$pool" 2>/dev/null; exit 130' INT TERM HUP
    unshare --mount --pid --net --uts --ipc --fork --kill-child bash -c '
        set -e
        tree=$1
        shift
        hostname access.pool.example
        mount -t proc proc "$tree/proc"
        mount -t tmpfs tmpfs "$tree/tmp"
        chmod 1777 "$tree/tmp"
        chroot "$tree" ip link set lo up
        # No exec: what takes another user would outlive unshare.
        status=0
        chroot "$tree" setpriv --reuid pool --regid pool --clear-groups --no-new-privs "$@" || status=$?
        exit "$status"
    ' pool "$tree" "$@" &
    pool=$!
    wait "$pool"
    trap - INT TERM HUP
}
