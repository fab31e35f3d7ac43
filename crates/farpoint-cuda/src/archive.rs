//! Archive of compiled kernels in the program: machine code for known cards, PTX for the others.
//!
//! `cargo xtask kernels` builds the archive from `kernels/*/*.cu`; `kernels/archive.py` describes its
//! layout. Only requested files are unpacked, on every request.

use lzma_rust2::LzmaReader;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Built without its kernels, the crate reports that there is no GPU before it looks for one.
static BYTES: &[u8] =
    if cfg!(feature = "kernels") { include_bytes!("../kernels/built/kernels.bin") } else { &[] };

const TITLE: &str = "farpoint kernels 3";

/// Memory limit in KiB, more than a stream's window and tables need.
const MEMORY: u32 = 64 << 10;

/// Form of compiled kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Machine code, for one kind of card.
    Cubin,
    /// Assembly that the driver compiles for any card from a certain one on.
    Ptx,
}

/// One compiled file of kernels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Code {
    pub(crate) module: &'static str,
    pub(crate) precision: &'static str,
    pub(crate) kind: Kind,
    /// Compute capability of its target, 90 for 9.0.
    pub(crate) target: u32,
    /// The stream that holds it, and its range within.
    packed: &'static [u8],
    begin: usize,
    length: usize,
}

/// Returns all compiled files.
pub(crate) fn codes() -> &'static [Code] {
    static CODES: OnceLock<Vec<Code>> = OnceLock::new();
    CODES.get_or_init(|| read(BYTES).expect("the archive is the one that the tests read"))
}

/// Archives of other crates.
static ADDED: Mutex<Vec<Code>> = Mutex::new(Vec::new());

/// Adds an archive of modules that this crate does not have. Returns whether it is one.
pub fn add_kernels(bytes: &'static [u8]) -> bool {
    let codes = read(bytes);
    let mut added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
    added.extend(codes.iter().flatten());
    codes.is_some()
}

/// Returns the compiled files of a module.
pub(crate) fn codes_of(module: &str) -> Vec<Code> {
    let added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
    codes().iter().chain(&*added).filter(|code| code.module == module).copied().collect()
}

/// Compute capabilities of embedded GPUs: Jetson Xavier, Orin and Thor (11.0, before CUDA 13 10.1). NVIDIA does not
/// promise that machine code for other GPUs runs there.
const EMBEDDED: [u32; 4] = [72, 87, 101, 110];

/// Returns the machine code for a card of this capability: of the same major version, the newest of at
/// most its minor version. Embedded GPUs have none.
pub(crate) fn cubin(
    codes: &[Code],
    module: &str,
    precision: &str,
    capability: u32,
) -> Option<Code> {
    if EMBEDDED.contains(&capability) {
        return None;
    }
    let runs = |target: u32| target / 10 == capability / 10 && target <= capability;
    newest(codes, module, precision, |code| code.kind == Kind::Cubin && runs(code.target))
}

/// Returns the newest PTX that the driver can compile for a card of this capability.
pub(crate) fn ptx(codes: &[Code], module: &str, precision: &str, capability: u32) -> Option<Code> {
    newest(codes, module, precision, |code| code.kind == Kind::Ptx && code.target <= capability)
}

/// Returns the modules that a card of this capability runs, each with its precision.
pub(crate) fn modules(capability: u32) -> BTreeSet<(&'static str, &'static str)> {
    // On cards that are too old for all of them, to load the first tells why.
    let runs = |code: &&Code| code.kind == Kind::Ptx && code.target <= capability.max(75);
    codes().iter().filter(runs).map(|code| (code.module, code.precision)).collect()
}

fn newest(
    codes: &[Code],
    module: &str,
    precision: &str,
    fits: impl Fn(&Code) -> bool,
) -> Option<Code> {
    let candidates =
        codes.iter().filter(|code| code.module == module && code.precision == precision);
    candidates.filter(|code| fits(code)).max_by_key(|code| code.target).copied()
}

impl Code {
    /// Unpacks the image for the driver. PTX ends with a zero, as the driver requires.
    pub(crate) fn unpack(&self) -> io::Result<Vec<u8>> {
        let mut reader = LzmaReader::new_mem_limit(self.packed, MEMORY, None)?;
        let skipped = io::copy(&mut (&mut reader).take(self.begin as u64), &mut io::sink())?;
        let mut image = Vec::with_capacity(self.length + 1);
        (&mut reader).take(self.length as u64).read_to_end(&mut image)?;
        if skipped != self.begin as u64 || image.len() != self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if self.kind == Kind::Ptx {
            image = renumber(&image);
            image.push(0);
        }
        Ok(image)
    }

    /// Returns its name before packing.
    pub(crate) fn name(&self) -> String {
        let Self { module, precision, target, .. } = self;
        match self.kind {
            Kind::Cubin => format!("{module}.{precision}.sm_{target}"),
            Kind::Ptx => format!("{module}.{precision}.compute_{target}"),
        }
    }
}

/// Restores the text of PTX that is stored as `renumber` of `kernels/archive.py` describes: each number
/// of a register or label is less by the last of its kind in the first operand of a preceding line.
fn renumber(stored: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(stored.len() * 5 / 4);
    let mut last = BTreeMap::new();
    for line in stored.split_inclusive(|&byte| byte == b'\n') {
        let end = line.iter().position(|&byte| byte == b',').unwrap_or(line.len());
        let (mut results, mut at) = (Vec::new(), 0);
        while at < line.len() {
            let rest = &line[at..];
            let Some((kind, length, number)) = parse_register(rest) else {
                text.push(rest[0]);
                at += 1;
                continue;
            };
            let number = number.wrapping_add(*last.get(kind).unwrap_or(&0));
            text.extend([kind, number.to_string().as_bytes()].concat());
            if at < end {
                results.push((kind, number));
            }
            at += length;
        }
        last.extend(results);
    }
    text
}

/// Parses the register or label, such as `%rd12` or `BB0_12`, at the beginning of a text: the part before the number,
/// the length of both, and the number.
fn parse_register(text: &[u8]) -> Option<(&[u8], usize, i64)> {
    let leading = |rest: &[u8], predicate: fn(&u8) -> bool| {
        rest.iter().take_while(|byte| predicate(byte)).count()
    };
    let kind = match text {
        [b'%', rest @ ..] => 1 + leading(rest, u8::is_ascii_lowercase),
        [b'B', b'B', rest @ ..] => 3 + leading(rest, u8::is_ascii_digit),
        _ => return None,
    };
    let (kind, rest) = text.split_at_checked(kind)?;
    let minus = usize::from(rest.first() == Some(&b'-'));
    let length = minus + leading(&rest[minus..], u8::is_ascii_digit);
    let number = std::str::from_utf8(&rest[..length]).ok()?.parse().ok()?;
    matches!(kind, [.., b'a'..=b'z' | b'_']).then_some((kind, kind.len() + length, number))
}

/// Reads the index at the beginning of an archive; `None` if it is not one.
fn read(bytes: &'static [u8]) -> Option<Vec<Code>> {
    let end = bytes.windows(2).position(|two| two == b"\n\n")?;
    let mut lines = std::str::from_utf8(&bytes[..end]).ok()?.lines();
    if lines.next() != Some(TITLE) {
        return None;
    }
    let mut codes = Vec::new();
    let mut rest = &bytes[end + 2..];
    for line in lines {
        // The first word names the group.
        let mut words = line.split(' ').skip(1);
        let mut word = || words.next();
        let kind = match word()? {
            "cubin" => Kind::Cubin,
            "ptx" => Kind::Ptx,
            _ => return None,
        };
        let (packed, after) = rest.split_at_checked(word()?.parse().ok()?)?;
        rest = after;
        let mut begin = 0;
        for part in word()?.split(',') {
            let mut fields = part.split(':');
            let (module, precision) = (fields.next()?, fields.next()?);
            let (target, length) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
            codes.push(Code { module, precision, kind, target, packed, begin, length });
            begin += usize::next_multiple_of(length, 16);
        }
    }
    rest.is_empty().then_some(codes)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    const VIRTUAL: [u32; 3] = [75, 80, 90];

    /// Cards for which a module has machine code: `MACHINES` and `FEWER` of kernels/build.py.
    fn cards(module: &str, precision: &str) -> &'static [u32] {
        let optional = ["_high", "_large", "_span", "_absolute", "radius"];
        match (optional.iter().any(|part| module.contains(part)), precision) {
            (false, "f32") => &[75, 80, 90, 100, 120],
            (false, _) => &[80, 90, 100],
            (true, "f32") => &[80, 90],
            (true, _) => &[],
        }
    }

    /// Returns whether a module has this kernel.
    pub(crate) fn has_kernel(module: &str, name: &str) -> bool {
        let text = ptx(codes(), module, "f32", 75).unwrap().unpack().unwrap();
        String::from_utf8(text).unwrap().contains(&format!(".entry {name}_f32("))
    }

    fn code(kind: Kind, target: u32, precision: &'static str) -> Code {
        Code { module: "a", precision, kind, target, packed: &[], begin: 0, length: 0 }
    }

    /// Names of the modules: of the sources in the folders of `kernels`.
    fn sources() -> BTreeSet<String> {
        let list = |folder: &Path| -> Vec<PathBuf> {
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
        };
        let entries = list(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels").as_ref());
        let folders = entries.iter().filter(|path| path.is_dir());
        let files = folders.flat_map(|folder| list(folder));
        let kernels = files.filter(|path| path.extension().is_some_and(|end| end == "cu"));
        kernels.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_card_gets_the_newest_that_it_runs() {
        let cards = [75, 80, 86, 90, 100, 120];
        let mut codes: Vec<_> = cards.map(|target| code(Kind::Cubin, target, "f32")).into();
        codes.extend([75, 90, 80].map(|target| code(Kind::Ptx, target, "f32")));
        codes.push(code(Kind::Ptx, 75, "f64"));
        let targets = |capability| {
            let target = |code: Option<Code>| code.map(|code| code.target);
            let found = cubin(&codes, "a", "f32", capability);
            (target(found), target(ptx(&codes, "a", "f32", capability)))
        };
        assert_eq!(targets(70), (None, None));
        assert_eq!(targets(75), (Some(75), Some(75)));
        assert_eq!(targets(80), (Some(80), Some(80)));
        assert_eq!(targets(86), (Some(86), Some(80)));
        assert_eq!(targets(87), (None, Some(80)));
        assert_eq!(targets(89), (Some(86), Some(80)));
        assert_eq!(targets(90), (Some(90), Some(90)));
        assert_eq!(targets(100), (Some(100), Some(90)));
        assert_eq!(targets(101), (None, Some(90)));
        assert_eq!(targets(103), (Some(100), Some(90)));
        assert_eq!(targets(110), (None, Some(90)));
        assert_eq!(targets(121), (Some(120), Some(90)));
        assert_eq!(targets(130), (None, Some(90)));
        assert!(cubin(&codes, "a", "f64", 90).is_none());
        assert!(ptx(&codes, "a", "f64", 90).is_some_and(|code| code.target == 75));
        assert!(ptx(&codes, "b", "f32", 90).is_none());
    }

    #[test]
    fn every_card_has_every_kernel() {
        let names = |codes: &[Code]| codes.iter().map(Code::name).collect::<BTreeSet<_>>();
        let mut expected = BTreeSet::new();
        for module in sources() {
            for precision in ["f32", "f64"] {
                let named = |kind: &str, target| format!("{module}.{precision}.{kind}_{target}");
                // `CLUSTERS` and `ONLY` of kernels/build.py.
                let runs = |target: &u32| *target >= 90 || module != "peak_cluster";
                let machines = cards(&module, precision).iter().copied().filter(runs);
                expected.extend(machines.map(|target| named("sm", target)));
                if (module.as_str(), precision) != ("peak_large", "f64") {
                    expected.extend(VIRTUAL.into_iter().filter(runs).map(|t| named("compute", t)));
                }
            }
        }
        assert!(expected.len() >= 27 * 2 * 5);
        assert_eq!(names(codes()), expected);
        assert_eq!(codes().len(), expected.len(), "something is there twice");
    }

    #[test]
    fn modules_for_clusters_are_not_of_older_cards() {
        let cluster = ("peak_cluster", "f32");
        assert!(modules(90).contains(&cluster) && modules(120).contains(&cluster));
        assert!(!modules(80).contains(&cluster));
        assert_eq!(modules(75).len() + 2, modules(90).len());
        assert_eq!(modules(70), modules(75));
    }

    #[test]
    fn machine_code_is_for_the_named_card() {
        for code in codes().iter().filter(|code| code.kind == Kind::Cubin) {
            let image = code.unpack().unwrap();
            let (name, half) = (code.name(), |at| u16::from_le_bytes([image[at], image[at + 1]]));
            assert_eq!(&image[..6], b"\x7fELF\x02\x01", "{name}");
            assert_eq!(half(18), 190, "{name} is for another machine than CUDA's");
            // From Blackwell on, the card stands a byte higher in the flags.
            let offset = if image[8] < 8 { 48 } else { 49 };
            assert_eq!(u32::from(image[offset]), code.target, "{name}");
            let entry = format!("_{}\0", code.precision);
            let found = image.windows(entry.len()).any(|part| part == entry.as_bytes());
            assert!(found, "{name} has no kernel of its precision");
        }
    }

    #[test]
    fn ptx_numbers_are_stored_as_differences() {
        let stored = "%tid.x, %r7, -1\n%r7, [%rd5+8], {%f-2, %p3}\n%r1, %r0, %r-3\n\
                    @%p3 bra $L__BB0_12;\n$L__BB0_1: %r-1\nBB0, BB0_, BB1_5, %-1, %r-, %r\n%r";
        let text = "%tid.x, %r7, -1\n%r7, [%rd5+8], {%f-2, %p3}\n%r8, %r7, %r4\n\
                    @%p3 bra $L__BB0_12;\n$L__BB0_13: %r7\nBB0, BB0_, BB1_5, %-1, %r-, %r\n%r";
        assert_eq!(String::from_utf8(renumber(stored.as_bytes())).unwrap(), text);
        assert_eq!(renumber(b""), b"");
    }

    #[test]
    fn ptx_is_for_old_drivers_without_fused_operations() {
        for code in codes().iter().filter(|code| code.kind == Kind::Ptx) {
            let image = code.unpack().unwrap();
            let text = std::ffi::CStr::from_bytes_with_nul(&image).unwrap().to_str().unwrap();
            assert!(text.contains(&format!(".target sm_{}\n", code.target)), "{}", code.name());
            assert!(text.contains(".version 8.4\n"), "needs a newer driver than documented");
            // Nothing may be fused: the bits would differ from the CPU's. The scores by which
            // `brute` filters are no distances, and of f32 in both precisions.
            let scored = code.module == "nearest_brute";
            let fused = if scored { "fma.rn.f64" } else { "fma.rn.f" };
            assert!(!text.contains(fused), "{} has a fused operation", code.name());
        }
    }

    #[test]
    fn invalid_archives_are_rejected() {
        let line = "farpoint kernels 3\na ptx 3 a:f32:75:3";
        let archive = |text: String| read(Vec::leak(text.into_bytes()));
        assert_eq!(archive(format!("{line}\n\nabc")).map(|codes| codes.len()), Some(1));
        for invalid in [
            String::new(),
            "farpoint kernels 2\na ptx 3 a:f32:75:3\n\nabc".into(),
            format!("{line}\n\nab"),
            format!("{line}\n\nabcd"),
            format!("{line},a:f32:80\n\nabc"),
            format!("{line}\nb elf 3 b:f32:75:3\n\nabcabc"),
        ] {
            assert!(archive(invalid.clone()).is_none(), "{invalid}");
        }
        let broken = &archive(format!("{line}\n\nabc")).unwrap()[0];
        assert!(broken.unpack().is_err());
    }
}
