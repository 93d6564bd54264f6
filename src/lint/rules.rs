//! The table of the linter's rules, which the checker, `classad check --rules` and the tests read.

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LintLevel {
    /// Worth knowing, but possibly intended.
    Note,
    /// Probably not what was intended.
    Warning,
    /// Cannot work as intended.
    Error,
}

impl LintLevel {
    /// The name of the severity: `note`, `warning` or `error`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            LintLevel::Note => "note",
            LintLevel::Warning => "warning",
            LintLevel::Error => "error",
        }
    }
}

/// The input that a rule needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleScope {
    /// The text of the file; the parser reports these findings.
    Text,
    /// A dump of a configuration.
    Configuration,
    /// An expression on its own.
    Expression,
    /// An ad as a whole.
    Ad,
    /// An ad and the pool in which it is to match.
    Pool,
}

/// A rule of the linter.
#[derive(Debug)]
pub struct LintRule {
    /// The name, for example `never-met`.
    pub name: &'static str,
    /// The severity of the rule's findings.
    pub level: LintLevel,
    /// The input that the rule needs: text, configuration, expression, ad or pool.
    pub scope: RuleScope,
    /// The description, in one line.
    pub doc: &'static str,
    /// The remedy, for findings without a more specific one.
    pub help: &'static str,
    /// An example that violates the rule, in HTCondor's dialect: an expression if `scope` is [`RuleScope::Expression`],
    /// settings if it is [`RuleScope::Configuration`], else an ad.
    pub bad: &'static str,
    /// An example of the same form that does not violate the rule.
    pub good: &'static str,
}

impl PartialEq for LintRule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Returns the rule with this name, ignoring case. `None` if there is no such rule.
#[must_use]
pub fn find_rule(name: &str) -> Option<&'static LintRule> {
    RULES.iter().copied().find(|rule| rule.name.eq_ignore_ascii_case(name))
}

macro_rules! rules {
    ($($constant:ident $name:literal $level:ident $scope:ident $doc:literal $help:literal $bad:literal $good:literal,)*) => {
        $(pub(super) static $constant: LintRule = LintRule {
            name: $name,
            level: LintLevel::$level,
            scope: RuleScope::$scope,
            doc: $doc,
            help: $help,
            bad: $bad,
            good: $good,
        };)*

        /// All rules, in the order of the table.
        pub static RULES: &[&LintRule] = &[$(&$constant,)*];
    };
}

rules! {
    SYNTAX "syntax" Error Text
        "text that cannot be parsed"
        "see `classad help formats`"
        "[ a = (1; b = 2 ]"
        "[ a = (1); b = 2 ]",
    IGNORED "ignored-text" Warning Text
        "text that HTCondor ignores"
        "delete this text, or put the whole value in quotes"
        "a = 1 b"
        "a = 1",
    SETTING "doubtful-setting" Warning Configuration
        "a setting that has no effect, or probably not the intended one"
        "see HTCondor's manual on configuration"
        "STRAT = true"
        "START = true",
    CONTRADICTION "contradiction" Error Expression
        "parts of a condition that no value can satisfy together (thesis 4.2.2)"
        "drop one of the parts, or write `||` between them"
        "other.x < 10 && other.x > 12"
        "other.x < 12 && other.x > 10",
    TYPE_CLASH "type-clash" Error Expression
        "parts of a condition that need values of different types for one attribute (thesis 4.2.2)"
        "compare the attribute with values of one type"
        "other.x < 10 && other.x == \"a\""
        "other.x < 10 && other.y == \"a\"",
    DEAD "dead-condition" Warning Expression
        "a part of an expression that can never be true"
        "drop one of the parts, or write `||` between them"
        "y || x == 1 && x == 2 && z"
        "y || (x == 1 && z == 2)",
    ALWAYS "always-true" Warning Expression
        "an `||` that is true for every value, as in `x != 1 || x != 2`"
        "correct one of the parts, or write `&&` if both are meant"
        "x != \"a\" || x != \"b\""
        "x != \"a\" && x != \"b\"",
    CONSTANT "constant-part" Warning Expression
        "a part of a condition that does not depend on any attribute"
        "leave this part out, or compare something else"
        "x > 1 && \"LINUX\" == \"OSX\""
        "x > 1 && OpSys == \"OSX\"",
    PRECEDENCE "precedence" Warning Expression
        "an operator that probably applies to the wrong part, as in `!a == b` or `a < b < c`"
        "add parentheses to show which operator applies first"
        "a - b > x is undefined ? c : d"
        "(a - b > x) is undefined ? c : d",
    MIXED "mixed-logic" Warning Expression
        "`&&` among `||` without parentheses: `a || b && c` is `a || (b && c)`"
        "add parentheses to show which operator applies first"
        "a || b && c"
        "a || (b && c)",
    CASE "case-sensitive" Note Expression
        "a case-sensitive comparison with a string, by `=?=`, `=!=`, `is` or `isnt`"
        "to ignore case, write `==` for `=?=`, and compare `toLower(x)` for `=!=`"
        "OpSys =?= \"linux\""
        "OpSys == \"linux\"",
    UNDEFINED "undefined-comparison" Warning Expression
        "a comparison with `undefined` or `error`: its result is always undefined or an error"
        "write `is undefined` (`=?= undefined`) or `isnt undefined` (`=!= undefined`)"
        "x == undefined"
        "x is undefined",
    NOT_BOOLEAN "not-boolean" Error Expression
        "a string, list, ad or time in place of a condition, as in `OpSys == \"LINUX\" || \"OSX\"`"
        "write a comparison with each value, or `member(x, { ... })`"
        "OpSys == \"LINUX\" || \"OSX\""
        "OpSys == \"LINUX\" || OpSys == \"OSX\"",
    BITWISE "bitwise-logic" Error Expression
        "`&` or `|` between conditions; these operators combine the bits of integers"
        "write `&&` or `||`"
        "x > 5 & y < 3"
        "x > 5 && y < 3",
    QUOTES "single-quotes" Warning Expression
        "a name in single quotes, alone or in a comparison; a string was probably meant"
        "put strings in double quotes; single quotes make an attribute name"
        "OpSys == 'LINUX'"
        "OpSys == \"LINUX\"",
    OPERAND "operand-type" Error Expression
        "an operator with operands of wrong types: the result is an error or always the same"
        "compare values of the same type, and compute with numbers or times"
        "JobStatus == \"5\""
        "JobStatus == 5",
    ARGUMENT "argument-type" Error Expression
        "an argument of a wrong type: the result is an error"
        "`classad functions NAME` shows the arguments of a function"
        "member(x, \"a, b\")"
        "member(x, { \"a\", \"b\" })",
    PATTERN "pattern" Error Expression
        "an invalid regular expression, or a substitute with `\\1` instead of `\\\\1`"
        "write `.*` for any text; in brackets, as in `[.]` or `[(]`, a sign means itself"
        "regexp(\"*.cern.ch\", Machine)"
        "regexp(\"[.]cern[.]ch$\", Machine)",
    GLOB "glob" Warning Expression
        "a shell pattern such as `slot*` in a regular expression or after `==`"
        "write `.*` for any text, and `[.]` for a dot"
        "regexp(\"slot*@node*\", Name)"
        "regexp(\"^slot.*@node\", Name)",
    ARGUMENT_ORDER "argument-order" Warning Expression
        "a call of regexp(), stringListMember() or the like with its first two arguments exchanged"
        "put the pattern before the string, and the item before the list"
        "regexp(Machine, \".*cern.ch\")"
        "regexp(\".*cern.ch\", Machine)",
    WHOLE_VERSION "whole-version" Warning Expression
        "a version compared with a whole string such as `$CondorVersion: 25.0.1 2025-09-01 $`"
        "compare the version number, with a function: `versionGE(split(CondorVersion)[1], \"25.0\")`"
        "versionGE(TARGET.CondorVersion, \"25.0\")"
        "versionGE(split(TARGET.CondorVersion)[1], \"25.0\")",
    VERSION_ORDER "version-order" Warning Expression
        "a version compared by `<` or `>=` with a string: letter by letter, `10.0` comes before `9.0`"
        "compare versions with a function: `versionGE(x, \"9.0\")`"
        "SingularityVersion >= \"3.10.0\""
        "versionGE(SingularityVersion, \"3.10.0\")",
    LIST_SEPARATOR "list-separator" Warning Expression
        "a list in a string with `;`: HTCondor's lists are separated by commas and spaces"
        "write commas, or give the separator as the third argument"
        "stringListMember(Site, \"CHTC;UNL\")"
        "stringListMember(Site, \"CHTC,UNL\")",
    CLOCK "clock-attribute" Warning Expression
        "an attribute of the clock that HTCondor does not have, such as `ClockHour`, or the day 7"
        "slots have ClockMin, the minutes since midnight, and ClockDay, which is 0 on Sunday"
        "ClockHour >= 18"
        "ClockMin / 60 >= 18",
    NULL "null" Warning Expression
        "a comparison with `null`, which is an attribute, not a value"
        "write `is undefined` (`=?= undefined`) or `isnt undefined` (`=!= undefined`)"
        "RoutedBy is null"
        "RoutedBy is undefined",
    WORD "bare-word" Warning Expression
        "a name that is probably a string or a call, as in `Owner == alice` or `time - QDate`"
        "put strings in double quotes, and write calls with parentheses"
        "Owner == alice"
        "Owner == \"alice\"",
    ZERO_REQUEST "zero-request" Warning Ad
        "a request for none of a resource that each job needs: slots may refuse it, or end the job"
        "ask for as much as the job needs"
        "[ MyType = \"Job\"; RequestMemory = 0 ]"
        "[ MyType = \"Job\"; RequestMemory = 1024 ]",
    UNIT "wrong-unit" Warning Expression
        "in HTCondor's dialect, a size with a suffix, or probably in the wrong unit; Memory is in MiB, Disk in KiB"
        "write the number in the unit of the attribute"
        "Memory > 5G"
        "Memory > 5120",
    UNSAFE "undefined-unsafe" Note Expression
        "a test such as `x != true`, which is undefined for an ad without `x`"
        "to accept such ads, write `=!=` for `!=`, or add `isUndefined(x) ||`"
        "TARGET.HasBadDisk != true"
        "TARGET.HasBadDisk =!= true",
    FUNCTION "unknown-function" Error Expression
        "a call of an unknown function: the result is an error"
        "`classad functions` lists the functions"
        "stringListMembr(\"a\", x)"
        "stringListMember(\"a\", x)",
    ARITY "arity" Error Expression
        "a call with too few or too many arguments: the result is an error"
        "`classad functions NAME` shows the arguments of a function"
        "member(x)"
        "member(x, { 1 })",
    DUPLICATE "duplicate" Warning Text
        "an attribute that occurs twice in an ad, ignoring case; the last value counts"
        "leave one of the two out"
        "[ Memory = 1; MEMORY = 2 ]"
        "[ Memory = 1; Memory2 = 2 ]",
    ATTRIBUTE_TYPE "attribute-type" Warning Ad
        "in HTCondor's dialect, a standard attribute with a value of the wrong type"
        "write a value of the type that HTCondor's manual gives"
        "[ MyType = \"Job\"; Requirements = true; RequestMemory = \"2 GB\" ]"
        "[ MyType = \"Job\"; Requirements = true; RequestMemory = 2048 ]",
    QUOTED "quoted-expression" Error Ad
        "in HTCondor's dialect, an expression in quotes: it is a string, and no condition"
        "write the expression without quotes"
        "[ MyType = \"Job\"; Requirements = true; RequireGPUs = \"Capability >= 8.0\" ]"
        "[ MyType = \"Job\"; Requirements = true; RequireGPUs = Capability >= 8.0 ]",
    FIRES "policy-of-all" Warning Ad
        "a policy of a job that holds, removes, releases or reruns every healthy job"
        "add a sign of a job that goes wrong: a time, as in `JobStatus == 2 && time() - EnteredCurrentStatus > 86400`, or a count"
        "[ MyType = \"Job\"; Requirements = true; PeriodicHold = JobStatus == 2 ]"
        "[ MyType = \"Job\"; Requirements = true; PeriodicHold = JobStatus == 2 && NumJobStarts > 5; NumJobStarts = 0 ]",
    UNDEFINED_POLICY "undefined-policy" Warning Ad
        "a policy of a job that is undefined, and so does nothing (HTCondor before 9.5 held the job)"
        "name attributes that the job has, and test with `=?=` or `isUndefined()` what may be missing"
        "[ MyType = \"Job\"; Requirements = true; PeriodicRemove = MaxHours * 3600 < time() - QDate ]"
        "[ MyType = \"Job\"; Requirements = true; PeriodicRemove = MaxHours * 3600 < time() - QDate; QDate = 5; MaxHours = 1 ]",
    EARLY_POLICY "early-policy" Note Ad
        "a policy of a job that is undefined until HTCondor sets an attribute, such as `MemoryUsage`"
        "write `(MemoryUsage ?: 0)` for `MemoryUsage`"
        "[ MyType = \"Job\"; Requirements = true; PeriodicHold = MemoryUsage > 4096 ]"
        "[ MyType = \"Job\"; Requirements = true; PeriodicHold = (MemoryUsage ?: 0) > 4096 ]",
    UNDEFINED_REQUEST "undefined-request" Warning Ad
        "a request for a resource that is undefined without a slot, where there is none or no slot helps"
        "give the request a value for this case: `(...) ?: 2048`"
        "[ MyType = \"Job\"; Requirements = true; RequestMemory = MemoryUsage * 3 / 2 ]"
        "[ MyType = \"Job\"; Requirements = true; RequestMemory = (MemoryUsage * 3 / 2) ?: 2048 ]",
    NEVER "never-met" Note Ad
        "a constraint that is never true with the attributes of its own ad"
        "nothing matches this ad while its attributes have these values"
        "[ Requirements = START && other.x; START = false ]"
        "[ Requirements = START && other.x; START = true ]",
    MISSING "missing-constraint" Warning Ad
        "a request or an offer without a constraint: it accepts nothing"
        "set the constraint to `true` to accept everything, for example `Requirements = true`"
        "[ MyType = \"Job\"; Owner = \"a\" ]"
        "[ MyType = \"Job\"; Requirements = true ]",
    RANK "rank-not-numeric" Warning Ad
        "a rank that is never a number: it counts as 0"
        "make the rank a number: `other.Memory`, or a sum such as `(other.Arch == \"X86_64\") * 10 + other.Mips`"
        "[ Requirements = true; Rank = { other.x } ]"
        "[ Requirements = true; Rank = size({ other.x }) ]",
    CIRCLE "circular" Warning Ad
        "attributes that refer to each other in a circle: each of these references is undefined"
        "change one of the attributes; if you mean the attribute `x` of the other ad, write `TARGET.x`"
        "[ a = b + 1; b = a - 1 ]"
        "[ a = b + 1; b = 2 ]",
    LABELS "label-order" Error Ad
        "a port that refers to the label of a later port (thesis 3.2.2)"
        "swap the ports, or move the condition to the later port"
        "[ Ports = { [ Label = a; Constraint = b.x > 1 ], [ Label = b; Constraint = true ] } ]"
        "[ Ports = { [ Label = a; Constraint = true ], [ Label = b; Constraint = a.x > b.x ] } ]",
    PORTS "ports" Error Ad
        "an attribute Ports that is not a valid list of ports"
        "`Ports = { [ Label = cpu; Constraint = ... ], ... }`"
        "[ Ports = { [ Constraint = true ] } ]"
        "[ Ports = { [ Label = a; Constraint = true ] } ]",
    FALLS "falls-through" Note Ad
        "a name without MY or TARGET that the ad lacks: it is looked up in the other ad"
        "write `TARGET.x` (`other.x`) for an attribute of the other ad"
        "[ Requirements = Memory > 1000 ]"
        "[ Requirements = TARGET.Memory > 1000 ]",
    UNKNOWN "unknown-attribute" Warning Pool
        "a reference to an attribute that no ad of the pool has"
        "`classad census POOL` lists the attributes of a pool"
        "[ Requirements = TARGET.Memroy > 1000 ]"
        "[ Requirements = TARGET.Memory > 1000 ]",
    TYPE "wrong-type" Warning Pool
        "a comparison with a value of a type that the attribute has in no ad of the pool"
        "compare with a value of the attribute's type in the pool"
        "[ Requirements = TARGET.x > \"1000\" ]"
        "[ Requirements = TARGET.x > 1000 ]",
    RANGE "out-of-range" Warning Pool
        "a comparison with a number or a string that no ad of the pool satisfies"
        "`classad census POOL --attr NAME` shows the most frequent values"
        "[ Requirements = TARGET.Memory >= 900000 ]"
        "[ Requirements = TARGET.Memory >= 1000 ]",
    LETTERS "wrong-case" Warning Pool
        "a case-sensitive comparison with a string that the pool has only in another case, as `linux` for `LINUX`"
        "write `==` or `!=`, which ignore case"
        "[ Requirements = TARGET.OpSys =?= \"linux\" ]"
        "[ Requirements = TARGET.OpSys =?= \"LINUX\" ]",
}
