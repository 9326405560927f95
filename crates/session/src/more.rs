//! Requests for control, forks and reports.

use std::path::Path;

use protocol::{Problem, Request, Response};

use crate::Session;

impl Session {
    /// Control, forks and reports.
    pub(crate) async fn call_more(&self, request: Request) -> Result<Response, Problem> {
        match request {
            Request::Controls { path } => {
                self.controls(&path).await.map(|controls| Response::Controls(Box::new(controls)))
            }
            Request::SetControls { path, controls } => {
                self.set_controls(&path, *controls).await.map(|()| Response::Done)
            }
            Request::Held { execution_id } => {
                self.held(&execution_id).await.map(|view| Response::Control(Box::new(view)))
            }
            Request::Control { execution_id, command } => {
                self.control(&execution_id, &command).await.map(|view| Response::Control(Box::new(view)))
            }
            Request::ForkPoint { execution_id, position } => {
                let point = self.fork_point(&execution_id, position).await;
                point.map(|point| Response::ForkPoint(Box::new(point)))
            }
            Request::ForkPreview { execution_id, wish, path } => {
                let workflow = self.edited_workflow(path.as_deref())?;
                let preview = self.preview_fork_into(&execution_id, &wish, workflow).await;
                preview.map(|preview| Response::ForkPreview(Box::new(preview)))
            }
            Request::Fork { execution_id, wish, path } => {
                let workflow = self.edited_workflow(path.as_deref())?;
                let started = self.fork_into(&execution_id, &wish, workflow).await?;
                Ok(Response::Started { execution_id: started.execution_id })
            }
            Request::Forks { execution_id } => self.forks(&execution_id).await.map(Response::Forks),
            Request::Compare { a, b } => {
                self.compare(&a, &b).await.map(|comparison| Response::Comparison(Box::new(comparison)))
            }
            Request::Explain { execution_id, node_id, key, at } => {
                let explanation = self.explain(&execution_id, node_id.as_ref(), key.as_ref(), at).await;
                explanation.map(|explanation| Response::Explanation(Box::new(explanation)))
            }
            Request::Verify { execution_id } => {
                self.verify(&execution_id).await.map(|verified| Response::Verified(Box::new(verified)))
            }
            Request::Import { file } => {
                self.import(Path::new(&file)).await.map(|execution_id| Response::Started { execution_id })
            }
            Request::Notes { execution_id } => self.notes(&execution_id).await.map(Response::Notes),
            Request::AddNote { execution_id, position, node_id, text } => {
                self.add_note(execution_id, position, node_id, text).await.map(|()| Response::Done)
            }
            other => Box::pin(self.call(other)).await,
        }
    }
}
