//! The gateway on real sockets.
