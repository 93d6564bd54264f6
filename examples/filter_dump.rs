//! Prints the names of the slots in a dump that meet a constraint: `cargo run --example filter_dump DUMP 'Cpus > 8'`.

use classad::{Error, Query, read_file};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or("samples/pool/machines.long".to_owned());
    let query: Query = arguments.next().unwrap_or("true".to_owned()).parse()?;
    for ad in read_file(path)? {
        let ad = ad?;
        if query.accepts(&ad)? {
            println!("{}", ad.evaluate("Name")?.as_text().unwrap_or_default());
        }
    }
    Ok(())
}
