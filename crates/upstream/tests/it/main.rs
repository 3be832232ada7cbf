//! The transports against real servers.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod cassettes;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod encodings;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod local;
#[cfg(test)]
mod proxies;
#[cfg(test)]
mod tls;
