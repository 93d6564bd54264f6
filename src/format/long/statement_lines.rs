//! JDL without brackets. It is told from the long form by its semicolons.

/// What the beginning of a text shows of its statements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statements {
    /// Number of places outside brackets at which `name =` begins a line or stands behind a semicolon.
    begun: usize,
    /// Number of semicolons outside brackets, strings and comments that end a line or the attribute before another.
    ended: usize,
    /// Whether a bracket is open at the end of the text.
    is_open: bool,
}

/// Number of bytes at the beginning of a text that show how its statements end.
pub const BEGINNING_BYTES: usize = 4096;

impl Statements {
    /// Counts the statements at the beginning of a text.
    pub fn of_beginning(text: &[u8]) -> Self {
        let text = &text[..text.len().min(BEGINNING_BYTES)];
        let (mut statements, mut open, mut is_in_comment) = (Statements::default(), Vec::new(), false);
        for line in text.split(|byte| *byte == b'\n') {
            let begins = open.is_empty() && !is_in_comment && begins_attribute(line.trim_ascii());
            statements.begun += usize::from(begins);
            // The quote of the string or the name that is open.
            let (mut at, mut quote) = (0, None);
            while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
                let length = match rest {
                    [b'*', b'/', ..] if is_in_comment => {
                        is_in_comment = false;
                        2
                    }
                    _ if is_in_comment => 1,
                    // An escaped character is no quote.
                    [b'\\', ..] if quote.is_some() => 2,
                    [byte, ..] if quote == Some(*byte) => {
                        quote = None;
                        1
                    }
                    _ if quote.is_some() => {
                        rest.iter().take_while(|byte| quote != Some(**byte) && **byte != b'\\').count()
                    }
                    [byte @ (b'"' | b'\''), ..] => {
                        quote = Some(*byte);
                        1
                    }
                    [] | [b'/', b'/', ..] | [b'#', ..] => break,
                    [b'/', b'*', ..] => {
                        is_in_comment = true;
                        2
                    }
                    [byte, ..] => {
                        match byte {
                            b'[' | b'{' => open.push(byte + 2),
                            b'(' => open.push(b')'),
                            // A bracket that closes no other is a mistake.
                            b']' | b'}' | b')' => _ = open.pop_if(|closing| closing == byte),
                            b';' if open.is_empty() => statements.end(rest[1..].trim_ascii(), begins),
                            _ => {}
                        }
                        1 + rest[1..].iter().take_while(|byte| is_plain(**byte)).count()
                    }
                };
                at += length;
            }
        }
        Statements { is_open: !open.is_empty() || is_in_comment, ..statements }
    }

    /// Counts a semicolon, if its line ends there or another attribute follows in it. In a script other words do. One
    /// that ends no statement is part of a name. `begins` tells whether the line begins with an attribute.
    fn end(&mut self, rest: &[u8], begins: bool) {
        let begins_another = begins_attribute(rest);
        let is_blank = matches!(rest, [] | [b'#', ..] | [b'/', b'/' | b'*', ..]);
        let ends = (is_blank && self.begun > self.ended) || (begins_another && begins);
        self.ended += usize::from(ends);
        self.begun += usize::from(begins_another);
    }

    /// Whether more text may show more of them: a line of the long form has no semicolon and no open bracket.
    pub fn may_be_jdl(self) -> bool {
        self.ended > 0 || self.is_open
    }

    /// Whether most statements end in `;`. In the long form a value ends with its line, and what follows is ignored.
    pub fn are_jdl(self) -> bool {
        self.begun > 0 && 2 * self.ended > self.begun
    }
}

/// Whether a byte outside strings and comments ends nothing and begins nothing.
fn is_plain(byte: u8) -> bool {
    !matches!(byte, b'"' | b'\'' | b'/' | b'#' | b'[' | b'{' | b'(' | b']' | b'}' | b')' | b';')
}

/// Whether a line begins with `name =`.
fn begins_attribute(line: &[u8]) -> bool {
    let name = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    matches!(line[name..].trim_ascii_start(), [b'=', rest @ ..] if name > 0 && !matches!(rest, [b'=' | b'?' | b'!', ..]))
}

/// What a text looks like whose statements end in `;`, and what to do about it.
pub const JDL_REFUSAL: [&str; 2] = [
    "its lines end in `;`: it looks like JDL, an ad without its brackets, not like the long form",
    "put `[` before the ad and `]` after it",
];

#[cfg(test)]
mod tests {
    use super::Statements;

    #[test]
    fn statements_end_in_semicolons() {
        for (text, are_jdl) in [
            ("a = 1;\n", true),
            ("a = 1; b = 2; c = 3", true),
            ("a = 1; // c\nb = {\"x\",\n  \"y\"};\n\nc = 2", true),
            ("a = 1;\nb = 2\n", false),
            ("a = 1\nb = 2;\nc = 3\n", false),
            ("a = \"x;\"\nb = [ x = 1; y = 2; ]\n", false),
            ("a = \"x\\\";\"\n# b;\n// c;\n/* d;\n e; */\n", false),
            ("a = f(1; 2)\n", false),
            ("[ a = 1; ]\n", false),
            ("[ a = 1 + 2); b = 3; c = 4 ]\n", false),
            ("int a;\n", false),
            ("a = 'b;'\n'c; d = 1;' = 2\n", false),
            ("x=1\nfor a in b; do c=1; echo $a; done\n", false),
            ("a == 1;\n", false),
            (";a = 1\n;b = 2\n;c = 3\n", false),
            ("a; = 1\nb; = 2\n", false),
            ("a;b = 1\na;c = 2\na;d = 3\n", false),
            ("'a = [ b = 1; c = 2; d = 3; e = 4; f = 5 ]' = 1\n", false),
            ("a' = 'x' b = 1; c = 2; d = 3; e = 4\n", false),
            ("a = \"C:\\\"\nb = 1\n", false),
        ] {
            assert_eq!(Statements::of_beginning(text.as_bytes()).are_jdl(), are_jdl, "{text}");
        }
    }
}
