//! Plain accesses.
//!
//! A plain load: the value that the explorer chose is put into memory, and the program loads it. A plain
//! store: its value is in memory by the thread's next hook, and taken there. All that only for shared memory;
//! an access to the thread's own goes to memory as it is.

use raddle_core::execution::MemoryOrder;
use raddle_core::outcome::FindingKind;
use raddle_core::program::{End, OpKind, PlaceId};
use smallvec::SmallVec;

use crate::access::Class;
use crate::layout::{Cut, What};
use crate::native::Native;
use crate::serve::Flow;
use crate::threads::{PlainStore, Then, Waiting};
use crate::trap;

impl Native {
    /// A plain load comes next.
    #[inline]
    pub(crate) fn read(&mut self, address: usize, size: usize, cut: Cut) -> Flow {
        self.read_by(address, size, cut, MemoryOrder::NonAtomic)
    }

    /// A load comes next that the program does itself.
    #[inline]
    pub(crate) fn read_by(
        &mut self,
        address: usize,
        size: usize,
        cut: Cut,
        order: MemoryOrder,
    ) -> Flow {
        if size == 0 {
            return Ok(());
        }
        match self.classify(address, size)? {
            Class::Constant => Ok(()),
            Class::Own { .. } => self.note_private_read(address, size),
            Class::Shared => {
                let piece = self.layout.watched(address, size).next();
                match piece {
                    None => self.load_shared(address, size, cut, order),
                    Some(piece) if cut == Cut::Never => Err(self.mixed(address, size, piece)),
                    Some(piece) => self.read_pieces(piece, address, size, cut),
                }
            }
        }
    }

    /// A load of shared memory comes next.
    pub(crate) fn load_shared(
        &mut self,
        address: usize,
        size: usize,
        cut: Cut,
        order: MemoryOrder,
    ) -> Flow {
        let locations = self.locate(address, size, cut)?;
        let location = locations[0];
        self.thread_mut().waiting = Waiting::Plain { locations, values: SmallVec::new() };
        Err(self.question(OpKind::Load { location, order }))
    }

    /// A plain load comes next of memory that is accessed in pieces of different sizes: asks from this piece on.
    fn read_pieces(&mut self, piece: usize, address: usize, size: usize, cut: Cut) -> Flow {
        let place = self.place();
        let location = self.layout.locate_other(What::Piece, piece, place);
        self.thread_mut().waiting = Waiting::Piece { piece, address, size, cut };
        Err(self.question(OpKind::ReadCell { location }))
    }

    /// The piece was asked about.
    pub(crate) fn after_piece(
        &mut self,
        piece: usize,
        address: usize,
        size: usize,
        cut: Cut,
    ) -> Flow {
        let next = self.layout.watched(address, size).find(|&other| other < piece);
        match next {
            None => self.load_shared(address, size, cut, MemoryOrder::NonAtomic),
            Some(next) => self.read_pieces(next, address, size, cut),
        }
    }

    /// Notes a plain store to memory that is accessed in pieces of different sizes.
    pub(crate) fn write_pieces(&mut self, address: usize, size: usize, place: PlaceId) {
        let pieces: Vec<usize> = self.layout.watched(address, size).collect();
        for piece in pieces {
            let location = self.layout.locate_other(What::Piece, piece, place);
            self.effect_at(OpKind::WriteCell { location }, place);
        }
    }

    /// A plain load comes next, of a variable that most likely nobody writes. If nobody does, there is no op.
    pub(crate) fn read_setting(&mut self, address: usize, size: usize) -> Flow {
        let is_variable = self.module.is_variable(address);
        let is_shared = is_variable && self.classify(address, size)? == Class::Shared;
        if is_shared {
            match self.layout.is_setting(address, size) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(_) => return Err(self.again()),
            }
        }
        self.read(address, size, Cut::Scalar)
    }

    /// A plain store comes next.
    #[inline]
    pub(crate) fn write(&mut self, address: usize, size: usize, cut: Cut) -> Flow {
        if size == 0 {
            return Ok(());
        }
        match self.classify(address, size)? {
            Class::Own { is_on_stack } => self.note_private_write(address, size, is_on_stack),
            Class::Constant if self.is_the_programs(address) => Ok(()),
            Class::Constant => {
                let message = "writes memory that is not the program's, such as the C library's";
                Err(self.failure(FindingKind::Unsupported, message))
            }
            Class::Shared => {
                if self.layout.writes_setting(address, size) {
                    return Err(self.again());
                }
                match self.check_block(address, size, Then::Plain(cut)) {
                    Some(question) => Err(question),
                    None => self.note_store(address, size, cut),
                }
            }
        }
    }

    /// If the address is in a block that may be freed, the thread asks whether it has been. Loads need not
    /// ask: they find out by what they read.
    pub(crate) fn check_block(&mut self, address: usize, size: usize, then: Then) -> Option<End> {
        let block = self.layout.freed_block(address)?;
        let place = self.place();
        let location = self.layout.locate_other(What::Block, block, place);
        self.thread_mut().waiting = Waiting::Block { address, size, then };
        Some(self.question(OpKind::Load { location, order: MemoryOrder::Relaxed }))
    }

    /// A plain store to shared memory comes next.
    pub(crate) fn note_store(&mut self, address: usize, size: usize, cut: Cut) -> Flow {
        let locations = self.locate(address, size, cut)?;
        let place = self.place();
        self.write_pieces(address, size, place);
        let borrowed = locations.iter().filter_map(|&it| self.borrow(it)).collect();
        self.thread_mut().stores.push(PlainStore { locations, borrowed, place });
        Ok(())
    }

    /// Whether the address is in the loaded object, whose constants the system protects, or nowhere.
    pub(crate) fn is_the_programs(&self, address: usize) -> bool {
        let (from, to) = self.module.constants;
        (from..to).contains(&address) || !trap::is_mapped(address)
    }
}
