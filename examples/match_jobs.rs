//! Prints the best slot of each job: `cargo run --example match_jobs JOBS SLOTS`.

use classad::{Ad, Error, Match, read_file};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let jobs = arguments.next().unwrap_or("samples/pool/jobs.long".to_owned());
    let slots = arguments.next().unwrap_or("samples/pool/machines.long".to_owned());
    let slots: Vec<Ad> = read_file(slots)?.collect::<Result<_, _>>()?;
    let mut matcher = Match::among(&slots);
    for (number, job) in (1..).zip(read_file(jobs)?) {
        match matcher.candidates(&job?).first() {
            Some(best) => println!("job {number} likes slot {} best: {}", best.offer + 1, best.request_rank),
            None => println!("job {number} matches no slot"),
        }
    }
    Ok(())
}
