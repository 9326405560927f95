//! Executions that breakpoints or pauses hold although nobody is there to let them go on.

use protocol::{ControlView, ExecutionId, GatePlace, HeldAt};
use session::{Rest, Session};

use crate::{
    outcome::{CommandError, Outcome},
    terminal::plain,
};

/// Returns when nothing of an execution can move any more because it is held; never where it is not. It is said then, and
/// the execution stays in the store as it is.
pub async fn until_held(session: &Session, id: &ExecutionId) -> CommandError {
    if !session.is_controlled(id) {
        return std::future::pending().await;
    }
    let mut news = session.subscribe();
    loop {
        match session.until_rest(id).await {
            // Timers may still move something, a join that gives up among it; they are there when it is resumed.
            Ok(Rest::Still { held: 1.., .. }) => break,
            Ok(Rest::Still { .. }) => drop(news.next().await),
            // Whoever follows it hears of that too.
            Ok(Rest::Ended) | Err(_) => return std::future::pending().await,
        }
    }
    let view = match session.held(id).await {
        Ok(view) => view,
        Err(problem) => return problem.into(),
    };
    eprintln!("{}", described(id, &view));
    eprintln!(
        "  hint: `runeglass debug FILE --store … --resume` steps on from there; `runeglass resume --store … --release` lets \
         everything go"
    );
    CommandError::Said(Outcome::FailedOrHalted)
}

fn described(id: &ExecutionId, view: &ControlView) -> String {
    let at = |held: &HeldAt| {
        let side = match held.gate {
            GatePlace::Before => "before",
            GatePlace::After => "after",
        };
        format!("{} {side} {}", held.count, plain(held.node_id.as_str()))
    };
    let places: Vec<String> = view.held_at.iter().map(at).collect();
    let why = if view.paused { "it is paused" } else { "by breakpoints, pauses or steps" };
    format!("{id} does not go on: {} message(s) are held ({why}): {}", view.held_total, places.join(", "))
}
