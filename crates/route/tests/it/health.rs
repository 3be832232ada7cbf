use std::time::{Duration, Instant};

use rail_route::{Circuit, Health};
use serde_json::json;

use crate::setup::{seconds, start, target};

/// Plays outcomes, one a second: `+` well, `-` badly, `!` refused, `.` a second in which nothing happens.
fn play(health: &mut Health, from: Instant, script: &str) -> Instant {
    let mut now = from;
    for outcome in script.chars() {
        match outcome {
            '+' => health.succeeded(&target("a,b"), seconds(1), now),
            '-' => health.failed(&target("a,b"), "HTTP 503", now),
            '!' => health.refused(&target("a,b"), "HTTP 401: wrong key", now),
            _ => {}
        }
        now += seconds(1);
    }
    now - seconds(1)
}

fn circuit_after(script: &str) -> Circuit {
    let mut health = Health::default();
    let now = play(&mut health, start(), script);
    health.circuit(&target("a,b"), now)
}

#[test]
fn what_opens_a_circuit() {
    for (script, opens) in [
        ("+", false),
        ("-", false),
        ("--", false),
        ("---", true),
        ("!", true),
        ("+++++++++!", true),
        ("--+--+", false),
        ("-+-+", false),
        ("-+-+-", true),
        ("-----+-", false),
        ("--+++", false),
        ("++-+-+--", true),
        ("+++++++--", false),
    ] {
        assert_eq!(circuit_after(script) != Circuit::Closed, opens, "{script}");
    }
}

#[test]
fn a_target_that_flaps_is_asked_seldom_and_is_back_soon_after_it_recovered() {
    // A request a second, which goes elsewhere while the circuit is open; every third that comes here fails.
    let (mut health, from, of) = (Health::default(), start(), target("a,b"));
    let mut play = |seconds_from: u64, seconds_to: u64, fails: &dyn Fn(u64) -> bool| {
        let (mut asked, mut failed) = (0, 0);
        for second in seconds_from..seconds_to {
            let now = from + seconds(second);
            match health.circuit(&of, now) {
                Circuit::Open(until) => {
                    assert!(until - now <= seconds(300), "never open for longer than five minutes");
                    continue;
                }
                Circuit::HalfOpen => health.probing(&of, now),
                Circuit::Closed => {}
            }
            asked += 1;
            if fails(second) {
                failed += 1;
                health.failed(&of, "HTTP 503", now);
            } else {
                health.succeeded(&of, seconds(1), now);
            }
        }
        (asked, failed)
    };
    assert_eq!(play(0, 600, &|second| second % 3 == 0), (600, 200), "one of three is not enough to open it");
    let (asked, failed) = play(600, 1_200, &|second| second % 3 != 0);
    assert!(asked < 60 && failed < 40, "{asked} {failed}: two of three are");
    assert!(play(1_200, 2_400, &|_| true).1 <= 9, "down: one probe each 30 s, 1, 2, 4, 5, 5 … minutes");
    let (asked, failed) = play(2_400, 3_000, &|_| false);
    assert!(asked >= 300 && failed == 0, "{asked}: within five minutes it is back");
}

#[test]
fn only_the_last_minute_counts_for_the_rate() {
    let quiet = ".".repeat(70);
    assert_eq!(circuit_after(&format!("-+-+{quiet}-")), Circuit::Closed);
    assert_eq!(circuit_after(&format!("--{quiet}+--")), Circuit::Closed);
    assert_ne!(
        circuit_after(&format!("--{quiet}-")),
        Circuit::Closed,
        "three in a row, however long it takes"
    );
}

#[test]
fn it_is_open_for_longer_each_time_until_a_success_closes_it() {
    let (mut health, mut now) = (Health::default(), start());
    let of = target("a,b");
    health.refused(&of, "401", now);
    for wait in [30, 60, 120, 240, 300, 300] {
        assert_eq!(health.circuit(&of, now), Circuit::Open(now + seconds(wait)));
        health.failed(&of, "was under way", now + seconds(1));
        now += seconds(wait);
        assert_eq!(health.circuit(&of, now), Circuit::HalfOpen);
        health.probing(&of, now);
        assert_eq!(health.circuit(&of, now), Circuit::Open(now + seconds(60)), "one goes, and no other");
        now += seconds(2);
        health.failed(&of, "503", now);
    }
    now += seconds(300);
    health.probing(&of, now);
    health.succeeded(&of, seconds(1), now);
    assert_eq!(health.circuit(&of, now), Circuit::Closed);
    health.failed(&of, "503", now);
    assert_eq!(health.circuit(&of, now), Circuit::Closed, "what was before is forgiven");
    health.refused(&of, "401", now);
    assert_eq!(health.circuit(&of, now), Circuit::Open(now + seconds(30)));
}

#[test]
fn a_probe_that_nobody_reports_of_lets_the_next_one_through() {
    let (mut health, now) = (Health::default(), start());
    let of = target("a,b");
    health.probing(&of, now);
    assert_eq!(health.circuit(&of, now), Circuit::Closed, "there is nothing to probe");
    health.refused(&of, "401", now);
    health.probing(&of, now);
    assert_eq!(health.circuit(&of, now + seconds(30)), Circuit::HalfOpen, "it was too early to probe");
    health.probing(&of, now + seconds(30));
    assert_eq!(health.circuit(&of, now + seconds(89)), Circuit::Open(now + seconds(90)));
    assert_eq!(health.circuit(&of, now + seconds(90)), Circuit::HalfOpen);
}

#[test]
fn the_listing_has_all_that_is_known() {
    let (mut health, now) = (Health::default(), start());
    health.succeeded(&target("z,fast"), seconds(1), now);
    health.succeeded(&target("z,fast"), seconds(2), now);
    health.failed(&target("z,fast"), "HTTP 529: overloaded", now);
    health.refused(&target("a,gone"), &"x".repeat(1_000), now);
    let later = now + seconds(10);
    assert_eq!(
        serde_json::to_value(health.snapshot(later)).unwrap(),
        json!([
            {
                "target": "a,gone", "circuit": "open", "open_seconds": 20, "failure_rate": 1.0, "latency_ms": null,
                "succeeded": 0, "failed": 1, "last_error": {"class": "refused", "text": "x".repeat(300)},
                "heard_seconds_ago": 10,
            },
            {
                "target": "z,fast", "circuit": "closed", "open_seconds": null, "failure_rate": 1.0 / 3.0, "latency_ms": 1200,
                "succeeded": 2, "failed": 1, "last_error": {"class": "passing", "text": "HTTP 529: overloaded"},
                "heard_seconds_ago": 10,
            },
        ])
    );
    let hour = health.snapshot(now + seconds(3_600));
    assert_eq!((hour[0].circuit, hour[1].failure_rate), ("half-open", None));
}

#[test]
fn a_circuit_that_another_process_saw_open_is_open() {
    let (mut health, now) = (Health::default(), start());
    let of = target("a,b");
    health.open_for(&of, seconds(7), now);
    assert_eq!(health.circuit(&of, now), Circuit::Open(now + seconds(7)));
    assert_eq!(health.circuit(&of, now + seconds(7)), Circuit::HalfOpen);
    health.failed(&of, "503", now + seconds(7));
    assert_eq!(health.circuit(&of, now + seconds(7)), Circuit::Open(now + seconds(67)));
    health.open_for(&of, Duration::MAX, now);
    assert_eq!(health.circuit(&of, now), Circuit::Open(now + seconds(300)), "nobody opens it for longer");
    assert_eq!(health.snapshot(now)[0].heard_seconds_ago, Some(0));
}

#[test]
fn its_memory_is_bounded() {
    let (mut health, now) = (Health::default(), start());
    for number in 0..1_100 {
        health.failed(&target(&format!("a,{number:04}")), "x", now);
    }
    let listed = health.snapshot(now);
    assert_eq!((listed.len(), listed[0].target.as_str()), (1_000, "a,0100"));
}
