//! Looking for words and paths in what was recorded: candidates come from the index, or one after the other from the
//! log where no index helps; each is looked at before it counts.

use std::collections::{HashMap, HashSet};

use protocol::{Event, ExecutionId, ExecutionSummary, Fact, Filter, Firing, Found, Hit, LineageKey, Search};
use serde_json::Value;
use sqlx::{QueryBuilder, Row, Sqlite};

use super::{Store, StoreError, list, words};
use crate::path::PathQuery;

/// Hits on a page where nothing is said, and at most.
const USUAL_PAGE: u32 = 50;
const LARGEST_PAGE: u32 = 500;
/// Candidates that one page looks at: what takes a third of a second at most.
const MOST_LOOKED_AT: usize = 20_000;
/// Candidates that are fetched at once.
const CHUNK: i64 = 500;
/// Letters of an excerpt on either side.
const AROUND: usize = 60;

/// A place in the log: newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cursor {
    /// A row of the index.
    Word(i64),
    /// An execution's row and one of its events.
    Log(i64, i64),
}

/// What a page is filled with.
struct Wanted {
    /// Lowercase, for the excerpt.
    terms: Vec<String>,
    path: Option<PathQuery>,
    limit: usize,
}

/// A row of the index, and the execution and event it stands for.
type Candidate = (i64, String, i64);

/// Candidates that are looked at together: few enough that a page that is full soon has not read too much.
const TOGETHER: usize = 64;

/// Executions that were looked up for this page; `None` for one that the filter leaves out.
type Titles = HashMap<String, Option<(i64, String)>>;

impl Store {
    /// One page of hits. The caller says how much of the log may be indexed first.
    pub async fn search(&self, search: &Search, index_budget: u64) -> Result<Found, StoreError> {
        let path = search.path.as_deref().map(PathQuery::parse).transpose().map_err(StoreError::query)?;
        let terms = search.words.as_deref().map(terms).unwrap_or_default();
        if path.is_none() && terms.is_empty() {
            return Err(StoreError::query("say what to look for: words, or a path"));
        }
        let cursor = search.after.as_deref().map(Cursor::parse).transpose().map_err(StoreError::query)?;
        let unindexed = self.index(index_budget).await?;
        let limit = search.limit.unwrap_or(USUAL_PAGE).clamp(1, LARGEST_PAGE) as usize;
        let mut asked = terms.clone();
        asked.extend(path.as_ref().and_then(PathQuery::needed_word));
        let wanted = Wanted { terms: plain_terms(&terms), path, limit };
        let has_index = self.side.open().await.is_some();
        let (hits, next) = match !asked.is_empty() && has_index {
            true => self.search_words(search, &wanted, &fts_query(&asked), cursor).await?,
            false => self.search_log(search, &wanted, cursor).await?,
        };
        // Without help from the index everything was looked at.
        let unindexed = if asked.is_empty() { Default::default() } else { unindexed };
        Ok(Found { hits, next: next.map(|cursor| cursor.to_string()), unindexed })
    }

    async fn search_words(
        &self,
        search: &Search,
        wanted: &Wanted,
        query: &str,
        cursor: Option<Cursor>,
    ) -> Result<(Vec<Hit>, Option<Cursor>), StoreError> {
        let mut before = match cursor {
            Some(Cursor::Word(row)) => row,
            Some(Cursor::Log(..)) => return Err(StoreError::query("this place belongs to another search")),
            None => i64::MAX,
        };
        let (mut hits, mut titles) = (Vec::new(), Titles::new());
        for _ in 0..MOST_LOOKED_AT.div_ceil(CHUNK as usize) {
            let candidates = self.word_rows(query, before).await?;
            let is_last = candidates.len() < CHUNK as usize;
            for together in of_one_execution(&candidates) {
                let mut events = self.fetched(search, together, &mut titles).await?;
                for (row, _, seq) in together {
                    before = *row;
                    if let Some((event, title)) = events.remove(seq) {
                        hits.extend(self.judge(search, wanted, event, title).await?);
                    }
                    if hits.len() == wanted.limit {
                        return Ok((hits, Some(Cursor::Word(before))));
                    }
                }
            }
            if is_last {
                return Ok((hits, None));
            }
        }
        Ok((hits, Some(Cursor::Word(before))))
    }

    async fn word_rows(&self, query: &str, before: i64) -> Result<Vec<Candidate>, StoreError> {
        let Some(mut side) = self.side.open().await else { return Ok(Vec::new()) };
        let Some(connection) = side.connection() else { return Ok(Vec::new()) };
        let statement = "SELECT w.rowid, i.execution_id FROM words w JOIN indexed i ON i.id = w.rowid >> 32 \
                         WHERE words MATCH ? AND w.rowid < ? ORDER BY w.rowid DESC LIMIT ?";
        let rows = sqlx::query(statement)
            .bind(query)
            .bind(before)
            .bind(CHUNK)
            .fetch_all(connection)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let candidate = |row: &sqlx::sqlite::SqliteRow| {
            let at: i64 = row.get(0);
            (at, row.get(1), at & 0xffff_ffff)
        };
        Ok(rows.iter().map(candidate).collect())
    }

    async fn search_log(
        &self,
        search: &Search,
        wanted: &Wanted,
        cursor: Option<Cursor>,
    ) -> Result<(Vec<Hit>, Option<Cursor>), StoreError> {
        let mut before = match cursor {
            Some(Cursor::Log(row, seq)) => (row, seq),
            Some(Cursor::Word(_)) => return Err(StoreError::query("this place belongs to another search")),
            None => (i64::MAX, i64::MAX),
        };
        let (mut hits, mut titles) = (Vec::new(), Titles::new());
        for _ in 0..MOST_LOOKED_AT.div_ceil(CHUNK as usize) {
            let (candidates, is_last) = self.log_rows(&search.filter, before).await?;
            for (row, event) in candidates {
                before = (row, event.seq.cast_signed());
                let title = self.title(&search.filter, event.execution_id.as_str(), &mut titles).await?;
                if let Some((_, title)) = title {
                    hits.extend(self.judge(search, wanted, event, title).await?);
                }
                if hits.len() == wanted.limit {
                    return Ok((hits, Some(Cursor::Log(before.0, before.1))));
                }
            }
            if is_last {
                return Ok((hits, None));
            }
        }
        Ok((hits, Some(Cursor::Log(before.0, before.1))))
    }

    /// Events before a place in the log, with the row of their execution, and whether they are the last.
    async fn log_rows(
        &self,
        filter: &Filter,
        before: (i64, i64),
    ) -> Result<(Vec<(i64, Event)>, bool), StoreError> {
        let mut query = QueryBuilder::<Sqlite>::new(
            "SELECT e.seq, e.at, e.body, e.execution, x.execution_id FROM events e \
             JOIN executions x ON x.id = e.execution WHERE (e.execution, e.seq) <= (",
        );
        // The one before may be in the same row.
        query.push_bind(before.0).push(", ").push_bind(before.1).push(")");
        list::push_filter(&mut query, filter);
        query.push(" ORDER BY e.execution DESC, e.seq DESC LIMIT ").push_bind(CHUNK);
        let rows = query
            .build()
            .fetch_all(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let mut found = Vec::with_capacity(2 * rows.len());
        for row in &rows {
            let (execution, id) = (row.get(3), ExecutionId::from(row.get::<&str, _>(4)));
            let mut events: Vec<Event> = self.read_row(&id, row)?.collect();
            events.retain(|event| (execution, event.seq.cast_signed()) < before);
            found.extend(events.into_iter().rev().map(|event| (execution, event)));
        }
        Ok((found, rows.len() < CHUNK as usize))
    }

    /// The events at candidates of one execution, by their place in it; none where the filter leaves it out.
    async fn fetched(
        &self,
        search: &Search,
        together: &[Candidate],
        titles: &mut Titles,
    ) -> Result<HashMap<i64, (Event, String)>, StoreError> {
        let Some((_, execution, _)) = together.first() else { return Ok(HashMap::new()) };
        let Some((row, title)) = self.title(&search.filter, execution, titles).await? else {
            return Ok(HashMap::new());
        };
        let places: HashSet<i64> = together.iter().map(|(_, _, seq)| *seq).collect();
        let serialized =
            serde_json::to_string(&places).map_err(|error| StoreError::query(error.to_string()))?;
        let query = "SELECT DISTINCT seq, at, body FROM json_each(?2) AS place \
                     JOIN events ON execution = ?1 AND seq IN (place.value, place.value + 1)";
        let rows = sqlx::query(query)
            .bind(row)
            .bind(serialized)
            .fetch_all(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let events = self.read_rows(&ExecutionId::from(execution.as_str()), &rows)?;
        let by_place = |event: Event| (event.seq.cast_signed(), (event, title.clone()));
        Ok(events.into_iter().map(by_place).filter(|(seq, _)| places.contains(seq)).collect())
    }

    async fn judge(
        &self,
        search: &Search,
        wanted: &Wanted,
        event: Event,
        title: String,
    ) -> Result<Option<Hit>, StoreError> {
        let node = firing(&event.fact).map(|firing| &firing.node_id);
        if search.node_id.as_ref().is_some_and(|wanted| Some(wanted) != node) {
            return Ok(None);
        }
        let mut event = [event];
        self.make_whole(&mut event).await?;
        Ok(event.first().and_then(|event| wanted.hit(event, title)))
    }

    async fn title(
        &self,
        filter: &Filter,
        execution: &str,
        titles: &mut Titles,
    ) -> Result<Option<(i64, String)>, StoreError> {
        if let Some(known) = titles.get(execution) {
            return Ok(known.clone());
        }
        let mut query =
            QueryBuilder::<Sqlite>::new("SELECT id, summary FROM executions WHERE execution_id = ");
        query.push_bind(execution.to_owned());
        list::push_filter(&mut query, filter);
        let found = query
            .build()
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| StoreError::from_sqlx(&self.path, error))?;
        let found = match found {
            Some(row) => {
                let summary: ExecutionSummary = self.decode(row.get::<&str, _>(1))?;
                Some((row.get(0), summary.title))
            }
            None => None,
        };
        titles.insert(execution.to_owned(), found.clone());
        Ok(found)
    }
}

impl Wanted {
    fn hit(&self, event: &Event, title: String) -> Option<Hit> {
        let parts = words::parts(&event.fact);
        let found = parts.iter().find_map(|(part, payload)| {
            let at = match &self.path {
                Some(query) => Some(query.find(payload.value())?),
                None => None,
            };
            let excerpt = match &at {
                Some(found) => cut(&found.value.to_string(), 0),
                None => excerpt(payload.value(), &self.terms)?,
            };
            Some((*part, at.map(|found| found.path), excerpt))
        });
        // Words may stand in several payloads of one event; then none of them has an excerpt with all.
        let (part, path, excerpt) = match (found, &self.path) {
            (Some(found), _) => found,
            (None, Some(_)) => return None,
            (None, None) => (parts.first()?.0, None, cut(parts.first()?.1.text(), 0)),
        };
        let firing = firing(&event.fact);
        Some(Hit {
            execution_id: event.execution_id.clone(),
            title,
            position: event.seq,
            at: event.at,
            node_id: firing.map(|firing| firing.node_id.clone()),
            key: firing.map_or_else(LineageKey::default, |firing| firing.lineage.key()),
            part,
            path,
            excerpt,
        })
    }
}

impl Cursor {
    fn parse(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<i64>> = text.split('.').map(|number| number.parse().ok()).collect();
        match numbers.as_deref() {
            Some([row]) => Ok(Self::Word(*row)),
            Some([row, seq]) => Ok(Self::Log(*row, *seq)),
            _ => Err("this is no place in a search".to_owned()),
        }
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(row) => write!(f, "{row}"),
            Self::Log(row, seq) => write!(f, "{row}.{seq}"),
        }
    }
}

fn firing(fact: &Fact) -> Option<&Firing> {
    match fact {
        Fact::NodeStarted(started) => Some(&started.firing),
        Fact::NodeParked(parked) => Some(&parked.firing),
        Fact::AttemptFailed(failed) => Some(&failed.firing),
        Fact::NodeSucceeded(done) => Some(&done.firing),
        Fact::NodeFailed(failed) => Some(&failed.firing),
        Fact::Intervened(done) => Some(&done.firing),
        Fact::ExecutionStarted(_)
        | Fact::TimedOut(_)
        | Fact::Prolonged(_)
        | Fact::TimerFired(_)
        | Fact::Gathered(_)
        | Fact::Missed(_)
        | Fact::ExecutionEnded(_) => None,
    }
}

/// Candidates in their order, in groups of one execution each.
fn of_one_execution(candidates: &[Candidate]) -> impl Iterator<Item = &[Candidate]> {
    candidates.chunk_by(|one, other| one.1 == other.1).flat_map(|of_one| of_one.chunks(TOGETHER))
}

/// Words, and several of them in quotes as one.
fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, piece) in text.split('"').enumerate() {
        match at % 2 {
            0 => found.extend(piece.split_whitespace().map(str::to_owned)),
            _ => found.push(piece.trim().to_owned()),
        }
    }
    found.retain(|term| term.chars().any(char::is_alphanumeric));
    found
}

/// Every term as text that means nothing to the index but itself, and a `*` behind it where it was asked for.
fn fts_query(terms: &[String]) -> String {
    let quoted = terms.iter().map(|term| {
        let star = if term.ends_with('*') { "*" } else { "" };
        format!("\"{}\"{star}", term.trim_end_matches('*').replace('"', " "))
    });
    quoted.collect::<Vec<_>>().join(" AND ")
}

fn plain_terms(terms: &[String]) -> Vec<String> {
    terms.iter().map(|term| term.trim_end_matches('*').to_lowercase()).collect()
}

/// The text around the first of the terms, where all of them stand in one value.
fn excerpt(value: &Value, terms: &[String]) -> Option<String> {
    let text = value.to_string();
    let lower = text.to_lowercase();
    let at = lower.find(terms.first()?)?;
    terms.iter().all(|term| lower.contains(term)).then(|| cut(&text, at))
}

fn cut(text: &str, at: usize) -> String {
    let before = text.char_indices().filter(|(start, _)| *start < at).count();
    let skipped = before.saturating_sub(AROUND);
    let shown: String = text.chars().skip(skipped).take(2 * AROUND).collect();
    let (front, back) = (skipped > 0, text.chars().count() > skipped + 2 * AROUND);
    format!("{}{shown}{}", if front { "…" } else { "" }, if back { "…" } else { "" })
}
