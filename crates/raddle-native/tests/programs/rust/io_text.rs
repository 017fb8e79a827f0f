//! Reading empty input, buffered writing, cursors, lines.
use std::io::{self, BufRead, BufReader, BufWriter, Cursor, Read, Seek, SeekFrom, Write};

fn main() -> io::Result<()> {
    let mut text = String::new();
    println!("{}", io::stdin().read_to_string(&mut text)?);
    let out = io::stdout();
    let mut w = BufWriter::with_capacity(16, out.lock());
    for i in 0..20 { write!(w, "{i},")?; }
    writeln!(w)?;
    w.flush()?;
    drop(w);
    let mut c = Cursor::new(Vec::new());
    c.write_all(b"first\nsecond\nthird")?;
    c.seek(SeekFrom::Start(3))?;
    for (i, line) in BufReader::new(c).lines().enumerate() { println!("{i} {}", line?); }
    let e = io::Error::new(io::ErrorKind::Other, "custom");
    println!("{e} {:?} {}", e.kind(), io::Error::from_raw_os_error(2));
    Ok(())
}
