//! Says in one sentence why each job matches slots or none: `cargo run --example explain_jobs JOBS SLOTS`.

use classad::{Ad, Error, Explain, read_file};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let jobs = arguments.next().unwrap_or("samples/pool/jobs.long".to_owned());
    let slots = arguments.next().unwrap_or("samples/pool/machines.long".to_owned());
    let slots: Vec<Ad> = read_file(slots)?.collect::<Result<_, _>>()?;
    let explain = Explain::with(&slots);
    for (number, job) in (1..).zip(read_file(jobs)?) {
        println!("job {number}: {}", explain.sentence(&job?));
    }
    Ok(())
}
