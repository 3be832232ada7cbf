//! The transports against real servers.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod encodings;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod proxies;
#[cfg(test)]
mod tls;
