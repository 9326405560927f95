//! Executions by what is known of each, a page at a time.

use protocol::{ExecutionPage, Filter};
use sqlx::{QueryBuilder, Row, Sqlite};

use super::{Store, StoreError};

/// Executions on one page at most.
const LARGEST_PAGE: u32 = 1_000;

impl Store {
    /// Newest first; `after` is where the page before this one has ended.
    pub async fn list(
        &self,
        filter: &Filter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<ExecutionPage, StoreError> {
        let before = match after {
            Some(text) => text.parse().map_err(|_| StoreError::query("this is no place in a list"))?,
            None => i64::MAX,
        };
        let limit = limit.clamp(1, LARGEST_PAGE);
        let mut query = QueryBuilder::<Sqlite>::new("SELECT id, summary FROM executions WHERE id < ");
        query.push_bind(before);
        push_filter(&mut query, filter);
        query.push(" ORDER BY id DESC LIMIT ").push_bind(i64::from(limit) + 1);
        let rows = query
            .build()
            .fetch_all(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let shown = &rows[..rows.len().min(limit as usize)];
        let next = shown.last().filter(|_| rows.len() > shown.len());
        let executions = shown.iter().map(|row| self.decode(row.get::<&str, _>(1)));
        Ok(ExecutionPage {
            executions: executions.collect::<Result<_, _>>()?,
            next: next.map(|row| row.get::<i64, _>(0).to_string()),
        })
    }
}

/// Adds conditions on the columns of `executions`.
pub(super) fn push_filter(query: &mut QueryBuilder<Sqlite>, filter: &Filter) {
    let Filter { execution_id, workflow, phase, since, until } = filter;
    if let Some(id) = execution_id {
        query.push(" AND execution_id = ").push_bind(id.as_str().to_owned());
    }
    if let Some(part) = workflow {
        let fields =
            ["title", "workflow_id", "path"].map(|name| format!("coalesce(summary ->> '$.{name}', '')"));
        query.push(" AND instr(lower(").push(fields.join(" || char(10) || ")).push("), ");
        query.push_bind(part.to_lowercase()).push(") > 0");
    }
    if let Some(phase) = phase {
        let name = serde_json::to_value(phase).unwrap_or_default();
        query.push(" AND summary ->> '$.phase' = ").push_bind(name.as_str().unwrap_or_default().to_owned());
    }
    if let Some(since) = since {
        query.push(" AND started_at >= ").push_bind(*since);
    }
    if let Some(until) = until {
        query.push(" AND started_at < ").push_bind(*until);
    }
}
