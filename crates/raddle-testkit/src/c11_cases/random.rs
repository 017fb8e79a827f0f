//! Random events with random sources.

use raddle_core::execution::Execution;

use super::EVENTS;
use super::sketch::{Palette, Sketch, SketchKind};
use raddle_core::random::Random;

/// Generates an execution of 2 to 4 threads and 1 to 3 locations. The events are drawn in an order of execution, and
/// most reads observe an earlier write.
#[must_use]
pub fn random_case(seed: u64) -> Execution {
    let mut random = Random::new(seed);
    loop {
        let locations = 1 + random.below(3);
        let mut sketch = draw(locations, &mut random);
        choose_sources(&mut sketch, locations, &mut random);
        if random.chance(0.2) {
            add_spawns(&mut sketch, &mut random);
        }
        let palette = Palette::draw(&mut random);
        if let Some(execution) = sketch.finish(locations, palette, &mut random) {
            return execution;
        }
    }
}

/// Draws events in the order of their ids.
fn draw(locations: usize, random: &mut Random) -> Sketch {
    let mut sketch = Sketch::new(2 + random.below(3));
    let mut held = vec![false; sketch.threads.len()];
    let locks = random.chance(0.2);
    for _ in 0..3 + random.below(EVENTS - 2) {
        let thread = random.below(held.len());
        let kind = match random.below(20) {
            0..7 => SketchKind::Read,
            7..13 => SketchKind::Write,
            13 | 14 => SketchKind::Update,
            15 => SketchKind::Cas,
            16 => SketchKind::FailedCas,
            17 if locks => {
                held[thread] = !held[thread];
                if held[thread] { SketchKind::Lock } else { SketchKind::Unlock }
            }
            18 if random.chance(0.2) => SketchKind::StoreFence,
            _ => SketchKind::Fence,
        };
        let is_lock = matches!(kind, SketchKind::Lock | SketchKind::Unlock);
        let location = if is_lock { locations } else { random.below(locations) };
        sketch.push(thread, kind, location, None);
    }
    sketch
}

/// Draws sources. A third of the reads observe the last write before them, most others some earlier one.
fn choose_sources(sketch: &mut Sketch, locations: usize, random: &mut Random) {
    for id in 0..sketch.len() {
        let Some(draft) = sketch.find_mut(id).cloned() else { continue };
        let is_source = |kind: SketchKind| {
            if draft.location == locations { kind == SketchKind::Unlock } else { kind.writes() }
        };
        if !draft.kind.reads() && draft.kind != SketchKind::Lock {
            continue;
        }
        let all = sketch.drafts().filter(|d| d.location == draft.location && is_source(d.kind));
        let mut all: Vec<usize> = all.map(|d| d.id).filter(|&other| other != id).collect();
        all.sort_unstable();
        let earlier = all.iter().filter(|&&other| other < id).count();
        // 0 is the initial write, which is not in `all`.
        let chosen = match random.below(20) {
            0..7 => earlier,
            7..18 => random.below(earlier + 1),
            _ => random.below(all.len() + 1),
        };
        if let Some(draft) = sketch.find_mut(id) {
            draft.source = chosen.checked_sub(1).map(|index| all[index]);
        }
    }
}

/// Lets the first thread start some of the others, and join some at its end.
fn add_spawns(sketch: &mut Sketch, random: &mut Random) {
    for thread in 1..sketch.threads.len() {
        if random.chance(0.5) {
            let spawn = sketch.draft(SketchKind::Spawn(thread), usize::MAX, None);
            let at = random.below(sketch.threads[0].len() + 1);
            sketch.threads[0].insert(at, spawn);
        }
        if random.chance(0.5) {
            sketch.push(0, SketchKind::Join(thread), usize::MAX, None);
        }
    }
}
