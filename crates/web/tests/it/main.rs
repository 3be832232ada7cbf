//! The fetcher against scripted servers on real sockets.
