//! Atomic file writes. An async export cannot throw an error with our codes, so it returns failures as data and
//! TypeScript creates the error.

use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::path::Path;

use agent_rewind_core::util::file::{self, FileError, Sink, replace_file};
use napi_derive::napi;

#[napi(object)]
pub struct BindingFileFailure {
    /// The system call, by Node's name for it: "open", "write", "fsync" or "rename".
    pub syscall: String,
    /// The error number of the operating system.
    pub errno: Option<i32>,
    /// Node's name of the error, for errors whose number Node does not know.
    pub code: String,
    pub message: String,
}

/// Replaces a file with the given text, on another thread. `temporary` must be an unused name in the same folder.
#[napi]
pub async fn write_text_file(
    path: String,
    temporary: String,
    text: String,
) -> Option<BindingFileFailure> {
    replace(&path, &temporary, move |sink| sink.push(&mut { text }))
}

/// An exclusive lock on a file. The operating system releases it when the process ends.
#[napi]
pub struct FileLock {
    path: String,
    lock: RefCell<Option<file::FileLock>>,
}

#[napi]
impl FileLock {
    #[napi(constructor, catch_unwind)]
    pub fn new(path: String) -> Self {
        Self {
            path,
            lock: RefCell::default(),
        }
    }

    /// Locks the file, which is created if needed, and replaces its content with `owner`. `null` on success. The code
    /// of the failure is "EAGAIN" if another `FileLock` in this or another process has the lock.
    #[napi(catch_unwind)]
    pub fn try_lock(&self, owner: String) -> Option<BindingFileFailure> {
        match file::FileLock::try_lock(Path::new(&self.path), &owner) {
            Ok(Some(lock)) => {
                self.lock.replace(Some(lock));
                None
            }
            Ok(None) => Some(failure(&FileError {
                syscall: "lock",
                source: io::Error::from(ErrorKind::WouldBlock),
            })),
            Err(error) => Some(failure(&error)),
        }
    }

    /// Removes the file (on Windows it stays) and releases the lock.
    #[napi(catch_unwind)]
    pub fn release(&self) {
        self.lock.take();
    }
}

pub fn replace(
    path: &str,
    temporary: &str,
    write: impl FnOnce(&mut Sink<'_>),
) -> Option<BindingFileFailure> {
    let replaced = replace_file(Path::new(path), Path::new(temporary), |file| {
        let mut sink = Sink::new(file);
        write(&mut sink);
        sink.finish()
    });
    replaced.err().map(|error| failure(&error))
}

fn failure(error: &FileError) -> BindingFileFailure {
    let code = match error.source.kind() {
        ErrorKind::WouldBlock => "EAGAIN",
        ErrorKind::NotFound => "ENOENT",
        ErrorKind::PermissionDenied => "EACCES",
        ErrorKind::AlreadyExists => "EEXIST",
        ErrorKind::NotADirectory => "ENOTDIR",
        ErrorKind::IsADirectory => "EISDIR",
        ErrorKind::StorageFull => "ENOSPC",
        ErrorKind::QuotaExceeded => "EDQUOT",
        ErrorKind::ReadOnlyFilesystem => "EROFS",
        ErrorKind::InvalidFilename => "ENAMETOOLONG",
        ErrorKind::InvalidInput => "EINVAL",
        _ => "EIO",
    };
    BindingFileFailure {
        syscall: error.syscall.to_owned(),
        errno: error.source.raw_os_error(),
        code: code.to_owned(),
        message: error.source.to_string(),
    }
}
