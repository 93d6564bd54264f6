//! What findings in expressions say: message, help, marked places and correction, all of it.

use super::tests::{ad, checker};
use super::{LintFinding, PoolStatistics};
use crate::ad::{Ad, Dialect};
use crate::syntax::{Style, expression_text};

/// Formats findings, each as `rule: message (help) at places with correction`. A help of the rule itself is left out.
pub(super) fn shown(source: &str, of: &Ad, found: impl IntoIterator<Item = LintFinding>) -> String {
    let shown = found.into_iter().map(|finding| {
        let help = if finding.help == finding.rule.help { String::new() } else { format!(" ({})", finding.help) };
        let labels = finding.labels.iter().map(|label| {
            let place = label.span.map_or(label.attribute.as_str(), |span| &source[span.range()]);
            let text = if label.text.is_empty() { String::new() } else { format!(": {}", label.text) };
            format!(" at `{place}`{text}")
        });
        let labels: String = labels.collect();
        let fix = finding.fix.map_or(String::new(), |fix| {
            let whole = of.get(&fix.attribute).unwrap();
            let text = expression_text(&fix.corrected(whole).unwrap(), Style::Long);
            format!(" {} `{text}`", if fix.keeps_values { "same as" } else { "becomes" })
        });
        format!("{}: {}{help}{labels}{fix}", finding.rule.name, finding.message)
    });
    shown.collect::<Vec<_>>().join("; ")
}

/// Returns what is found in an ad.
pub(super) fn told(text: &str, pool: Option<PoolStatistics>) -> String {
    let of = ad(text, Dialect::Condor);
    let checker = checker(Dialect::Condor);
    let mut checker = if let Some(pool) = pool { checker.with_pool(pool) } else { checker };
    shown(text, &of, checker.check(&of).into_iter().map(|(_, finding)| finding))
}

/// Returns what is found in an attribute of an ad, without notes that the names in it are not the ad's.
fn of_expression(text: &str) -> String {
    let text = format!("[ e = {text} ]");
    let of = ad(&text, Dialect::Condor);
    let found = checker(Dialect::Condor).check(&of).into_iter().map(|(_, finding)| finding);
    shown(&text, &of, found.filter(|finding| finding.rule.name != "falls-through"))
}

/// The amounts on both sides of each bound.
const SIZES_AND_TIMES: &[(&str, &str)] = &[
    ("RequestMemory > 4194303", ""),
    (
        "RequestMemory > 4194304",
        "wrong-unit: RequestMemory is in MiB: this is 4 TiB (if the size is in KiB, write 4096) at `4194304` becomes \
         `RequestMemory > 4096`",
    ),
    (
        "RequestMemory > 1073741823",
        "wrong-unit: RequestMemory is in MiB: this is 1024 TiB (if the size is in KiB, write 1048576) at `1073741823` \
         becomes `RequestMemory > 1048576`",
    ),
    (
        "RequestMemory > 1073741824",
        "wrong-unit: RequestMemory is in MiB: this is 1 PiB (if the size is in bytes, write 1024) at `1073741824` \
         becomes `RequestMemory > 1024`",
    ),
    ("RequestDisk > 10737418239", ""),
    (
        "RequestDisk > 10737418240",
        "wrong-unit: RequestDisk is in KiB: this is 10 TiB (if the size is in bytes, write 10485760) at `10737418240` \
         becomes `RequestDisk > 10485760`",
    ),
    ("Memory > 8388607", ""),
    (
        "(8388608.5) < MY.Memory",
        "wrong-unit: Memory is in MiB: this is 8 TiB (if the size is in KiB, write 8193) at `8388608.5` becomes \
         `(8193) < MY.Memory`",
    ),
    ("GlobalMemoryMb > 1", ""),
    (
        "GlobalMemoryMb > 2",
        "wrong-unit: GlobalMemoryMb is in MiB: this is 2 MiB (if the size is in GiB, write 2048) at `2` becomes \
         `GlobalMemoryMb > 2048`",
    ),
    ("GlobalMemoryMb > 1.5", ""),
    (
        "GlobalMemoryMb > 512",
        "wrong-unit: GlobalMemoryMb is in MiB: this is 512 MiB (if the size is in GiB, write 524288) at `512` becomes \
         `GlobalMemoryMb > 524288`",
    ),
    ("GlobalMemoryMb > 513", ""),
    (
        "GlobalMemoryMb > 1048576",
        "wrong-unit: GlobalMemoryMb is in MiB: this is 1 TiB (if the size is in KiB, write 1024) at `1048576` becomes \
         `GlobalMemoryMb > 1024`",
    ),
    ("ImageSize > 1099511627775", ""),
    (
        "ImageSize > 1099511627776",
        "wrong-unit: ImageSize is in KiB: this is 1 PiB (if the size is in bytes, write 1073741824) at \
         `1099511627776` becomes `ImageSize > 1073741824`",
    ),
    ("Capability > 49", ""),
    ("Capability > 50", "wrong-unit: Capability of sm_50 is 5.0 (write 5.0) at `50` becomes `Capability > 5.0`"),
    ("Capability > 75.0", "wrong-unit: Capability of sm_75 is 7.5 (write 7.5) at `75.0` becomes `Capability > 7.5`"),
    ("Capability > 199", "wrong-unit: Capability of sm_199 is 19.9 (write 19.9) at `199` becomes `Capability > 19.9`"),
    ("Capability > 200", ""),
    ("ClockMin > 0", ""),
    (
        "ClockMin >= 1",
        "wrong-unit: ClockMin counts minutes from midnight: this is 0:01 (if the time is in hours, write 60) at `1` \
         becomes `ClockMin >= 60`",
    ),
    (
        "24 > ClockMin",
        "wrong-unit: ClockMin counts minutes from midnight: this is 0:24 (if the time is in hours, write 1440) at \
         `24` becomes `1440 > ClockMin`",
    ),
    ("ClockMin > 25", ""),
    ("ClockMin != 8", ""),
    ("ClockMin =?= 8", ""),
    ("DeferralTime > 99999999999", ""),
    (
        "DeferralTime > 100000000000",
        "wrong-unit: DeferralTime is in seconds since 1970: this is thousands of years ahead (if the time is in \
         milliseconds, write 100000000) at `100000000000` becomes `DeferralTime > 100000000`",
    ),
    (
        "DeferralTime > 100000000999",
        "wrong-unit: DeferralTime is in seconds since 1970: this is thousands of years ahead (if the time is in \
         milliseconds, write 100000000) at `100000000999` becomes `DeferralTime > 100000000`",
    ),
    (
        "Memory > 2 * 4194304",
        "wrong-unit: Memory is in MiB: this is 8 TiB (if the size is in KiB, write 8192) at `2 * 4194304` becomes \
         `Memory > 8192`",
    ),
    ("Memory > 1 + 8388608", ""),
    ("x > 8388608", ""),
    (
        "Memory > 2.5G",
        "wrong-unit: this number is 2684354560 here, but HTCondor ignores or refuses its suffix `G` (Memory is in \
         MiB: write 2560) at `2.5G` becomes `Memory > 2560`",
    ),
    (
        "Disk > 1K",
        "wrong-unit: this number is 1024 here, but HTCondor ignores or refuses its suffix `K` (Disk is in KiB: write \
         1) at `1K` becomes `Disk > 1`",
    ),
    (
        "x > 3T",
        "wrong-unit: this number is 3298534883328 here, but HTCondor ignores or refuses its suffix `T` (write \
         3298534883328) at `3T` becomes `x > 3298534883328`",
    ),
    ("[ Memory = 1 ].Memory > 8388608", ""),
    (
        "{ Memory > 8388608 }",
        "wrong-unit: Memory is in MiB: this is 8 TiB (if the size is in KiB, write 8192) at `8388608` becomes `{ \
         Memory > 8192 }`",
    ),
    (
        "RequestMemory > \"4 GB\"",
        "operand-type: `>` of a number and a string is an error at `RequestMemory > \"4 GB\"`; attribute-type: \
         RequestMemory is a number in HTCondor, but this is a string; it counts MiB (write 4096) at `\"4 GB\"` \
        becomes `RequestMemory > 4096`",
    ),
    (
        "RequestMemory == \"4096 m\"",
        "operand-type: `==` of a number and a string is an error at `RequestMemory == \"4096 m\"`; attribute-type: \
         RequestMemory is a number in HTCondor, but this is a string; it counts MiB (write 4096) at `\"4096 m\"` \
        becomes `RequestMemory == 4096`",
    ),
    (
        "RequestMemory == \"1KiB\"",
        "operand-type: `==` of a number and a string is an error at `RequestMemory == \"1KiB\"`; attribute-type: \
         RequestMemory is a number in HTCondor, but this is a string; it counts MiB (write 1) at `\"1KiB\"` becomes \
        `RequestMemory == 1`",
    ),
    (
        "RequestDisk == \"1.5TB\"",
        "operand-type: `==` of a number and a string is an error at `RequestDisk == \"1.5TB\"`; attribute-type: \
         RequestDisk is a number in HTCondor, but this is a string; it counts KiB (write 1610612736) at `\"1.5TB\"` \
        becomes `RequestDisk == 1610612736`",
    ),
    (
        "RequestDisk == \"4\"",
        "operand-type: `==` of a number and a string is an error (write `RequestDisk == 4`) at `RequestDisk == \"4\"` \
         becomes `RequestDisk == 4`",
    ),
    ("RequestDisk == \"4 PB\"", "operand-type: `==` of a number and a string is an error at `RequestDisk == \"4 PB\"`"),
    ("RequestDisk == \"G\"", "operand-type: `==` of a number and a string is an error at `RequestDisk == \"G\"`"),
    ("Memory == \"4 GB\"", "operand-type: `==` of a number and a string is an error at `Memory == \"4 GB\"`"),
];

#[test]
fn sizes_and_times_are_told_in_their_units() {
    for &(text, expected) in SIZES_AND_TIMES {
        assert_eq!(of_expression(text), expected, "{text}");
    }
}

/// Names that stand where values are meant.
const NAMES: &[(&str, &str)] = &[
    (
        "x == null",
        "null: null is an attribute, not a value (write `x =?= undefined`) at `x == null` becomes `x =?= undefined`",
    ),
    (
        "x != nil",
        "null: nil is an attribute, not a value (write `x =!= undefined`) at `x != nil` becomes `x =!= undefined`",
    ),
    (
        "null =?= x",
        "null: null is an attribute, not a value (write `x =?= undefined`) at `null =?= x` becomes `x =?= undefined`",
    ),
    (
        "x =!= Null",
        "null: Null is an attribute, not a value (write `x =!= undefined`) at `x =!= Null` becomes `x =!= undefined`",
    ),
    (
        "x < null",
        "null: null is an attribute, not a value (write `x =!= undefined`) at `x < null` becomes `x =!= undefined`",
    ),
    (
        "'null' == x",
        "single-quotes: 'null' in single quotes is an attribute, not a string (write \"null\" for the string) at \
         `'null'` becomes `\"null\" == x`",
    ),
    ("MY.null == x", ""),
    (
        "Owner == alice",
        "bare-word: alice without quotes is an attribute, but Owner is a string (write \"alice\" for the string) at \
         `alice` becomes `Owner == \"alice\"`",
    ),
    (
        "(alice) != TARGET.Owner",
        "bare-word: alice without quotes is an attribute, but Owner is a string (write \"alice\" for the string) at \
         `(alice)` becomes `\"alice\" != TARGET.Owner`",
    ),
    ("Owner == Alice", ""),
    (
        "Owner == time",
        "bare-word: time without parentheses is an attribute, but time() is a function (write `time()` for its value) \
         at `time` becomes `Owner == time()`",
    ),
    (
        "OpSys == LINUX",
        "bare-word: LINUX without quotes is an attribute, but OpSys is a string (write \"LINUX\" for the string) at \
         `LINUX` becomes `OpSys == \"LINUX\"`",
    ),
    (
        "Arch =?= X86_64",
        "bare-word: X86_64 without quotes is an attribute, but Arch is a string (write \"X86_64\" for the string) at \
         `X86_64` becomes `Arch =?= \"X86_64\"`",
    ),
    ("x == alice", ""),
    ("Memory == alice", ""),
    (
        "Owner < alice",
        "bare-word: alice without quotes is an attribute, but Owner is a string (write \"alice\" for the string) at \
         `alice` becomes `Owner < \"alice\"`",
    ),
    ("Owner + alice", "operand-type: `+` with a string is an error at `Owner + alice`"),
    (
        "Machine == a.b.c",
        "bare-word: a.b.c without quotes is an attribute of a, but Machine is a string (quotes are missing: write \
         \"a.b.c\") at `a.b.c` becomes `Machine == \"a.b.c\"`",
    ),
    ("Machine == a.b", ""),
    (
        "a.b.c.d != MY.Machine",
        "bare-word: a.b.c.d without quotes is an attribute of a, but Machine is a string (quotes are missing: write \
         \"a.b.c.d\") at `a.b.c.d` becomes `\"a.b.c.d\" != MY.Machine`",
    ),
    ("Machine == Memory.b.c", ""),
    ("Memory == a.b.c", ""),
    (
        "ClockHour > 5",
        "clock-attribute: slots have no ClockHour, but ClockMin (write `(ClockMin / 60)`) at `ClockHour` becomes \
         `(ClockMin / 60) > 5`",
    ),
    (
        "TARGET.ClockHours > 5",
        "clock-attribute: slots have no ClockHours, but ClockMin (write `(TARGET.ClockMin / 60)`) at \
         `TARGET.ClockHours` becomes `(TARGET.ClockMin / 60) > 5`",
    ),
    (
        "MY.ClockMinutes > 5",
        "clock-attribute: slots have no ClockMinutes, but ClockMin (write `MY.ClockMin`) at `MY.ClockMinutes` becomes \
         `MY.ClockMin > 5`",
    ),
    (
        "ClockWeekday == 7",
        "clock-attribute: slots have no ClockWeekday, but ClockDay (write `ClockDay`) at `ClockWeekday` becomes \
         `ClockDay == 7`",
    ),
    (
        "ClockDay == 7",
        "clock-attribute: ClockDay is 0 on Sunday and 6 on Saturday, never 7 (write 0 for Sunday) at `7` becomes \
         `ClockDay == 0`",
    ),
    (
        "7 =?= TARGET.ClockDay",
        "clock-attribute: ClockDay is 0 on Sunday and 6 on Saturday, never 7 (write 0 for Sunday) at `7` becomes `0 \
         =?= TARGET.ClockDay`",
    ),
    ("ClockDay == 6", ""),
    ("ClockDay < 7", ""),
    ("ClockDay != 7", ""),
    (
        "time - QDate > 5",
        "bare-word: time without parentheses is an attribute, but time() is a function (write `time()` for its value) \
         at `time` becomes `time() - QDate > 5`",
    ),
    (
        "QDate < time",
        "bare-word: time without parentheses is an attribute, but time() is a function (write `time()` for its value) \
         at `time` becomes `QDate < time()`",
    ),
    (
        "random > 5",
        "bare-word: random without parentheses is an attribute, but random() is a function (write `random()` for its \
         value) at `random` becomes `random() > 5`",
    ),
    ("CurrentTime > 5", ""),
    ("size > 5", ""),
    ("x && time", ""),
    ("x =?= time", ""),
    (
        "OpSys == 'LINUX'",
        "single-quotes: 'LINUX' in single quotes is an attribute, not a string (write \"LINUX\" for the string) at \
         `'LINUX'` becomes `OpSys == \"LINUX\"`",
    ),
    (
        "('a b')",
        "single-quotes: 'a b' in single quotes is an attribute, not a string (write \"a b\" for the string) at `('a \
         b')` becomes `\"a b\"`",
    ),
    (
        "'a'",
        "single-quotes: 'a' in single quotes is an attribute, not a string (write \"a\" for the string) at `'a'` \
         becomes `\"a\"`",
    ),
    (
        "x == ('a')",
        "single-quotes: 'a' in single quotes is an attribute, not a string (write \"a\" for the string) at `('a')` \
         becomes `x == \"a\"`",
    ),
];

#[test]
fn names_in_place_of_values_are_told() {
    for &(text, expected) in NAMES {
        assert_eq!(of_expression(text), expected, "{text}");
    }
}

/// Patterns and lists in strings.
const PATTERNS_AND_LISTS: &[(&str, &str)] = &[
    (
        "regexp(\"a*\", x)",
        "glob: this looks like a shell pattern; in a regular expression, `*` repeats what precedes it (write \"^a\" \
         for `a*`) at `\"a*\"` becomes `regexp(\"^a\", x)`",
    ),
    (
        "regexp(\"*a\", x)",
        "pattern: `*a` is not a valid regular expression: quantifier does not follow a repeatable item; the result is \
         an error (write \"a$\" for `*a`) at `\"*a\"` becomes `regexp(\"a$\", x)`",
    ),
    ("regexp(\"a.*\", x)", ""),
    (
        "regexp(\"[\", x)",
        "pattern: `[` is not a valid regular expression: missing terminating ] for character class; the result is an \
         error at `\"[\"`",
    ),
    (
        "regexp(\"*[\", x)",
        "pattern: `*[` is not a valid regular expression: quantifier does not follow a repeatable item; the result is \
         an error at `\"*[\"`",
    ),
    (
        "regexp(\"a*\", x, \"i\")",
        "glob: this looks like a shell pattern; in a regular expression, `*` repeats what precedes it (write \"^a\" \
         for `a*`) at `\"a*\"` becomes `regexp(\"^a\", x, \"i\")`",
    ),
    ("regexp(\"a*\", x, y)", ""),
    (
        "regexp(x, \"^a\")",
        "argument-order: regexp takes the pattern first, then the string (write `regexp(\"^a\", x)`) at `regexp(x, \
         \"^a\")` becomes `regexp(\"^a\", x)`",
    ),
    (
        "regexp(x, \"a$\", \"i\")",
        "argument-order: regexp takes the pattern first, then the string (write `regexp(\"a$\", x, \"i\")`) at \
         `regexp(x, \"a$\", \"i\")` becomes `regexp(\"a$\", x, \"i\")`",
    ),
    ("regexp(x, \"a\")", ""),
    (
        "regexp(x, \"a|b\")",
        "argument-order: regexp takes the pattern first, then the string (write `regexp(\"a|b\", x)`) at `regexp(x, \
         \"a|b\")` becomes `regexp(\"a|b\", x)`",
    ),
    ("regexp(strcat(x), \"^a\")", ""),
    ("regexps(x, \"^a\", \"b\")", ""),
    (
        "regexps(\"(a)\", x, \"\\1\")",
        "pattern: `\\1` in a string is the character with code 1, not a group (write `\"\\\\1\"`) at `\"\\1\"` \
         becomes `regexps(\"(a)\", x, \"\\1\")`",
    ),
    (
        "regexps(\"(a)\", x, \"<\\7\\10>\")",
        "pattern: `\\7` in a string is the character with code 7, not a group (write `\"<\\\\7\\b>\"`) at \
         `\"<\\7\\10>\"` becomes `regexps(\"(a)\", x, \"<\\7\u{8}>\")`",
    ),
    (
        "replace(\"(a)\", x, \"\\2\")",
        "pattern: `\\2` in a string is the character with code 2, not a group (write `\"\\\\2\"`) at `\"\\2\"` \
         becomes `replace(\"(a)\", x, \"\\2\")`",
    ),
    (
        "regexpMember(\"a*\", y)",
        "glob: this looks like a shell pattern; in a regular expression, `*` repeats what precedes it (write \"^a\" \
         for `a*`) at `\"a*\"` becomes `regexpMember(\"^a\", y)`",
    ),
    ("x == \"a*\"", ""),
    ("x == \"*\"", ""),
    ("x == \"*a\"", ""),
    (
        "x != \"a-*b\"",
        "glob: `!=` compares whole strings: `*` is not a wildcard (write `!regexp(\"^a-.*b$\", x, \"i\")`) at `x != \
         \"a-*b\"` becomes `!regexp(\"^a-.*b$\", x, \"i\")`; undefined-unsafe: this is undefined instead of true for \
        an ad without x (write `(isUndefined(x) || x != \"a-*b\")`) at `x != \"a-*b\"` becomes `(isUndefined(x) || x \
        != \"a-*b\")`",
    ),
    (
        "x =?= \"a.b*\"",
        "case-sensitive: `x =?= \"...\"` is case-sensitive (write `x == \"a.b*\"` to ignore case) at `x =?= \"a.b*\"` \
         becomes `x == \"a.b*\"`; glob: `=?=` compares whole strings: `*` is not a wildcard (write \
        `regexp(\"^a\\.b\", x, \"i\")`) at `x =?= \"a.b*\"` becomes `regexp(\"^a\\.b\", x, \"i\")`",
    ),
    (
        "\"a/*?b\" =!= MY.x",
        "case-sensitive: `MY.x =!= \"...\"` is case-sensitive (write `toLower(MY.x) =!= \"a/*?b\"` to ignore case) at \
         `\"a/*?b\" =!= MY.x` becomes `toLower(MY.x) =!= \"a/*?b\"`; glob: `=!=` compares whole strings: `*` is not a \
        wildcard (write `!regexp(\"^a/.*.b$\", MY.x, \"i\")`) at `\"a/*?b\" =!= MY.x` becomes `!regexp(\"^a/.*.b$\", \
        MY.x, \"i\")`",
    ),
    ("x == \"a*b\"", ""),
    ("x < \"a*\"", ""),
    ("x == \"a+*\"", ""),
    ("strcat(x) == \"a*\"", ""),
    ("\"b\" == \"a*\"", ""),
    ("x == \"a.*\"", ""),
    (
        "stringListMember(x, \"a;b\")",
        "list-separator: commas and spaces separate the items of a list, not `;`: this is one item (write \"a,b\") at \
         `\"a;b\"` becomes `stringListMember(x, \"a,b\")`",
    ),
    (
        "stringListMember(x, \"a; b ;c\")",
        "list-separator: commas and spaces separate the items of a list, not `;`: this is one item (write \"a,b,c\") \
         at `\"a; b ;c\"` becomes `stringListMember(x, \"a,b,c\")`",
    ),
    ("stringListMember(x, \"a;b,c\")", ""),
    ("stringListMember(x, \"a;b\", \";\")", ""),
    (
        "stringListMember(x, \"a,b\", \";\")",
        "list-separator: `;` separates the items here, but the list has commas: this is one item (write \
         `stringListMember(x, \"a,b\")`) at `stringListMember(x, \"a,b\", \";\")` becomes `stringListMember(x, \
        \"a,b\")`",
    ),
    ("stringListMember(x, \"a,b\", \"\")", ""),
    ("stringListMember(x, \"a,b\", \",;\")", ""),
    ("stringListMember(x, \"a\", \";\")", ""),
    (
        "stringListSize(\"a;b\")",
        "list-separator: commas and spaces separate the items of a list, not `;`: this is one item (write \"a,b\") at \
         `\"a;b\"` becomes `stringListSize(\"a,b\")`",
    ),
    ("stringListSize(\"a,b\", \";\")", ""),
    (
        "stringListSum(\"1;2\")",
        "list-separator: commas and spaces separate the items of a list, not `;`: this is one item (write \"1,2\") at \
         `\"1;2\"` becomes `stringListSum(\"1,2\")`",
    ),
    (
        "stringListMember(\"a,b\", x)",
        "argument-order: stringListMember takes the item first, then the list (write `stringListMember(x, \"a,b\")`) \
         at `stringListMember(\"a,b\", x)` becomes `stringListMember(x, \"a,b\")`",
    ),
    ("stringListMember(\"a b\", x)", ""),
    (
        "stringListMember(\"a,b\", xList)",
        "argument-order: stringListMember seeks one item, not several (write `stringListMember(\"a\", xList) && \
         stringListMember(\"b\", xList)`) at `stringListMember(\"a,b\", xList)` becomes `stringListMember(\"a\", \
        xList) && stringListMember(\"b\", xList)`",
    ),
    (
        "stringListMember(\"a;;b\", xList)",
        "argument-order: stringListMember seeks one item, not several (write `stringListMember(\"a\", xList) && \
         stringListMember(\"b\", xList)`) at `stringListMember(\"a;;b\", xList)` becomes `stringListMember(\"a\", \
        xList) && stringListMember(\"b\", xList)`",
    ),
    (
        "stringListMember(\"a;b\", xList, \";\")",
        "argument-order: stringListMember takes the item first, then the list (write `stringListMember(xList, \
         \"a;b\", \";\")`) at `stringListMember(\"a;b\", xList, \";\")` becomes `stringListMember(xList, \"a;b\", \
        \";\")`",
    ),
    (
        "stringListIMember(\"a;b\", x)",
        "argument-order: stringListIMember takes the item first, then the list (write `stringListIMember(x, \
         \"a,b\")`) at `stringListIMember(\"a;b\", x)` becomes `stringListIMember(x, \"a,b\")`",
    ),
    (
        "stringListMember(xList, \"a\")",
        "argument-order: stringListMember takes the item first, then the list (write `stringListMember(\"a\", \
         xList)`) at `stringListMember(xList, \"a\")` becomes `stringListMember(\"a\", xList)`",
    ),
    ("stringListMember(xList, \"a b\")", ""),
    (
        "stringListMember(DESIRED_Sites, \"a\", \";\")",
        "argument-order: stringListMember takes the item first, then the list (write `stringListMember(\"a\", \
         DESIRED_Sites, \";\")`) at `stringListMember(DESIRED_Sites, \"a\", \";\")` becomes `stringListMember(\"a\", \
        DESIRED_Sites, \";\")`",
    ),
    ("stringListMember(x, \"a\")", ""),
    (
        "regexp(\"a*\")",
        "arity: regexp takes 2 to 3 arguments, not 1 (regexp(pattern, string [, options]) -> bool) at `regexp(\"a*\")`",
    ),
];

#[test]
fn patterns_and_lists_are_told() {
    for &(text, expected) in PATTERNS_AND_LISTS {
        assert_eq!(of_expression(text), expected, "{text}");
    }
}

/// Comparisons of versions.
const VERSIONS: &[(&str, &str)] = &[
    (
        "versionGE(CondorVersion, \"9.0\")",
        "whole-version: a whole version string begins with `$CondorVersion:`, and not with a number (write \
             `split(CondorVersion)[1]` for its version number, and compare versions with functions such as \
            versionGE()) at `CondorVersion` becomes `versionGE(split(CondorVersion)[1], \"9.0\")`",
    ),
    (
        "versionLT(\"9.0\", MY.CondorVersion)",
        "whole-version: a whole version string begins with `$CondorVersion:`, and not with a number (write \
             `split(MY.CondorVersion)[1]` for its version number, and compare versions with functions such as \
            versionGE()) at `MY.CondorVersion` becomes `versionLT(\"9.0\", split(MY.CondorVersion)[1])`",
    ),
    ("versionGE(CondorVersion, SubmitVersion)", ""),
    ("versionGE(CondorVersion, x)", ""),
    ("versionGE(x, \"9.0\")", ""),
    (
        "version_in_range(StarterVersion, \"9.0\", \"10.0\")",
        "whole-version: a whole version string begins with `$CondorVersion:`, and not with a number (write \
             `split(StarterVersion)[1]` for its version number, and compare versions with functions such as \
            versionGE()) at `StarterVersion` becomes `version_in_range(split(StarterVersion)[1], \"9.0\", \"10.0\")`",
    ),
    (
        "versionGE(\"$CondorVersion: 9.0 $\", \"9.0\")",
        "whole-version: a whole version string begins with `$CondorVersion:`, and not with a number (write \
             `split(\"$CondorVersion: 9.0 $\")[1]` for its version number, and compare versions with functions such \
            as versionGE()) at `\"$CondorVersion: 9.0 $\"` becomes `versionGE(split(\"$CondorVersion: 9.0 $\")[1], \
            \"9.0\")`",
    ),
    (
        "CondorVersion >= \"9.0\"",
        "whole-version: a whole version string begins with `$CondorVersion:`, and not with a number (write \
             `versionGE(split(CondorVersion)[1], \"9.0\")`) at `CondorVersion >= \"9.0\"` becomes \
            `versionGE(split(CondorVersion)[1], \"9.0\")`",
    ),
    (
        "\"9.0\" > CondorVersion",
        "whole-version: a whole version string begins with `$CondorVersion:`, and not with a number (write \
             `versionLT(split(CondorVersion)[1], \"9.0\")`) at `\"9.0\" > CondorVersion` becomes \
            `versionLT(split(CondorVersion)[1], \"9.0\")`",
    ),
    (
        "CondorVersion == \"9.0\"",
        "whole-version: a whole version string begins with `$CondorVersion:`, and not with a number (write \
             `split(CondorVersion)[1]` for its version number, and compare versions with functions such as \
            versionGE()) at `CondorVersion` becomes `split(CondorVersion)[1] == \"9.0\"`",
    ),
    (
        "CondorVersion =!= \"9.0\"",
        "whole-version: a whole version string begins with `$CondorVersion:`, and not with a number (write \
             `split(CondorVersion)[1]` for its version number, and compare versions with functions such as \
            versionGE()) at `CondorVersion` becomes `split(CondorVersion)[1] =!= \"9.0\"`",
    ),
    (
        "CondorVersion >= \"$CondorVersion: 9.0.1 $\"",
        "version-order: strings compare letter by letter, so that \"10.0\" comes before \"9.0\" (write \
             `versionGE(split(CondorVersion)[1], \"9.0.1\")`) at `CondorVersion >= \"$CondorVersion: 9.0.1 $\"` \
            becomes `versionGE(split(CondorVersion)[1], \"9.0.1\")`",
    ),
    ("CondorVersion == \"$CondorVersion: 9.0.1 $\"", ""),
    ("CondorVersion >= \"x\"", ""),
    (
        "CondorVersion >= \"9\"",
        "whole-version: a whole version string begins with `$CondorVersion:`, and not with a number (write \
             `versionGE(split(CondorVersion)[1], \"9\")`) at `CondorVersion >= \"9\"` becomes \
            `versionGE(split(CondorVersion)[1], \"9\")`",
    ),
    (
        "x >= \"9.0\"",
        "version-order: strings compare letter by letter, so that \"10.0\" comes before \"9.0\" (write \
             `versionGE(x, \"9.0\")`) at `x >= \"9.0\"` becomes `versionGE(x, \"9.0\")`",
    ),
    (
        "x < \"9.0.1\"",
        "version-order: strings compare letter by letter, so that \"10.0\" comes before \"9.0\" (write \
             `versionLT(x, \"9.0.1\")`) at `x < \"9.0.1\"` becomes `versionLT(x, \"9.0.1\")`",
    ),
    (
        "\"9.0\" <= x",
        "version-order: strings compare letter by letter, so that \"10.0\" comes before \"9.0\" (write \
             `versionGE(x, \"9.0\")`) at `\"9.0\" <= x` becomes `versionGE(x, \"9.0\")`",
    ),
    ("x > \"9\"", ""),
    ("x > \"9.x\"", ""),
    ("x > \"9.\"", ""),
    ("x > \".9\"", ""),
    ("x == \"9.0\"", ""),
    (
        "Memory >= \"9.0\"",
        "operand-type: `>=` of a number and a string is an error (write `Memory >= 9.0`) at `Memory >= \"9.0\"` \
             becomes `Memory >= 9.0`",
    ),
    (
        "split(CondorVersion)[1] <= \"9.0\"",
        "version-order: strings compare letter by letter, so that \"10.0\" comes before \"9.0\" (write \
             `versionLE(split(CondorVersion)[1], \"9.0\")`) at `split(CondorVersion)[1] <= \"9.0\"` becomes \
            `versionLE(split(CondorVersion)[1], \"9.0\")`",
    ),
    ("split(CondorVersion)[0] <= \"9.0\"", ""),
    (
        "split(x)[1] <= \"9.0\"",
        "version-order: strings compare letter by letter, so that \"10.0\" comes before \"9.0\" (write \
             `versionLE(split(x)[1], \"9.0\")`) at `split(x)[1] <= \"9.0\"` becomes `versionLE(split(x)[1], \"9.0\")`",
    ),
    ("size(CondorVersion)[1] <= \"9.0\"", ""),
    ("\"1.0\" >= \"9.0\"", ""),
];

#[test]
fn versions_are_told() {
    for &(text, expected) in VERSIONS {
        assert_eq!(of_expression(text), expected, "{text}");
    }
}

/// Operands and arguments of all types.
const OPERANDS: &[(&str, &str)] = &[
    ("-\"a\"", "operand-type: the operand of `-` is a string, which `-` cannot take at `-\"a\"`"),
    ("~1.5", "operand-type: the operand of `~` is a real, which `~` cannot take at `~1.5`"),
    ("-Owner", "operand-type: the operand of `-` is a string, which `-` cannot take at `-Owner`"),
    ("1 + \"a\"", "operand-type: `+` of a number and a string is an error at `1 + \"a\"`"),
    ("Owner * 2", "operand-type: `*` of a string and a number is an error at `Owner * 2`"),
    ("Memory + \"5\"", "operand-type: `+` of a number and a string is an error at `Memory + \"5\"`"),
    ("Memory > \"a\"", "operand-type: `>` of a number and a string is an error at `Memory > \"a\"`"),
    (
        "Memory > \"5\"",
        "operand-type: `>` of a number and a string is an error (write `Memory > 5`) at `Memory > \"5\"` becomes \
         `Memory > 5`",
    ),
    (
        "\"5.5\" > Memory",
        "operand-type: `>` of a string and a number is an error (write `5.5 > Memory`) at `\"5.5\" > Memory` becomes \
         `5.5 > Memory`",
    ),
    (
        "Memory =?= \"5\"",
        "operand-type: `=?=` of a number and a string is always false (write `Memory =?= 5`) at `Memory =?= \"5\"` \
         becomes `Memory =?= 5`",
    ),
    (
        "Memory =!= \"a\"",
        "case-sensitive: `Memory =!= \"...\"` is case-sensitive (write `toLower(Memory) =!= \"a\"` to ignore case) at \
         `Memory =!= \"a\"` becomes `toLower(Memory) =!= \"a\"`; operand-type: `=!=` of a number and a string is \
        always true at `Memory =!= \"a\"`",
    ),
    (
        "HasDocker == \"True\"",
        "operand-type: `==` of a boolean and a string is an error (write `HasDocker == true`) at `HasDocker == \
         \"True\"` becomes `HasDocker == true`",
    ),
    (
        "HasDocker == \"FALSE\"",
        "operand-type: `==` of a boolean and a string is an error (write `HasDocker == false`) at `HasDocker == \
         \"FALSE\"` becomes `HasDocker == false`",
    ),
    ("HasDocker == \"yes\"", "operand-type: `==` of a boolean and a string is an error at `HasDocker == \"yes\"`"),
    (
        "HasDocker == \"1\"",
        "operand-type: `==` of a boolean and a string is an error (write `HasDocker == 1`) at `HasDocker == \"1\"` \
         becomes `HasDocker == 1`",
    ),
    ("Owner == 5", "operand-type: `==` of a string and a number is an error at `Owner == 5`"),
    ("Owner == Memory", "operand-type: `==` of a string and a number is an error at `Owner == Memory`"),
    (
        "JobStatus == \"Running\"",
        "operand-type: `==` of a number and a string is an error (2 is running: write `JobStatus == 2`) at `JobStatus \
         == \"Running\"` becomes `JobStatus == 2`",
    ),
    (
        "\"held\" =!= LastJobStatus",
        "case-sensitive: `LastJobStatus =!= \"...\"` is case-sensitive (write `toLower(LastJobStatus) =!= \"held\"` \
         to ignore case) at `\"held\" =!= LastJobStatus` becomes `toLower(LastJobStatus) =!= \"held\"`; operand-type: \
        `=!=` of a string and a number is always true (5 is held: write `5 =!= LastJobStatus`) at `\"held\" =!= \
        LastJobStatus` becomes `5 =!= LastJobStatus`",
    ),
    ("JobStatus == \"other\"", "operand-type: `==` of a number and a string is an error at `JobStatus == \"other\"`"),
    ("Memory == \"Running\"", "operand-type: `==` of a number and a string is an error at `Memory == \"Running\"`"),
    (
        "x == {1}",
        "operand-type: `==` with a list is an error (write `member(x, { 1 })`) at `x == {1}` becomes `member(x, { 1 \
         })`",
    ),
    (
        "Memory == {1}",
        "operand-type: `==` of a number and a list is an error (write `member(Memory, { 1 })`) at `Memory == {1}` \
         becomes `member(Memory, { 1 })`",
    ),
    (
        "{1} != Memory",
        "operand-type: `!=` of a list and a number is an error (write `!member(Memory, { 1 })`) at `{1} != Memory` \
         becomes `!member(Memory, { 1 })`",
    ),
    (
        "Memory =?= {1}",
        "operand-type: `=?=` of a number and a list is always false (write `member(Memory, { 1 })`) at `Memory =?= \
         {1}` becomes `member(Memory, { 1 })`",
    ),
    ("Memory < {1}", "operand-type: `<` of a number and a list is an error at `Memory < {1}`"),
    ("Memory == [a = 1]", "operand-type: `==` of a number and an ad is an error at `Memory == [a = 1]`"),
    ("Memory == undefined + \"a\"", ""),
    (
        "x == \"a\" * 10",
        "operand-type: `*` of a string and a number is an error (`*` binds more tightly than `==`: write `(x == \
         \"a\") * 10`) at `x == \"a\" * 10` becomes `(x == \"a\") * 10`",
    ),
    ("x + \"a\" * 10", "operand-type: `*` of a string and a number is an error at `\"a\" * 10`"),
    ("x == y * 10", ""),
    ("!Owner", "not-boolean: `!` needs a condition, but this is a string at `Owner`"),
    ("Owner && x", "not-boolean: `&&` needs a condition, but this is a string at `Owner`"),
    ("x || strcat(y)", "not-boolean: `||` needs a condition, but this is a string at `strcat(y)`"),
    ("Memory && x", ""),
    ("x ? Owner : y", ""),
    ("Owner ? x : y", "not-boolean: `?` needs a condition, but this is a string at `Owner`"),
    ("(x ? 1 : \"a\") + 1", ""),
    ("(x ? \"b\" : \"a\") + 1", "operand-type: `+` of a string and a number is an error at `(x ? \"b\" : \"a\") + 1`"),
    ("(\"a\" ?: \"b\") + 1", "operand-type: `+` of a string and a number is an error at `(\"a\" ?: \"b\") + 1`"),
    (
        "ifThenElse(x, \"a\", \"b\") + 1",
        "operand-type: `+` of a string and a number is an error at `ifThenElse(x, \"a\", \"b\") + 1`",
    ),
    ("ifThenElse(x, 1, \"b\") + 1", ""),
    ("size(5)", "argument-type: size does not take a number here (size(list | ad | string) -> int) at `5`"),
    ("toLower({})", ""),
    ("time(\"a\")", "arity: time takes no arguments, not 1 (time() -> int) at `time(\"a\")`"),
    ("substr(Owner, \"a\")", ""),
    ("substr(Owner, Owner)", ""),
    (
        "member(1, \"a\")",
        "argument-type: member needs a list here, but this is a string (write `stringListIMember(1, \"a\")`) at \
         `member(1, \"a\")` becomes `stringListIMember(1, \"a\")`",
    ),
    (
        "identicalMember(1, \"a\")",
        "argument-type: identicalMember needs a list here, but this is a string (write `stringListMember(1, \"a\")`) \
         at `identicalMember(1, \"a\")` becomes `stringListMember(1, \"a\")`",
    ),
    (
        "stringListMember(\"a\", {})",
        "argument-type: stringListMember needs a string here, but this is a list (write `identicalMember(\"a\", { \
         })`) at `stringListMember(\"a\", {})` becomes `identicalMember(\"a\", { })`",
    ),
    (
        "stringListIMember(\"a\", {})",
        "argument-type: stringListIMember needs a string here, but this is a list (write `member(\"a\", { })`) at \
         `stringListIMember(\"a\", {})` becomes `member(\"a\", { })`",
    ),
    (
        "stringListSize({})",
        "argument-type: stringListSize needs a string here, but this is a list (stringListSize(string [, delimiters]) \
         -> int) at `{}`",
    ),
    (
        "stringListSize({}, \",\")",
        "argument-type: stringListSize needs a string here, but this is a list (write `size({ }, \",\")`) at \
         `stringListSize({}, \",\")` becomes `size({ }, \",\")`",
    ),
    (
        "stringListSize([])",
        "argument-type: stringListSize needs a string here, but this is an ad (stringListSize(string [, delimiters]) \
         -> int) at `[]`",
    ),
    ("absTime(Owner) == 5", "operand-type: `==` of a time and a number is an error at `absTime(Owner) == 5`"),
    ("relTime(5) && x", "not-boolean: `&&` needs a condition, but this is a time at `relTime(5)`"),
    ("{ 1 } + 1", "operand-type: `+` of a list and a number is an error at `{ 1 } + 1`"),
    ("(x > 1) + \"a\"", "operand-type: `+` of a boolean and a string is an error at `(x > 1) + \"a\"`"),
    ("[ a = Owner + 1 ].a", ""),
];

#[test]
fn operands_of_wrong_types_are_told() {
    for &(text, expected) in OPERANDS {
        assert_eq!(of_expression(text), expected, "{text}");
    }
}

/// Operators beside operators.
const OPERATORS: &[(&str, &str)] = &[
    (
        "a < b == c",
        "precedence: `a < b` is true or false, and `==` compares this (write `a < (b == c)`, or `(a < b) == c` if \
         that is meant) at `a < b`: `==` applies to all of this",
    ),
    (
        "a < b < c",
        "precedence: `a < b` is true or false, and `<` compares this (write `a < b && b < c`) at `a < b`: `<` applies \
         to all of this becomes `a < b && b < c`",
    ),
    (
        "a <= b >= c",
        "precedence: `a <= b` is true or false, and `>=` compares this (write `a <= b && b >= c`) at `a <= b`: `>=` \
         applies to all of this becomes `a <= b && b >= c`",
    ),
    (
        "1 < a < \"x\"",
        "precedence: `1 < a` is true or false, and `<` compares this (write `1 < a && a < \"x\"`) at `1 < a`: `<` \
         applies to all of this becomes `1 < a && a < \"x\"`; operand-type: `<` of a boolean and a string is an error \
        at `1 < a < \"x\"`",
    ),
    (
        "a < 5 == true",
        "precedence: `a < 5` is true or false, and `==` compares this (write `(a < 5) == true` if that is meant) at \
         `a < 5`: `==` applies to all of this",
    ),
    (
        "a == b == c",
        "precedence: `a == b` is true or false, and `==` compares this (write `a == (b == c)`, or `(a == b) == c` if \
         that is meant) at `a == b`: `==` applies to all of this",
    ),
    ("a == (b < c)", ""),
    (
        "a == b is c",
        "precedence: `a == b` is true or false, and `=?=` compares this (write `a == (b is c)`, or `(a == b) is c` if \
         that is meant) at `a == b`: `=?=` applies to all of this",
    ),
    ("(a < b) == c", ""),
    ("a + b < c", ""),
    (
        "a || b && c",
        "mixed-logic: `&&` binds more tightly than the `||` next to it at `b && c`: these belong together same as `a \
         || (b && c)`",
    ),
    (
        "a && b || c && d",
        "mixed-logic: `&&` binds more tightly than the `||` next to it at `a && b`: these belong together same as `(a \
         && b) || c && d`; mixed-logic: `&&` binds more tightly than the `||` next to it at `c && d`: these belong \
        together same as `a && b || (c && d)`",
    ),
    ("a || (b && c)", ""),
    ("a && (b || c)", ""),
    (
        "!a == b",
        "precedence: `!` binds more tightly than `==` (write `!(a == b)`, or `(!a) == b` if that is meant) at `!a`: \
         only this is negated becomes `!(a == b)`",
    ),
    ("!a == !b", ""),
    ("b == !a", ""),
    (
        "!a && b",
        "undefined-unsafe: this is undefined instead of true for an ad without a (write `a =!= true`) at `!a` becomes \
         `a =!= true && b`",
    ),
    ("(!a) == b", ""),
    ("-a == b", ""),
    ("a && b ? c > 1 : d", ""),
    (
        "a && b ? c > 1 : d > 1",
        "precedence: `?` binds less tightly than `&&`: all before the `?` is its condition (write `a && (b ? c > 1 : \
         d > 1)`) at `a && b ? c > 1 : d > 1` becomes `a && (b ? c > 1 : d > 1)`",
    ),
    ("a && b ? c > 1 : false", ""),
    (
        "a && b ? c > 1 : true",
        "precedence: `?` binds less tightly than `&&`: all before the `?` is its condition (write `a && (b ? c > 1 : \
         true)`) at `a && b ? c > 1 : true` becomes `a && (b ? c > 1 : true)`",
    ),
    ("a || b ? true : c > 1", ""),
    (
        "a || b ? false : c > 1",
        "precedence: `?` binds less tightly than `||`: all before the `?` is its condition (write `a || (b ? false : \
         c > 1)`) at `a || b ? false : c > 1` becomes `a || (b ? false : c > 1)`",
    ),
    ("a + b ? true : c > 1", ""),
    (
        "a || b ? !c : d || e",
        "precedence: `?` binds less tightly than `||`: all before the `?` is its condition (write `a || (b ? !c : d \
         || e)`) at `a || b ? !c : d || e` becomes `a || (b ? !c : d || e)`; circular: this refers to itself: e -> e \
        at `e`",
    ),
    (
        "a > b is c ? 1 : 2",
        "precedence: `?` binds less tightly than `>`: all before the `?` is its condition (write `a > (b =?= c ? 1 : \
         2)`) at `a > b is c ? 1 : 2` becomes `a > (b =?= c ? 1 : 2)`",
    ),
    (
        "a && b > c is d ? 1 : 2",
        "precedence: `?` binds less tightly than `>`: all before the `?` is its condition (write `a && b > (c =?= d ? \
         1 : 2)`) at `a && b > c is d ? 1 : 2` becomes `a && b > (c =?= d ? 1 : 2)`",
    ),
    (
        "a is b > c ? 1 : 2",
        "precedence: `b > c` is true or false, and `=?=` compares this (write `a =?= (b > c)` if that is meant) at `b \
         > c`: `=?=` applies to all of this",
    ),
    (
        "a is b is c ? 1 : 2",
        "precedence: `a =?= b` is true or false, and `=?=` compares this (write `a is (b is c)`, or `(a is b) is c` \
         if that is meant) at `a is b`: `=?=` applies to all of this",
    ),
    (
        "(a && b ? c > 1 : d > 1)",
        "precedence: `?` binds less tightly than `&&`: all before the `?` is its condition (write `a && (b ? c > 1 : \
         d > 1)`) at `a && b ? c > 1 : d > 1` becomes `(a && (b ? c > 1 : d > 1))`",
    ),
    ("a & b", ""),
    (
        "a > 1 & b",
        "bitwise-logic: `&` combines the bits of integers; conditions need another operator (write `&&`) at `a > 1 & \
         b` becomes `a > 1 && b`; operand-type: `&` with a boolean is an error at `a > 1 & b`",
    ),
    (
        "a | b < 1",
        "bitwise-logic: `|` combines the bits of integers; conditions need another operator (write `||`) at `a | b < \
         1` becomes `a || b < 1`; operand-type: `|` with a boolean is an error at `a | b < 1`",
    ),
    (
        "!a | b",
        "bitwise-logic: `|` combines the bits of integers; conditions need another operator (write `||`) at `!a | b` \
         becomes `!a || b`; operand-type: `|` with a boolean is an error at `!a | b`",
    ),
    (
        "true & b",
        "bitwise-logic: `&` combines the bits of integers; conditions need another operator (write `&&`) at `true & \
         b` becomes `true && b`; operand-type: `&` with a boolean is an error at `true & b`",
    ),
    ("a ^ b > 1", "operand-type: `^` with a boolean is an error at `a ^ b > 1`"),
    (
        "a & (b && c)",
        "bitwise-logic: `&` combines the bits of integers; conditions need another operator (write `&&`) at `a & (b \
         && c)` becomes `a && (b && c)`; operand-type: `&` with a boolean is an error at `a & (b && c)`",
    ),
    (
        "HasDocker | b",
        "bitwise-logic: `|` combines the bits of integers; conditions need another operator (write `||`) at \
         `HasDocker | b` becomes `HasDocker || b`",
    ),
    ("2 ^ 3", "bitwise-logic: `^` is the exclusive or of bits, and no power (write `8`) at `2 ^ 3` becomes `8`"),
    ("10 ^ 2 + 1", ""),
    (
        "(2) ^ (3)",
        "bitwise-logic: `^` is the exclusive or of bits, and no power (write `8`) at `(2) ^ (3)` becomes `8`",
    ),
    ("2 ^ 63", ""),
    ("2 ^ -1", ""),
    ("3 ^ 2", ""),
    (
        "a < 2 ^ 10",
        "bitwise-logic: `^` is the exclusive or of bits, and no power (write `a < 1024`) at `a < 2 ^ 10` becomes `a < \
         1024`; operand-type: `^` of a boolean and a number is an error at `a < 2 ^ 10`",
    ),
    ("a + 2 ^ 10", ""),
    ("a < 3 ^ 2", "operand-type: `^` of a boolean and a number is an error at `a < 3 ^ 2`"),
    ("a << 2", ""),
];

#[test]
fn operators_that_bind_otherwise_are_told() {
    for &(text, expected) in OPERATORS {
        assert_eq!(of_expression(text), expected, "{text}");
    }
}

/// What stands where a condition is expected.
const CONDITIONS: &[(&str, &str)] = &[
    ("a && \"b\"", "not-boolean: `&&` needs a condition, but \"b\" is a string at `\"b\"`"),
    ("\"b\" && a", "not-boolean: `&&` needs a condition, but \"b\" is a string at `\"b\"`"),
    ("a || {}", "not-boolean: `||` needs a condition, but { } is a list at `{}`"),
    ("a && []", "not-boolean: `&&` needs a condition, but [ ] is an ad at `[]`"),
    (
        "!\"a > 1\"",
        "not-boolean: `!` needs a condition, but \"a > 1\" is a string (write `a > 1`) at `\"a > 1\"` becomes `!(a > \
         1)`",
    ),
    ("\"a\" ? b : c", "not-boolean: `?` needs a condition, but \"a\" is a string at `\"a\"`"),
    ("ifThenElse(\"a\", b, c)", "not-boolean: `ifThenElse` needs a condition, but \"a\" is a string at `\"a\"`"),
    (
        "x == \"a\" || \"b\"",
        "not-boolean: `||` needs a condition, but \"b\" is a string (write `x == \"b\"`) at `\"b\"` becomes `x == \
         \"a\" || x == \"b\"`",
    ),
    (
        "x == \"a\" || \"b\" || \"c\"",
        "not-boolean: `||` needs a condition, but \"c\" is a string (write `x == \"c\"`) at `\"c\"` becomes `x == \
         \"a\" || \"b\" || x == \"c\"`; not-boolean: `||` needs a condition, but \"b\" is a string (write `x == \
        \"b\"`) at `\"b\"` becomes `x == \"a\" || x == \"b\" || \"c\"`",
    ),
    (
        "x != \"a\" && (\"b\")",
        "not-boolean: `&&` needs a condition, but (\"b\") is a string (write `x != \"b\"`) at `(\"b\")` becomes `x != \
         \"a\" && x != \"b\"`; undefined-unsafe: this is undefined instead of true for an ad without x (write \
        `(isUndefined(x) || x != \"a\")`) at `x != \"a\"` becomes `(isUndefined(x) || x != \"a\") && (\"b\")`",
    ),
    ("x == \"a\" || y || \"b\"", "not-boolean: `||` needs a condition, but \"b\" is a string at `\"b\"`"),
    (
        "y || x == \"a\" || \"b\"",
        "not-boolean: `||` needs a condition, but \"b\" is a string (write `x == \"b\"`) at `\"b\"` becomes `y || x \
         == \"a\" || x == \"b\"`",
    ),
    ("x == 1 || \"b\"", "not-boolean: `||` needs a condition, but \"b\" is a string at `\"b\"`"),
    ("x + 1 || \"b\"", "not-boolean: `||` needs a condition, but \"b\" is a string at `\"b\"`"),
    (
        "x == undefined",
        "undefined-comparison: `== undefined` is never true (write `x =?= undefined`) at `x == undefined` becomes `x \
         =?= undefined`",
    ),
    (
        "undefined != x",
        "undefined-comparison: `!= undefined` is never true (write `x =!= undefined`) at `undefined != x` becomes `x \
         =!= undefined`",
    ),
    (
        "x < error",
        "undefined-comparison: `< error` is never true (write `x =?= error`) at `x < error` becomes `x =?= error`",
    ),
    ("x is undefined", ""),
    (
        "x =?= \"abc\"",
        "case-sensitive: `x =?= \"...\"` is case-sensitive (write `x == \"abc\"` to ignore case) at `x =?= \"abc\"` \
         becomes `x == \"abc\"`",
    ),
    (
        "\"abc\" =!= MY.x",
        "case-sensitive: `MY.x =!= \"...\"` is case-sensitive (write `toLower(MY.x) =!= \"abc\"` to ignore case) at \
         `\"abc\" =!= MY.x` becomes `toLower(MY.x) =!= \"abc\"`",
    ),
    (
        "a && (x =?= \"Abc\")",
        "case-sensitive: `x =?= \"...\"` is case-sensitive (write `x == \"Abc\"` to ignore case) at `x =?= \"Abc\"` \
         becomes `a && (x == \"Abc\")`",
    ),
    (
        "!(x =?= \"Abc\")",
        "case-sensitive: `x =?= \"...\"` is case-sensitive (write `toLower(x) =?= \"abc\"` to ignore case) at `x =?= \
         \"Abc\"` becomes `!(toLower(x) =?= \"abc\")`",
    ),
    (
        "a ? x =?= \"Abc\" : b",
        "case-sensitive: `x =?= \"...\"` is case-sensitive (write `toLower(x) =?= \"abc\"` to ignore case) at `x =?= \
         \"Abc\"` becomes `a ? toLower(x) =?= \"abc\" : b`",
    ),
    ("x =?= \"1.2\"", ""),
    ("toLower(x) =?= \"abc\"", ""),
    (
        "toLower(x) =?= \"Abc\"",
        "case-sensitive: `toLower(x) =?= \"...\"` is case-sensitive (write `toLower(x) == \"Abc\"` to ignore case) at \
         `toLower(x) =?= \"Abc\"` becomes `toLower(x) == \"Abc\"`",
    ),
    ("toUpper(x) =?= \"ABC\"", ""),
    (
        "toUpper(x) =?= \"aBC\"",
        "case-sensitive: `toUpper(x) =?= \"...\"` is case-sensitive (write `toUpper(x) == \"aBC\"` to ignore case) at \
         `toUpper(x) =?= \"aBC\"` becomes `toUpper(x) == \"aBC\"`",
    ),
    ("\"a\" =?= \"b\"", ""),
    (
        "isUndefined(\"a\")",
        "quoted-expression: isUndefined of a string is the same for all ads (write a, without the quotes) at `\"a\"` \
         becomes `isUndefined(a)`",
    ),
    (
        "isString(\"TARGET.a\")",
        "quoted-expression: isString of a string is the same for all ads (write TARGET.a, without the quotes) at \
         `\"TARGET.a\"` becomes `isString(TARGET.a)`",
    ),
    (
        "isError((\"a\"))",
        "quoted-expression: isError of a string is the same for all ads (write a, without the quotes) at `(\"a\")` \
         becomes `isError(a)`",
    ),
    ("isUndefined(\"a + 1\")", ""),
    ("size(\"a\")", ""),
    ("siz(\"a\")", "unknown-function: there is no function siz (did you mean size?) at `siz(\"a\")`"),
    ("xyzzy(\"a\")", "unknown-function: there is no function xyzzy at `xyzzy(\"a\")`"),
    ("size()", "arity: size takes 1 argument, not 0 (size(list | ad | string) -> int) at `size()`"),
    ("size(a, b)", "arity: size takes 1 argument, not 2 (size(list | ad | string) -> int) at `size(a, b)`"),
    (
        "ifThenElse(a)",
        "arity: ifThenElse takes 3 arguments, not 1 (ifThenElse(condition, any, any) -> any) at `ifThenElse(a)`",
    ),
    ("strcat()", ""),
    (
        "substr(a)",
        "arity: substr takes 2 to 3 arguments, not 1 (substr(string, offset [, length]) -> string) at `substr(a)`",
    ),
    (
        "isMember(1, {1})",
        "unknown-function: HTCondor has no function isMember (write `identicalMember(scalar, list)`) at `isMember(1, \
         {1})`",
    ),
    ("absTime()", ""),
    ("timezoneoffset()", ""),
];

#[test]
fn conditions_that_are_none_are_told() {
    for &(text, expected) in CONDITIONS {
        assert_eq!(of_expression(text), expected, "{text}");
    }
}

/// Conditions with parts that decide them.
const DECIDED_CONDITIONS: &[(&str, &str)] = &[
    (
        "x > 5 && x < 3",
        "contradiction: no value of `x` can make both of these true at `x > 5`: this at `x < 3`: and this",
    ),
    (
        "x > 5 && y && x < 3 && x < 2",
        "contradiction: no value of `x` can make both of these true at `x > 5`: this at `x < 3`: and this",
    ),
    (
        "x > 5 && x < 3 && y > 5 && y < 3",
        "contradiction: no value of `x` can make both of these true at `x > 5`: this at `x < 3`: and this; \
         contradiction: no value of `y` can make both of these true at `y > 5`: this at `y < 3`: and this",
    ),
    (
        "x > 5 && x == \"a\"",
        "type-clash: `x` cannot have two types at the same time at `x > 5`: this at `x == \"a\"`: and this",
    ),
    (
        "x > 5 && isUndefined(x)",
        "contradiction: `x` cannot be undefined and have a value at the same time at `x > 5`: this at \
         `isUndefined(x)`: and this",
    ),
    ("x > 5 && TARGET.x < 3", ""),
    (
        "TARGET.x > 5 && TARGET.x < 3",
        "contradiction: no value of `TARGET.x` can make both of these true at `TARGET.x > 5`: this at `TARGET.x < 3`: \
         and this",
    ),
    (
        "MY.x > 5 && MY.x < 3",
        "contradiction: no value of `MY.x` can make both of these true at `MY.x > 5`: this at `MY.x < 3`: and this",
    ),
    (
        "y || x > 5 && x < 3",
        "mixed-logic: `&&` binds more tightly than the `||` next to it at `x > 5 && x < 3`: these belong together \
         same as `y || (x > 5 && x < 3)`; dead-condition: no value of `x` can make both of these true at `x > 5`: \
        this at `x < 3`: and this",
    ),
    (
        "y ? x > 5 && x < 3 : z",
        "dead-condition: no value of `x` can make both of these true at `x > 5`: this at `x < 3`: and this",
    ),
    (
        "y && (x > 5 && x < 3)",
        "contradiction: no value of `x` can make both of these true at `x > 5`: this at `x < 3`: and this",
    ),
    (
        "!(x > 5 && x < 3)",
        "dead-condition: no value of `x` can make both of these true at `x > 5`: this at `x < 3`: and this",
    ),
    (
        "[ a = x > 5 && x < 3 ].a",
        "contradiction: no value of `x` can make both of these true at `x > 5`: this at `x < 3`: and this",
    ),
    (
        "(x > 5 || y > 5) && x < 3 && y < 3",
        "contradiction: no value of `x` can make all of these true at `(x > 5 || y > 5)`: this at `x < 3`: and this \
         at `y < 3`: and this",
    ),
    (
        "x > 5 || x <= 5",
        "always-true: one of these is true for every value of `x` at `x > 5`: this at `x <= 5`: or this",
    ),
    ("x > 5 || TARGET.x <= 5", ""),
    (
        "z && (x > 5 || x <= 5)",
        "always-true: one of these is true for every value of `x` at `x > 5`: this at `x <= 5`: or this",
    ),
    ("x > 5 ? true : x <= 5", "always-true: this is true for every value of `x` at `x > 5 ? true : x <= 5`"),
    ("z || (x > 5 ? false : x > 6)", "dead-condition: no value of `x` can make this true at `x > 5 ? false : x > 6`"),
    ("1 == 1 && x", "constant-part: `1 == 1` is always true: it adds nothing at `1 == 1` becomes `x`"),
    ("x && 1 == 1", "constant-part: `1 == 1` is always true: it adds nothing at `1 == 1` becomes `x`"),
    ("x > 1 && 1 == 1", "constant-part: `1 == 1` is always true: it adds nothing at `1 == 1` same as `x > 1`"),
    ("x || 1 == 2", "constant-part: `1 == 2` is always false: it adds nothing at `1 == 2` becomes `x`"),
    ("1 == 2 || x > 1", "constant-part: `1 == 2` is always false: it adds nothing at `1 == 2` same as `x > 1`"),
    (
        "x || 1 == 1",
        "constant-part: `1 == 1` is always true: the `||` around it is never false at `1 == 1` becomes `x`",
    ),
    (
        "x && 1 == 2",
        "constant-part: `1 == 2` is always false: the `&&` around it is never true at `1 == 2` becomes `x`",
    ),
    (
        "x && 1 / 0 == 1",
        "constant-part: `1 / 0 == 1` is always error: the `&&` around it is never true at `1 / 0 == 1` becomes `x`",
    ),
    (
        "x && undefined > 1",
        "undefined-comparison: `> undefined` is never true (write `1 =?= undefined`) at `undefined > 1` becomes `x && \
         1 =?= undefined`",
    ),
    (
        "x || undefined > 1",
        "undefined-comparison: `> undefined` is never true (write `1 =?= undefined`) at `undefined > 1` becomes `x || \
         1 =?= undefined`",
    ),
    ("x && 1 + 1", "constant-part: `1 + 1` is always 2: it is not a boolean at `1 + 1` becomes `x`"),
    ("x || 5", ""),
    ("x && true", ""),
    ("x || true", ""),
    ("x && (true || false)", ""),
    ("x && !false", ""),
    (
        "x && size(\"a\") == 1",
        "constant-part: `size(\"a\") == 1` is always true: it adds nothing at `size(\"a\") == 1` becomes `x`",
    ),
    ("x && random(5) > 7", ""),
    ("x && time() > 0", ""),
    (
        "x && (1 == 1 && y > 1)",
        "constant-part: `1 == 1` is always true: it adds nothing at `1 == 1` same as `x && (y > 1)`",
    ),
    (
        "x || 1 == 2 && y",
        "mixed-logic: `&&` binds more tightly than the `||` next to it at `1 == 2 && y`: these belong together same \
         as `x || (1 == 2 && y)`; constant-part: `1 == 2` is always false: the `&&` around it is never true at `1 == \
        2` becomes `x || y`",
    ),
];

#[test]
fn conditions_that_are_always_or_never_true_are_told() {
    for &(text, expected) in DECIDED_CONDITIONS {
        assert_eq!(of_expression(text), expected, "{text}");
    }
}
