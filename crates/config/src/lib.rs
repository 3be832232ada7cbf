//! Layers of files, environment and flags become one configuration in which every value has its origin.

pub mod dotenv;
mod endpoint;
pub mod found;
pub mod hijack;
pub mod import;
