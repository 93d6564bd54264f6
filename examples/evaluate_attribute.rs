//! Evaluates an attribute in each ad of a file: `cargo run --example evaluate_attribute FILE Rank`.

use classad::{Error, Value, read_file};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or("samples/pool/machines.long".to_owned());
    let attribute = arguments.next().unwrap_or("Memory".to_owned());
    for (number, ad) in (1..).zip(read_file(path)?) {
        match ad?.evaluate(&attribute)? {
            Value::Integer(integer) => println!("{number}: the integer {integer}"),
            Value::Undefined => println!("{number}: undefined"),
            value => println!("{number}: {value}"),
        }
    }
    Ok(())
}
