//! A scratch copy of the workspace, to break something in it and see which test notices; and the programs that are run there.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};

/// A copy of what git tracks, in `target/`. Made anew each time; its own `target/` stays for the next time.
#[derive(Debug)]
pub struct Scratch {
    root: PathBuf,
}

impl Scratch {
    /// Copies the workspace that this program was built from to `target/scratch/<name>`.
    ///
    /// # Errors
    ///
    /// If git does not run, or a file cannot be copied.
    pub fn copy(name: &str) -> anyhow::Result<Self> {
        let from = workspace();
        let root = from.join("target/scratch").join(name);
        let files = tracked(&from)?;
        for file in &files {
            copy_file(&from.join(file), &root.join(file))
                .with_context(|| format!("cannot copy '{}'", file.display()))?;
        }
        remove_others(&root, &root, &files)
            .with_context(|| format!("cannot tidy up '{}'", root.display()))?;
        Ok(Scratch { root })
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// The workspace that this program was built from.
pub fn workspace() -> PathBuf {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_dir.parent().unwrap_or(crate_dir).to_path_buf()
}

/// Runs a command to its end; what it said.
///
/// # Errors
///
/// If it does not run or succeed: with what it said to standard error.
pub fn succeed(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{:?} failed:\n{}", command.get_program(), said.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The test programs that cargo builds, by its messages in JSON.
pub fn test_programs(messages: &str) -> Vec<PathBuf> {
    let program = |message: &str| {
        let message: serde_json::Value = serde_json::from_str(message).ok()?;
        let is_test = message["profile"]["test"].as_bool()?;
        is_test.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
    };
    messages.lines().filter_map(program).collect()
}

/// Runs a test program: how it ended and what it said, to standard output and error. None if it hangs for as long as
/// `patience`, and is ended.
///
/// # Errors
///
/// If it does not run.
pub fn run_for(command: &mut Command, patience: Duration) -> anyhow::Result<Option<(ExitStatus, String)>> {
    let (mut reader, writer) = std::io::pipe()?;
    command.env("RUST_BACKTRACE", "0").stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    // The ends of the pipe for writing that are here, so that its reader sees the end of the child.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (give, said) = mpsc::channel();
    thread::spawn(move || {
        let mut said = Vec::new();
        // What is killed ends what it says.
        let _ = reader.read_to_end(&mut said);
        let _ = give.send(String::from_utf8_lossy(&said).into_owned());
    });
    match said.recv_timeout(patience) {
        Ok(said) => Ok(Some((child.wait()?, said))),
        Err(_) => {
            child.kill()?;
            child.wait()?;
            Ok(None)
        }
    }
}

/// Files that git tracks, and new ones that it does not ignore.
fn tracked(root: &Path) -> anyhow::Result<BTreeSet<PathBuf>> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let names = succeed(Command::new("git").args(list).current_dir(root))?;
    let names = names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from);
    Ok(names.filter(|name| root.join(name).is_file()).collect())
}

/// Removes the files in `folder` that are not among `files`, which are relative to `root`: those of an earlier copy, before
/// they were moved. The copy's own `target/` stays.
fn remove_others(folder: &Path, root: &Path, files: &BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.strip_prefix(root).unwrap_or(&path);
        if path.is_dir() {
            if name != Path::new("target") {
                remove_others(&path, root, files)?;
            }
        } else if !files.contains(name) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Copies a file whose contents differ, so that cargo sees no change where there is none.
fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    let contents = fs::read(from)?;
    if fs::read(to).is_ok_and(|there| there == contents) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(to, contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_sources_and_a_change_in_it_is_undone_by_the_next() {
        let file = Scratch::copy("test").unwrap().root().join("clockworker/src/task/inbox.rs");
        let original = fs::read_to_string(&file).unwrap();
        assert!(original.contains("struct Inbox"));
        fs::write(&file, "").unwrap();
        let moved = file.with_file_name("moved.rs");
        fs::write(&moved, "").unwrap();
        Scratch::copy("test").unwrap();
        assert!(!moved.exists());
        assert_eq!(fs::read_to_string(&file).unwrap(), original);
    }

    #[test]
    fn what_hangs_is_ended() {
        let patience = Duration::from_millis(20);
        assert!(run_for(Command::new("sleep").arg("1000"), patience).unwrap().is_none());
        let (status, said) = run_for(&mut Command::new("pwd"), Duration::from_secs(60)).unwrap().unwrap();
        assert!(status.success() && !said.is_empty());
    }

    #[test]
    fn only_test_programs_are_taken_from_cargos_messages() {
        let test = r#"{"executable":"/a/b","profile":{"test":true}}"#;
        let other = r#"{"executable":"/a/c","profile":{"test":false}}"#;
        assert_eq!(test_programs(&format!("Compiling\n{other}\n{test}\n")), [PathBuf::from("/a/b")]);
    }
}
