//! The loop's inputs from files and hooks: file hints, hook events, and problems of both.

use std::sync::Arc;

use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_settings::over_http_root;

use super::Loop;
use crate::run::hook_listener::HookListener;
use crate::step::input::Input;
use crate::world::source::take_out;

impl Loop {
    pub(super) fn take_hints(&mut self) {
        self.catch_up();
        let mut hints = self.inlets.source.take();
        hints.append(&mut self.inlets.again);
        let problems = self.problems();
        if problems != self.inlets.watch_problems {
            self.inlets.watch_problems.clone_from(&problems);
            self.step(Input::Watching(problems));
        }
        if let Ok(Some(hook_listener)) = &self.inlets.hook_listener
            && take_out(&mut hints, hook_listener.spool())
        {
            hook_listener.look_into_spool();
        }
        if let Some(hosts) = &self.inlets.own_hosts
            && take_out(&mut hints, hosts.folder())
        {
            hosts.look();
        }
        self.inlets.status_servers.take_hints(&mut hints);
        if !hints.is_empty() {
            self.step(Input::Hints(hints));
        }
        self.take_hooks();
    }

    fn take_hooks(&mut self) {
        let Ok(Some(hook_listener)) = &self.inlets.hook_listener else { return };
        let (events, more) = hook_listener.take();
        if more {
            // The rest comes with the next turn of the loop, so that other inputs need not wait for all of it.
            self.inlets.woken.notify_one();
        }
        if !events.is_empty() {
            if let Some(history_thread) = &self.stored.history_thread {
                history_thread.add_hook_events(events.clone());
            }
            self.step(Input::Hooks(events));
        }
    }

    /// The current problems of watching and listening.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = self.inlets.source.problems();
        match &self.inlets.hook_listener {
            Ok(hook_listener) => problems.extend(hook_listener.iter().flat_map(HookListener::problems)),
            Err(deaf) => problems.push(deaf.clone()),
        }
        if let (count @ 1.., Some(data_dir)) = (self.stored.reach.unkept(), &self.engine.settings().data_dir)
        {
            let path = Arc::from(over_http_root(data_dir).to_string_lossy());
            let detail = "texts that programs sent could not be kept or read; check that the files are readable and writable";
            problems.push(Problem { path, kind: ProblemKind::Io, count, detail: detail.into() });
        }
        problems
    }
}
