//! Files that are replaced as a whole: who reads one sees the old text or the new, also after a crash.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// What could not be done, and why.
#[derive(Debug, thiserror::Error)]
#[error("{syscall}: {source}")]
pub struct FileError {
    /// As Node names it.
    pub syscall: &'static str,
    pub source: io::Error,
}

fn failed(syscall: &'static str) -> impl FnOnce(io::Error) -> FileError {
    move |source| FileError { syscall, source }
}

/// Puts what `write` writes in the place of a file. It is written to `temporary` first, in the same
/// folder, which must not exist.
///
/// # Errors
/// Those of the file system; then the file is as it was, and `temporary` is gone.
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
        // The failure before tells more than one of this.
        let _ = fs::remove_file(temporary);
    }
    renamed?;
    sync_folder_of(path);
    Ok(())
}

/// Makes the rename last. Where folders cannot be synced (Windows) there is nothing to do, and the file
/// itself is safe.
fn sync_folder_of(path: &Path) {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
}

/// Takes texts for a file, and keeps the first failure until it is asked for.
pub struct Sink<'f> {
    file: &'f mut File,
    failure: io::Result<()>,
}

impl<'f> Sink<'f> {
    #[must_use]
    pub fn new(file: &'f mut File) -> Self {
        Self {
            file,
            failure: Ok(()),
        }
    }

    /// Writes the text out and empties it.
    pub fn take(&mut self, text: &mut String) {
        if self.failure.is_ok() {
            self.failure = self.file.write_all(text.as_bytes());
        }
        text.clear();
    }

    /// # Errors
    /// The first failure to write.
    pub fn finish(self) -> io::Result<()> {
        self.failure
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
