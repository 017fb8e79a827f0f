//! Tests: closures whose types are erased, so that nothing else is compiled for each of them.

use raddle_runtime::{Native, Settings};

/// A test.
#[derive(Clone, Copy)]
pub(crate) struct Test<'f> {
    /// Runs the test once.
    pub(crate) run: &'f dyn Fn(),
    /// The name of the closure's type, which identifies the test in its executable.
    #[cfg_attr(not(feature = "parallel"), expect(dead_code, reason = "checkpoints alone need it"))]
    pub(crate) name: &'static str,
}

/// The program of a test.
pub(crate) type TestProgram<'f> = Native<&'f dyn Fn()>;

impl<'f> Test<'f> {
    /// The test of a closure.
    pub(crate) fn of<F: Fn()>(run: &'f F) -> Self {
        Test { run, name: std::any::type_name::<F>() }
    }

    /// A program that has not run yet.
    pub(crate) fn program(self, settings: Settings) -> TestProgram<'f> {
        Native::new(self.run, settings)
    }
}
