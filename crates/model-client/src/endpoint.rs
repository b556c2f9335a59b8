//! Speaks to an OpenAI-compatible endpoint, and to nothing else.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use ureq::http::Response;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};
use watchbill_protocol::model::{ModelQuestion, ModelResult, ReplyForm};

use crate::address::Address;
use crate::certificates;
use crate::failure::Failure;
use crate::limits::MOST;

/// To connect on this machine takes less, or there is no server.
const CONNECT: Duration = Duration::from_secs(1);
/// The same elsewhere, with the handshake of https.
const CONNECT_FAR: Duration = Duration::from_secs(5);
/// The most bytes of a key.
const KEY: u64 = 4 << 10;
/// The most models of a list, and the most characters of a name.
const MODELS: (usize, usize) = (200, 200);
/// The most characters of an error that a server gives.
const WORDS: usize = 200;

/// An endpoint, and until when it may take.
pub struct Endpoint {
    address: Address,
    key: Option<String>,
    until: Instant,
    agent: Agent,
}

/// An answer of a server.
enum Answer {
    Good(Value),
    /// The request has a part that the server does not know.
    BadRequest(String),
}

impl Endpoint {
    /// Makes ready to speak.
    ///
    /// # Errors
    /// When the address is not allowed, or the key cannot be read.
    pub fn new(base_url: &str, key_file: Option<&str>, until: Instant) -> Result<Self, String> {
        let address = Address::of(base_url)?;
        let roots = if address.is_https { certificates::of_system()? } else { Vec::new() };
        let key = key_file.map(key).transpose()?;
        Ok(Self { agent: agent(&address, &roots), address, key, until })
    }

    /// Asks a question. An endpoint that refuses the schema is asked without.
    ///
    /// # Errors
    /// When it does not answer in time, or not as the protocol says.
    pub fn ask(
        &self,
        model: &str,
        question: &ModelQuestion,
        form: ReplyForm,
    ) -> Result<ModelResult, Failure> {
        let mut form = form;
        loop {
            let body = body(model, question, form).to_string();
            let request = self.agent.post(self.address.join("chat/completions"));
            let request = request.config().timeout_global(Some(self.left()?)).build();
            let request = match &self.key {
                Some(key) => request.header("Authorization", format!("Bearer {key}")),
                None => request,
            };
            let sent = request.header("Content-Type", "application/json").send(&body);
            match (self.answer(sent)?, form) {
                (Answer::Good(value), form) => return Ok(result(&value, form)?),
                (Answer::BadRequest(_), ReplyForm::Schema) => form = ReplyForm::Object,
                (Answer::BadRequest(_), ReplyForm::Object) => form = ReplyForm::Text,
                (Answer::BadRequest(error), ReplyForm::Text) => return Err(error.into()),
            }
        }
    }

    /// The names of the models there.
    ///
    /// # Errors
    /// When it does not answer in time, or not as the protocol says.
    pub fn models(&self) -> Result<ModelResult, Failure> {
        let request = self.agent.get(self.address.join("models"));
        let request = request.config().timeout_global(Some(self.left()?)).build();
        let request = match &self.key {
            Some(key) => request.header("Authorization", format!("Bearer {key}")),
            None => request,
        };
        let value = match self.answer(request.call())? {
            Answer::Good(value) => value,
            Answer::BadRequest(error) => return Err(error.into()),
        };
        let list = value["data"].as_array().ok_or("the endpoint gives no list of models")?;
        let names = list.iter().filter_map(|model| model["id"].as_str()).take(MODELS.0);
        let models = names.map(|name| name.chars().take(MODELS.1).collect()).collect();
        Ok(ModelResult { models, ..ModelResult::default() })
    }

    fn left(&self) -> Result<Duration, String> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err("the model took too long".to_owned()) } else { Ok(left) }
    }

    fn answer(&self, sent: Result<Response<Body>, ureq::Error>) -> Result<Answer, Failure> {
        let mut response = sent.map_err(|error| words(&error))?;
        let status = response.status();
        let bytes = response.body_mut().with_config().limit(MOST).read_to_vec();
        let value = bytes.map_err(|error| words(&error)).map(|bytes| serde_json::from_slice::<Value>(&bytes));
        if status.is_redirection() {
            return Err(Failure::away(
                "the endpoint sends elsewhere, which is not followed; name the address itself",
            ));
        }
        if status.is_success() {
            let parsed = value?.map_err(|_| Failure::from("the endpoint does not answer with JSON"))?;
            return Ok(Answer::Good(parsed));
        }
        let said = value.ok().and_then(Result::ok).unwrap_or_default();
        let said = said["error"]["message"].as_str().or_else(|| said["error"].as_str()).unwrap_or_default();
        let said: String = said.chars().map(|c| if c.is_control() { ' ' } else { c }).take(WORDS).collect();
        let error = format!("the endpoint answers {}: {said}", status.as_u16());
        let error = error.trim_end_matches([':', ' ']).to_owned();
        match status.as_u16() {
            400 | 422 => Ok(Answer::BadRequest(error)),
            // So is every question: no right, no such model, too many questions. A gateway's 502 to 504 may cost something.
            401 | 403 | 404 | 429 => Err(Failure::away(error)),
            _ => Err(error.into()),
        }
    }
}

/// A client with every limit. Nothing of the environment is read.
fn agent(address: &Address, roots: &[Certificate<'static>]) -> Agent {
    let connect = if address.is_loopback { CONNECT } else { CONNECT_FAR };
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
    Agent::config_builder()
        .proxy(None)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .https_only(address.is_https)
        .timeout_resolve(Some(connect))
        .timeout_connect(Some(connect))
        .tls_config(tls.build())
        .user_agent(concat!("watchbill-model-client/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

fn body(model: &str, question: &ModelQuestion, form: ReplyForm) -> Value {
    let mut body = json!({
        "model": model,
        "messages": [
            { "role": "system", "content": question.system },
            { "role": "user", "content": question.user },
        ],
        "stream": false,
        "temperature": 0,
        "max_tokens": question.max_tokens,
    });
    match form {
        ReplyForm::Schema => {
            body["response_format"] = json!({
                "type": "json_schema",
                "json_schema": { "name": "memories", "strict": true, "schema": question.schema },
            });
        }
        ReplyForm::Object => body["response_format"] = json!({ "type": "json_object" }),
        ReplyForm::Text => {}
    }
    body
}

fn result(value: &Value, form: ReplyForm) -> Result<ModelResult, String> {
    let reply = value["choices"][0]["message"]["content"].as_str();
    let reply = reply.ok_or("the endpoint's answer has no text")?;
    Ok(ModelResult {
        reply: Some(reply.to_owned()),
        tokens_in: value["usage"]["prompt_tokens"].as_u64(),
        tokens_out: value["usage"]["completion_tokens"].as_u64(),
        form,
        ..ModelResult::default()
    })
}

/// The key in a file: one line of visible characters.
fn key(file: &str) -> Result<String, String> {
    let mut text = String::new();
    let read = File::open(file).and_then(|opened| opened.take(KEY).read_to_string(&mut text));
    read.map_err(|error| format!("the key in {file} cannot be read: {error}"))?;
    let key = text.trim();
    if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic()) {
        return Err(format!("{file} does not hold a key: one line of visible characters"));
    }
    Ok(key.to_owned())
}

/// Whether an error came before the question was sent, so that it has cost nothing.
fn is_before_the_question(error: &ureq::Error) -> bool {
    use std::io::ErrorKind::{AddrNotAvailable, HostUnreachable, NetworkUnreachable};
    match error {
        ureq::Error::Io(error) => {
            matches!(error.kind(), AddrNotAvailable | HostUnreachable | NetworkUnreachable)
                || error.to_string().contains("certificate")
        }
        ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Tls(_)
        | ureq::Error::Rustls(_)
        | ureq::Error::BadUri(_)
        | ureq::Error::RequireHttpsOnly(_) => true,
        _ => false,
    }
}

fn words(error: &ureq::Error) -> Failure {
    match error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            Failure::away("the endpoint cannot be reached in time")
        }
        ureq::Error::Timeout(_) => "the model took too long".into(),
        ureq::Error::BodyExceedsLimit(_) => {
            format!("the endpoint's answer is longer than {MOST} bytes").into()
        }
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            Failure::away("there is no server at this address")
        }
        error => {
            let words = format!("the endpoint cannot be asked: {error}");
            if is_before_the_question(error) { Failure::away(words) } else { words.into() }
        }
    }
}

#[cfg(test)]
mod tests;
