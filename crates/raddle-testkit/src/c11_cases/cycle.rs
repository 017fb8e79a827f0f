//! Critical cycles: executions at the border between the models.
//!
//! Every thread has an access where the cycle enters it and one, perhaps the same, where it leaves
//! it. Between the threads go rf, mo and fr edges: the outcome is exactly the one that no
//! interleaving has, as in the classical tests (SB, MP, LB, S, R, 2+2W, WRC, IRIW, ... are of this
//! form). What stands between the two accesses and all memory orders are random, so the cycle may be
//! forbidden or not. An rf edge may go through an update or a later store of the same thread, for
//! release sequences, and sometimes a random access is thrown in.

use raddle_core::execution::Execution;

use super::EVENTS;
use super::sketch::{Kind, Palette, Sketch};
use raddle_core::random::Random;

/// Where the cycle enters and leaves a thread: ids of events, and their locations.
struct Corner {
    thread: usize,
    first: usize,
    last: usize,
    location: usize,
}

/// An execution around a critical cycle of 2 to 4 threads; more threads may observe it.
#[must_use]
pub fn cycle_case(seed: u64) -> Execution {
    let mut random = Random::new(seed);
    loop {
        let mut sketch = Sketch::default();
        let locations = draw(&mut sketch, &mut random);
        if random.chance(0.25) {
            add_noise(&mut sketch, locations, &mut random);
        }
        let palette = Palette::draw(&mut random);
        if sketch.len() <= EVENTS
            && let Some(execution) = sketch.finish(locations, palette, &mut random)
        {
            return execution;
        }
    }
}

/// Draws the cycle and returns the number of locations.
fn draw(sketch: &mut Sketch, random: &mut Random) -> usize {
    let threads = 2 + random.below(3);
    let single: Vec<bool> = (0..threads).map(|_| random.chance(0.2)).collect();
    let locations = single.iter().filter(|&&single| !single).count().max(1);
    let mut location = 0;
    let mut corners = vec![];
    for single in single {
        let thread = sketch.new_thread();
        let first = sketch.push(thread, access(random), location, None);
        let mut last = first;
        if !single {
            location = (location + 1) % locations;
            between(sketch, thread, locations, random);
            last = sketch.push(thread, access(random), location, None);
        }
        corners.push(Corner { thread, first, last, location });
    }
    for (i, corner) in corners.iter().enumerate() {
        connect(sketch, corner, &corners[(i + 1) % threads], random);
    }
    locations
}

fn access(random: &mut Random) -> Kind {
    match random.below(20) {
        0..8 => Kind::Read,
        8..16 => Kind::Write,
        16..18 => Kind::Update,
        18 => Kind::Cas,
        _ => Kind::FailedCas,
    }
}

fn between(sketch: &mut Sketch, thread: usize, lock: usize, random: &mut Random) {
    match random.below(20) {
        0..9 => drop(sketch.push(thread, Kind::Fence, usize::MAX, None)),
        9 => drop(sketch.push(thread, Kind::StoreFence, usize::MAX, None)),
        10 => {
            sketch.push(thread, Kind::Lock, lock, None);
            sketch.push(thread, Kind::Unlock, lock, None);
        }
        _ => {}
    }
}

/// Lets the first access of a corner come after the last one of the corner before.
fn connect(sketch: &mut Sketch, from: &Corner, to: &Corner, random: &mut Random) {
    let location = from.location;
    let kind = |sketch: &mut Sketch, id| sketch.find_mut(id).map_or(Kind::Fence, |d| d.kind);
    let (earlier, later) = (kind(sketch, from.last), kind(sketch, to.first));
    if earlier.writes() && later.reads() {
        let source = release_sequence(sketch, from, random);
        observe(sketch, to.first, source);
    } else if later.reads() {
        // fr and then rf: the write between them has a thread of its own.
        let thread = sketch.new_thread();
        let write = sketch.push(thread, Kind::Write, location, None);
        observe(sketch, to.first, write);
    } else if earlier.writes() {
        fix_mo(sketch, from, to, random);
    }
}

/// The write that the next thread observes: mostly the last one of the corner, or a relaxed one that
/// may be in its release sequence.
fn release_sequence(sketch: &mut Sketch, from: &Corner, random: &mut Random) -> usize {
    let id = match random.below(8) {
        0 => {
            let thread = sketch.new_thread();
            sketch.push(thread, Kind::Update, from.location, Some(from.last))
        }
        1 | 2 => sketch.push(from.thread, Kind::Write, from.location, None),
        _ => return from.last,
    };
    if let Some(draft) = sketch.find_mut(id) {
        draft.relaxed = true;
    }
    id
}

fn observe(sketch: &mut Sketch, read: usize, source: usize) {
    if let Some(draft) = sketch.find_mut(read) {
        draft.source = Some(source);
    }
}

/// Says by reads that one write comes before another, or says nothing.
fn fix_mo(sketch: &mut Sketch, from: &Corner, to: &Corner, random: &mut Random) {
    match random.below(5) {
        0 => {}
        1 | 2 => drop(sketch.push(from.thread, Kind::Read, from.location, Some(to.first))),
        _ => {
            let observer = sketch.new_thread();
            sketch.push(observer, Kind::Read, from.location, Some(from.last));
            sketch.push(observer, Kind::Read, from.location, Some(to.first));
        }
    }
}

/// Adds an access at a random place. A read observes the initial write or some other one.
fn add_noise(sketch: &mut Sketch, locations: usize, random: &mut Random) {
    let location = random.below(locations);
    let writes = sketch.drafts().filter(|d| d.location == location && d.kind.writes());
    let mut sources: Vec<Option<usize>> = writes.map(|d| Some(d.id)).collect();
    sources.push(None);
    let source = sources[random.below(sources.len())];
    let draft = sketch.draft(access(random), location, source);
    let thread = random.below(sketch.threads.len());
    let at = random.below(sketch.threads[thread].len() + 1);
    sketch.threads[thread].insert(at, draft);
}
