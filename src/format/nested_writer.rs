//! Writer for JSON and XML, in which ads nest in brackets or elements.

use crate::ad::{Ad, Expression, ExpressionKind, Name, Value};

/// How a format writes ads, lists and values.
pub trait NestedSyntax {
    /// The text before the first attribute of an ad, and the text behind its last attribute.
    const AD: [&'static str; 2];
    /// The text before the first element of a list, and the text behind its last element.
    const LIST: [&'static str; 2];
    /// The text between two attributes and between two elements.
    const SEPARATOR: &'static str;
    /// The text behind the value of an attribute.
    const ATTRIBUTE_END: &'static str;

    /// Appends the part of an attribute before its value.
    fn push_name(name: &Name, text: &mut Vec<u8>);

    /// Appends a value that is neither an ad nor a list.
    fn push_scalar(expression: &Expression, text: &mut Vec<u8>);
}

/// Appends a value in the syntax `S`.
pub fn push_value<S: NestedSyntax>(expression: &Expression, text: &mut Vec<u8>) {
    if expression.kind().is_scalar() {
        S::push_scalar(expression, text);
    } else {
        run::<S>(vec![NestedWriteTask::Value(expression)], text);
    }
}

/// Something to write: an entry of the writer's stack.
enum NestedWriteTask<'a> {
    Text(&'static str),
    Name(&'a Name),
    Value(&'a Expression),
}

/// Writes the tasks, the last task first. The stack is explicit, so deep nesting cannot overflow the program's stack.
fn run<S: NestedSyntax>(mut tasks: Vec<NestedWriteTask>, text: &mut Vec<u8>) {
    while let Some(task) = tasks.pop() {
        match task {
            NestedWriteTask::Text(fixed) => text.extend_from_slice(fixed.as_bytes()),
            NestedWriteTask::Name(name) => S::push_name(name, text),
            NestedWriteTask::Value(expression) => match expression.kind() {
                ExpressionKind::List(elements) => begin_list::<S>(elements, text, &mut tasks),
                ExpressionKind::Literal(Value::List(list)) => begin_list::<S>(&list.elements, text, &mut tasks),
                ExpressionKind::Ad(ad) => begin_ad::<S>(ad, text, &mut tasks),
                ExpressionKind::Literal(Value::Ad(nested)) => begin_ad::<S>(nested.ad(), text, &mut tasks),
                _ => S::push_scalar(expression, text),
            },
        }
    }
}

fn begin_ad<'a, S: NestedSyntax>(ad: &'a Ad, text: &mut Vec<u8>, tasks: &mut Vec<NestedWriteTask<'a>>) {
    text.extend_from_slice(S::AD[0].as_bytes());
    tasks.push(NestedWriteTask::Text(S::AD[1]));
    let start = tasks.len();
    for (position, attribute) in ad.iter().enumerate() {
        if position > 0 {
            tasks.push(NestedWriteTask::Text(S::SEPARATOR));
        }
        tasks.extend([
            NestedWriteTask::Name(attribute.name),
            NestedWriteTask::Value(attribute.expression),
            NestedWriteTask::Text(S::ATTRIBUTE_END),
        ]);
    }
    tasks[start..].reverse();
}

fn begin_list<'a, S: NestedSyntax>(
    elements: &'a [Expression],
    text: &mut Vec<u8>,
    tasks: &mut Vec<NestedWriteTask<'a>>,
) {
    text.extend_from_slice(S::LIST[0].as_bytes());
    tasks.push(NestedWriteTask::Text(S::LIST[1]));
    for (position, element) in elements.iter().enumerate().rev() {
        tasks.push(NestedWriteTask::Value(element));
        if position > 0 {
            tasks.push(NestedWriteTask::Text(S::SEPARATOR));
        }
    }
}
