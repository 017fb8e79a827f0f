//! Critical cycles: executions that distinguish the models.
//!
//! Every thread has an access where the cycle enters it and one, possibly the same, where it leaves it. The edges
//! between threads are rf, mo and fr: exactly the outcome that no interleaving has, as in the classical tests (SB, MP,
//! LB, S, R, 2+2W, WRC, IRIW). The events between the two accesses and all memory orders are random, so the cycle may
//! be forbidden or not. An rf edge may go through a read-modify-write or a later store of the same thread, for release
//! sequences. Sometimes a random access is added.

use raddle_core::execution::Execution;

use super::EVENTS;
use super::sketch::{Palette, Sketch, SketchKind};
use raddle_core::random::Random;

/// Accesses where a cycle enters and leaves a thread.
struct CycleCorner {
    thread: usize,
    first: usize,
    last: usize,
    location: usize,
}

/// Generates a critical cycle of 2 to 4 threads, possibly with additional observer threads.
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

/// Draws the cycle. Returns the number of locations.
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
        corners.push(CycleCorner { thread, first, last, location });
    }
    for (i, corner) in corners.iter().enumerate() {
        connect(sketch, corner, &corners[(i + 1) % threads], random);
    }
    locations
}

fn access(random: &mut Random) -> SketchKind {
    match random.below(20) {
        0..8 => SketchKind::Read,
        8..16 => SketchKind::Write,
        16..18 => SketchKind::Update,
        18 => SketchKind::Cas,
        _ => SketchKind::FailedCas,
    }
}

fn between(sketch: &mut Sketch, thread: usize, lock: usize, random: &mut Random) {
    match random.below(20) {
        0..9 => drop(sketch.push(thread, SketchKind::Fence, usize::MAX, None)),
        9 => drop(sketch.push(thread, SketchKind::StoreFence, usize::MAX, None)),
        10 => {
            sketch.push(thread, SketchKind::Lock, lock, None);
            sketch.push(thread, SketchKind::Unlock, lock, None);
        }
        _ => {}
    }
}

/// Orders the first access of a corner after the last one of the previous corner.
fn connect(sketch: &mut Sketch, from: &CycleCorner, to: &CycleCorner, random: &mut Random) {
    let location = from.location;
    let kind = |sketch: &mut Sketch, id| sketch.find_mut(id).map_or(SketchKind::Fence, |d| d.kind);
    let (earlier, later) = (kind(sketch, from.last), kind(sketch, to.first));
    if earlier.writes() && later.reads() {
        let source = release_sequence(sketch, from, random);
        observe(sketch, to.first, source);
    } else if later.reads() {
        // fr and then rf: the write between them has a thread of its own.
        let thread = sketch.new_thread();
        let write = sketch.push(thread, SketchKind::Write, location, None);
        observe(sketch, to.first, write);
    } else if earlier.writes() {
        fix_mo(sketch, from, to, random);
    }
}

/// Returns the write that the next thread observes: usually the last one of the corner, otherwise a relaxed one that
/// may be in its release sequence.
fn release_sequence(sketch: &mut Sketch, from: &CycleCorner, random: &mut Random) -> usize {
    let id = match random.below(8) {
        0 => {
            let thread = sketch.new_thread();
            sketch.push(thread, SketchKind::Update, from.location, Some(from.last))
        }
        1 | 2 => sketch.push(from.thread, SketchKind::Write, from.location, None),
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

/// Adds reads that order one write before another, or nothing.
fn fix_mo(sketch: &mut Sketch, from: &CycleCorner, to: &CycleCorner, random: &mut Random) {
    match random.below(5) {
        0 => {}
        1 | 2 => drop(sketch.push(from.thread, SketchKind::Read, from.location, Some(to.first))),
        _ => {
            let observer = sketch.new_thread();
            sketch.push(observer, SketchKind::Read, from.location, Some(from.last));
            sketch.push(observer, SketchKind::Read, from.location, Some(to.first));
        }
    }
}

/// Adds an access at a random position. A read observes the initial write or another one.
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
