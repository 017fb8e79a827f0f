//! Messages on pipes: their length as 8 bytes, then their content in postcard's format.
//!
//! Values have 128 bits, which numbers in JSON cannot carry. postcard is a compact binary format for serde with a stable
//! specification.

use std::io::{self, ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longer messages are damaged ones.
const MAX_LENGTH: u64 = 1 << 32;

/// The bytes of a message.
pub(super) fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let content = postcard::to_allocvec(message).map_err(io::Error::other)?;
    Ok([&(content.len() as u64).to_le_bytes()[..], &content].concat())
}

/// Writes a message with one call, so that small messages of several processes do not mix.
pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&encode(message)?)
}

/// Reads a message. Returns `None` at the end of the pipe.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 8];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    let length = u64::from_le_bytes(length);
    if length > MAX_LENGTH {
        return Err(io::Error::new(ErrorKind::InvalidData, "the length of a message is invalid"));
    }
    let mut content = vec![];
    from.take(length).read_to_end(&mut content)?;
    if (content.len() as u64) < length {
        return Err(io::Error::new(ErrorKind::UnexpectedEof, "a message is incomplete"));
    }
    postcard::from_bytes(&content)
        .map(Some)
        .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_until_the_end_of_the_pipe() {
        let mut pipe = vec![];
        write(&mut pipe, &("first", i128::MIN)).unwrap();
        write(&mut pipe, &("second", i128::MAX)).unwrap();
        let mut from = pipe.as_slice();
        let mut next = || read::<(String, i128)>(&mut from).unwrap();
        assert_eq!(next(), Some((String::from("first"), i128::MIN)));
        assert_eq!(next(), Some((String::from("second"), i128::MAX)));
        assert_eq!(next(), None);
    }

    #[test]
    fn damaged_messages_are_errors() {
        let message = |bytes: &[u8]| read::<String>(&mut &*bytes).unwrap_err().to_string();
        assert_eq!(message(&[0xff; 9]), "the length of a message is invalid");
        assert_eq!(message(&[2, 0, 0, 0, 0, 0, 0, 0, 1]), "a message is incomplete");
        let invalid = [2, 0, 0, 0, 0, 0, 0, 0, 1, 0xff];
        assert_eq!(read::<String>(&mut &invalid[..]).unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
