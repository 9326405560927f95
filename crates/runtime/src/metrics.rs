//! What is counted while the line works, for whoever watches from outside (Prometheus text).

use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};
use protocol::Fault;

/// Counted since the process began.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    messages: Counter,
    firings: Family<Label, Counter>,
    retries: Family<Label, Counter>,
    dead_letters: Counter,
    in_hand: Gauge,
}

/// Name and value.
type Label = [(&'static str, &'static str); 1];

impl Metrics {
    pub(crate) fn received(&self) -> InHand<'_> {
        self.messages.inc();
        self.in_hand.inc();
        InHand(&self.in_hand)
    }

    pub(crate) fn ended(&self, outcome: Result<(), protocol::ErrorCode>) {
        let label = match outcome {
            Ok(()) => "success",
            Err(code) => {
                if code.is_dead_letter() {
                    self.dead_letters.inc();
                }
                "failed"
            }
        };
        self.firings.get_or_create(&[("outcome", label)]).inc();
    }

    pub(crate) fn retried(&self, fault: Fault) {
        let fault = match fault {
            Fault::Node => "node",
            Fault::System => "system",
        };
        self.retries.get_or_create(&[("fault", fault)]).inc();
    }

    /// As text; `queue_depth` is what waits to be worked on now.
    pub fn text(&self, queue_depth: usize) -> String {
        let depth = Gauge::<i64>::default();
        depth.set(i64::try_from(queue_depth).unwrap_or(i64::MAX));
        let mut registry = Registry::with_prefix("runeglass");
        registry.register("messages", "Messages taken in hand", self.messages.clone());
        registry.register("firings", "Nodes that ran to an end", self.firings.clone());
        registry.register("retries", "Attempts that came to nothing and were repeated", self.retries.clone());
        registry.register("dead_letters", "Messages given up", self.dead_letters.clone());
        registry.register("in_hand", "Messages being worked on", self.in_hand.clone());
        registry.register("queue_depth", "Messages that wait to be worked on", depth);
        let mut text = String::new();
        // Writing into a String cannot fail.
        let _ = text::encode(&mut text, &registry);
        text
    }
}

/// A message is in hand as long as this lives.
pub(crate) struct InHand<'m>(&'m Gauge);

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_counted_under_its_name() {
        let metrics = Metrics::default();
        let hand = metrics.received();
        drop(metrics.received());
        metrics.ended(Ok(()));
        metrics.ended(Err(protocol::ErrorCode::RetriesUsedUp));
        metrics.retried(Fault::System);
        let text = metrics.text(7);
        for line in [
            "runeglass_messages_total 2",
            "runeglass_firings_total{outcome=\"success\"} 1",
            "runeglass_firings_total{outcome=\"failed\"} 1",
            "runeglass_retries_total{fault=\"system\"} 1",
            "runeglass_dead_letters_total 1",
            "runeglass_in_hand 1",
            "runeglass_queue_depth 7",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
        drop(hand);
    }
}
