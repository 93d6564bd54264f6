//! What findings in ads, beside pools and in policies say, all of it.

use super::PoolStatistics;
use super::tests::{ad, checker};
use super::told_tests::{shown, told};
use crate::ad::{Ad, Dialect, Name};
use crate::syntax::{ParseOptions, parse_expression};

/// Ads with constraints and ranks.
const CONSTRAINTS: &[(&str, &str)] = &[
    (
        "[ Requirements = TARGET.x > 5 && TARGET.x < MY.y; y = 3 ]",
        "contradiction: no value of `TARGET.x` can make both of these true at `TARGET.x > 5`: this at `TARGET.x < \
         MY.y`: and this, in this ad `TARGET.x < 3`",
    ),
    (
        "[ Requirements = TARGET.x > z && TARGET.x < y; y = 3; z = 5 ]",
        "contradiction: no value of `TARGET.x` can make both of these true at `TARGET.x > z`: this, in this ad \
         `TARGET.x > 5` at `TARGET.x < y`: and this, in this ad `TARGET.x < 3`",
    ),
    (
        "[ MyType = \"Machine\"; Requirements = TARGET.x > 5 && TARGET.x < MY.y; y = 3 ]",
        "never-met: no value of `TARGET.x` can make both of these true at `TARGET.x > 5`: this at `TARGET.x < MY.y`: \
         and this, in this ad `TARGET.x < 3`",
    ),
    (
        "[ MyType = \"Machine\"; Requirements = TARGET.x > 5 && TARGET.x < 3 ]",
        "contradiction: no value of `TARGET.x` can make both of these true at `TARGET.x > 5`: this at `TARGET.x < 3`: \
         and this",
    ),
    (
        "[ Requirements = START; START = TARGET.x > 5 && TARGET.x < 3 ]",
        "contradiction: no value of `TARGET.x` can make both of these true at `TARGET.x > 5`: this at `TARGET.x < 3`: \
         and this",
    ),
    (
        "[ Requirements = y && TARGET.x; y = false ]",
        "never-met: no ad can match: this part of the Requirements is false in this ad at `y`",
    ),
    (
        "[ Requirements = y > 1 && TARGET.x; y = 1 ]",
        "never-met: no ad can match: this part of the Requirements is false in this ad at `y > 1`",
    ),
    (
        "[ Requirements = y > 1 && TARGET.x; y = \"a\" ]",
        "never-met: no ad can match: this part of the Requirements is an error in this ad at `y > 1`",
    ),
    (
        "[ Requirements = MY.z && TARGET.x ]",
        "never-met: no ad can match: this part of the Requirements is undefined in this ad (this ad has no z) at \
         `MY.z`",
    ),
    ("[ Requirements = y && TARGET.x; y = 5 ]", ""),
    (
        "[ Requirements = y && TARGET.x; y = \"s\" ]",
        "never-met: no ad can match: this part of the Requirements is \"s\" in this ad at `y`",
    ),
    (
        "[ MyType = \"Machine\"; Requirements = y > 1 && TARGET.x; y = 1 ]",
        "never-met: no ad can match: this part of the Requirements is false in this ad at `y > 1`",
    ),
    ("[ Requirements = 5 ]", ""),
    ("[ Requirements = \"s\" ]", ""),
    ("[ Requirements = undefined ]", ""),
    ("[ Requirements = { 1 } ]", ""),
    ("[ Rank = TARGET.x > 1; Requirements = true ]", ""),
    ("[ Rank = \"a\"; Requirements = true ]", "rank-not-numeric: this rank is a string and counts as 0 at `\"a\"`"),
    ("[ Rank = { 1 }; Requirements = true ]", "rank-not-numeric: this rank is a list and counts as 0 at `{ 1 }`"),
    (
        "[ Rank = strcat(TARGET.x); Requirements = true ]",
        "rank-not-numeric: this rank is a string and counts as 0 at `strcat(TARGET.x)`",
    ),
    ("[ Rank = y; y = \"a\"; Requirements = true ]", "rank-not-numeric: this rank is a string and counts as 0 at `y`"),
    ("[ Rank = undefined; Requirements = true ]", ""),
    ("[ Rank = 1 / 0; Requirements = true ]", "rank-not-numeric: this rank is an error and counts as 0 at `1 / 0`"),
    ("[ Rank = true; Requirements = true ]", ""),
    ("[ a = 1 ]", ""),
    ("[ MyType = \"Job\"; Rank = TARGET.x ]", "missing-constraint: this ad has no constraint, so it accepts nothing"),
    ("[ MyType = \"Machine\"; a = 1 ]", "missing-constraint: this ad has no constraint, so it accepts nothing"),
    (
        "[ a = b; b = c; c = b; d = d ]",
        "circular: this refers to itself: b -> c -> b at `b`; circular: this refers to itself: d -> d at `d`",
    ),
    (
        "[ Requirements = x > 1 && y.z && x < 5; Rank = w ]",
        "falls-through: this ad has no w: the name is looked up in the other ad (write `TARGET.w` to name the ad that \
         has the attribute) at `w` same as `TARGET.w`; falls-through: this ad has none of x, y: the names are looked \
        up in the other ad (write `TARGET.x` to name the ad that has the attribute) at `x` at `y` same as `TARGET.x > \
        1 && TARGET.y.z && TARGET.x < 5`",
    ),
    (
        "[ MyType = \"Job\"; Requirements = RequestFoo > 1 && Memory > 1 && HasDocker ]",
        "falls-through: this ad has none of RequestFoo, Memory, HasDocker: the names are looked up in the other ad \
         (write `TARGET.RequestFoo` to name the ad that has the attribute) at `RequestFoo` at `Memory` at `HasDocker` \
        same as `TARGET.RequestFoo > 1 && TARGET.Memory > 1 && TARGET.HasDocker`",
    ),
    (
        "[ MyType = \"Machine\"; Requirements = RequestMemory > 1 && Memory > 1 && x ]",
        "falls-through: this ad has none of RequestMemory, x: the names are looked up in the other ad (write \
         `TARGET.RequestMemory` to name the ad that has the attribute) at `RequestMemory` at `x` same as \
        `TARGET.RequestMemory > 1 && Memory > 1 && TARGET.x`",
    ),
    (
        "[ TARGET = 1; Requirements = x > 1 ]",
        "falls-through: this ad has no x: the name is looked up in the other ad (write `TARGET.x` to name the ad that \
         has the attribute) at `x`",
    ),
    (
        "[ MyType = \"Machine\"; Requirements = START; START = x != 1 && y && z != 2 ]",
        "undefined-unsafe: this is undefined instead of true for an ad without x (write `x =!= 1`) at `x != 1` \
         becomes `x =!= 1 && y && z != 2`; undefined-unsafe: this is undefined instead of true for an ad without z \
        (write `z =!= 2`) at `z != 2` becomes `x != 1 && y && z =!= 2`; falls-through: this ad has none of x, y, z: \
        the names are looked up in the other ad (write `TARGET.x` to name the ad that has the attribute) at `x` at \
        `y` at `z` same as `TARGET.x != 1 && TARGET.y && TARGET.z != 2`; undefined-unsafe: START can be undefined for \
        a job without x, y or z (an undefined START starts no job; write `x isnt VALUE` or `(x ?: VALUE)`) at `x` at \
        `y` at `z`",
    ),
    (
        "[ MyType = \"Machine\"; Requirements = START; START = (x ?: 1) > 1 && isUndefined(y) && Owner ]",
        "not-boolean: `&&` needs a condition, but this is a string at `Owner`; falls-through: this ad has none of x, \
         y, Owner: the names are looked up in the other ad (write `TARGET.x` to name the ad that has the attribute) \
        at `x` at `y` at `Owner` same as `(TARGET.x ?: 1) > 1 && isUndefined(TARGET.y) && TARGET.Owner`",
    ),
    (
        "[ Requirements = TARGET.x != 1 && !TARGET.y && !member(TARGET.z, { 1 }) ]",
        "undefined-unsafe: this is undefined instead of true for an ad without x (write `TARGET.x =!= 1`) at \
         `TARGET.x != 1` becomes `TARGET.x =!= 1 && !TARGET.y && !member(TARGET.z, { 1 })`; undefined-unsafe: this is \
        undefined instead of true for an ad without y (write `TARGET.y =!= true`) at `!TARGET.y` becomes `TARGET.x != \
        1 && TARGET.y =!= true && !member(TARGET.z, { 1 })`; undefined-unsafe: this is undefined instead of true for \
        an ad without z (write `(isUndefined(TARGET.z) || !member(TARGET.z, { 1 }))`) at `!member(TARGET.z, { 1 })` \
        becomes `TARGET.x != 1 && !TARGET.y && (isUndefined(TARGET.z) || !member(TARGET.z, { 1 }))`",
    ),
    (
        "[ Requirements = TARGET.x != \"a\" && 2 != TARGET.y && !(TARGET.z > 1) ]",
        "undefined-unsafe: this is undefined instead of true for an ad without x (write `(isUndefined(TARGET.x) || \
         TARGET.x != \"a\")`) at `TARGET.x != \"a\"` becomes `(isUndefined(TARGET.x) || TARGET.x != \"a\") && 2 != \
        TARGET.y && !(TARGET.z > 1)`; undefined-unsafe: this is undefined instead of true for an ad without y (write \
        `2 =!= TARGET.y`) at `2 != TARGET.y` becomes `TARGET.x != \"a\" && 2 =!= TARGET.y && !(TARGET.z > 1)`; \
        undefined-unsafe: this is undefined instead of true for an ad without z (write `(isUndefined(TARGET.z) || \
        !(TARGET.z > 1))`) at `!(TARGET.z > 1)` becomes `TARGET.x != \"a\" && 2 != TARGET.y && (isUndefined(TARGET.z) \
        || !(TARGET.z > 1))`",
    ),
    (
        "[ Requirements = !regexp(\"a\", TARGET.x) && !stringListMember(TARGET.y, \"a\") && !size(TARGET.z) ]",
        "undefined-unsafe: this is undefined instead of true for an ad without x (write `(isUndefined(TARGET.x) || \
         !regexp(\"a\", TARGET.x))`) at `!regexp(\"a\", TARGET.x)` becomes `(isUndefined(TARGET.x) || !regexp(\"a\", \
        TARGET.x)) && !stringListMember(TARGET.y, \"a\") && !size(TARGET.z)`; undefined-unsafe: this is undefined \
        instead of true for an ad without y (write `(isUndefined(TARGET.y) || !stringListMember(TARGET.y, \"a\"))`) \
        at `!stringListMember(TARGET.y, \"a\")` becomes `!regexp(\"a\", TARGET.x) && (isUndefined(TARGET.y) || \
        !stringListMember(TARGET.y, \"a\")) && !size(TARGET.z)`",
    ),
    (
        "[ Requirements = !stringListMember(\"a\", TARGET.y) && TARGET.x != undefined && !(1 < TARGET.w) ]",
        "undefined-comparison: `!= undefined` is never true (write `TARGET.x =!= undefined`) at `TARGET.x != \
         undefined` becomes `!stringListMember(\"a\", TARGET.y) && TARGET.x =!= undefined && !(1 < TARGET.w)`; \
        undefined-unsafe: this is undefined instead of true for an ad without y (write `(isUndefined(TARGET.y) || \
        !stringListMember(\"a\", TARGET.y))`) at `!stringListMember(\"a\", TARGET.y)` becomes `(isUndefined(TARGET.y) \
        || !stringListMember(\"a\", TARGET.y)) && TARGET.x != undefined && !(1 < TARGET.w)`; undefined-unsafe: this \
        is undefined instead of true for an ad without w (write `(isUndefined(TARGET.w) || !(1 < TARGET.w))`) at `!(1 \
        < TARGET.w)` becomes `!stringListMember(\"a\", TARGET.y) && TARGET.x != undefined && (isUndefined(TARGET.w) \
        || !(1 < TARGET.w))`",
    ),
    (
        "[ Requirements = TARGET.Memory != 1 && MY.x != 1 && !(TARGET.a && TARGET.b) ]",
        "never-met: no ad can match: this part of the Requirements is undefined in this ad (this ad has no x) at \
         `MY.x != 1`",
    ),
];

#[test]
fn an_ad_is_told_what_it_makes_of_its_constraint() {
    for &(text, expected) in CONSTRAINTS {
        assert_eq!(told(text, None), expected, "{text}");
    }
}

/// Attributes of an ad.
const CONSTANTS: &[(&str, &str)] = &[
    ("RequestMemory = 4194303", ""),
    (
        "RequestMemory = 4194304",
        "wrong-unit: RequestMemory is in MiB: this is 4 TiB (if the size is in KiB, write 4096) at `4194304` \
             becomes `4096`",
    ),
    ("RequestMemory = 0", "zero-request: RequestMemory is 0: ask for as much as the job needs at `0`"),
    ("RequestMemory = 1", ""),
    ("RequestCpus = 0", "zero-request: RequestCpus is 0: ask for as much as the job needs at `0`"),
    ("RequestGPUs = 0", ""),
    (
        "RequestDisk = 10737418240.0",
        "wrong-unit: RequestDisk is in KiB: this is 10 TiB (if the size is in bytes, write 10485760) at \
             `10737418240.0` becomes `10485760`",
    ),
    ("RequestDisk = 0.0", ""),
    ("RequestMemory = true", ""),
    (
        "RequestMemory = \"big\"",
        "attribute-type: RequestMemory is a number in HTCondor, but this is a string at `\"big\"`",
    ),
    (
        "RequestMemory = \"512\"",
        "attribute-type: RequestMemory is a number in HTCondor, but this is a string at `\"512\"`",
    ),
    (
        "RequestMemory = \"1.5 GB\"",
        "attribute-type: RequestMemory is a number in HTCondor, but this is a string; it counts MiB (write 1536) \
             at `\"1.5 GB\"` becomes `1536`",
    ),
    (
        "RequestMemory = 1G",
        "wrong-unit: this number is 1073741824 here, but HTCondor ignores or refuses its suffix `G` \
             (RequestMemory is in MiB: write 1024) at `1G` becomes `1024`",
    ),
    ("Owner = 5", "attribute-type: Owner is a string in HTCondor, but this is an integer at `5`"),
    ("Owner = 5.5", "attribute-type: Owner is a string in HTCondor, but this is a real at `5.5`"),
    ("Owner = 5000000000", "attribute-type: Owner is a string in HTCondor, but this is an integer at `5000000000`"),
    ("Owner = false", "attribute-type: Owner is a string in HTCondor, but this is a boolean at `false`"),
    ("Owner = undefined", ""),
    (
        "HasDocker = \"true\"",
        "attribute-type: HasDocker is a boolean in HTCondor, but this is a string (write `true`, without the \
             quotes) at `\"true\"` becomes `true`",
    ),
    (
        "HasDocker = \"False\"",
        "attribute-type: HasDocker is a boolean in HTCondor, but this is a string (write `false`, without the \
             quotes) at `\"False\"` becomes `false`",
    ),
    ("HasDocker = \"yes\"", "attribute-type: HasDocker is a boolean in HTCondor, but this is a string at `\"yes\"`"),
    ("HasDocker = 1", ""),
    ("HasDocker = 1.5", ""),
    (
        "WantIt = \"true\"",
        "attribute-type: WantIt is probably a boolean, but this is a string (write `true`, without the quotes) at \
             `\"true\"` becomes `true`",
    ),
    ("WantIt = \"no\"", ""),
    ("WantIt = 5", ""),
    ("Wantit = \"true\"", ""),
    (
        "Requirements = \"a > 1\"",
        "quoted-expression: Requirements is an expression in quotes: a string, and no condition (write `a > 1`, \
             without the quotes) at `\"a > 1\"` becomes `a > 1`",
    ),
    ("Requirements = \"a\"", ""),
    (
        "PeriodicHold = \"JobStatus == 2\"",
        "attribute-type: PeriodicHold is a boolean in HTCondor, but this is a string at `\"JobStatus == 2\"`",
    ),
    (
        "DeferralTime = 100000000000",
        "wrong-unit: DeferralTime is in seconds since 1970: this is thousands of years ahead (if the time is in \
             milliseconds, write 100000000) at `100000000000` becomes `100000000`",
    ),
    ("GPUsMinMemory = 40", ""),
    ("GPUsMinCapability = 80", ""),
    (
        "DESIRED_Sites = \"a;b\"",
        "list-separator: commas separate the items of DESIRED_Sites, not `;`: this is one item (write \"a,b\") at \
             `\"a;b\"` becomes `\"a,b\"`",
    ),
    ("DESIRED_Sites = \"a,b\"", ""),
    ("DESIRED_Sites = 5", ""),
    (
        "HasFileTransferPluginMethods = \"a; b\"",
        "list-separator: commas separate the items of HasFileTransferPluginMethods, not `;`: this is one item \
             (write \"a,b\") at `\"a; b\"` becomes `\"a,b\"`",
    ),
    ("MyType = \"Scheduler\"; Owner = 5", ""),
    (
        "MyType = \"Machine\"; Memory = \"5\"; Disk = true",
        "attribute-type: Memory is a number in HTCondor, but this is a string at `\"5\"`",
    ),
];

#[test]
fn constants_are_told_with_their_types_and_units() {
    for &(text, expected) in CONSTANTS {
        let ad = format!("[ Requirements = true; {text} ]");
        let ad = if text.starts_with("Requirements") { format!("[ {text} ]") } else { ad };
        assert_eq!(told(&ad, None), expected, "{text}");
    }
}

/// A pool of three slots, of which one is partitionable.
fn slots() -> PoolStatistics {
    let mut pool = PoolStatistics::default();
    for text in [
        "[ MyType = \"Machine\"; Memory = 2048; Disk = 1000; OpSys = \"LINUX\"; HasDocker = true; Gpu = \"a\"; Kind = \
         1 ]",
        "[ MyType = \"Machine\"; Memory = 4096; Disk = 5000; OpSys = \"LINUX\"; Cuda = 11.5; Kind = \"a\"; Load = x ]",
        "[ MyType = \"Machine\"; Memory = 8192; TotalSlotMemory = 16384; PartitionableSlot = true; OpSys = \
         \"WINDOWS\"; \
         Cores = 1 ]",
    ] {
        pool.add(&ad(text, Dialect::Condor));
    }
    pool
}

/// Constraints of a job beside the slots.
const CONSTRAINTS_OF_A_POOL: &[(&str, &str)] = &[
    ("TARGET.Memory > 16383", ""),
    (
        "TARGET.Memory > 16384",
        "out-of-range: Memory is at most 16384 (16 GiB) in the pool: this is never true (if 16384 KiB is meant, write \
         16) at `TARGET.Memory > 16384`",
    ),
    ("TARGET.Memory >= 16384", ""),
    (
        "16385 <= TARGET.Memory",
        "out-of-range: Memory is at most 16384 (16 GiB) in the pool: this is never true (if 16385 KiB is meant, write \
         17) at `16385 <= TARGET.Memory`",
    ),
    ("TARGET.Memory < 1", ""),
    (
        "TARGET.Memory < 0",
        "out-of-range: Memory is at least 0 (0 bytes) in the pool: this is never true (`classad census POOL --attr \
         Memory` shows the most frequent values) at `TARGET.Memory < 0`",
    ),
    ("TARGET.Memory == 16384", ""),
    (
        "TARGET.Memory == 16385",
        "out-of-range: Memory is between 0 (0 bytes) and 16384 (16 GiB) in the pool: this is never true (if 16385 KiB \
         is meant, write 17) at `TARGET.Memory == 16385`",
    ),
    ("TARGET.Disk == 5000", ""),
    (
        "TARGET.Disk < 1000",
        "out-of-range: Disk is at least 1000 (1000 KiB) in the pool: this is never true (`classad census POOL --attr \
         Disk` shows the most frequent values) at `TARGET.Disk < 1000`",
    ),
    (
        "TARGET.Disk <= 999",
        "out-of-range: Disk is at least 1000 (1000 KiB) in the pool: this is never true (`classad census POOL --attr \
         Disk` shows the most frequent values) at `TARGET.Disk <= 999`",
    ),
    ("TARGET.Disk <= 5000 * 1024 - 4096 * 1024 + 0", ""),
    (
        "TARGET.Disk > 2",
        "wrong-unit: Disk is in KiB, at least 1000 (1000 KiB) in the pool: this is never false (if 2 MiB is meant, \
         write 2048) at `TARGET.Disk > 2`",
    ),
    ("TARGET.Disk > 1", ""),
    ("TARGET.Disk > Wanted", ""),
    (
        "TARGET.Disk > MY.Much",
        "out-of-range: Disk is at most 5000 (4.9 MiB) in the pool: the comparison with 6000 (5.9 MiB) is never true \
         (`classad census POOL --attr Disk` shows the most frequent values) at `TARGET.Disk > MY.Much`",
    ),
    ("TARGET.Disk != 7", ""),
    (
        "TARGET.Disk =?= 7",
        "out-of-range: Disk is between 1000 (1000 KiB) and 5000 (4.9 MiB) in the pool: this is never true (`classad \
         census POOL --attr Disk` shows the most frequent values) at `TARGET.Disk =?= 7`",
    ),
    (
        "TARGET.Cuda =?= 7",
        "out-of-range: Cuda is always 11.5 in the pool: this is never true (`classad census POOL --attr Cuda` shows \
         the most frequent values) at `TARGET.Cuda =?= 7`",
    ),
    ("TARGET.Kind > 7", ""),
    ("TARGET.Load > 7", ""),
    ("TARGET.OpSys == \"LINUX\"", ""),
    ("TARGET.OpSys == \"linux\"", ""),
    (
        "TARGET.OpSys =?= \"linux\"",
        "wrong-case: the pool has \"LINUX\", and `=?=` is case-sensitive (write `== \"linux\"` to ignore case) at \
         `TARGET.OpSys =?= \"linux\"`",
    ),
    (
        "TARGET.OpSys =!= \"linux\"",
        "wrong-case: the pool has \"LINUX\", and `=!=` is case-sensitive (write `!= \"linux\"` to ignore case) at \
         `TARGET.OpSys =!= \"linux\"`",
    ),
    (
        "TARGET.OpSys == \"LINUS\"",
        "out-of-range: no ad of the pool has OpSys \"LINUS\": this is never true (the most similar value is \
         \"LINUX\"; `classad census POOL --attr OpSys` lists the values) at `TARGET.OpSys == \"LINUS\"`",
    ),
    (
        "TARGET.OpSys == \"MACOS\"",
        "out-of-range: no ad of the pool has OpSys \"MACOS\": this is never true (the most frequent value is \
         \"LINUX\"; `classad census POOL --attr OpSys` lists the values) at `TARGET.OpSys == \"MACOS\"`",
    ),
    ("TARGET.OpSys == \"MACOS\" || TARGET.OpSys == \"LINUX\"", ""),
    ("TARGET.OpSys != \"MACOS\"", ""),
    ("TARGET.Kind == \"MACOS\"", ""),
    (
        "TARGET.Gpu > 5",
        "wrong-type: Gpu is a string in the pool, but is compared with an integer: the result is an error at \
         `TARGET.Gpu > 5`",
    ),
    (
        "TARGET.Gpu =?= 5",
        "wrong-type: Gpu is a string in the pool, but is compared with an integer: the result is false at `TARGET.Gpu \
         =?= 5`",
    ),
    (
        "TARGET.Gpu =!= 5",
        "wrong-type: Gpu is a string in the pool, but is compared with an integer: the result is true at `TARGET.Gpu \
         =!= 5`",
    ),
    (
        "TARGET.Gpu == Wanted",
        "wrong-type: Gpu is a string in the pool, but is compared with an integer: the result is an error at \
         `TARGET.Gpu == Wanted`; undefined-unsafe: 2 of 3 slots have no Gpu: this is undefined for them (to include \
        these ads, write `(TARGET.Gpu =?= undefined || ...)` or `(TARGET.Gpu ?: VALUE)`) at `TARGET.Gpu`",
    ),
    (
        "TARGET.HasDocker == \"a\"",
        "operand-type: `==` of a boolean and a string is an error at `TARGET.HasDocker == \"a\"`; undefined-unsafe: 2 \
         of 3 slots have no HasDocker: this is undefined for them (to include these ads, write `(TARGET.HasDocker =?= \
        undefined || ...)` or `(TARGET.HasDocker ?: VALUE)`) at `TARGET.HasDocker`",
    ),
    (
        "TARGET.HasDocker == 1",
        "undefined-unsafe: 2 of 3 slots have no HasDocker: this is undefined for them (to include these ads, write \
         `(TARGET.HasDocker =?= undefined || ...)` or `(TARGET.HasDocker ?: VALUE)`) at `TARGET.HasDocker`",
    ),
    (
        "TARGET.Cuda == \"a\"",
        "wrong-type: Cuda is a real in the pool, but is compared with a string: the result is an error at \
         `TARGET.Cuda == \"a\"`; undefined-unsafe: 2 of 3 slots have no Cuda: this is undefined for them (to include \
        these ads, write `(TARGET.Cuda =?= undefined || ...)` or `(TARGET.Cuda ?: VALUE)`) at `TARGET.Cuda`",
    ),
    ("TARGET.Cuda > 1", ""),
    (
        "TARGET.Cuda != 1",
        "undefined-unsafe: this is undefined instead of true for an ad without Cuda (write `TARGET.Cuda =!= 1`) at \
         `TARGET.Cuda != 1` becomes `TARGET.Cuda =!= 1`; undefined-unsafe: 2 of 3 slots have no Cuda: this is \
        undefined for them (to include these ads, write `TARGET.Cuda =!= ...` or `(TARGET.Cuda ?: VALUE)`) at \
        `TARGET.Cuda`",
    ),
    (
        "TARGET.Cuda < 12 && 1 < TARGET.Cuda",
        "undefined-unsafe: 2 of 3 slots have no Cuda: this is undefined for them (to include these ads, write \
         `(TARGET.Cuda =?= undefined || ...)` or `(TARGET.Cuda ?: VALUE)`) at `TARGET.Cuda`",
    ),
    ("TARGET.Disk", ""),
    ("TARGET.Nothing", "unknown-attribute: none of the 3 slots has Nothing at `TARGET.Nothing`"),
    (
        "TARGET.Memroy > 1",
        "unknown-attribute: none of the 3 slots has Memroy (did you mean Memory (3 ads)?) at `TARGET.Memroy`",
    ),
    (
        "isUndefined(TARGET.Memroy) || TARGET.Memroy > 1",
        "unknown-attribute: none of the 3 slots has Memroy (did you mean Memory (3 ads)?) at `TARGET.Memroy`",
    ),
    ("isUndefined(TARGET.Cor) || TARGET.Cor > 1", ""),
    (
        "isUndefined(TARGET.Core) || TARGET.Core > 1",
        "unknown-attribute: none of the 3 slots has Core (did you mean Cores (1 ad)?) at `TARGET.Core`",
    ),
    ("isUndefined(TARGET.Nothing) || TARGET.Nothing > 1", ""),
    (
        "TARGET.CUDACapability > 1",
        "unknown-attribute: none of the 3 slots has CUDACapability (did you mean GPUs_Capability?) at \
         `TARGET.CUDACapability`",
    ),
    (
        "TARGET.time > 1",
        "unknown-attribute: none of the 3 slots has time (time is a function: time() -> int) at `TARGET.time`",
    ),
    (
        "TARGET.OpSys == LINUX",
        "bare-word: LINUX without quotes is an attribute, but OpSys is the string \"LINUX\" in 2 ads (write \"LINUX\" \
         for the string) at `LINUX` becomes `TARGET.OpSys == \"LINUX\"`",
    ),
    (
        "TARGET.Gpu == a",
        "bare-word: a without quotes is an attribute, but Gpu is the string \"a\" in 1 ad (write \"a\" for the \
         string) at `a` becomes `TARGET.Gpu == \"a\"`; undefined-unsafe: 2 of 3 slots have no Gpu: this is undefined \
        for them (to include these ads, write `(TARGET.Gpu =?= undefined || ...)` or `(TARGET.Gpu ?: VALUE)`) at \
        `TARGET.Gpu`",
    ),
];

#[test]
fn a_constraint_is_told_what_its_pool_has() {
    for &(text, expected) in CONSTRAINTS_OF_A_POOL {
        let ad = format!("[ MyType = \"Job\"; Wanted = 9; Much = 6000; Requirements = {text} ]");
        assert_eq!(told(&ad, Some(slots())), expected, "{text}");
    }
    let mut empty = checker(Dialect::Condor).with_pool(PoolStatistics::default());
    assert!(empty.check(&ad("[ Requirements = TARGET.x > 1 ]", Dialect::Condor)).is_empty());
}

/// What `condor_submit` of 25.14.1 writes into each job.
const SUBMITTED: &str = "MyType = \"Job\"; ClusterId = 1; JobUniverse = 5; JobStatus = 1; QDate = 1750000000; \
    EnteredCurrentStatus = 1750000000; NumJobStarts = 0; NumSystemHolds = 0; RemoteWallClockTime = 0.0; DiskUsage = 47; \
    ImageSize = 47; ExitStatus = 0; ExitBySignal = false; RequestMemory = 2048; RequestCpus = 1; Requirements = true; ";

/// What a job has beside what `condor_submit` writes.
const POLICIES: &[(&str, &str)] = &[
    (
        "PeriodicHold = JobStatus == 1",
        "policy-of-all: PeriodicHold is true for every job that waits: each is held at `JobStatus == 1`",
    ),
    ("PeriodicHold = JobStatus == 1 && time() - QDate > 60", ""),
    (
        "PeriodicHold = JobStatus == 1 && time() - QDate >= 60",
        "policy-of-all: PeriodicHold is true for every job that waits: each is held at `JobStatus == 1 && time() - \
         QDate >= 60`",
    ),
    ("PeriodicHold = JobStatus == 2 && time() - EnteredCurrentStatus < 600", ""),
    (
        "PeriodicHold = JobStatus == 2 && time() - EnteredCurrentStatus <= 600",
        "policy-of-all: PeriodicHold is true for every job that runs: each is held at `JobStatus == 2 && time() - \
         EnteredCurrentStatus <= 600`",
    ),
    (
        "PeriodicHold = NumJobStarts == 1",
        "policy-of-all: PeriodicHold is true for every job that runs: each is held at `NumJobStarts == 1`",
    ),
    (
        "PeriodicRemove = true",
        "policy-of-all: PeriodicRemove is true for every job that waits: each is removed at `true`",
    ),
    ("PeriodicRemove = 1", "policy-of-all: PeriodicRemove is true for every job that waits: each is removed at `1`"),
    ("PeriodicRemove = 0.5", ""),
    (
        "PeriodicRemove = 1.5",
        "policy-of-all: PeriodicRemove is true for every job that waits: each is removed at `1.5`",
    ),
    ("PeriodicRemove = undefined", ""),
    (
        "PeriodicRemove = \"a\"",
        "attribute-type: PeriodicRemove is a boolean in HTCondor, but this is a string at `\"a\"`",
    ),
    (
        "PeriodicVacate = true",
        "policy-of-all: PeriodicVacate is true for every job that runs: each is taken from its slot, again and again \
         at `true`",
    ),
    ("PeriodicRelease = HoldReasonCode == 13", ""),
    (
        "PeriodicRelease = HoldReasonCode != 3",
        "policy-of-all: PeriodicRelease is true for every held job: no hold lasts but that of its owner (name the \
         holds that pass by themselves, as in `HoldReasonCode == 13 && NumJobStarts < 5`) at `HoldReasonCode != 3`",
    ),
    ("PeriodicRelease = NumJobStarts < 20", ""),
    (
        "PeriodicRelease = NumJobStarts <= 20",
        "policy-of-all: PeriodicRelease is true for every held job: no hold lasts but that of its owner (name the \
         holds that pass by themselves, as in `HoldReasonCode == 13 && NumJobStarts < 5`) at `NumJobStarts <= 20`",
    ),
    ("PeriodicRelease = time() - EnteredCurrentStatus < 10 * 86400", ""),
    (
        "OnExitRemove = ExitCode == 1",
        "policy-of-all: OnExitRemove is false for a job that succeeds: it runs again each time (if it is meant for \
         jobs that fail, write `!(ExitCode == 1)`) at `ExitCode == 1` becomes `!(ExitCode == 1)`",
    ),
    (
        "OnExitRemove = ExitCode == 0",
        "undefined-policy: OnExitRemove is undefined for a job that a signal ends, which has no ExitCode: the job \
         leaves the queue (write `ExitCode =?= 0`) at `ExitCode` becomes `ExitCode =?= 0`",
    ),
    ("OnExitRemove = NumJobStarts > 5", ""),
    (
        "OnExitRemove = ExitCode == 0; JobSuccessExitCode = 3",
        "policy-of-all: OnExitRemove is false for a job that succeeds: it runs again each time (write a sign of \
         success, as in `ExitBySignal == false && ExitCode == 0`) at `ExitCode == 0`",
    ),
    (
        "OnExitRemove = ExitCode == 3; JobSuccessExitCode = 3",
        "undefined-policy: OnExitRemove is undefined for a job that a signal ends, which has no ExitCode: the job \
         leaves the queue (write `ExitCode =?= 3`) at `ExitCode` becomes `ExitCode =?= 3`",
    ),
    ("OnExitRemove = false; CronHour = 3", ""),
    (
        "OnExitHold = ExitCode == 0",
        "policy-of-all: OnExitHold is true for a job that succeeds: each is held at its end (if it is meant for jobs \
         that fail, write `!(ExitCode == 0)`) at `ExitCode == 0` becomes `!(ExitCode == 0)`",
    ),
    (
        "OnExitHold = ExitCode >= 0",
        "policy-of-all: OnExitHold is true for a job that succeeds: each is held at its end (write a sign of failure, \
         as in `ExitBySignal || ExitCode != 0`) at `ExitCode >= 0`",
    ),
    (
        "OnExitHold = ExitBySignal == false",
        "policy-of-all: OnExitHold is true for a job that succeeds: each is held at its end (write a sign of failure, \
         as in `ExitBySignal || ExitCode != 0`) at `ExitBySignal == false`",
    ),
    (
        "OnExitHold = 5 < ExitCode",
        "undefined-policy: OnExitHold is undefined for a job that a signal ends, which has no ExitCode: the job is \
         not held (write `ExitBySignal || ...` for such jobs) at `ExitCode`",
    ),
    (
        "OnExitHold = 5 == ExitCode || ExitCode != 7",
        "policy-of-all: OnExitHold is true for a job that succeeds: each is held at its end (write a sign of failure, \
         as in `ExitBySignal || ExitCode != 0`) at `5 == ExitCode || ExitCode != 7`",
    ),
    (
        "OnExitHold = ExitCode == MY.Expected; Expected = 1",
        "undefined-policy: OnExitHold is undefined for a job that a signal ends, which has no ExitCode: the job is \
         not held (write `ExitBySignal || ...` for such jobs) at `ExitCode`",
    ),
    (
        "PeriodicHold = x > 5",
        "undefined-policy: PeriodicHold is undefined, which counts as false: this job has no x (set x when the job is \
         submitted, or write `isUndefined(x)` for a job without it) at `x`",
    ),
    (
        "PeriodicHold = Diskusge > 5",
        "undefined-policy: PeriodicHold is undefined, which counts as false: this job has no Diskusge (did you mean \
         DiskUsage?) at `Diskusge`",
    ),
    (
        "PeriodicHold = y > 5; y = x",
        "undefined-policy: PeriodicHold is undefined, which counts as false: this job has no x (set x when the job is \
         submitted, or write `isUndefined(x)` for a job without it) at `y > 5`",
    ),
    (
        "PeriodicHold = TARGET.Memory > 5",
        "undefined-policy: PeriodicHold is evaluated without a slot, so that TARGET.Memory is undefined (name an \
         attribute of the job; `job_machine_attrs` copies those of its slot) at `TARGET.Memory > 5`",
    ),
    (
        "PeriodicHold = TARGET.Foo > 5",
        "undefined-policy: PeriodicHold is evaluated without a slot, so that TARGET.Foo is undefined (name an \
         attribute of the job; `job_machine_attrs` copies those of its slot) at `TARGET.Foo > 5`",
    ),
    (
        "PeriodicHold = TARGET.RequestMemory > 5 && true",
        "undefined-policy: PeriodicHold is evaluated without a slot, so that TARGET.RequestMemory is undefined (write \
         `RequestMemory`) at `TARGET.RequestMemory > 5 && true` becomes `RequestMemory > 5 && true`",
    ),
    (
        "PeriodicHold = Memory > 5",
        "undefined-policy: PeriodicHold is undefined, which counts as false: this job has no Memory (Memory is an \
         attribute of slots; `job_machine_attrs` copies it to the job) at `Memory`",
    ),
    ("PeriodicHold = JobFoo > 5", ""),
    ("PeriodicHold = machineattrcpus0 > 5", ""),
    (
        "PeriodicHold = isUndefined(x) || x > 5",
        "policy-of-all: PeriodicHold is true for every job that waits: each is held at `isUndefined(x) || x > 5`",
    ),
    ("PeriodicHold = (x ?: 0) > 5", ""),
    (
        "PeriodicHold = MemoryUsage > 5",
        "early-policy: PeriodicHold is undefined, which counts as false, until the job has MemoryUsage (HTCondor sets \
         it with the first update of a run, and before 9.5 held such jobs; to be exact, write `(MemoryUsage ?: 0)`) \
        at `MemoryUsage` becomes `(MemoryUsage ?: 0) > 5`",
    ),
    (
        "PeriodicHold = MemoryUsage < 5",
        "policy-of-all: PeriodicHold is true for every job that runs: each is held at `MemoryUsage < 5`",
    ),
    (
        "PeriodicHold = MY.MemoryUsage * 2 > MemoryUsage",
        "policy-of-all: PeriodicHold is true for every job that runs: each is held at `MY.MemoryUsage * 2 > \
         MemoryUsage`",
    ),
    (
        "PeriodicHold = y > 5; y = MemoryUsage",
        "early-policy: PeriodicHold is undefined, which counts as false, until the job has MemoryUsage (HTCondor sets \
         it with the first update of a run, and before 9.5 held such jobs; to be exact, test \
        `isUndefined(MemoryUsage)` first) at `y > 5`",
    ),
    (
        "PeriodicHold = ExitCode > 5",
        "early-policy: PeriodicHold is undefined, which counts as false, until the job has ExitCode (HTCondor sets it \
         when a run ends, and before 9.5 held such jobs; to be exact, write `(ExitCode ?: 0)`) at `ExitCode` becomes \
        `(ExitCode ?: 0) > 5`",
    ),
    (
        "PeriodicHold = JobStartDate > 5",
        "policy-of-all: PeriodicHold is true for every job that runs: each is held at `JobStartDate > 5`",
    ),
    (
        "PeriodicHold = NumRestarts > 5",
        "early-policy: PeriodicHold is undefined, which counts as false, until the job has NumRestarts (HTCondor sets \
         it when a job is submitted, and before 9.5 held such jobs; to be exact, write `(NumRestarts ?: 0)`) at \
        `NumRestarts` becomes `(NumRestarts ?: 0) > 5`",
    ),
    (
        "PeriodicRelease = HoldReasonCode == 7 && x > 1",
        "undefined-policy: PeriodicRelease is undefined, which counts as false: this job has no x (set x when the job \
         is submitted, or write `isUndefined(x)` for a job without it) at `x`",
    ),
    (
        "PeriodicRelease = NumJobStarts > 15 && x > 1",
        "undefined-policy: PeriodicRelease is undefined, which counts as false: this job has no x (set x when the job \
         is submitted, or write `isUndefined(x)` for a job without it) at `x`",
    ),
    (
        "PeriodicHold = QDate > 1749999999",
        "policy-of-all: PeriodicHold is true for every job that waits: each is held at `QDate > 1749999999`",
    ),
    (
        "RequestMemory = x",
        "undefined-request: RequestMemory is undefined: this job has no x (give it a value without x, as in `(...) ?: \
         2048`) at `x`",
    ),
    ("RequestMemory = TARGET.Memory", ""),
    ("RequestMemory = Memory", ""),
    (
        "JobUniverse = 9; RequestMemory = Memory",
        "undefined-request: RequestMemory is undefined: a job of the grid universe gets no slot with Memory (give it \
         a value without a slot, as in `(...) ?: 2048`) at `Memory`",
    ),
    (
        "JobUniverse = 9; RequestMemory = x + TARGET.Memory",
        "undefined-request: RequestMemory is undefined: a job of the grid universe gets no slot with Memory (give it \
         a value without a slot, as in `(...) ?: 2048`) at `x + TARGET.Memory`",
    ),
    (
        "RequestDisk = x",
        "undefined-request: RequestDisk is undefined: this job has no x (give it a value without x, as in `(...) ?: \
         1048576`) at `x`",
    ),
    (
        "RequestGPUs = x",
        "undefined-request: RequestGPUs is undefined: this job has no x (give it a value without x, as in `(...) ?: \
         1`) at `x`",
    ),
    ("RequestGPUs = 1 - 1", ""),
    ("RequestCpus = 1 - 1", "zero-request: RequestCpus is 0 in this job: ask for as much as the job needs at `1 - 1`"),
    ("RequestCpus = 1 - 2", "zero-request: RequestCpus is 0 in this job: ask for as much as the job needs at `1 - 2`"),
    ("RequestCpus = 2 - 1", ""),
    (
        "RequestCpus = 0.5 - 0.5",
        "zero-request: RequestCpus is 0 in this job: ask for as much as the job needs at `0.5 - 0.5`",
    ),
    ("RequestCpus = 0.5 + 0.0", ""),
    ("RequestCpus = strcat(\"a\")", ""),
    ("MyType = \"Machine\"; PeriodicHold = true; RequestCpus = 1 - 1", ""),
];

#[test]
fn a_policy_is_told_when_it_hits_or_is_undefined() {
    for &(job, expected) in POLICIES {
        let text = format!("[ {SUBMITTED}{job} ]");
        assert_eq!(told(&text, None), expected, "{job}");
    }
}

#[test]
fn a_policy_of_the_system_is_told_if_it_hits_every_job() {
    let context = crate::eval::Context::new(Dialect::Condor);
    for (knob, policy, expected) in [
        (
            "SYSTEM_PERIODIC_HOLD",
            "JobStatus == 1 ",
            "policy-of-all: this is true for every job that waits: each is held at `JobStatus == 1`",
        ),
        (
            "SYSTEM_PERIODIC_REMOVE",
            "JobStatus == 2 ",
            "policy-of-all: this is true for every job that runs: each is removed at `JobStatus == 2`",
        ),
        (
            "SYSTEM_PERIODIC_RELEASE",
            "true",
            "policy-of-all: this is true for every held job: no hold lasts but that of its owner (name the holds that \
             pass by themselves, as in `HoldReasonCode == 13 && NumJobStarts < 5`) at `true`",
        ),
        ("SYSTEM_PERIODIC_HOLD", "x > 5", ""),
        (
            "SYSTEM_PERIODIC_HOLD",
            "x >= 4320 || isUndefined(x)",
            "policy-of-all: this is true for every job that waits: each is held at `x >= 4320 || isUndefined(x)`",
        ),
        ("SYSTEM_PERIODIC_HOLD", "x >= 4321 || isUndefined(x)", ""),
        ("SYSTEM_PERIODIC_HOLD", "x < 4000000000 || isUndefined(x)", ""),
        (
            "SYSTEM_PERIODIC_HOLD",
            "x <= 4000000000 || isUndefined(x) ",
            "policy-of-all: this is true for every job that waits: each is held at `x <= 4000000000 || isUndefined(x)`",
        ),
        (
            "SYSTEM_PERIODIC_HOLD",
            "CurrentTime > QDate",
            "policy-of-all: this is true for every job that waits: each is held at `CurrentTime > QDate`",
        ),
        (
            "SYSTEM_PERIODIC_HOLD",
            "time() - QDate > 59",
            "policy-of-all: this is true for every job that waits: each is held at `time() - QDate > 59`",
        ),
        ("START", "true ", ""),
    ] {
        let expression = parse_expression(policy.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let found = super::check_system_policy(&Name::new(knob), &expression, &context);
        let of = Ad::default().with(Name::new(knob), expression);
        assert_eq!(shown(policy, &of, found), expected, "{policy}");
    }
}

#[test]
fn other_amounts_are_told_by_their_units() {
    let value = |text: &str| parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let tell = |slip: Option<super::Slip>| {
        slip.map_or("nothing".to_owned(), |slip| {
            let rewrite = slip.rewrite.map_or(String::new(), |rewrite| format!(" {rewrite}"));
            format!("{} ({}){rewrite}", slip.message, slip.help.unwrap_or_default())
        })
    };
    for (text, name, expected) in [
        (
            "ImageSize",
            "RequestMemory",
            "RequestMemory is in MiB, and ImageSize in KiB (write (ImageSize) / 1024) (ImageSize) / 1024",
        ),
        (
            "2 * ImageSize ",
            "RequestMemory",
            "RequestMemory is in MiB, and ImageSize in KiB (write (2 * ImageSize) / 1024) (2 * ImageSize) / 1024",
        ),
        ("ImageSize / 1024", "RequestMemory", "nothing"),
        ("ImageSize / 1000", "RequestMemory", "nothing"),
        (
            "ImageSize / 999",
            "RequestMemory",
            "RequestMemory is in MiB, and ImageSize in KiB (write (ImageSize / 999) / 1024) (ImageSize / 999) / 1024",
        ),
        ("ImageSize * 3", "RequestDisk", "nothing"),
        ("MemoryUsage * 3", "RequestMemory", "nothing"),
        ("ImageSize + 0", "RequestCpus", "nothing"),
    ] {
        assert_eq!(tell(super::find_undivided(&Name::new(name), &value(text))), expected, "{text}");
    }
    for (text, name, expected) in [
        ("1048576", "RequestMemory", "RequestMemory is in MiB: this is 1 TiB (if the size is in KiB, write 1024) 1024"),
        ("2097152", "Memory", "Memory is in MiB: this is 2 TiB (if the size is in KiB, write 2048) 2048"),
        ("1048577", "Memory", "nothing"),
        ("0", "Memory", "nothing"),
        ("-1048576", "Memory", "nothing"),
        ("3145728", "Disk", "nothing"),
        ("4194304.0", "Memory", "nothing"),
    ] {
        assert_eq!(tell(super::find_kibibytes(&Name::new(name), &value(text))), expected, "{text}");
    }
    for (text, name, expected) in [
        (
            "1000000000",
            "RequestDisk",
            "RequestDisk is in KiB: this is 953.7 GiB (if the size is in bytes, write 976563) 976563",
        ),
        ("999000000", "RequestDisk", "nothing"),
        ("1000000001", "RequestDisk", "nothing"),
        ("2000000000", "Disk", "nothing"),
    ] {
        assert_eq!(tell(super::find_bytes(&Name::new(name), &value(text))), expected, "{text}");
    }
    for (text, name, expected) in [
        (
            "alice",
            "",
            "alice without quotes is an attribute, which nothing defines (write \"alice\" for the string) \"alice\"",
        ),
        ("Memory", "", "nothing"),
        ("'alice'", "", "nothing"),
        ("MY.alice", "", "nothing"),
        (
            "time",
            "",
            "time without quotes is an attribute, which nothing defines (write \"time\" for the string) \"time\"",
        ),
    ] {
        assert_eq!(name, "");
        assert_eq!(tell(super::find_unquoted_setting(&value(text))), expected, "{text}");
    }
    for name in ["ClockHour", "clockhours", "ClockMinute", "ClockMinutes", "ClockDayOfWeek", "ClockWeekday"] {
        assert!(super::is_mistaken_clock_name(&Name::new(name)), "{name}");
    }
    assert!(!super::is_mistaken_clock_name(&Name::new("ClockMin")));
}

/// Where findings depend on more than what a constraint reads, ads of one shape are each checked.
#[test]
fn ads_of_one_shape_are_told_apart() {
    let context = crate::eval::Context::new(Dialect::Condor);
    let port = "Ports = { [ Label = \"cpu\"; Constraint = cpu.Memory > 1 ] }";
    for (first, second, expected) in [
        ("b = cpu.Memory", "b = cpu.Memroy", "unknown-attribute"),
        ("b = cpu.Memroy", "b = cpu.Memory", ""),
        ("b = c; c = 1 + 1", "b = c; c = b + 1", "circular"),
    ] {
        let mut checker = super::AdChecker::new(crate::protocol::Protocol::new(Dialect::Condor), &context);
        checker = checker.with_pool(std::sync::Arc::new(slots()));
        let [_, found] =
            [first, second].map(|text| checker.check(&ad(&format!("[ {port}; {text} ]"), Dialect::Condor)));
        let rules: Vec<&str> = found.iter().map(|finding| finding.rule.name).collect();
        assert_eq!(rules.join(" "), expected, "{second}");
    }
}

#[test]
fn ports_and_wishes_for_devices_are_told() {
    for (text, expected) in [
        (
            "Ports = { [ Label = \"a\"; Constraint = b.x > 1 ], [ Label = \"b\"; Constraint = a.x > 1 ] }",
            "label-order: the port a refers to the later port b at `b`: not known here; unknown-attribute: none of \
             the 3 slots has x at `b.x`; unknown-attribute: none of the 3 slots has x at `a.x`",
        ),
        ("Ports = { [ Label = \"a\"; b = 1; Constraint = b > 1 ], [ Label = \"b\"; Constraint = true ] }", ""),
        (
            "Ports = { [ Label = \"a\"; Constraint = true; Rank = \"x\" ] }",
            "rank-not-numeric: this rank is a string and counts as 0 at `\"x\"`",
        ),
        (
            "Ports = { [ Label = \"a\"; Constraint = true; Rank = a.x ] }",
            "unknown-attribute: none of the 3 slots has x at `a.x`",
        ),
        (
            "Ports = { [ Label = \"a\" ] }",
            "missing-constraint: the port a has no constraint, so it accepts no offer at `[ Label = \"a\" ]`",
        ),
        ("Ports = { [ Constraint = true ] }", "ports: a port needs a Label at `[ Constraint = true ]`"),
        ("Ports = 5", ""),
        ("Ports = { 5 }", "ports: a port must be a record, `[ Label = ...; Constraint = ... ]` at `5`"),
        (
            "Ports = { [ Label = \"a\"; Constraint = a.Memroy > 1 && isUndefined(a.Nothing) ] }; x = a.Memroy + a.Nil",
            "unknown-attribute: none of the 3 slots has Memroy (did you mean Memory (3 ads)?) at `a.Memroy`; \
             unknown-attribute: none of the 3 slots has Nil at `a.Nil`; unknown-attribute: none of the 3 slots has \
            Memroy (did you mean Memory (3 ads)?) at `a.Memroy`",
        ),
        (
            "RequireGPUs = Capability < 8.0 && Capability >= MY.Least; Least = 8.0",
            "contradiction: no value of `Capability` can make both of these true at `Capability < 8.0`: this at \
             `Capability >= MY.Least`: and this, in this ad `Capability >= 8.0`",
        ),
        (
            "RequireGPUs = Capability < 8.0 && Capability >= 8.0",
            "contradiction: no value of `Capability` can make both of these true at `Capability < 8.0`: this at \
             `Capability >= 8.0`: and this",
        ),
        ("RequireGPUs = Capability < 8.0 && Capability >= MY.Least; Least = 7.0", ""),
        (
            "RequireGPUs = GPUs_Capability > 5.0 && CUDACapability > 5.0 && Foo > 5",
            "unknown-attribute: the ad of a GPU has no GPUs_Capability (did you mean Capability?) at \
             `GPUs_Capability`; unknown-attribute: the ad of a GPU has no CUDACapability (did you mean Capability?) \
            at `CUDACapability`",
        ),
        ("MyType = \"Machine\"; RequireGPUs = Capability < 8.0 && Capability >= MY.Least; Least = 8.0", ""),
    ] {
        let of_job = if text.starts_with("Req") { "MyType = \"Job\"; " } else { "" };
        let requirements = if text.starts_with("Ports") { "" } else { "Requirements = true; " };
        let ad = format!("[ {of_job}{requirements}{text} ]");
        assert_eq!(told(&ad, text.starts_with("Ports").then(slots)), expected, "{text}");
    }
}
