//! Asks the Secret Service of the session, which every Linux desktop has, over its D-Bus.
//!
//! Written out because it is a few calls: the crates that do it bring seventy others, or a C library.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::message::{Answer, Call, HEAD, Writer, length};
use crate::Env;

/// A keyring that has not answered by then will not.
const PATIENCE: Duration = Duration::from_secs(10);

const SECRETS: &str = "org.freedesktop.secrets";
const SERVICE_PATH: &str = "/org/freedesktop/secrets";
const SERVICE: &str = "org.freedesktop.Secret.Service";
const DEFAULT: &str = "/org/freedesktop/secrets/aliases/default";
const COLLECTION: &str = "org.freedesktop.Secret.Collection";
/// The path that stands for no object.
const NOTHING: &str = "/";
const ITEM: &str = "org.freedesktop.Secret.Item";

/// Why the keyring gave nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum BusError {
    #[error("there is no session bus (`DBUS_SESSION_BUS_ADDRESS` is not set)")]
    NoBus,
    #[error("`{0}` is no address of a bus that can be reached")]
    Address(String),
    #[error("the session bus does not answer: {0}")]
    Io(#[from] io::Error),
    #[error("the session bus refuses this user")]
    Refused,
    #[error("the session bus answers in a way that is not understood")]
    Garbled,
    #[error("{0}")]
    Error(String),
    #[error("it is locked")]
    Locked,
}

/// The secret with these attributes, if there is one.
pub(super) fn secret(env: &Env, service: &str, username: &str) -> Result<Option<String>, BusError> {
    let mut bus = Bus::connect(env)?;
    let found = bus.service("SearchItems", |body| {
        body.map(&[("service", service), ("username", username)]);
        "a{ss}"
    })?;
    let mut reader = found.reader();
    let (mut open, locked) =
        reader.texts().and_then(|open| Some((open, reader.texts()?))).ok_or(BusError::Garbled)?;
    if open.is_empty() && !locked.is_empty() {
        let unlocked = bus.service("Unlock", |body| {
            body.texts(&locked);
            "ao"
        })?;
        // What needs a word from the user stays locked: nobody may be there to be asked.
        open = unlocked.reader().texts().ok_or(BusError::Garbled)?;
        if open.is_empty() {
            return Err(BusError::Locked);
        }
    }
    let Some(item) = open.first() else { return Ok(None) };

    let session = bus.session()?;
    let given = bus.call(SECRETS, item, ITEM, "GetSecret", |body| {
        body.text(&session);
        "o"
    })?;
    let mut reader = given.reader();
    let secret = reader.group().and_then(|()| {
        reader.text()?;
        reader.blob()?;
        reader.blob()
    });
    let secret = secret.ok_or(BusError::Garbled)?;
    String::from_utf8(secret.to_vec())
        .map(Some)
        .map_err(|_| BusError::Error("it is no UTF-8 text".to_owned()))
}

/// Whether there is a keyring that something can be stored in.
pub(super) fn can_store(env: &Env) -> Result<bool, BusError> {
    let mut bus = Bus::connect(env)?;
    let named = bus.service("ReadAlias", |body| {
        body.text("default");
        "s"
    })?;
    Ok(named.reader().text().ok_or(BusError::Garbled)? != NOTHING)
}

/// Stores a secret with these attributes, in place of one that has them.
pub(super) fn store(env: &Env, service: &str, username: &str, secret: &str) -> Result<(), BusError> {
    const LABEL: &str = "org.freedesktop.Secret.Item.Label";
    const ATTRIBUTES: &str = "org.freedesktop.Secret.Item.Attributes";
    let mut bus = Bus::connect(env)?;
    let session = bus.session()?;
    let made = bus.call(SECRETS, DEFAULT, COLLECTION, "CreateItem", |body| {
        body.properties(&[LABEL, ATTRIBUTES], |body, key| match key {
            LABEL => body.variant(&format!("{service} {username}")),
            _ => body.variant_map(&[("service", service), ("username", username)]),
        });
        body.group();
        body.text(&session);
        body.blob(&[]);
        body.blob(secret.as_bytes());
        body.text("text/plain");
        body.yes();
        "a{sv}(oayays)b"
    });
    let made = match made {
        Err(BusError::Error(why)) if why.contains("locked") => return Err(BusError::Locked),
        made => made?,
    };
    let mut reader = made.reader();
    match (reader.text(), reader.text()) {
        (Some(_), Some(NOTHING)) => Ok(()),
        // What needs a word from the user is not stored.
        (Some(_), Some(_)) => Err(BusError::Locked),
        (None, _) | (_, None) => Err(BusError::Garbled),
    }
}

struct Bus {
    stream: BufReader<UnixStream>,
    serial: u32,
}

impl Bus {
    fn connect(env: &Env) -> Result<Self, BusError> {
        let runtime = env.get("XDG_RUNTIME_DIR").map(|folder| format!("unix:path={folder}/bus"));
        let addresses = env.get("DBUS_SESSION_BUS_ADDRESS").map(str::to_owned).or(runtime);
        let addresses = addresses.ok_or(BusError::NoBus)?;
        let stream = addresses.split(';').find_map(open).ok_or(BusError::Address(addresses))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut bus = Self { stream: BufReader::new(stream), serial: 0 };
        bus.introduce()?;
        bus.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", |_| "")?;
        Ok(bus)
    }

    /// Opens a session, in which secrets are given and taken as they are.
    fn session(&mut self) -> Result<String, BusError> {
        let session = self.service("OpenSession", |body| {
            // The bus is a socket of this machine that only this user can open.
            body.text("plain");
            body.variant("");
            "sv"
        })?;
        let mut reader = session.reader();
        reader.variant().and_then(|_| reader.text()).map(str::to_owned).ok_or(BusError::Garbled)
    }

    /// Says who we are; the bus knows it from the socket already.
    fn introduce(&mut self) -> Result<(), BusError> {
        self.stream.get_mut().write_all(b"\0AUTH EXTERNAL\r\n")?;
        loop {
            let mut line = String::new();
            if (&mut self.stream).take(4096).read_line(&mut line)? == 0 {
                return Err(BusError::Refused);
            }
            if line.starts_with("DATA") {
                self.stream.get_mut().write_all(b"DATA\r\n")?;
            } else if line.starts_with("OK") {
                self.stream.get_mut().write_all(b"BEGIN\r\n")?;
                return Ok(());
            } else {
                return Err(BusError::Refused);
            }
        }
    }

    fn service(
        &mut self,
        member: &'static str,
        body: impl FnOnce(&mut Writer) -> &'static str,
    ) -> Result<Answer, BusError> {
        self.call(SECRETS, SERVICE_PATH, SERVICE, member, body)
    }

    /// Calls a method and waits for its answer. `body` writes the arguments and gives their types.
    fn call(
        &mut self,
        destination: &'static str,
        path: &str,
        interface: &'static str,
        member: &'static str,
        body: impl FnOnce(&mut Writer) -> &'static str,
    ) -> Result<Answer, BusError> {
        let mut arguments = Writer::default();
        let signature = body(&mut arguments);
        self.serial += 1;
        let call = Call { destination, path: path.to_owned(), interface, member, signature, body: arguments };
        self.stream.get_mut().write_all(&call.bytes(self.serial))?;
        loop {
            let answer = self.receive()?;
            // Signals and answers to others are not for us.
            if answer.to != Some(self.serial) {
                continue;
            }
            return match answer.kind {
                Answer::RETURN => Ok(answer),
                Answer::ERROR => {
                    let why =
                        answer.reader().text().or(answer.error.as_deref()).unwrap_or_default().to_owned();
                    Err(BusError::Error(why))
                }
                _ => Err(BusError::Garbled),
            };
        }
    }

    fn receive(&mut self) -> Result<Answer, BusError> {
        let mut head = [0; HEAD];
        self.stream.read_exact(&mut head)?;
        let length = length(&head).ok_or(BusError::Garbled)?;
        let mut bytes = head.to_vec();
        // Read as it comes: a length alone takes no memory.
        (&mut self.stream).take((length - HEAD) as u64).read_to_end(&mut bytes)?;
        if bytes.len() != length {
            return Err(BusError::Garbled);
        }
        Answer::read(&bytes).ok_or(BusError::Garbled)
    }
}

/// Opens `unix:path=…` or `unix:abstract=…`.
fn open(address: &str) -> Option<UnixStream> {
    use std::os::linux::net::SocketAddrExt;
    let pairs = address.strip_prefix("unix:")?.split(',').filter_map(|pair| pair.split_once('='));
    for (key, value) in pairs {
        match key {
            "path" => return UnixStream::connect(Path::new(value)).ok(),
            "abstract" => {
                let address = std::os::unix::net::SocketAddr::from_abstract_name(value).ok()?;
                return UnixStream::connect_addr(&address).ok();
            }
            _ => {}
        }
    }
    None
}
