//! Atomic file replacement: a reader sees either the old text or the new text, also after a crash.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::mem;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// A failed file operation.
#[derive(Debug, thiserror::Error)]
#[error("{syscall}: {source}")]
pub struct FileError {
    /// The system call, by Node's name for it.
    pub syscall: &'static str,
    pub source: io::Error,
}

fn failed(syscall: &'static str) -> impl FnOnce(io::Error) -> FileError {
    move |source| FileError { syscall, source }
}

/// Replaces a file with the output of `write`. The output goes to `temporary` first, a path in the same folder at
/// which no file exists yet.
///
/// # Errors
/// A failed file operation. The file is then unchanged and `temporary` is removed.
pub fn replace_file(
    path: &Path,
    temporary: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), FileError> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(temporary)
        .map_err(failed("open"))?;
    let written = write(&mut file)
        .map_err(failed("write"))
        .and_then(|()| file.sync_all().map_err(failed("fsync")));
    drop(file);
    let renamed = written.and_then(|()| fs::rename(temporary, path).map_err(failed("rename")));
    if renamed.is_err() {
        // The first failure is the one to report.
        let _ = fs::remove_file(temporary);
    }
    renamed?;
    sync_folder_of(path);
    Ok(())
}

/// Makes the rename durable. On platforms where a folder cannot be synced (Windows) this does nothing.
fn sync_folder_of(path: &Path) {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
}

/// Takes texts for a file, and keeps the first failure until it is asked for. From the second on they are written by
/// another thread, while the next one is made.
pub struct Sink<'f> {
    file: &'f mut File,
    taken: usize,
    helper: Option<Helper>,
    failure: io::Result<()>,
}

/// A thread that writes. One text may wait for it: what is made faster than it is written must not fill the memory.
struct Helper {
    desk: OpenDesk,
    thread: JoinHandle<io::Result<()>>,
}

/// Is closed when it is dropped, whatever ended who hands texts over.
struct OpenDesk(Arc<Desk>);

impl Drop for OpenDesk {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Where texts are handed over. (The channels of the standard library would be 32 KB of the addon.)
#[derive(Default)]
struct Desk {
    on_it: Mutex<OnDesk>,
    changed: Condvar,
}

#[derive(Default)]
struct OnDesk {
    full: Option<String>,
    /// Room to be used again.
    empty: Option<String>,
    /// Nothing more comes, or nothing more is taken.
    is_closed: bool,
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, OnDesk> {
        self.on_it.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits as long as `holds`.
    fn wait_while(&self, holds: impl FnMut(&mut OnDesk) -> bool) -> MutexGuard<'_, OnDesk> {
        let waited = self.changed.wait_while(self.lock(), holds);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a text over, and leaves room for the next one in its place. Where nothing is taken any more it is lost.
    fn put(&self, text: &mut String) {
        let mut desk = self.wait_while(|desk| desk.full.is_some() && !desk.is_closed);
        let room = desk.empty.take().unwrap_or_default();
        desk.full = Some(mem::replace(text, room));
        self.changed.notify_all();
    }

    /// The next text; `None` at the end.
    fn take(&self) -> Option<String> {
        let mut desk = self.wait_while(|desk| desk.full.is_none() && !desk.is_closed);
        let text = desk.full.take();
        self.changed.notify_all();
        text
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    fn write_all(&self, file: &mut File) -> io::Result<()> {
        while let Some(mut text) = self.take() {
            file.write_all(text.as_bytes())?;
            text.clear();
            self.lock().empty = Some(text);
        }
        Ok(())
    }
}

impl<'f> Sink<'f> {
    #[must_use]
    pub fn new(file: &'f mut File) -> Self {
        Self {
            file,
            taken: 0,
            helper: None,
            failure: Ok(()),
        }
    }

    /// Writes the text out and empties it.
    pub fn take(&mut self, text: &mut String) {
        self.taken += 1;
        if self.taken == 2 {
            self.helper = Helper::start(self.file);
        }
        match &self.helper {
            // Where the helper has ended, its failure is found at the end.
            Some(helper) => helper.desk.0.put(text),
            None if self.failure.is_ok() => self.failure = self.file.write_all(text.as_bytes()),
            None => {}
        }
        text.clear();
    }

    /// # Errors
    /// The first failure to write.
    pub fn finish(self) -> io::Result<()> {
        self.failure?;
        match self.helper {
            Some(helper) => helper.finish(),
            None => Ok(()),
        }
    }
}

impl Helper {
    /// `None` where there can be no further thread.
    fn start(file: &File) -> Option<Self> {
        let mut file = file.try_clone().ok()?;
        let desk = OpenDesk(Arc::default());
        let of_thread = Arc::clone(&desk.0);
        let write = move || {
            let written = of_thread.write_all(&mut file);
            // Who hands texts over must not wait for ever.
            of_thread.close();
            written
        };
        let thread = thread::Builder::new().spawn(write).ok()?;
        Some(Self { desk, thread })
    }

    fn finish(self) -> io::Result<()> {
        drop(self.desk);
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| Err(io::Error::other("the thread that writes has panicked")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> std::path::PathBuf {
        let folder =
            std::env::temp_dir().join(format!("agent-rewind-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn takes_texts_in_their_order() {
        let folder = folder("sink");
        for pieces in [0, 1, 2, 3, 1_000] {
            let path = folder.join(pieces.to_string());
            let mut text = String::new();
            let mut wanted = String::new();
            replace_file(&path, &path.with_extension("tmp"), |file| {
                let mut sink = Sink::new(file);
                for piece in 0..pieces {
                    text.push_str(&format!("{piece} ").repeat(piece));
                    wanted.push_str(&text);
                    sink.take(&mut text);
                    assert_eq!(text, "");
                }
                sink.finish()
            })
            .unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), wanted, "{pieces}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    /// What is written to this file finds no room.
    #[test]
    #[cfg(target_os = "linux")]
    fn tells_of_a_failure_whichever_thread_had_it() {
        for pieces in 1..5 {
            let mut full = OpenOptions::new().write(true).open("/dev/full").unwrap();
            let mut sink = Sink::new(&mut full);
            for _ in 0..pieces {
                sink.take(&mut "text".repeat(10_000));
            }
            let error = sink.finish().unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{pieces}");
        }
    }

    #[test]
    fn a_failure_leaves_the_file_as_it_was() {
        let folder = folder("replace");
        let (path, temporary) = (folder.join("a"), folder.join(".a.tmp"));
        replace_file(&path, &temporary, |file| file.write_all(b"old")).unwrap();
        let full = |_: &mut File| Err(io::Error::from(io::ErrorKind::StorageFull));
        let error = replace_file(&path, &temporary, full).unwrap_err();
        assert_eq!(error.syscall, "write");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert!(!temporary.exists());
        let missing = folder.join("none").join("b");
        let error = replace_file(&missing, &missing.with_extension("tmp"), |_| Ok(())).unwrap_err();
        assert_eq!(
            (error.syscall, error.source.kind()),
            ("open", io::ErrorKind::NotFound)
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
