//! State machine over the tokens of an ad: checks their order, and finds where ads begin and end.

use super::token::{JsonLexeme, JsonToken, JsonTokenError, JsonTokens};

/// The effect of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonStep {
    /// Begins a nested ad.
    OpenAd,
    /// Begins a list.
    OpenList,
    /// Ends the innermost ad or list.
    Close,
    /// Names the next attribute.
    Name,
    /// Is a scalar value.
    Scalar,
    /// Is a separator.
    Separator,
}

/// An open bracket with its byte offset.
#[derive(Clone, Copy, Debug)]
pub enum OpenBracket {
    Brace(usize),
    Bracket(usize),
}

/// The token expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpectedToken {
    Name,
    Colon,
    Value,
    FirstElement,
    More,
}

/// Position in the structure of an ad: the open brackets, and the kind of token expected next.
#[derive(Debug)]
pub struct JsonNesting {
    open: Vec<OpenBracket>,
    expects: ExpectedToken,
    /// Number of blanks before the ad on its line.
    indent: usize,
}

impl JsonNesting {
    /// Creates the state behind the `{` that begins an ad at this offset.
    pub fn at_ad_start(text: &[u8], offset: usize) -> Self {
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'[' | b',');
        let indent = text[..offset].iter().rev().take_while(blank).count();
        JsonNesting { open: vec![OpenBracket::Brace(offset)], expects: ExpectedToken::Name, indent }
    }

    /// Whether the ad has ended.
    pub fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// The innermost bracket that is open.
    pub fn innermost(&self) -> Option<OpenBracket> {
        self.open.last().copied()
    }

    /// Advances over a token and returns its effect; `None` if the token cannot stand here.
    pub fn advance(&mut self, token: JsonToken, offset: usize) -> Option<JsonStep> {
        let in_ad = matches!(self.open.last(), Some(OpenBracket::Brace(_)));
        let (expects, step) = match (self.expects, token) {
            (ExpectedToken::Name, JsonToken::String) => (ExpectedToken::Colon, JsonStep::Name),
            // HTCondor accepts superfluous commas in ads, but not in lists.
            (ExpectedToken::Name | ExpectedToken::More, JsonToken::Comma) if in_ad => {
                (ExpectedToken::Name, JsonStep::Separator)
            }
            (ExpectedToken::Colon, JsonToken::Colon) | (ExpectedToken::More, JsonToken::Comma) => {
                (ExpectedToken::Value, JsonStep::Separator)
            }
            (ExpectedToken::Name | ExpectedToken::More, JsonToken::BraceClose) if in_ad => {
                (ExpectedToken::More, JsonStep::Close)
            }
            (ExpectedToken::FirstElement | ExpectedToken::More, JsonToken::BracketClose) if !in_ad => {
                (ExpectedToken::More, JsonStep::Close)
            }
            (ExpectedToken::Value | ExpectedToken::FirstElement, JsonToken::BraceOpen) => {
                (ExpectedToken::Name, JsonStep::OpenAd)
            }
            (ExpectedToken::Value | ExpectedToken::FirstElement, JsonToken::BracketOpen) => {
                (ExpectedToken::FirstElement, JsonStep::OpenList)
            }
            (ExpectedToken::Value | ExpectedToken::FirstElement, JsonToken::String | JsonToken::Word) => {
                (ExpectedToken::More, JsonStep::Scalar)
            }
            _ => return None,
        };
        self.expects = expects;
        match step {
            JsonStep::OpenAd => self.open.push(OpenBracket::Brace(offset)),
            JsonStep::OpenList => self.open.push(OpenBracket::Bracket(offset)),
            JsonStep::Close => drop(self.open.pop()),
            _ => {}
        }
        Some(step)
    }

    /// Describes the tokens that can stand here, for messages.
    pub fn expected(&self) -> &'static str {
        let in_ad = matches!(self.open.last(), Some(OpenBracket::Brace(_)));
        match self.expects {
            ExpectedToken::Name => "a name in double quotes or `}`",
            ExpectedToken::Colon => "`:`",
            ExpectedToken::Value => "a value",
            ExpectedToken::FirstElement => "a value or `]`",
            ExpectedToken::More if in_ad => "`,` or `}`",
            ExpectedToken::More => "`,` or `]`",
        }
    }

    /// Skips the rest of a bad ad, from its first bad token on.
    ///
    /// The ad ends with the bracket that closes it, or before a `{` that most likely begins the next ad: one at the
    /// beginning of a line that is indented no more. Returns the end of the ad; `None` if the ad may continue behind
    /// the end of the text.
    pub fn recover(&mut self, tokens: &mut JsonTokens, first: JsonLexeme) -> Option<usize> {
        let mut next = Some(first);
        while let Some((token, range)) = next {
            if is_open_ended(tokens.text, &(token, range.clone())) {
                return None;
            }
            match token {
                Ok(JsonToken::BraceOpen) if self.next_ad_begins_at(tokens.text, range.start) => {
                    tokens.put_back((token, range.clone()));
                    return Some(range.start);
                }
                Ok(JsonToken::BraceOpen) => self.open.push(OpenBracket::Brace(range.start)),
                Ok(JsonToken::BracketOpen) => self.open.push(OpenBracket::Bracket(range.start)),
                Ok(JsonToken::BraceClose) => {
                    while let Some(OpenBracket::Bracket(_)) = self.open.pop() {}
                    if self.open.is_empty() {
                        return Some(range.end);
                    }
                }
                Ok(JsonToken::BracketClose) => {
                    match self.open.iter().rposition(|open| matches!(open, OpenBracket::Bracket(_))) {
                        Some(innermost) => self.open.truncate(innermost),
                        // It closes the array that contains the ad.
                        None => return Some(range.end),
                    }
                }
                _ => {}
            }
            next = tokens.next();
        }
        None
    }

    /// Whether a bad ad ends before the `{` at this offset, because it begins a line and is indented no more than the
    /// ad.
    pub fn next_ad_begins_at(&self, text: &[u8], offset: usize) -> bool {
        let blank = text[..offset].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        blank <= self.indent && text[..offset - blank].ends_with(b"\n")
    }
}

/// Whether a token at the end of the text may continue behind it.
fn is_open_ended(text: &[u8], (token, range): &JsonLexeme) -> bool {
    match token {
        Ok(token) => range.end == text.len() && !token.is_complete(),
        Err(JsonTokenError::UnclosedString) => range.end == text.len(),
        Err(JsonTokenError::UnclosedComment) => false,
    }
}

/// Returns the length in bytes of the longest prefix of a text that contains only complete ads; the text may end
/// anywhere.
///
/// The rest must be read again with more text behind it.
pub fn complete_prefix_length(text: &[u8]) -> usize {
    let mut tokens = JsonTokens::new(text);
    let mut end = 0;
    while let Some((token, range)) = tokens.next() {
        match token {
            Ok(JsonToken::BraceOpen) => match ad_end(&mut tokens, range.start) {
                Some(ad_end) => end = ad_end,
                None => break,
            },
            Err(JsonTokenError::UnclosedComment) => break,
            _ => {}
        }
    }
    end
}

/// Whether a text is exactly one complete ad, with only white space around it.
pub fn is_single_ad(text: &[u8]) -> bool {
    let mut tokens = JsonTokens::new(text);
    match tokens.next() {
        Some((Ok(JsonToken::BraceOpen), range)) => {
            ad_end(&mut tokens, range.start).is_some_and(|end| text[end..].trim_ascii().is_empty())
        }
        _ => false,
    }
}

/// Returns the end of the ad whose `{` at `start` has been read; `None` if it may continue behind the end of the text.
fn ad_end(tokens: &mut JsonTokens, start: usize) -> Option<usize> {
    let mut shape = JsonNesting::at_ad_start(tokens.text, start);
    while let Some(lexeme) = tokens.next() {
        let (token, range) = &lexeme;
        if *token == Err(JsonTokenError::UnclosedComment) || is_open_ended(tokens.text, &lexeme) {
            return None;
        }
        match token.ok().and_then(|token| shape.advance(token, range.start)) {
            Some(JsonStep::Close) if shape.is_done() => return Some(range.end),
            Some(_) => {}
            None => return shape.recover(tokens, lexeme),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{complete_prefix_length, is_single_ad};

    #[test]
    fn one_ad() {
        for (text, one) in [
            ("{}", true),
            (" {\"a\": [{}, \"}\"]} \r", true),
            ("{\"a\": 1", false),
            ("{}{}", false),
            ("{},", false),
            ("[{}]", false),
            ("", false),
        ] {
            assert_eq!(is_single_ad(text.as_bytes()), one, "{text}");
        }
    }

    #[test]
    fn whole_ads() {
        for (text, length) in [
            ("", 0),
            (r#"{"a": 1}"#, 8),
            (r#"{"a": 1} {"b""#, 8),
            (r#"{"a": "}{"#, 0),
            (r#"{"a": "}"}"#, 10),
            (r#"{"a": "\"}"}"#, 12),
            (r#"[{"a": {"b": [{}]}}, {"#, 19),
            ("{} // }{}\n{} /* {} */ {", 12),
            ("{} /* {}", 2),
            (r#", {"a": 1}]"#, 10),
            // A bad ad ends where the reader continues.
            ("{\"a\": \"x}\n{\"b\": 1}\n{", 18),
            ("{\"a\": 1\n{\"b\": 1}\n{", 16),
            ("{\"a\": [1}, {\"b\"", 9),
            // In a correct ad a line may begin with a nested ad.
            ("{\"a\": [\n{\"b\": 1}\n", 0),
        ] {
            assert_eq!(complete_prefix_length(text.as_bytes()), length, "{text}");
        }
    }
}
