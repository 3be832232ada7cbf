//! Layers of files, environment and flags become one configuration in which every value has its origin.
//!
//! [`load`] reads the layers and gives a [`Loaded`], or all [`Problems`] at once; [`Live`] does so again whenever a
//! file changes. [`compose`] is the same without the machine: texts in, configuration out.

mod active;
mod allow;
mod check;
mod choose;
mod compose;
mod docs;
pub mod dotenv;
mod endpoint;
mod env;
mod extras;
pub mod first;
mod format;
pub mod found;
pub mod hijack;
pub mod import;
mod json;
mod key_names;
pub mod keyring;
mod listed;
mod load;
pub mod mcp;
mod merge;
mod notable;
mod origin;
mod pasted;
mod problem;
mod read;
mod reference;
mod regular;
mod routing;
mod save;
mod schema;
mod secrets;
mod semantics;
pub mod settings;
mod show;
mod tree;
mod trust;
mod variables;
mod watch;
mod way;

pub use active::{ActiveError, set_active};
pub use allow::{AllowError, allow_always};
pub use choose::{Chosen, NotChosen};
pub use compose::{Composed, FlagValue, Kept, Layers, Readers, Source, Trusted, compose};
pub use docs::reference;
pub use endpoint::{plain, shown as shown_address};
pub use env::{Env, PROJECT_FOLDER, Places};
pub use extras::{EnvFileFound, Extras};
pub use key_names::key_variables;
pub use listed::{KeyShown, ListedProvider};
pub use load::{Checked, FileFound, Inputs, LayerFile, Loaded, Scope, check, load, look_up};
pub use merge::{Merged, add_missing};
pub use origin::{Layer, Origin, Place};
pub use problem::{Problem, Problems};
pub use reference::Outside;
pub use save::{Existing, SaveError, Saved, existing, keep_theme, save};
pub use schema::schema;
pub use settings::Settings;
pub use show::{Which, With, show_json, show_toml};
pub use tree::{Member, Node, Table, Text, Value};
pub use trust::{
    ProjectTrust, TrustError, Wish, decline_trust, set_trusted, trust_answer, trust_root, trust_wishes,
};
pub use watch::{Change, Live, LiveError};
