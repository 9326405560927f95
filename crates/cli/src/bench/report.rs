//! The figures beside their targets, for people and as one line of JSON.

use serde_json::{Map, Value, json};

use super::{COMPARED, fan_out, node_red, skeleton};
use crate::outcome::{CommandError, say};

pub struct Report {
    load_before: String,
    /// Everything measured, for the line of JSON.
    record: Map<String, Value>,
    fan_outs: Vec<FanOut>,
    targets: Vec<Target>,
}

/// A figure that is held against what it must be and what we aim at, where we have said so.
struct Target {
    name: &'static str,
    figure: f64,
    must: &'static str,
    aim: &'static str,
}

struct FanOut {
    items: usize,
    best_millis: f64,
    median_millis: f64,
    bytes_per_item: f64,
}

impl FanOut {
    /// Every item passes some nodes; trigger, split and aggregator run once.
    fn nodes_per_second(&self) -> f64 {
        (fan_out::NODES_PER_ITEM * self.items + 3) as f64 * 1_000.0 / self.best_millis
    }
}

impl Report {
    pub fn begin() -> Result<Self, CommandError> {
        say("F(N): split N objects → edit (JavaScript) → simulate(0) → aggregator; durable, fully recorded")?;
        let head = ["N", "best", "median", "nodes per s", "bytes per item", "peak memory"];
        say(&line(&head.map(str::to_owned)))?;
        Ok(Self { load_before: load(), record: Map::new(), fan_outs: Vec::new(), targets: Vec::new() })
    }

    pub fn fan_out(&mut self, items: usize, part: &Value) -> Result<(), CommandError> {
        let figure = FanOut {
            items,
            best_millis: number(part, "/millis/best"),
            median_millis: number(part, "/millis/median"),
            bytes_per_item: number(part, "/store_bytes") / items as f64,
        };
        let peak_megabytes = number(part, "/peak_kilobytes") / 1_024.0;
        say(&line(&[
            items.to_string(),
            millis(figure.best_millis),
            millis(figure.median_millis),
            format!("{:.0}", figure.nodes_per_second()),
            format!("{:.0}", figure.bytes_per_item),
            format!("{peak_megabytes:.0} MB"),
        ]))?;
        self.record.insert(format!("fan_out_{items}"), part.clone());
        if items > COMPARED {
            let before = self.compared().map(|before| figure.best_millis / before.best_millis);
            self.target("F(100,000) / F(10,000), time", before, "≤ 12", "≤ 10.5");
            self.target("peak memory of F(100,000), MB", Some(peak_megabytes), "≤ 600", "");
        }
        self.fan_outs.push(figure);
        Ok(())
    }

    pub fn ballast(&mut self, part: &Value) {
        let ratio = number(part, "/heavy/best") / number(part, "/plain/best");
        self.target("F(10,000) with a 5 MB trigger, times as long", Some(ratio), "≤ 1.5", "");
        self.record.insert("ballast".to_owned(), part.clone());
    }

    pub fn handles(&mut self, part: &Value) {
        let ratio = number(part, "/handles/best") / number(part, "/plain/best");
        self.target("F(10,000) over for_each and collect, times as long", Some(ratio), "≤ 1.3", "");
        self.record.insert("handles".to_owned(), part.clone());
    }

    pub fn hop(&mut self, part: &Value) -> Result<(), CommandError> {
        let (p50, p99) = (millis(number(part, "/p50")), millis(number(part, "/p99")));
        say(&format!(
            "one hop, trigger → log, durable: p50 {p50}, p99 {p99} of {} runs",
            number(part, "/runs")
        ))?;
        self.record.insert("hop".to_owned(), part.clone());
        Ok(())
    }

    pub fn skeleton(&mut self, part: &Value) -> Result<(), CommandError> {
        let best = number(part, "/millis/best");
        let per_second = number(part, "/nodes") * 1_000.0 / best;
        say(&format!(
            "bare skeleton, no engine: {COMPARED} items, {} nodes per item, two durable rows per node: {}, \
             {per_second:.0} nodes per s",
            skeleton::NODES_PER_ITEM,
            millis(best)
        ))?;
        let share = self.compared().map(|ours| 100.0 * ours.nodes_per_second() / per_second);
        self.target("nodes per s of F(10,000), % of the bare skeleton", share, "≥ 50", "≥ 80");
        self.record.insert("skeleton".to_owned(), part.clone());
        Ok(())
    }

    pub fn node_red(&mut self, measured: &node_red::Measured) -> Result<(), CommandError> {
        let node_red::Measured { version, node, two_per_item, three_per_item, runs } = measured;
        say(&format!(
            "Node-RED {version} on Node {node}, split/join of {COMPARED} items, neither durable nor recorded, median of {runs}: \
             3 nodes per item {}, 2 nodes per item {}",
            millis(*three_per_item),
            millis(*two_per_item)
        ))?;
        // Median against median, so that neither side has the better luck.
        let over = |theirs: f64| self.compared().map(|ours| theirs / ours.median_millis);
        let (three, two) = (over(*three_per_item), over(*two_per_item));
        self.target("F(10,000), throughput over Node-RED, 3 nodes per item", three, "≥ 1.5", "≥ 2.5");
        self.target("the same against 2 nodes per item, as many as ours", two, "", "");
        self.record.insert(
            "node_red".to_owned(),
            json!({"version": version, "node": node, "three_per_item": three_per_item, "two_per_item": two_per_item, "runs": runs}),
        );
        Ok(())
    }

    pub fn recorder(&mut self, part: &Value) -> Result<(), CommandError> {
        let (recorded, forgotten) = (number(part, "/recorded/best"), number(part, "/forgotten/best"));
        say(&format!(
            "F(10,000) with recording off: the same engine makes the same events, folds and tells them, and writes \
             none: {}; with recording on, until all of it is durable: {}",
            millis(forgotten),
            millis(recorded)
        ))?;
        let cost = 100.0 * (recorded / forgotten - 1.0);
        self.target("recording, % of F(10,000) with recording off in memory", Some(cost), "≤ 25", "");
        self.record.insert("recorder".to_owned(), part.clone());
        Ok(())
    }

    pub fn gate(&mut self, part: &Value) -> Result<(), CommandError> {
        let best = |which: &str| number(part, &format!("/{which}/best"));
        say(&format!(
            "F(10,000) without a gate {}, behind one that nobody uses {}, while another execution is debugged {}",
            millis(best("none")),
            millis(best("idle")),
            millis(best("attached"))
        ))?;
        self.target("an idle gate, % of F(10,000) without one", Some(percent_over(part, "idle")), "", "≤ 2");
        let attached = percent_over(part, "attached");
        self.target("the same while another execution is debugged", Some(attached), "", "");
        self.record.insert("gate".to_owned(), part.clone());
        Ok(())
    }

    pub fn seek(&mut self, part: &Value) -> Result<(), CommandError> {
        let figure = |name: &str| millis(number(part, name));
        say(&format!(
            "{} random moments of a recording of {} events: p50 {}, p95 {}; the first, without snapshots, {}",
            number(part, "/seeks"),
            number(part, "/events"),
            figure("/p50"),
            figure("/p95"),
            figure("/first")
        ))?;
        let p95 = Some(number(part, "/p95"));
        self.target("seek in a recording of 100,000 events, p95, ms", p95, "≤ 50", "");
        self.record.insert("seek".to_owned(), part.clone());
        Ok(())
    }

    pub fn store(&mut self, part: &Value) -> Result<(), CommandError> {
        let figure = |name: &str| millis(number(part, name));
        say(&format!(
            "a store of {} messages ({} events, {:.0} MB) in {} executions: indexed once in {:.0} s; {} searches, p50 {}, \
             p95 {}, slowest {} for {}",
            number(part, "/messages"),
            number(part, "/events"),
            number(part, "/bytes") / 1e6,
            number(part, "/executions"),
            number(part, "/indexing") / 1_000.0,
            number(part, "/search/searches"),
            figure("/search/p50"),
            figure("/search/p95"),
            figure("/search/slowest"),
            part["search"]["slowest_for"]
        ))?;
        // Every program that lists them is the first one once, so here the middle counts and not the best.
        let listing = Some(number(part, "/listing/median"));
        self.target("open a store of 2,000,000 events and list it, ms", listing, "≤ 1000", "");
        let search = Some(number(part, "/search/p95"));
        self.target("search over 1,000,000 messages, p95, ms", search, "≤ 300", "");
        self.record.insert("store".to_owned(), part.clone());
        Ok(())
    }

    pub fn compare(&mut self, part: &Value) {
        let median = Some(number(part, "/millis/median"));
        self.target("read and compare two runs of F(10,000), ms", median, "≤ 2000", "");
        self.record.insert("compare".to_owned(), part.clone());
    }

    pub fn end(mut self) -> Result<(), CommandError> {
        let bytes = || self.fan_outs.iter().map(|figure| figure.bytes_per_item);
        let (least, most) = (bytes().fold(f64::MAX, f64::min), bytes().fold(0.0, f64::max));
        let spread = (self.fan_outs.len() > 1).then(|| 100.0 * (most / least - 1.0));
        self.target("bytes per item, spread over all N, %", spread, "≤ 20", "");
        say(&format!("\n{:<56} {:>8} {:>8} {:>8}", "figure", "here", "must", "aim"))?;
        for Target { name, figure, must, aim } in &self.targets {
            let figure = if *figure < 20.0 { format!("{figure:.2}") } else { format!("{figure:.0}") };
            say(&format!("{name:<56} {figure:>8} {must:>8} {aim:>8}"))?;
        }
        let build = if cfg!(debug_assertions) { "debug" } else { "release" };
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let load_after = load();
        say(&format!(
            "\nload of this machine ({cores} cores): {} before, {load_after} after",
            self.load_before
        ))?;
        let machine = json!({"cores": cores, "load_before": self.load_before, "load_after": load_after});
        let targets: Map<String, Value> =
            self.targets.iter().map(|target| (target.name.to_owned(), json!(target.figure))).collect();
        let version = env!("CARGO_PKG_VERSION");
        say(&json!({"version": version, "build": build, "machine": machine, "targets": targets, "measured": self.record}).to_string())
    }

    fn compared(&self) -> Option<&FanOut> {
        self.fan_outs.iter().find(|figure| figure.items == COMPARED)
    }

    fn target(&mut self, name: &'static str, figure: Option<f64>, must: &'static str, aim: &'static str) {
        self.targets.extend(figure.map(|figure| Target { name, figure, must, aim }));
    }
}

fn line(cells: &[String; 6]) -> String {
    let [items, best, median, rate, bytes, peak] = cells;
    format!("{items:>9} {best:>12} {median:>12} {rate:>14} {bytes:>16} {peak:>13}")
}

fn millis(millis: f64) -> String {
    if millis < 10.0 { format!("{millis:.2} ms") } else { format!("{millis:.0} ms") }
}

/// A part that lacks a figure shows as 0, which nobody takes for a measurement.
fn number(part: &Value, pointer: &str) -> f64 {
    part.pointer(pointer).and_then(Value::as_f64).unwrap_or_default()
}

/// How much longer than without a gate.
fn percent_over(part: &Value, which: &str) -> f64 {
    100.0 * (number(part, &format!("/{which}/best")) / number(part, "/none/best") - 1.0)
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
