//! A model of the store: rows merged as they come, and a driver that reads as the engine does.

use std::collections::{BTreeMap, BTreeSet};

use watchbill_agents::PLAN_FOLDERS;
use watchbill_agents::claude::records::parse_line;
use watchbill_agents::hooks::{parse, read_texts};
use watchbill_core::history::{
    Activity, Batch, Execution, HistoryFold, HistorySettings, HookEventParts, Item, PlanEvent, Request, Role,
    Segment,
};
use watchbill_core::hook::HookOrigin;
use watchbill_core::ids::{Agent, SessionId};
use watchbill_core::session::fold::SessionFold;
use watchbill_core::session::state::Timeouts;
use watchbill_core::session::subagent::SubagentFold;

/// A text, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnText {
    pub role: Role,
    pub tool: Option<String>,
    pub agent: Option<String>,
    pub text: String,
    pub cut: u64,
}

/// The rows of one file or session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    pub texts: BTreeMap<(u64, u16), OwnText>,
    pub batches: BTreeMap<String, Batch>,
    pub activities: BTreeMap<String, Activity>,
    pub plans: Vec<PlanEvent>,
    pub executions: Vec<Execution>,
    pub requests: BTreeMap<u64, Request>,
    pub segments: BTreeMap<u32, Segment>,
    pub folders: BTreeSet<String>,
}

impl Model {
    pub fn apply_item(&mut self, item: Item<'_>) {
        match item {
            Item::Folder(folder) => drop(self.folders.insert(folder.to_owned())),
            Item::Text(text) => {
                let own = OwnText {
                    role: text.role,
                    tool: text.tool.map(str::to_owned),
                    agent: text.agent.map(str::to_owned),
                    text: text.text.to_owned(),
                    cut: text.cut,
                };
                let doubled = self.texts.insert((text.offset, text.part), own);
                assert_eq!(doubled, None, "the sink got a text twice");
            }
            Item::Batch(batch) => {
                let known = self.batches.entry(batch.id.to_string());
                known.or_insert_with(|| Batch::new(batch.id.clone())).merge(&batch);
            }
            Item::BatchNamed { from, to } => {
                if let Some(batch) = self.batches.remove(&*from) {
                    let known = self.batches.entry(to.to_string());
                    known.or_insert_with(|| Batch::new(to.clone())).merge(&batch);
                }
                for activity in self.activities.values_mut().filter(|a| a.batch.as_ref() == Some(&from)) {
                    activity.batch = Some(to.clone());
                }
            }
            Item::Activity(activity) => {
                let known = self.activities.entry(activity.id.to_string());
                known.or_insert_with(|| Activity::new(activity.id.clone())).merge(&activity);
            }
            Item::Plan(plan) => {
                if !self.plans.contains(&plan) {
                    self.plans.push(*plan);
                }
            }
            Item::Execution(execution) => {
                if !self.executions.contains(&execution) {
                    self.executions.push(execution);
                }
            }
            Item::Request(request) => {
                let known = self.requests.entry(request.key.0);
                known.or_insert_with(|| request.clone()).merge(&request);
            }
            Item::Segment(segment) => drop(self.segments.insert(segment.number, segment)),
        }
    }

    pub fn batch(&self, prompt: &str) -> &Batch {
        let found =
            self.batches.values().find(|b| b.prompt.as_deref().is_some_and(|p| p.starts_with(prompt)));
        found.unwrap_or_else(|| panic!("no batch of {prompt:?}: {:#?}", self.batches))
    }

    pub fn texts_of(&self, role: Role) -> Vec<&str> {
        self.texts.values().filter(|text| text.role == role).map(|text| text.text.as_str()).collect()
    }
}

/// The fold that knows which records were applied.
enum SessionSide {
    Session(Box<SessionFold>),
    Agent(Box<SubagentFold>),
}

/// Reads lines as the engine does.
pub struct Reader {
    pub history: HistoryFold,
    beside: SessionSide,
    pub settings: HistorySettings,
    pub model: Model,
}

impl Reader {
    pub fn new(session: &str, agent: Option<&str>) -> Self {
        let id = SessionId::new(session);
        Self {
            beside: match agent {
                Some(agent) => SessionSide::Agent(Box::new(SubagentFold::new(agent))),
                None => SessionSide::Session(Box::new(SessionFold::new(id.clone(), Timeouts::default()))),
            },
            history: HistoryFold::new(id, agent),
            settings: HistorySettings {
                plan_folders: PLAN_FOLDERS.map(str::to_owned).to_vec(),
                ..HistorySettings::default()
            },
            model: Model::default(),
        }
    }

    pub fn line(&mut self, offset: u64, line: &[u8]) {
        let Self { history, beside, settings, model } = self;
        parse_line(line, &mut |record, full| {
            let known = record.envelope.uuid.is_some_and(|id| match beside {
                SessionSide::Session(fold) => fold.has_record(id),
                SessionSide::Agent(fold) => fold.has_record(id),
            });
            if !known {
                history.apply(offset, &record, full, settings, &mut |item| model.apply_item(item));
            }
            match beside {
                SessionSide::Session(fold) => fold.apply(&record, &mut Vec::new()),
                SessionSide::Agent(fold) => fold.apply(&record),
            }
        });
    }

    /// All lines of a text, from `offset`.
    pub fn text(&mut self, mut offset: u64, text: &str) {
        for line in text.split_inclusive('\n') {
            self.line(offset, line.trim_end().as_bytes());
            offset += line.len() as u64;
        }
    }

    pub fn settle(&mut self) {
        let Self { history, model, .. } = self;
        history.settle(&mut |item| model.apply_item(item));
    }

    /// Stores and restores the fold, as a restart does.
    pub fn restart(&mut self) {
        let bytes = self.history.snapshot();
        let (session, agent) = (self.history.session().clone(), self.history.agent().cloned());
        self.history = HistoryFold::restore(&bytes, &session, agent.as_deref()).expect("its own bytes");
    }

    pub fn hook(&mut self, id: &str, at: i64, payload: &str) {
        self.hook_of(Agent::Claude, id, at, payload);
    }

    pub fn hook_of(&mut self, agent: Agent, id: &str, at: i64, payload: &str) {
        let origin = HookOrigin {
            id: id.into(),
            at: watchbill_core::time::Timestamp::from_millis(at),
            order: at.cast_unsigned(),
            agent: None,
            ancestors: std::sync::Arc::from([]),
            terminal: None,
        };
        let texts = read_texts(payload).expect("a payload");
        let payload = parse(agent, payload.as_bytes()).expect("a payload");
        let Self { history, settings, model, .. } = self;
        let heard = HookEventParts { origin: &origin, payload: &payload, texts: &texts };
        history.apply_hook_event(heard, settings, &mut |item| model.apply_item(item));
    }
}

/// The rows of a whole text.
pub fn rows(text: &str) -> Model {
    let mut reader = Reader::new("s", None);
    reader.text(0, text);
    reader.settle();
    reader.model
}
