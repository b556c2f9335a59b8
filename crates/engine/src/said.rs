//! A word said without the engine running: by the command line, which looks once.

use std::path::Path;
use std::time::Duration;

use watchbill_core::person::Word;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_store::{Mode, Store};

use crate::clock::Clock;
use crate::cold::{Wants, look_with};
use crate::engine::{Engine, Outlook, World};
use crate::persist::Persist;
use crate::settings::Settings;
use crate::stored::refusal;
use crate::wishes::{Wished, Wishes};

/// How often an answer is looked for.
const STEP: Duration = Duration::from_millis(10);
/// After so many looks in vain: does the other program still write?
const TAKE_OVER: u32 = 50;
/// So many looks until nobody is waited for any more.
const PATIENCE: u32 = 400;

/// What became of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is stored.
    Stored,
    /// Another process writes the store and has not answered; the wish waits for it, or for whoever writes next.
    Waits,
}

/// Says a word: stores it, or has the program do so that writes the store. Gives the engine that has taken it in, so
/// that it can be shown what follows.
///
/// # Errors
/// When a session is not known, the word makes no sense, or it cannot be stored.
pub fn say_once(
    settings: Settings,
    world: World,
    clock: &dyn Clock,
    word: &Word,
) -> Result<(Engine, Fate), ApiError> {
    if let Some(doubt) = &settings.doubt {
        return Err(ApiError::new(ErrorCode::Invalid, &**doubt));
    }
    let folder = settings.data_dir.clone().ok_or_else(|| {
        ApiError::new(ErrorCode::Unsupported, "no data folder is known; name one with --data-dir")
    })?;
    if let Some(error) = watchbill_store::in_the_way(&folder) {
        return Err(refusal(&error));
    }
    let wishes = Wishes::open(&folder).map_err(|error| unwritable(&folder, &error))?;
    let look = |persist: &mut Persist| {
        look_with(settings.clone(), world.clone(), Outlook::LIVE, clock, Some(persist), Wants::All)
    };
    let mut persist = Persist::open(&folder, Mode::WriteOrRead);
    let mut engine = look(&mut persist);
    let word = engine.meant(word)?;
    // Nothing is handed over that makes no sense.
    engine.say(clock.now(), &word)?;
    if persist.writes() {
        store(&mut engine, &mut persist, &wishes, clock)?;
        return Ok((engine, Fate::Stored));
    }
    if let Some(refused) = in_vain(persist, &folder) {
        return Err(refused);
    }
    let wish = wishes.leave(&word, clock.now()).map_err(|error| unwritable(wishes.folder(), &error))?;
    for look_number in 1..=PATIENCE {
        if let Some(answer) = wishes.answered(&wish) {
            return answer.map(|_| (engine, Fate::Stored));
        }
        if look_number % TAKE_OVER == 0 {
            // Whoever wrote may have ended, or was `index`, which hears nobody and ends soon.
            let mut persist = Persist::open(&folder, Mode::WriteOrRead);
            let refused = if persist.writes() {
                store(&mut look(&mut persist), &mut persist, &wishes, clock).err()
            } else {
                in_vain(persist, &folder)
            };
            // What is said not to be kept must not be done later. A wish that is gone has its answer.
            if let Some(refused) = refused
                && wishes.take_away(&wish)
            {
                return Err(refused);
            }
            continue;
        }
        std::thread::sleep(STEP);
    }
    Ok((engine, Fate::Waits))
}

/// Why nobody would come for a word that waits. `None` where another process holds the store, which was opened as `persist`.
fn in_vain(persist: Persist, folder: &Path) -> Option<ApiError> {
    let trouble = persist.trouble();
    drop(persist);
    match Store::take_over(folder) {
        Ok(None) => None,
        // Another one held it, and has ended; or nobody did, and that was the matter.
        Ok(Some(_)) => trouble.map(|trouble| ApiError::new(ErrorCode::Unreadable, not_kept(&trouble.detail))),
        Err(error) => {
            let ApiError { code, message } = refusal(&error);
            Some(ApiError::new(code, not_kept(&message)))
        }
    }
}

/// What is the matter with the store, to the person whose word it has not taken. A program that stays stores later what it
/// could not store; this one ends.
fn not_kept(why: &str) -> String {
    let now = why.strip_suffix(": what was not stored is stored later");
    let why = now.map_or_else(|| why.to_owned(), |now| format!("{now}, and say it again"));
    format!("what you said is not kept: {why}")
}

/// Stores what the engine knows, with all wishes that wait.
fn store(
    engine: &mut Engine,
    persist: &mut Persist,
    wishes: &Wishes,
    clock: &dyn Clock,
) -> Result<(), ApiError> {
    let waiting = wishes.waiting();
    let names = waiting.iter().map(|wish| wish.name.clone()).collect();
    let mut fulfilled = Vec::new();
    let mut answers = Vec::new();
    for wish in waiting {
        let is_stored = persist.has_fulfilled(&wish.name);
        let answer = match wish.wished {
            _ if is_stored => Ok(()),
            Ok(Wished::Said(word)) => engine.say(clock.now(), &word).map(|_| fulfilled.push(wish.name)),
            // Whoever wants something forgotten becomes the writer in a moment.
            Ok(Wished::Removed(_)) => continue,
            Err(senseless) => Err(senseless),
        };
        answers.push((wish.path, answer));
    }
    persist.fulfil(fulfilled, &names);
    // What it would warn of is the answer, and this program does not try again.
    let silent = tracing::subscriber::NoSubscriber::default();
    tracing::subscriber::with_default(silent, || persist.save(engine, clock.now()));
    if let Some(trouble) = persist.trouble() {
        return Err(ApiError::new(ErrorCode::Unreadable, not_kept(&trouble.detail)));
    }
    for (wish, answer) in answers {
        wishes.answer(&wish, answer.map(|()| None));
    }
    wishes.tell(clock.now());
    Ok(())
}

fn unwritable(folder: &Path, error: &std::io::Error) -> ApiError {
    let message = format!("{} cannot be written: {error}; check who owns it, and the disk", folder.display());
    ApiError::new(ErrorCode::Unreadable, not_kept(&message))
}
