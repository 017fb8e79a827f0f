//! Dropping writes that nobody can observe any more.

use super::{CROWD, ROOM, Thread, Views};

impl Views {
    /// Drops writes that nobody can observe any more, and the oldest if there are too many.
    #[cold]
    pub(super) fn drop_old(&mut self, location: usize) {
        if !self.orders.has_modification_order() {
            self.drop_overwritten(location);
        } else {
            let reads = |thread: &&Thread| thread.is_live && !thread.joins;
            let place = &self.places[location];
            let oldest = (self.threads.iter().filter(reads))
                .map(|thread| place.first(place.known(&thread.knows.clock)))
                .min();
            self.drop_first(location, oldest.unwrap_or(0));
        }
        let len = self.places[location].writes.len();
        if len >= ROOM {
            self.drop_first(location, len - ROOM / 2);
        }
        let place = &mut self.places[location];
        place.forget_old();
        place.crowd = CROWD.max(2 * place.writes.len()).min(ROOM);
    }

    /// Drops the first writes of a location.
    fn drop_first(&mut self, location: usize, count: usize) {
        for write in self.places[location].writes.drain(..count) {
            self.tales.give_back(write.tale);
        }
    }
}
