//! Durations, monotonic instants, a short sleep.
use std::time::{Duration, Instant, SystemTime};

fn main() {
    let d = Duration::from_millis(1500) * 3 + Duration::from_nanos(17);
    println!("{d:?} {} {:?} {:?}", d.as_secs(), d.checked_sub(Duration::from_secs(10)), Duration::from_secs_f64(0.25));
    let a = Instant::now();
    std::thread::sleep(Duration::from_millis(2));
    println!("{} {}", a.elapsed() >= Duration::from_millis(2), SystemTime::now() > SystemTime::UNIX_EPOCH);
}
