//! A tree of 100,000 files as repositories have them, made once.

use std::fs;
use std::io;
use std::path::Path;

/// Files that a search looks at.
pub(crate) const FILES: usize = 100_000;
/// Changes when another tree would be made.
const MADE: &str = "tree 1";

const WORDS: &[&str] = &[
    "let", "fn", "return", "if", "else", "match", "struct", "total", "items", "price", "request", "handler",
    "config", "error", "value", "index", "parse", "render", "update", "delete", "session", "token", "buffer",
    "cache", "queue", "worker", "stream", "socket", "client", "server", "route", "model", "schema", "query",
];
const ENDINGS: &[&str] = &["rs", "rs", "rs", "ts", "ts", "py", "go", "md", "json", "toml", "c", "h"];

/// Makes the tree where it is not there yet.
pub(crate) fn make(root: &Path) -> io::Result<()> {
    let mark = root.join(".git/made");
    if fs::read_to_string(&mark).is_ok_and(|made| made == MADE) {
        return Ok(());
    }
    eprintln!("making {FILES} files in {}", root.display());
    fs::create_dir_all(root.join(".git/objects"))?;
    fs::write(root.join(".gitignore"), "/target/\nnode_modules/\n*.log\n*.tmp\n!keep.log\n")?;
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15);
    let mut text = String::new();
    for number in 0..FILES {
        // About twenty files in a folder, three or four folders deep.
        let folder =
            root.join(format!("pkg{:02}/mod{:02}/src{}", number % 50, number / 50 % 40, number / 2000 % 5));
        let folder = if number % 7 == 0 { folder.join("deep") } else { folder };
        fs::create_dir_all(&folder)?;
        if number % 4000 == 0 {
            fs::write(folder.join(".gitignore"), "generated/\n*.gen.rs\n")?;
        }
        let ending = ENDINGS.get(chance.below(ENDINGS.len())).unwrap_or(&"txt");
        write(&mut text, &mut chance);
        fs::write(folder.join(format!("file_{number}.{ending}")), &text)?;
        if number % 10 == 0 {
            let ignored = root.join(format!("target/debug/{}", number % 100));
            fs::create_dir_all(&ignored)?;
            fs::write(ignored.join(format!("file_{number}.rs")), &text)?;
            fs::write(folder.join(format!("run_{number}.log")), &text)?;
        }
    }
    fs::write(mark, MADE)
}

/// A file's text, 0.2 to 20 KB, most of them small. One in a thousand has a rare word, one in three a frequent one.
fn write(text: &mut String, chance: &mut Chance) {
    text.clear();
    let size = 200 + chance.below(20_000) * chance.below(1_000) / 1_000 * chance.below(1_000) / 1_000;
    while text.len() < size {
        for _ in 0..1 + chance.below(9) {
            text.push_str(WORDS.get(chance.below(WORDS.len())).unwrap_or(&"word"));
            text.push_str([" ", "_", "(", " = ", ".", "::"].get(chance.below(6)).unwrap_or(&" "));
        }
        text.push_str(";\n");
    }
    if chance.below(1_000) == 0 {
        text.push_str("// the needle in the hay\n");
    }
    if chance.below(3) == 0 {
        text.push_str("use common::thing;\n");
    }
}

/// Numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or_default() % end
    }
}
