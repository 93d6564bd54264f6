# Functions that packaging/build consists of; read with `.` in the folder of the clone.

# Whatever machine, folder and day it is, the same commit gives the same bytes.
SOURCE_DATE_EPOCH=$(git show -s --format=%ct HEAD)
CLASSAD_COMMIT=$(git rev-parse --short=12 HEAD)
CLASSAD_DATE=$(git show -s --format=%cs HEAD)
LC_ALL=C
export SOURCE_DATE_EPOCH CLASSAD_COMMIT CLASSAD_DATE LC_ALL
umask 022

tools=$PWD/target/packaging
# Versions of the tools: another version may write other bytes.
python_tools=(cargo-zigbuild==0.24.1 ziglang==0.17.1)
cargo_tools=(cargo-deb@3.8.0)

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; "$@"; }

package_version() { sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1; }

# Installs the tools, once.
install_python_tools() {
    [[ -x $tools/venv/bin/cargo-zigbuild ]] && return
    python3 -m venv "$tools/venv"
    "$tools/venv/bin/pip" install --quiet "${python_tools[@]}"
}

install_cargo_tools() {
    for tool in "${cargo_tools[@]}"; do
        [[ -x $tools/bin/${tool%@*} ]] || cargo install --quiet --locked --root "$tools" "$tool"
    done
}

# Sets what compilers are told: no path of this machine stands in a binary.
set_compiler_flags() {
    local registry=${CARGO_HOME:-$HOME/.cargo} sysroot
    sysroot=$(rustc --print sysroot)
    export RUSTFLAGS="--remap-path-prefix=$registry=/cargo --remap-path-prefix=$PWD=/classad --remap-path-prefix=$sysroot=/rust"
    # Nor does the day: a library that was compiled for another commit has the same bytes.
    export CFLAGS="-ffile-prefix-map=$registry=/cargo -ffile-prefix-map=$PWD=/classad \
        -Wno-builtin-macro-redefined -D__DATE__=\"none\" -D__TIME__=\"none\""
    export CARGO_TARGET_DIR=$PWD/target/packaging/target
    export PATH=$tools/venv/bin:$tools/bin:$PATH
}

target_of() { echo "$1-unknown-linux-musl"; }

build_binary() {
    install_python_tools
    set_compiler_flags
    rustup target add "$(target_of "$1")"
    cargo zigbuild --locked --profile dist --bin classad --target "$(target_of "$1")"
}

binary_of() { echo "$CARGO_TARGET_DIR/$(target_of "$1")/dist/classad"; }

# A folder with everything, packed: binary, manual pages, completions, licences, samples.
make_archive() {
    local name folder
    name=classad-$version-$(target_of "$1")
    folder=target/packaging/$name
    rm -rf "$folder"
    mkdir -p "$folder"
    cp "$(binary_of "$1")" README.md CHANGELOG.md LICENSE "$out/THIRD-PARTY-NOTICES" "$folder"
    cp -r man completions samples "$folder"
    tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
        --directory target/packaging "$name" | xz -9e --threads=1 >"$out/$name.tar.xz"
}

make_deb() {
    install_cargo_tools
    cargo deb --quiet --no-build --no-strip --profile dist --target "$(target_of "$1")" --output "$out/"
}

# The files are those of the archive. No debugger's data, no compression, no strip: the binary is made already.
make_rpm() {
    local name folder
    name=classad-$version-$(target_of "$1")
    folder=$tools/rpm
    rm -rf "$folder"
    rpmbuild --quiet -bb --target "$1" --buildroot "$folder/root" \
        --define "_topdir $folder" --define "_rpmdir $folder" --define "_rpmfilename %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm" \
        --define "version_of_package $version" --define "archive $PWD/target/packaging/$name" \
        --define "_buildhost reproducible" --define "use_source_date_epoch_as_buildtime 1" \
        --define "clamp_mtime_to_source_date_epoch 1" packaging/classad.spec
    mv "$folder"/*.rpm "$out/"
}

make_wheel() { packaging/wheel "$version" "$1" "$(binary_of "$1")" "$out"; }
