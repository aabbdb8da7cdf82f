//! Atomic file replacement: a reader sees either the old text or the new text, also after a crash.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::mem;
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
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
/// which no file exists yet. The file keeps its permissions; only its owner can read a new file.
///
/// # Errors
/// A failed file operation. The file is then unchanged and `temporary` is removed.
pub fn replace_file(
    path: &Path,
    temporary: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), FileError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // The content may contain secrets.
    #[cfg(unix)]
    options.mode(0o600);
    let mut file = options.open(temporary).map_err(failed("open"))?;
    let kept = fs::metadata(path).map_or(Ok(()), |old| file.set_permissions(old.permissions()));
    let written = kept
        .map_err(failed("fchmod"))
        .and_then(|()| write(&mut file).map_err(failed("write")))
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

/// An exclusive lock on a file. The operating system releases it when the process ends.
#[derive(Debug)]
pub struct FileLock {
    file: File,
    path: PathBuf,
}

impl FileLock {
    /// Locks the file at `path`, which is created if needed, and replaces its content with `owner`. `None` if another
    /// handle in this or another process has the lock.
    ///
    /// # Errors
    /// A failed file operation.
    pub fn try_lock(path: &Path, owner: &str) -> Result<Option<Self>, FileError> {
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            #[cfg(unix)]
            options.mode(0o600);
            let mut file = options.open(path).map_err(failed("open"))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
            }
            // The previous owner may have removed the file after it was opened here.
            if is_at(&file, path) {
                file.set_len(0).map_err(failed("ftruncate"))?;
                file.write_all(owner.as_bytes()).map_err(failed("write"))?;
                let path = path.to_owned();
                return Ok(Some(Self { file, path }));
            }
        }
    }
}

impl Drop for FileLock {
    /// Removes the file while it is still locked. Where an open file cannot be identified (Windows), it stays.
    fn drop(&mut self) {
        if cfg!(unix) && is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// True if `path` leads to the open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(found)) => (open.dev(), open.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Writes texts to a file and keeps the first failure until [`Sink::finish`]. From the second text on, another thread
/// writes while the caller produces the next text.
pub struct Sink<'f> {
    file: &'f mut File,
    pushed: usize,
    writer: Option<Writer>,
    failure: io::Result<()>,
}

/// A thread that writes. Its channel has room for one text, so that fast producers do not fill the memory.
struct Writer {
    full: SyncSender<String>,
    /// Written texts, whose memory is reused.
    empty: Receiver<String>,
    thread: JoinHandle<io::Result<()>>,
}

impl<'f> Sink<'f> {
    pub fn new(file: &'f mut File) -> Self {
        Self {
            file,
            pushed: 0,
            writer: None,
            failure: Ok(()),
        }
    }

    /// Writes the text and empties it.
    pub fn push(&mut self, text: &mut String) {
        self.pushed += 1;
        if self.pushed == 2 {
            self.writer = Writer::start(self.file);
        }
        match &self.writer {
            Some(writer) => writer.push(text),
            None if self.failure.is_ok() => self.failure = self.file.write_all(text.as_bytes()),
            None => {}
        }
        text.clear();
    }

    /// # Errors
    /// The first failure to write.
    pub fn finish(self) -> io::Result<()> {
        self.failure?;
        self.writer.map_or(Ok(()), Writer::finish)
    }
}

impl Writer {
    /// `None` if no thread can be started.
    fn start(file: &File) -> Option<Self> {
        let mut file = file.try_clone().ok()?;
        let (full, texts) = sync_channel::<String>(1);
        let (emptied, empty) = channel();
        let write = move || {
            for mut text in texts {
                file.write_all(text.as_bytes())?;
                text.clear();
                let _ = emptied.send(text);
            }
            Ok(())
        };
        let thread = thread::Builder::new().spawn(write).ok()?;
        Some(Self {
            full,
            empty,
            thread,
        })
    }

    fn push(&self, text: &mut String) {
        let room = self.empty.try_recv().unwrap_or_default();
        // A thread that has ended reports its failure in `finish`.
        let _ = self.full.send(mem::replace(text, room));
    }

    fn finish(self) -> io::Result<()> {
        drop(self.full);
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| Err(io::Error::other("the writing thread panicked")))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/util/file.rs"]
mod tests;
