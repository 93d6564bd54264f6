# The daily lane: rustfmt, clippy, unit tests and floors.
check:
    .ci/check

# Everything that has to pass before a change lands.
ci:
    .ci/run
