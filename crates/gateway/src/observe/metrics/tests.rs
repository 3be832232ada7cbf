use rail_route::Health;
use tokio::time::Instant;

use super::*;
use crate::observe::judge::judge;
use crate::observe::world::{CONFIGURATION, entry, loaded};

fn known() -> Known {
    Known::new(&loaded(CONFIGURATION).routing)
}

fn text(metrics: &Metrics) -> String {
    let mut health = Health::default();
    let now = Instant::now().into_std();
    health.refused(&"p,a".parse().unwrap(), "HTTP 401", now);
    health.failed(&"p,made-up".parse().unwrap(), "HTTP 503", now);
    let gauges = Gauges {
        in_flight: 3,
        connections: Some(7),
        health: &health.snapshot(now),
        started: 1_709_210_096_789,
        dropped: &[("log-lines", 0), ("spans", 2)],
    };
    metrics.text(&gauges, &known())
}

/// The samples of a family, without the buckets of histograms.
fn samples(text: &str, family: &str) -> String {
    let of = |line: &&str| line.starts_with(family) && !line.contains("_bucket");
    text.lines().filter(of).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_request_is_counted_once_in_every_way() {
    let metrics = Metrics::default();
    metrics.ended(&entry("1"), &known());
    let text = text(&metrics);
    let without_buckets: Vec<&str> = text.lines().filter(|line| !line.contains("_bucket")).collect();
    insta::assert_snapshot!(without_buckets.join("\n"));
}

#[test]
fn sends_to_the_same_target_are_retries_and_to_others_failovers() {
    let metrics = Metrics::default();
    let mut entry = entry("1");
    let first = entry.sent[0].clone();
    entry.sent.insert(0, first);
    entry.ending = Ending::Broken;
    metrics.ended(&entry, &known());
    let text = text(&metrics);
    assert_eq!(samples(&text, "switchrail_retries_total"), "switchrail_retries_total{target=\"p,a\"} 1");
    assert_eq!(samples(&text, "switchrail_failovers_total"), "switchrail_failovers_total{target=\"p,a\"} 1");
    let broken = "gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name=\"chat\",gen_ai_provider_name=\"p\",gen_ai_request_model=\"b\",error_type=\"broken\"} 1";
    assert!(text.contains(broken), "{text}");
}

#[test]
fn what_clients_make_up_becomes_no_label() {
    let metrics = Metrics::default();
    let known = known();
    for at in 0..1000 {
        let mut entry = entry(&at.to_string());
        entry.asked = format!("asked-{at}");
        entry.client = format!("client-{at}");
        entry.session = Some(format!("session-{at}"));
        entry.target = Some(format!("p,model-{at}"));
        entry.sent.iter_mut().for_each(|sent| sent.target = format!("nobody,model-{at}"));
        let done = format!("{{\"done\":[{{\"step\":\"step-{at}\"}}]}}");
        entry.repairs = vec![Json::parse(done).unwrap()];
        metrics.ended(&entry, &known);
    }
    let text = text(&metrics);
    assert!(!text.contains("asked-") && !text.contains("model-1") && !text.contains("client-"));
    assert!(text.contains("target=\"p,other\"") && text.contains("target=\"other\""));
    assert_eq!(samples(&text, "switchrail_repairs_total").lines().count(), MOST_KINDS + 1);
    assert!(text.lines().count() < 250, "{}", text.lines().count());
}

#[test]
fn every_ending_and_every_empty_field_is_counted() {
    let metrics = Metrics::default();
    for ending in [Ending::Answered, Ending::Failed, Ending::Broken, Ending::Left, Ending::Refused] {
        let entry = Entry {
            key: None,
            session: None,
            virtual_model: None,
            route: None,
            target: None,
            sent: Vec::new(),
            repairs: vec![Json::from(serde_json::json!("of another shape"))],
            tokens: Default::default(),
            cost: None,
            first_ms: None,
            ending,
            ..entry("1")
        };
        metrics.ended(&entry, &known());
    }
    insta::assert_snapshot!(samples(&text(&metrics), "switchrail_requests_total"), @r#"
    switchrail_requests_total{protocol="anthropic",operation="generate",ending="answered",status="200"} 1
    switchrail_requests_total{protocol="anthropic",operation="generate",ending="failed",status="200"} 1
    switchrail_requests_total{protocol="anthropic",operation="generate",ending="broken",status="200"} 1
    switchrail_requests_total{protocol="anthropic",operation="generate",ending="left",status="200"} 1
    switchrail_requests_total{protocol="anthropic",operation="generate",ending="refused",status="200"} 1
    "#);
}

#[test]
fn the_prometheus_client_reads_every_line() {
    let Some(judge) = judge() else { return };
    let metrics = Metrics::default();
    let mut odd = entry("2");
    odd.virtual_model = Some("quoted \"\\ and\nbroken".to_owned());
    metrics.ended(&entry("1"), &known());
    metrics.ended(&odd, &known());
    let text = text(&metrics);
    let read = judge.metrics(&text);
    let samples = text.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(read["samples"], samples);
    let families = text.lines().filter(|line| line.starts_with("# TYPE")).count();
    assert_eq!(read["families"].as_object().unwrap().len(), families);
    assert_eq!(read["families"]["gen_ai_client_token_usage"], "histogram");
    assert_eq!(read["families"]["switchrail_requests"], "counter");
    assert!(read["values"].to_string().contains("quoted"), "{read}");
}
