//! Files that are written whole. An async export cannot throw an error with a code of ours, so a
//! failure comes back as data, and TypeScript makes the error.

use std::io::ErrorKind;
use std::path::Path;

use agent_rewind_core::util::file::{FileError, Sink, replace_file};
use napi_derive::napi;

#[napi(object)]
pub struct FileFailure {
    /// As Node names it: "open", "write", "fsync" or "rename".
    pub syscall: String,
    /// The number of the operating system.
    pub errno: Option<i32>,
    /// As Node names it, where the number says nothing to Node.
    pub code: String,
    pub message: String,
}

/// Replaces a file by the given text, on another thread. `temporary` is a name in the same folder that is
/// free.
#[napi]
pub async fn write_text_file(path: String, temporary: String, text: String) -> Option<FileFailure> {
    replace(&path, &temporary, move |sink| sink.take(&mut { text }))
}

pub fn replace(
    path: &str,
    temporary: &str,
    write: impl FnOnce(&mut Sink<'_>),
) -> Option<FileFailure> {
    let replaced = replace_file(Path::new(path), Path::new(temporary), |file| {
        let mut sink = Sink::new(file);
        write(&mut sink);
        sink.finish()
    });
    replaced.err().map(|error| failure(&error))
}

fn failure(error: &FileError) -> FileFailure {
    let code = match error.source.kind() {
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
    FileFailure {
        syscall: error.syscall.to_owned(),
        errno: error.source.raw_os_error(),
        code: code.to_owned(),
        message: error.source.to_string(),
    }
}
