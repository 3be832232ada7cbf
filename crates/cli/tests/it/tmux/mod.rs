//! The interface at a real terminal: tmux is the terminal, keys are what a person would press, and what is seen and copied is what is judged.

mod commands;
mod first;
mod leaving;
mod pane;
mod panic;
mod plain;
mod task;
