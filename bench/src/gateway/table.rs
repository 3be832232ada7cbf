//! The figures as tables, with the aims beside them.

use std::time::Duration;

use super::model::Manner;
use super::process::Calls;
use super::rows::{CPU_AT, Measured, Seen};
use crate::talk;

/// One line for whoever waits.
pub(super) fn progress(one: &Measured) {
    let cpu = one.rail.as_ref().map_or(0.0, |rail| rail.cpu);
    eprintln!("    CPU s per 1,000: bare {:.3}, rail {cpu:.3}", one.bare.cpu);
}

pub(super) fn print(all: &[Measured], idle: Option<u64>, bare_memory: u64) {
    println!(
        "bare: a reverse proxy of hyper and nothing else, in a process of its own; CPU is of the proxy's process alone, at {CPU_AT} clients\n",
    );
    throughput(all);
    latency(all);
    pieces(all);
    println!();
    if let Some(idle) = idle {
        println!(
            "memory after start: rail {:.1} MB; bare proxy at the end {:.1} MB",
            mb(idle),
            mb(bare_memory)
        );
    }
    aims(all, idle);
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub(super) fn mb(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

fn throughput(all: &[Measured]) {
    println!(
        "{:<46} {:>22} {:>22} {:>6} {:>8} {:>8} {:>7}",
        "", "bare: requests/s", "rail: requests/s", "ratio", "CPU s", "per 1,000", "ns a"
    );
    println!(
        "{:<46} {:>22} {:>22} {:>6} {:>8} {:>8} {:>7}",
        "clients", "1 / 16 / 64", "1 / 16 / 64", "64", "bare", "rail", "byte"
    );
    for one in all.iter().filter(|one| one.row.0.manner != Manner::Paced) {
        let rail = one.rail.as_ref();
        println!(
            "{:<46} {:>22} {:>22} {:>6.2} {:>8.3} {:>8.3} {:>7.1}",
            one.row.name(),
            rates(&one.bare),
            rail.map(rates).unwrap_or_default(),
            ratio(one).unwrap_or_default(),
            one.bare.cpu,
            rail.map_or(0.0, |rail| rail.cpu),
            rail.map_or(0.0, |rail| rail.per_byte),
        );
    }
}

fn latency(all: &[Measured]) {
    println!(
        "\n{:<46} {:>15} {:>24} {:>24} {:>7} {:>7}",
        "latency, ms, p50/p99", "direct", "bare", "rail", "added", "p50"
    );
    println!("{:<46} {:>15} {:>24} {:>24} {:>7} {:>7}", "clients", "1", "1, 64", "1, 64", "bare", "rail");
    for one in all.iter().filter(|one| one.row.0.manner != Manner::Paced) {
        println!(
            "{:<46} {:>15} {:>24} {:>24} {:>7.3} {:>7.3}",
            one.row.name(),
            ends(&one.direct, &[0]),
            ends(&one.bare, &[0, 2]),
            one.rail.as_ref().map(|rail| ends(rail, &[0, 2])).unwrap_or_default(),
            added(one, &one.bare),
            one.rail.as_ref().map_or(0.0, |rail| added(one, rail)),
        );
    }
}

fn pieces(all: &[Measured]) {
    let mut paced = all.iter().filter(|one| one.row.0.manner == Manner::Paced).peekable();
    if paced.peek().is_none() {
        return;
    }
    println!(
        "\n{:<46} {:>8} {:>8} {:>6}   {:<}",
        "paced streams of 200 pieces",
        "CPU s",
        "per 1,000",
        "times",
        "a piece's way, ms p50/p99: direct, bare, rail"
    );
    for one in paced {
        let rail = one.rail.as_ref();
        let way = |seen: &Seen| {
            let (half, most) = seen.piece_times();
            format!("{:.3}/{:.3}", ms(half), ms(most))
        };
        println!(
            "{:<46} {:>8.2} {:>8.2} {:>6.2}   {}, {}, {}",
            one.row.name(),
            one.bare.cpu,
            rail.map_or(0.0, |rail| rail.cpu),
            rail.map_or(0.0, |rail| rail.cpu / one.bare.cpu),
            way(&one.direct),
            way(&one.bare),
            rail.map(way).unwrap_or_default(),
        );
    }
}

/// What spec and figure say to each other.
struct Aim {
    what: &'static str,
    /// Which rows it is about.
    about: fn(&Measured) -> bool,
    /// The figure of one row.
    figure: fn(&Measured, &Seen) -> f64,
    bound: Bound,
}

#[derive(Clone, Copy)]
enum Bound {
    Most(f64),
    Least(f64),
}

const AIMS: &[Aim] = &[
    Aim {
        what: "same protocol, JSON, up to 12 KB: CPU s per 1,000",
        about: small_same,
        figure: |_, rail| rail.cpu,
        bound: Bound::Most(0.05),
    },
    Aim {
        what: "same protocol, JSON, up to 12 KB: throughput to the bare proxy's",
        about: small_same,
        figure: throughput_ratio,
        bound: Bound::Least(0.8),
    },
    Aim {
        what: "anthropic -> openai-chat, JSON, up to 12 KB: CPU s per 1,000",
        about: small_translated,
        figure: |_, rail| rail.cpu,
        bound: Bound::Most(0.10),
    },
    Aim {
        what: "anthropic -> openai-chat, JSON, up to 12 KB: throughput to the bare proxy's",
        about: small_translated,
        figure: throughput_ratio,
        bound: Bound::Least(0.6),
    },
    Aim {
        what: "200 KB and 1 MB with 60 tools, JSON: CPU ns a byte",
        about: |one| one.row.0.manner == Manner::Whole && is_large(one),
        figure: |_, rail| rail.per_byte,
        bound: Bound::Most(8.0),
    },
    Aim {
        what: "burst of 200 pieces, translated, up to 12 KB: CPU s per 1,000",
        about: |one| one.row.0.manner == Manner::Burst && one.row.is_translated() && !is_large(one),
        figure: |_, rail| rail.cpu,
        bound: Bound::Most(1.0),
    },
    Aim {
        what: "paced, translated: CPU to the bare proxy's",
        about: |one| one.row.0.manner == Manner::Paced && one.row.is_translated(),
        figure: |one, rail| rail.cpu / one.bare.cpu,
        bound: Bound::Most(1.5),
    },
    Aim {
        what: "added latency, one client, JSON, up to 12 KB: p50 in ms over direct",
        about: |one| one.row.0.manner == Manner::Whole && !is_large(one),
        figure: added,
        bound: Bound::Most(0.1),
    },
    Aim {
        what: "a paced piece's way: p50 in ms over the bare proxy's",
        about: |one| one.row.0.manner == Manner::Paced,
        figure: |one, rail| ms(rail.piece_times().0) - ms(one.bare.piece_times().0),
        bound: Bound::Most(0.1),
    },
];

fn small_same(one: &Measured) -> bool {
    one.row.0.manner == Manner::Whole
        && one.row.0.calls == Calls::Trusted
        && !one.row.is_translated()
        && !is_large(one)
}

fn small_translated(one: &Measured) -> bool {
    let pair = (one.row.0.from.id.name(), one.row.0.to.id.name());
    one.row.0.manner == Manner::Whole && pair == ("anthropic", "openai-chat") && !is_large(one)
}

fn is_large(one: &Measured) -> bool {
    one.row.0.size.bytes > talk::USUAL.bytes
}

/// The worst row of each aim.
fn aims(all: &[Measured], idle: Option<u64>) {
    println!("\n{:<76} {:>9} {:>9}", "aim, and the worst row", "aim", "measured");
    for aim in AIMS {
        let rows = all.iter().filter(|one| (aim.about)(one));
        let figures = rows.filter_map(|one| Some((aim.figure)(one, one.rail.as_ref()?)));
        let (sign, bound, worst) = match aim.bound {
            Bound::Most(bound) => ("<=", bound, figures.reduce(f64::max)),
            Bound::Least(bound) => (">=", bound, figures.reduce(f64::min)),
        };
        let Some(worst) = worst else { continue };
        let reached = match aim.bound {
            Bound::Most(bound) => worst <= bound,
            Bound::Least(bound) => worst >= bound,
        };
        println!("{:<76} {sign:>3} {bound:>5.2} {worst:>9.3}  {}", aim.what, verdict(reached));
    }
    if let Some(idle) = idle {
        println!(
            "{:<76} {:>3} {:>5} {:>9.1}  {}",
            "memory after start, MB",
            "<=",
            20,
            mb(idle),
            verdict(mb(idle) <= 20.0)
        );
    }
}

fn verdict(reached: bool) -> &'static str {
    if reached { "reached" } else { "NOT reached" }
}

fn rates(seen: &Seen) -> String {
    let rates: Vec<String> = seen.met.iter().map(|met| format!("{:.0}", met.per_second())).collect();
    rates.join(" / ")
}

/// Throughput with the most clients, to the bare proxy's.
fn ratio(one: &Measured) -> Option<f64> {
    Some(one.rail.as_ref()?.met.last()?.per_second() / one.bare.met.last()?.per_second())
}

fn throughput_ratio(one: &Measured, _: &Seen) -> f64 {
    ratio(one).unwrap_or_default()
}

fn ends(seen: &Seen, which: &[usize]) -> String {
    let ends = which.iter().filter_map(|at| seen.met.get(*at));
    let ends = ends.map(|met| format!("{:.2}/{:.2}", ms(met.percentile(50)), ms(met.percentile(99))));
    ends.collect::<Vec<_>>().join(", ")
}

/// How much longer one client waits than without a proxy, in ms.
fn added(one: &Measured, proxy: &Seen) -> f64 {
    let half = |seen: &Seen| seen.met.first().map_or(0.0, |met| ms(met.percentile(50)));
    half(proxy) - half(&one.direct)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
