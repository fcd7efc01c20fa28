//! The workload under pprof-rs, in this process.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use clockworker_benches::failure::Failure;
use clockworker_benches::numbers::grouped;
use pprof::protos::Message;
use pprof::{Frames, ProfilerGuardBuilder};

use crate::cli::FlamegraphOptions;
use crate::rounds;

pub(crate) fn command(options: &FlamegraphOptions) -> Result<String, Failure> {
    // Made first: it would be a pity to sample and then not be able to write.
    let mut svg = create(&options.svg)?;
    let mut proto = create(&options.proto)?;
    // No block list, against the README of pprof-rs: what it guards from is a handler that interrupts the C library's
    // unwinder in an allocation or a panic of its own, and there are no panics here. Leaving the library out would leave
    // the allocator out.
    let guard = ProfilerGuardBuilder::default().frequency(options.frequency).build().map_err(failed)?;
    let mut text = rounds::command(&options.run);
    let report = guard.report().frames_post_processor(without_inlined).build().map_err(failed)?;
    let samples: isize = report.data.values().sum();
    if samples == 0 {
        return Err(Failure::run("not one sample was taken; ask for more --seconds"));
    }
    report.flamegraph(&mut svg).map_err(failed)?;
    svg.flush().map_err(|error| Failure::unwritable(&options.svg, error))?;
    let profile = report.pprof().map_err(failed)?.encode_to_vec();
    let written = proto.write_all(&profile).and_then(|()| proto.flush());
    written.map_err(|error| Failure::unwritable(&options.proto, error))?;
    text.push_str(&format!(
        "{} samples: {} and {}\n",
        grouped(samples.unsigned_abs() as u64),
        options.svg.display(),
        options.proto.display()
    ));
    Ok(text)
}

pub(super) fn failed(error: pprof::Error) -> Failure {
    Failure::run(format!("pprof-rs: {error}"))
}

pub(super) fn create(path: &Path) -> Result<BufWriter<File>, Failure> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    let file = folder.and_then(|()| File::create(path));
    file.map(BufWriter::new).map_err(|error| Failure::unwritable(path, error))
}

/// Leaves of each frame the function that was compiled, without those that were inlined into it.
///
/// The collector takes stacks for equal that went through the same compiled functions, and keeps the instructions of
/// the first. Which inlined functions these happen to be in says nothing of the others.
pub(super) fn without_inlined(frames: &mut Frames) {
    for frame in &mut frames.frames {
        frame.drain(..frame.len().saturating_sub(1));
    }
}
