use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a process and all it starts may do.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Shape {
    /// Whatever the user may.
    #[default]
    Free,
    /// Only this.
    Confined {
        /// Folders and files that may be written; everything else is read-only. Those that do not exist are left out.
        writable: Vec<PathBuf>,
        /// Files and folders inside of the writable ones that stay read-only, and can't be moved away; those that do not exist are
        /// left out. It takes namespaces: without them this is not kept.
        kept: Vec<PathBuf>,
        /// Files and folders that can't be read, whatever else may be.
        hidden: Vec<PathBuf>,
        /// Whether it may speak with anybody.
        network: Network,
    },
}

/// Whether a process may speak with other machines and with servers of this one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Network {
    /// With nobody.
    #[default]
    Off,
    /// With anybody.
    On,
}
