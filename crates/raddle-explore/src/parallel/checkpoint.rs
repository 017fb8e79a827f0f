//! Checkpoints: what is left of an exploration, in a file.
//!
//! The file names the exploration by a text that front ends choose; it includes everything that decides what is
//! explored. The file is replaced as a whole, so a process that is killed leaves a valid one. Its first line is
//!
//! ```text
//! raddle checkpoint, format 2, 1234 bytes, checksum 0123456789abcdef
//! ```
//!
//! and the rest is JSON. The checksum is FNV-1a: every single byte that changes, changes it. It protects against damage, not
//! against forgery.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the format. Format 1 had no first line.
const FORMAT: u32 = 2;

/// The content of the file after the first line.
#[derive(Serialize, Deserialize)]
struct CheckpointContent<C> {
    /// Names the exploration.
    program: String,
    kept: C,
}

/// Reads the checkpoint of an exploration.
///
/// # Errors
/// Says why the file cannot be used: it cannot be read, is no checkpoint, is damaged, was written by another version of Raddle,
/// or belongs to another exploration.
pub fn read<C: DeserializeOwned>(path: &Path, program: &str) -> Result<C, String> {
    let error = |why: String| format!("{}: {why}", path.display());
    let bytes = fs::read(path).map_err(|why| error(format!("cannot read: {why}")))?;
    let content: CheckpointContent<C> = decode(&bytes).map_err(error)?;
    if content.program != program {
        let was = content.program;
        return Err(error(format!(
            "it is about another exploration: `{was}`, expected `{program}`"
        )));
    }
    Ok(content.kept)
}

/// The file with this content.
fn encode<C: Serialize>(content: &CheckpointContent<C>) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(content)?;
    let (length, sum) = (json.len(), checksum(&json));
    let line = format!("raddle checkpoint, format {FORMAT}, {length} bytes, checksum {sum:016x}\n");
    Ok([line.as_bytes(), &json].concat())
}

/// The content of a file.
fn decode<C: DeserializeOwned>(bytes: &[u8]) -> Result<CheckpointContent<C>, String> {
    let no_checkpoint = || String::from("this is no checkpoint of an exploration");
    let damaged = |what: &str| format!("the checkpoint is damaged: {what}");
    let Some(rest) = bytes.strip_prefix(b"raddle checkpoint, format ") else {
        return Err(match bytes {
            [] => damaged("the file is empty"),
            _ if bytes.starts_with(b"{\"program\":\"raddle ") => other_format(1),
            _ => no_checkpoint(),
        });
    };
    let end = rest.iter().position(|&byte| byte == b'\n');
    let end = end.ok_or_else(|| damaged("it is truncated"))?;
    let (length, sum) = first_line(&String::from_utf8_lossy(&rest[..end]))?;
    let json = &rest[end + 1..];
    if json.len() < length {
        return Err(damaged(&format!(
            "it is truncated, {} of {length} bytes are left",
            json.len()
        )));
    }
    if json.len() > length || sum != format!("{:016x}", checksum(json)) {
        return Err(damaged("its checksum does not match"));
    }
    serde_json::from_slice(json).map_err(|why| format!("{}: {why}", no_checkpoint()))
}

/// The length and the checksum in the first line, of which `line` is the part from the version on.
fn first_line(line: &str) -> Result<(usize, String), String> {
    let invalid = || String::from("the checkpoint is damaged: its first line is invalid");
    let mut words = line.split(", ");
    let format: Option<u32> = words.next().and_then(|word| word.parse().ok());
    match format {
        Some(FORMAT) => {}
        Some(other) => return Err(other_format(other)),
        None => return Err(invalid()),
    }
    let length = words.next().and_then(|word| word.strip_suffix(" bytes")?.parse::<usize>().ok());
    let sum = words.next().and_then(|word| word.strip_prefix("checksum "));
    match (length, sum, words.next()) {
        (Some(length), Some(sum), None) => Ok((length, sum.to_owned())),
        _ => Err(invalid()),
    }
}

fn other_format(format: u32) -> String {
    format!(
        "the checkpoint has format {format}, but this version of Raddle reads format {FORMAT}: explore from the start"
    )
}

/// FNV-1a with 64 bits. The standard library's hashers may differ between versions.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Writes checkpoints of an exploration, from time to time.
pub struct CheckpointWriter {
    path: PathBuf,
    program: String,
    every: Duration,
    /// When a checkpoint was last written, and the error if that failed.
    last: Mutex<(Instant, Option<io::Error>)>,
}

impl CheckpointWriter {
    /// Writes a first checkpoint to the file; others follow at this interval.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn new<C: Serialize>(
        path: &Path,
        every: Duration,
        program: String,
        checkpoint: &C,
    ) -> Result<Self, String> {
        let last = Mutex::new((Instant::now(), None));
        let writer = CheckpointWriter { path: path.to_owned(), program, every, last };
        writer.write(checkpoint).map_err(|error| writer.message(&error))?;
        Ok(writer)
    }

    /// Writes a checkpoint, if there is one and it is due. The last one is always due.
    pub fn update<C: Serialize>(&self, is_last: bool, checkpoint: impl FnOnce() -> Option<C>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = is_last || last.0.elapsed() >= self.every;
        if let Some(checkpoint) = is_due.then(checkpoint).flatten() {
            last.1 = self.write(&checkpoint).err();
            last.0 = Instant::now();
        }
    }

    fn write<C: Serialize>(&self, checkpoint: &C) -> io::Result<()> {
        let content = CheckpointContent { program: self.program.clone(), kept: checkpoint };
        let new = new_file(&self.path);
        let mut file = File::create(&new)?;
        file.write_all(&encode(&content)?)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)
    }

    fn message(&self, error: &io::Error) -> String {
        format!("{}: cannot write: {error}", self.path.display())
    }

    /// The error of the last attempt to write the file.
    pub fn error(&self) -> Option<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.1.as_ref().map(|error| self.message(error))
    }
}

/// The file to which a checkpoint is written before it replaces the one at `path`.
#[must_use]
pub fn new_file(path: &Path) -> PathBuf {
    let mut new = path.to_owned().into_os_string();
    new.push(".new");
    PathBuf::from(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> Vec<u8> {
        let program = String::from("raddle, sc: a.c");
        encode(&CheckpointContent { program, kept: vec![1, 2, 3] }).unwrap()
    }

    fn refusal(bytes: &[u8]) -> String {
        decode::<Vec<u32>>(bytes).map(|_| ()).unwrap_err()
    }

    #[test]
    fn a_checkpoint_survives() {
        let content: CheckpointContent<Vec<u32>> = decode(&stored()).unwrap();
        assert_eq!((content.program.as_str(), content.kept), ("raddle, sc: a.c", vec![1, 2, 3]));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let bytes = stored();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert!(decode::<Vec<u32>>(&damaged).is_err(), "byte {at}, bit {bit}");
            }
        }
        let mut damaged = bytes.clone();
        *damaged.last_mut().unwrap() ^= 1;
        let message = "the checkpoint is damaged: its checksum does not match";
        assert_eq!(refusal(&damaged), message);
        assert_eq!(refusal(&[bytes.as_slice(), b"x"].concat()), message);
    }

    #[test]
    fn every_truncation_is_noticed() {
        let bytes = stored();
        for length in 0..bytes.len() {
            assert!(decode::<Vec<u32>>(&bytes[..length]).is_err(), "{length} bytes");
        }
        assert_eq!(refusal(b""), "the checkpoint is damaged: the file is empty");
        assert_eq!(refusal(&bytes[..40]), "the checkpoint is damaged: it is truncated");
        let length = bytes.len() - bytes.iter().position(|&byte| byte == b'\n').unwrap() - 1;
        assert_eq!(
            refusal(&bytes[..bytes.len() - 1]),
            format!(
                "the checkpoint is damaged: it is truncated, {} of {length} bytes are left",
                length - 1
            )
        );
    }

    #[test]
    fn other_formats_and_other_files_are_refused_as_such() {
        let text = String::from_utf8(stored()).unwrap();
        assert_eq!(
            refusal(text.replacen("format 2", "format 3", 1).as_bytes()),
            "the checkpoint has format 3, but this version of Raddle reads format 2: explore from the start"
        );
        assert_eq!(
            refusal(b"{\"program\":\"raddle 0.1.0, sc: a.c\",\"kept\":{}}"),
            "the checkpoint has format 1, but this version of Raddle reads format 2: explore from the start"
        );
        assert_eq!(refusal(b"int main(void) {}"), "this is no checkpoint of an exploration");
    }
}
