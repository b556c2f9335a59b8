//! Checks each request: a program of this user that knows the token gets an answer, a web page is refused.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// The names of this machine that a client may ask for. Another name in `Host` is a web page that made its own name point here
/// (DNS rebinding).
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The expected values that each request is compared with.
#[derive(Debug, Clone)]
pub struct Guard {
    port: u16,
    token: Arc<str>,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// `Host` is missing or names another machine.
    Host,
    /// A browser sent it for a page.
    Origin,
    /// The token is missing or wrong.
    Token,
    /// The body is not said to be JSON.
    Type,
}

impl Guard {
    /// For a service at this port with this token.
    pub fn new(port: u16, token: &str) -> Self {
        Self { port, token: token.into() }
    }

    /// Checks a request. `path` is what follows the address.
    ///
    /// # Errors
    /// When it must not be answered.
    pub fn check(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Refused> {
        let one = |name: header::HeaderName| {
            let mut values = headers.get_all(name).iter();
            let first = values.next()?.to_str().ok()?;
            values.next().is_none().then_some(first)
        };
        let host = one(header::HOST).ok_or(Refused::Host)?;
        let is_ours = |name: &&str| *host == format!("{name}:{}", self.port);
        if !NAMES.iter().any(is_ours) {
            return Err(Refused::Host);
        }
        // No page has a reason to ask. A browser names the page in one of these.
        let is_page = |site: &str| site != "none" && site != "same-origin";
        if headers.contains_key(header::ORIGIN) || one(SITE).is_some_and(is_page) {
            return Err(Refused::Origin);
        }
        if path == "/health" || path == "/api/health" {
            return Ok(());
        }
        // A client that can set no head has the token in its base address. The page of another site cannot know it.
        let in_path = path.strip_prefix("/t/").and_then(|rest| rest.split('/').next());
        let bearer = one(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let given = in_path.or(bearer).unwrap_or_default();
        if !is_equal(given.as_bytes(), self.token.as_bytes()) {
            return Err(Refused::Token);
        }
        // A form of a page can send other types without asking first.
        let is_json =
            |kind: &str| kind.split(';').next().is_some_and(|kind| kind.trim() == "application/json");
        if *method == Method::POST && in_path.is_none() && !one(header::CONTENT_TYPE).is_some_and(is_json) {
            return Err(Refused::Type);
        }
        Ok(())
    }
}

const SITE: header::HeaderName = header::HeaderName::from_static("sec-fetch-site");

/// Compares in a time that does not tell where the first difference is.
fn is_equal(given: &[u8], token: &[u8]) -> bool {
    given.len() == token.len() && given.iter().zip(token).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// The longest body, in bytes.
const BODY_LIMIT: usize = 1024 * 1024;
/// How long a client may take to send a body.
const BODY_BUDGET: Duration = Duration::from_secs(5);

/// Refuses before any endpoint runs. A connection that is refused ends, so that it takes no place from the others.
pub async fn refuse(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.check(request.method(), request.uri().path(), request.headers()) {
        Ok(()) => match with_body(request).await {
            Ok(request) => next.run(request).await,
            Err(status) => {
                (status, CLOSE, "the body is longer than 1 MiB or came too slowly").into_response()
            }
        },
        Err(refused) => {
            let (status, why) = match refused {
                Refused::Host => (
                    StatusCode::FORBIDDEN,
                    "the request is not addressed to this machine by a name of loopback",
                ),
                Refused::Type => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "send the body as application/json"),
                Refused::Origin => (StatusCode::FORBIDDEN, "web pages get no answer"),
                Refused::Token => (
                    StatusCode::UNAUTHORIZED,
                    "the token is missing or wrong; it stands in service.json in the data folder, for `Authorization: Bearer`",
                ),
            };
            tracing::debug!(?refused, "a request over HTTP was refused");
            (status, CLOSE, why).into_response()
        }
    }
}

const CLOSE: [(header::HeaderName, &str); 1] = [(header::CONNECTION, "close")];

/// Reads the body within its limits of length and time.
async fn with_body(request: Request) -> Result<Request, StatusCode> {
    let (parts, body) = request.into_parts();
    let read = tokio::time::timeout(BODY_BUDGET, to_bytes(body, BODY_LIMIT)).await;
    let body = read.map_err(|_| StatusCode::REQUEST_TIMEOUT)?.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    Ok(Request::from_parts(parts, Body::from(body)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test panics")]

    use super::*;

    fn checked(path: &str, headers: &[(&'static str, &str)]) -> Result<(), Refused> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        Guard::new(4000, "secret").check(&Method::GET, path, &map)
    }

    const TOKEN: (&str, &str) = ("authorization", "Bearer secret");

    #[test]
    fn only_this_machine_s_names_with_the_port_are_answered() {
        for host in ["127.0.0.1:4000", "localhost:4000", "[::1]:4000"] {
            assert_eq!(checked("/x", &[("host", host), TOKEN]), Ok(()), "{host}");
        }
        for host in [
            "evil.example:4000",
            "127.0.0.1",
            "127.0.0.1:4001",
            "localhost.evil.example:4000",
            "localhost:4000.evil",
            "",
        ] {
            assert_eq!(checked("/x", &[("host", host), TOKEN]), Err(Refused::Host), "{host}");
        }
        assert_eq!(checked("/x", &[TOKEN]), Err(Refused::Host));
        let two = [("host", "localhost:4000"), ("host", "evil.example:4000"), TOKEN];
        assert_eq!(checked("/x", &two), Err(Refused::Host));
    }

    #[test]
    fn a_page_is_refused_even_with_the_token_and_even_for_the_health() {
        for path in ["/x", "/health"] {
            for page in
                [("origin", "http://localhost:4000"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
            {
                assert_eq!(
                    checked(path, &[("host", "localhost:4000"), TOKEN, page]),
                    Err(Refused::Origin),
                    "{page:?}"
                );
            }
        }
    }

    #[test]
    fn a_token_in_the_path_is_compared_alike_and_a_body_with_a_bearer_must_be_json() {
        let host = ("host", "localhost:4000");
        assert_eq!(checked("/t/secret/api/memories", &[host]), Ok(()));
        for path in ["/t/secreT/api/memories", "/t/", "/t", "/t/secret2", "/api/t/secret/x"] {
            assert_eq!(checked(path, &[host]), Err(Refused::Token), "{path}");
        }
        assert_eq!(
            checked("/t/wrong/x", &[host, TOKEN]),
            Err(Refused::Token),
            "the path counts, not the head"
        );
        let sent = |headers: &[(&'static str, &str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in [&[host], headers].concat() {
                map.append(name, value.parse().unwrap());
            }
            Guard::new(4000, "secret").check(&Method::POST, "/sessions/init", &map)
        };
        assert_eq!(sent(&[TOKEN, ("content-type", "application/json; charset=utf-8")]), Ok(()));
        assert_eq!(sent(&[TOKEN, ("content-type", "text/plain")]), Err(Refused::Type));
        assert_eq!(sent(&[TOKEN]), Err(Refused::Type));
    }

    #[test]
    fn only_the_health_needs_no_token() {
        let host = ("host", "localhost:4000");
        assert_eq!(checked("/health", &[host]), Ok(()));
        for token in ["Bearer secreT", "Bearer secre", "Bearer secrets", "secret", "Bearer "] {
            assert_eq!(checked("/events", &[host, ("authorization", token)]), Err(Refused::Token), "{token}");
        }
    }
}
