//! Test programs, run on code in which something was broken, to see whether a test notices.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Passed,
    Failed,
    /// In another way, which this tells: by a signal, or by an exit.
    Crashed(String),
    Hung,
}

/// Runs a test program: how it ended, and what it said to standard output and error. One that runs for as long as `patience`
/// hangs: it is killed, and what it said is not kept.
pub(crate) fn run(program: &mut Command, patience: Duration) -> anyhow::Result<(Ended, String)> {
    /// The status with which a test program says that a test failed.
    const TEST_FAILED: i32 = 101;
    let (mut reader, writer) = std::io::pipe()?;
    program.env("RUST_BACKTRACE", "0").stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = program.spawn().with_context(|| format!("cannot run {:?}", program.get_program()))?;
    // The ends of the pipe for writing that are here, so that its reader sees the end of the child.
    program.stdout(Stdio::null()).stderr(Stdio::null());
    let (give, said) = mpsc::channel();
    thread::spawn(move || {
        let mut said = Vec::new();
        // What is killed ends what it says.
        let _ = reader.read_to_end(&mut said);
        let _ = give.send(String::from_utf8_lossy(&said).into_owned());
    });
    let Ok(said) = said.recv_timeout(patience) else {
        child.kill()?;
        child.wait()?;
        return Ok((Ended::Hung, String::new()));
    };
    let status = child.wait()?;
    let ended = match status.code() {
        Some(0) => Ended::Passed,
        Some(TEST_FAILED) => Ended::Failed,
        _ => Ended::Crashed(status.to_string()),
    };
    Ok((ended, said))
}

/// Has cargo build test programs, and says where they are.
pub(crate) fn build(cargo: &mut Command) -> anyhow::Result<Vec<PathBuf>> {
    cargo.args(["--no-run", "--message-format=json-render-diagnostics"]);
    Ok(test_programs(&succeed(cargo).context("it does not build")?))
}

fn test_programs(messages: &str) -> Vec<PathBuf> {
    let program = |message: &str| {
        let message: serde_json::Value = serde_json::from_str(message).ok()?;
        let is_test = message["profile"]["test"].as_bool()?;
        is_test.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
    };
    messages.lines().filter_map(program).collect()
}

/// Runs a command to its end, and gives what it said; or fails with what it said to standard error.
pub(crate) fn succeed(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{:?} failed:\n{}", command.get_program(), said.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_told_apart() {
        let run = |script, patience| run(Command::new("sh").args(["-c", script]), patience).unwrap();
        let minute = Duration::from_secs(60);
        assert_eq!(run("echo fine", minute), (Ended::Passed, "fine\n".to_owned()));
        assert_eq!(run("echo left >&2; exit 101", minute), (Ended::Failed, "left\n".to_owned()));
        assert!(matches!(run("kill -SEGV $$", minute).0, Ended::Crashed(how) if how.contains("signal")));
        assert_eq!(run("exec sleep 1000", Duration::from_millis(20)).0, Ended::Hung);
    }

    #[test]
    fn only_test_programs_are_taken_from_cargos_messages() {
        let test = r#"{"executable":"/a/b","profile":{"test":true}}"#;
        let other = r#"{"executable":"/a/c","profile":{"test":false}}"#;
        assert_eq!(test_programs(&format!("Compiling\n{other}\n{test}\n")), [PathBuf::from("/a/b")]);
    }
}
