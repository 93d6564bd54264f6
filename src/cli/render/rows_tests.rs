//! Tests of rows: cells, lines of cells, and what they hold.

use classad::ad::{Dialect, Span, Value};

use super::{
    LAYOUTS_PER_ROW, OutputForm, ResultTable, TableCell, TableWriter, bytes_of_row, csv_cell, markdown_cell,
    steps_of_text, tsv_cell,
};
use crate::cli::outcome::Failure;

#[test]
fn cells_are_escaped_for_their_form() {
    for (cell, tsv, csv, markdown) in [
        ("", "", "", ""),
        ("a b", "a b", "a b", "a b"),
        ("a,b", "a,b", "\"a,b\"", "a,b"),
        ("a \"b\"", "a \"b\"", "\"a \"\"b\"\"\"", "a \"b\""),
        ("a\tb", "a\\tb", "a\tb", "a\tb"),
        ("a\nb", "a\\nb", "\"a\nb\"", "a<br>b"),
        ("a\rb", "a\\rb", "\"a\rb\"", "a<br>b"),
        ("a\r\nb", "a\\r\\nb", "\"a\r\nb\"", "a<br>b"),
        ("a\\b", "a\\\\b", "a\\b", "a\\\\b"),
        ("a|b*c`d<e", "a|b*c`d<e", "a|b*c`d<e", "a\\|b\\*c\\`d\\<e"),
        ("[a]~>", "[a]~>", "[a]~>", "\\[a\\]\\~>"),
        // A line within a word is no emphasis.
        ("a_b", "a_b", "a_b", "a_b"),
        ("_a b_", "_a b_", "_a b_", "\\_a b\\_"),
        ("a__b", "a__b", "a__b", "a\\_\\_b"),
        ("&lt; &#5;", "&lt; &#5;", "&lt; &#5;", "\\&lt; \\&#5;"),
        ("a & b&", "a & b&", "a & b&", "a & b&"),
    ] {
        assert_eq!([tsv_cell(cell), csv_cell(cell), markdown_cell(cell)], [tsv, csv, markdown], "{cell:?}");
    }
}

#[test]
fn a_cell_is_an_expression_again() {
    let of = |cell: TableCell| cell.expression(Dialect::Condor).as_literal().cloned();
    for value in [
        Value::Boolean(true),
        Value::Integer(-5),
        Value::Real(0.5),
        Value::string("5"),
        Value::string("undefined"),
        Value::Undefined,
    ] {
        assert_eq!(of(TableCell::from(&value)), Some(value.clone()), "{value}");
    }
    assert!(matches!(of(TableCell::from(&Value::error(Span::default(), "wrong"))), Some(Value::Error(_))));
    assert_eq!(of(TableCell::from(f64::INFINITY)), Some(Value::Real(f64::INFINITY)));
    assert!(matches!(of(TableCell::from(f64::NAN)), Some(Value::Real(nan)) if nan.is_nan()));
    assert_eq!(of(TableCell::from(3_usize)), Some(Value::Integer(3)));
    assert_eq!(of(TableCell::from(usize::MAX)), Some(Value::Real(18_446_744_073_709_551_615.0)));
    assert_eq!(of(TableCell::from(i128::from(i64::MIN))), Some(Value::Integer(i64::MIN)));
    assert_eq!(of(TableCell::from(1_i128 << 80)), Some(Value::Real(1_208_925_819_614_629_174_706_176.0)));
    let numbers = [TableCell::from(3_usize), "3".into(), (&Value::Undefined).into()].map(|cell| cell.number());
    assert_eq!(numbers, [Some(3.0), None, None]);
    let nulls = [TableCell::from(""), 0_usize.into(), (&Value::Undefined).into(), f64::NAN.into()];
    assert_eq!(nulls.map(|cell| cell.is_null()), [false, false, true, true]);
    assert_eq!(TableCell::from(vec!["a".to_owned(), "b".to_owned()]).text, "a, b");
}

#[test]
fn long_texts_count() {
    let row = |lengths: &[usize]| lengths.iter().map(|length| "x".repeat(*length).into()).collect::<Vec<TableCell>>();
    for (lengths, steps) in [(&[][..], 0), (&[15], 0), (&[16], 1), (&[31], 1), (&[32, 16], 3)] {
        assert_eq!(steps_of_text(&row(lengths)), steps, "{lengths:?}");
    }
    let (empty, cell) = (bytes_of_row(&[]), size_of::<TableCell>());
    assert_eq!(empty, size_of::<Vec<TableCell>>());
    assert_eq!(bytes_of_row(&row(&[3])) - empty, cell + 70);
    assert_eq!(bytes_of_row(&row(&[3, 0])) - empty, 2 * cell + 134);
    for (form, layouts) in [(OutputForm::Table, LAYOUTS_PER_ROW), (OutputForm::Csv, 0), (OutputForm::Json, 0)] {
        let writer = TableWriter::with_form(vec!["a".to_owned()], form, true);
        assert_eq!(writer.held_bytes(&row(&[3])), bytes_of_row(&row(&[3])) * layouts, "{form:?}");
    }
}

#[test]
fn rows_in_each_form() {
    let rows = || vec![vec!["x".into(), 5_usize.into()], vec!["y|\t,".into(), TableCell::from(&Value::Undefined)]];
    for (form, with_header, count, expected) in [
        (OutputForm::Tsv, true, 0, "a\tb\n"),
        (OutputForm::Tsv, false, 0, ""),
        (OutputForm::Tsv, true, 1, "a\tb\nx\t5\n"),
        (OutputForm::Tsv, true, 2, "a\tb\nx\t5\ny|\\t,\tnone\n"),
        (OutputForm::Tsv, false, 2, "x\t5\ny|\\t,\tnone\n"),
        (OutputForm::Csv, true, 2, "a,b\nx,5\n\"y|\t,\",none\n"),
        (OutputForm::Csv, false, 1, "x,5\n"),
        (OutputForm::Markdown, true, 0, "| a | b |\n| --- | --- |\n"),
        (OutputForm::Markdown, true, 2, "| a | b |\n| --- | --- |\n| x | 5 |\n| y\\|\t, | none |\n"),
        (OutputForm::Markdown, false, 1, "| x | 5 |\n"),
        (OutputForm::Names, true, 0, ""),
        (OutputForm::Names, true, 2, "x\ny|\t,\n"),
        (OutputForm::Json, true, 0, "[]\n"),
        (OutputForm::Json, true, 1, "[\n{\"a\":\"x\",\"b\":5}\n]\n"),
        (OutputForm::Json, false, 2, "[\n{\"a\":\"x\",\"b\":5},\n{\"a\":\"y|\\t,\",\"b\":null}\n]\n"),
        (OutputForm::Jsonl, true, 0, ""),
        (OutputForm::Jsonl, true, 2, "{\"a\":\"x\",\"b\":5}\n{\"a\":\"y|\\t,\",\"b\":null}\n"),
        // A table has the cells as they are.
        (OutputForm::Table, true, 0, "a  b\n"),
        (OutputForm::Table, true, 1, "a  b\nx  5\n"),
        (OutputForm::Table, false, 1, "x  5\n"),
    ] {
        let (mut out, none) = (Vec::new(), "none".to_owned());
        let header = vec!["a".to_owned(), "b".to_owned()];
        let mut writer = TableWriter::with_form(header, form, with_header).with_null(Some(&none));
        for row in rows().into_iter().take(count) {
            writer.write(&mut out, row).unwrap();
        }
        writer.finish(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{form:?} {with_header} {count}");
    }
}

#[test]
fn a_table_is_written_at_once() {
    let table = ResultTable::with_rows(&["a", "b"], [vec!["x".into(), 5_usize.into()], vec!["".into(), "".into()]]);
    for (form, with_header, expected) in [
        (OutputForm::Table, true, "a  b\nx  5\n\n"),
        (OutputForm::Table, false, "x  5\n\n"),
        (OutputForm::Tsv, true, "a\tb\nx\t5\n\t\n"),
        (OutputForm::Csv, false, "x,5\n,\n"),
        (OutputForm::Jsonl, true, "{\"a\":\"x\",\"b\":5}\n{\"a\":\"\",\"b\":\"\"}\n"),
    ] {
        let mut out = Vec::new();
        table.write(&mut out, Some(form), with_header).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{form:?} {with_header}");
    }
}

#[test]
fn some_forms_have_no_rows() {
    for (form, expected) in [
        (OutputForm::Table, None),
        (OutputForm::Names, None),
        (OutputForm::Csv, None),
        (OutputForm::Tree, Some("no trees")),
        (OutputForm::Parquet, Some("write parquet")),
        (OutputForm::Svg, Some("no picture")),
        (OutputForm::Long, Some("rows cannot")),
        (OutputForm::New, Some("rows cannot")),
        (OutputForm::Xml, Some("rows cannot")),
        (OutputForm::Yaml, Some("rows cannot")),
    ] {
        match (TableWriter::new(Vec::new(), Some(form), true), expected) {
            (Ok(_), None) => {}
            (Err(Failure::Refused(Some(reason))), Some(part)) => assert!(reason.contains(part), "{form:?}: {reason}"),
            _ => panic!("{form:?}"),
        }
    }
}
