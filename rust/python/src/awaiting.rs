//! What an asynchronous iterator waits for. Its `__anext__` is a coroutine of two lines, see `AsyncItems` in `pull.py`: it
//! takes the next item where that comes without waiting, and awaits it otherwise.
//!
//! With a coroutine of Python for each item and another for each read, awaiting cost as much as decoding. Here the usual
//! is done: items, reads, and turns for other tasks. How a stream ends, and what becomes of a read that failed or was
//! cancelled, is for the coroutines `ended` and `failed` of `AsyncPull`, which raise what is to be raised.
//!
//! The coroutine of two lines stays because it costs less than none. What is compiled without unsafe code can return
//! from being awaited by an exception only, which takes longer to make than a coroutine (measured with
//! Python 3.11).

use std::sync::atomic::AtomicBool;

use pyo3::exceptions::{PyGeneratorExit, PyRuntimeError, PyStopAsyncIteration};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyString};
use pyo3::{PyTraverseError, PyVisit, intern};
use try_lock::TryLock;

use crate::awaited_reads::AwaitedReads;
use crate::driving::{Came, driver, exception, returning};
use crate::errors::guarded;
use crate::turn::Needs;
use crate::view::View;

/// The items of one view of a stream: iterating gives those that come without waiting, and awaiting then the next.
#[pyclass(frozen, generic, module = "ssewire._core")]
pub(crate) struct ReadyItems {
    reads: Py<AwaitedReads>,
    view: View,
    pull: Py<PyAny>,
    /// Where iterating has stopped, to be awaited at once.
    next: TryLock<Option<Py<NextItem>>>,
}

/// What is awaited inside.
#[derive(Clone, Copy)]
enum Step {
    Read,
    Turn,
    /// What raises how this await ends.
    End,
}

enum Next<'py> {
    Item(Bound<'py, PyAny>),
    /// A step waits, and gave this for the event loop.
    Waits(Step, Bound<'py, PyIterator>, Bound<'py, PyAny>),
}

#[pymethods]
impl ReadyItems {
    #[new]
    fn py_new(reads: Py<AwaitedReads>, view: View, pull: Py<PyAny>) -> Self {
        Self { reads, view, pull, next: TryLock::new(None) }
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let (py, items) = (slf.py(), slf.get());
        if items.reads.get().reading() {
            items.refuse(py)?;
        }
        match guarded(py, &AtomicBool::new(false), || items.run(py))? {
            Next::Item(item) => Ok(Some(item.unbind())),
            Next::Waits(step, driver, given) => {
                let stage = Stage::Begun(step, driver.unbind(), given.unbind());
                let next = Py::new(py, NextItem { items: slf.clone().unbind(), stage })?;
                if let Some(mut place) = items.next.try_lock() {
                    *place = Some(next);
                }
                Ok(None)
            }
        }
    }

    fn __await__(&self) -> PyResult<Py<NextItem>> {
        self.next.try_lock().and_then(|mut place| place.take()).ok_or_else(reused)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.reads)?;
        self.view.traverse(&visit)?;
        visit.call(&self.pull)?;
        self.next.try_lock().map_or(Ok(()), |next| visit.call(&*next))
    }

    fn __clear__(&self) {
        drop(self.next.try_lock().and_then(|mut place| place.take()));
    }
}

impl ReadyItems {
    /// Go on until an item is there, or something is to be waited for.
    fn run<'py>(&self, py: Python<'py>) -> PyResult<Next<'py>> {
        let reads = self.reads.get();
        loop {
            let needs = match self.view.next(py) {
                Ok(Some(item)) => return Ok(Next::Item(item)),
                Ok(None) => reads.needs(),
                Err(error) => return self.end(intern!(py, "ended"), error),
            };
            if needs == Needs::Nothing {
                return self.end(intern!(py, "ended"), PyStopAsyncIteration::new_err(()));
            }
            if !reads.begin() {
                self.refuse(py)?;
                continue;
            }
            let (step, driver) =
                if needs == Needs::Read { (Step::Read, reads.next(py)) } else { (Step::Turn, self.turn(py)) };
            if let Some(next) = self.take(py, step, Came::begun(driver))? {
                return Ok(next);
            }
        }
    }

    /// Take what came of a step; gives what comes next, if that is known.
    fn take<'py>(&self, py: Python<'py>, step: Step, came: Came<'py>) -> PyResult<Option<Next<'py>>> {
        let reads = self.reads.get();
        let failure = match (step, came) {
            (_, Came::Waits(driver, given)) => return Ok(Some(Next::Waits(step, driver, given))),
            (Step::End, Came::Raised(error)) => return Err(error),
            (Step::Read, Came::Raised(error)) if error.is_instance_of::<PyStopAsyncIteration>(py) => {
                reads.set_reading(false);
                reads.finish(py)?;
                return Ok(None);
            }
            (Step::Read, Came::Returned(read)) => reads.feed(&read).err(),
            (_, Came::Returned(_)) => None,
            (_, Came::Raised(error)) => Some(error),
        };
        let Some(failure) = failure else {
            reads.set_reading(false);
            return Ok(None);
        };
        self.end(intern!(py, "failed"), failure).map(Some)
    }

    /// Await the pull's coroutine of that name, which raises the error, or what is to be raised instead.
    #[cold]
    fn end<'py>(&self, name: &Bound<'py, PyString>, error: PyErr) -> PyResult<Next<'py>> {
        let py = name.py();
        let coroutine = self.pull.bind(py).call_method1(name, (error.into_value(py),))?;
        match Came::begun(driver(&coroutine)) {
            Came::Waits(driver, given) => Ok(Next::Waits(Step::End, driver, given)),
            Came::Raised(error) => Err(error),
            Came::Returned(_) => Err(reused()),
        }
    }

    fn turn<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        driver(&self.pull.bind(py).call_method0(intern!(py, "turn"))?)
    }

    /// Somebody else reads.
    #[cold]
    fn refuse(&self, py: Python<'_>) -> PyResult<()> {
        self.pull.call_method0(py, intern!(py, "begin")).map(drop)
    }
}

enum Stage {
    /// The event loop was not given this yet.
    Begun(Step, Py<PyIterator>, Py<PyAny>),
    Waiting(Step, Py<PyIterator>),
    /// Over, or at work right now.
    Over,
}

/// Waits for the next item.
#[pyclass(module = "ssewire._core")]
pub(crate) struct NextItem {
    items: Py<ReadyItems>,
    stage: Stage,
}

#[pymethods]
impl NextItem {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.send(py.None().bind(py))
    }

    /// Go on with what the event loop gives; gives what it is to wait for.
    fn send(&mut self, value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = value.py();
        match self.go_on() {
            Stage::Begun(step, driver, given) => {
                self.stage = Stage::Waiting(step, driver);
                Ok(given)
            }
            Stage::Waiting(step, driver) => self.take(py, step, Came::sent(driver.into_bound(py), value)),
            Stage::Over => Err(reused()),
        }
    }

    /// Raise an exception where it waits.
    #[pyo3(signature = (kind, value = None, traceback = None, /))]
    fn throw(
        &mut self,
        kind: &Bound<'_, PyAny>,
        value: Option<&Bound<'_, PyAny>>,
        traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let py = kind.py();
        let error = exception(kind, value, traceback)?;
        match self.go_on() {
            Stage::Begun(step, driver, _) | Stage::Waiting(step, driver) => {
                self.take(py, step, Came::thrown(driver.into_bound(py), error))
            }
            Stage::Over => Err(reused()),
        }
    }

    /// Give up waiting.
    fn close(&mut self, py: Python<'_>) -> PyResult<()> {
        let (Stage::Begun(step, driver, _) | Stage::Waiting(step, driver)) = self.go_on() else { return Ok(()) };
        match self.take(py, step, Came::closed(driver.bind(py), PyGeneratorExit::new_err(()))) {
            Ok(_) => Err(PyRuntimeError::new_err("coroutine ignored GeneratorExit")),
            Err(error) if error.is_instance_of::<PyGeneratorExit>(py) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.stage {
            Stage::Begun(_, driver, given) => {
                visit.call(driver)?;
                visit.call(given)?;
            }
            Stage::Waiting(_, driver) => visit.call(driver)?,
            Stage::Over => {}
        }
        visit.call(&self.items)
    }

    fn __clear__(&mut self) {
        self.leave();
    }
}

impl NextItem {
    fn go_on(&mut self) -> Stage {
        std::mem::replace(&mut self.stage, Stage::Over)
    }

    /// Take what came of a step, and go on; an item is raised, as awaitables return.
    fn take(&mut self, py: Python<'_>, step: Step, came: Came<'_>) -> PyResult<Py<PyAny>> {
        let items = self.items.clone_ref(py);
        let next = guarded(py, &AtomicBool::new(false), || match items.get().take(py, step, came)? {
            Some(next) => Ok(next),
            None => items.get().run(py),
        })?;
        match next {
            Next::Item(item) => Err(returning(item)),
            Next::Waits(step, driver, given) => {
                self.stage = Stage::Waiting(step, driver.unbind());
                Ok(given.unbind())
            }
        }
    }

    /// A coroutine closes what it waits for; where an interruption keeps it from that, the read is lost all the same.
    fn leave(&mut self) {
        if let Stage::Begun(Step::Read | Step::Turn, ..) | Stage::Waiting(Step::Read | Step::Turn, _) = self.go_on() {
            self.items.get().reads.get().abandon();
        }
    }
}

impl Drop for NextItem {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cold]
fn reused() -> PyErr {
    PyRuntimeError::new_err("cannot reuse already awaited coroutine")
}
