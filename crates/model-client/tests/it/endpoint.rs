//! Endpoints.

use std::io::Write as _;
use std::net::TcpListener;
use std::time::Duration;

use watchbill_protocol::model::{ModelAddress, ModelJob, ReplyForm};

use crate::stub::{Stub, hangs, respond, says};
use crate::{at, run, start, wait_for};

fn error_of(job: &ModelJob) -> String {
    let (result, _) = run(job, &[]);
    assert_eq!(result.reply, None);
    result.error.unwrap()
}

#[test]
fn an_answer_comes_back_with_its_tokens_and_the_request_has_every_limit() {
    let stub = Stub::new(|_, _, stream| says(stream, "{\"memories\":[]}"));
    let (result, _) = run(&at(&stub.base, 20_000), &[]);
    assert_eq!(result.reply.as_deref(), Some("{\"memories\":[]}"));
    assert_eq!((result.tokens_in, result.tokens_out, result.form), (Some(120), Some(30), ReplyForm::Schema));
    let seen = stub.seen();
    let [request] = &seen[..] else { panic!("{seen:?}") };
    let (head, body) = request.split_once("\n\n").unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{head}");
    assert!(!head.to_lowercase().contains("authorization"), "{head}");
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["max_tokens"], &body["stream"]), (&600.into(), &false.into()));
    assert_eq!(body["response_format"]["json_schema"]["strict"], true);
    assert_eq!(body["messages"][1]["content"], "Request: mend the log");
}

#[test]
fn a_refused_schema_is_asked_for_as_an_object_and_then_as_text() {
    let stub = Stub::new(|_, request, stream| {
        if request.contains("response_format") {
            respond(stream, "400 Bad Request", r#"{"error":{"message":"unknown response_format"}}"#);
        } else {
            says(stream, "{}");
        }
    });
    let (result, _) = run(&at(&stub.base, 20_000), &[]);
    assert_eq!((result.reply.as_deref(), result.form, stub.seen().len()), (Some("{}"), ReplyForm::Text, 3));
    let mut job = at(&stub.base, 20_000);
    if let ModelAddress::Endpoint { form, .. } = &mut job.to {
        *form = result.form;
    }
    run(&job, &[]);
    assert_eq!(stub.seen().len(), 4, "the form that is known is asked for at once");
    let never = Stub::new(|_, _, stream| respond(stream, "400 Bad Request", r#"{"error":"no such model"}"#));
    assert_eq!(error_of(&at(&never.base, 20_000)), "the endpoint answers 400: no such model");
    assert_eq!(never.seen().len(), 3);
}

#[test]
fn errors_of_a_server_are_errors() {
    for (status, body, words) in [
        ("500 Internal Server Error", "{}", "answers 500"),
        ("401 Unauthorized", r#"{"error":{"message":"bad key\u001b[2J"}}"#, "answers 401: bad key [2J"),
        ("200 OK", "not JSON", "not answer with JSON"),
        ("200 OK", "{\"choices\":[]}", "has no text"),
        ("200 OK", "", "not answer with JSON"),
    ] {
        let stub = Stub::new(move |_, _, stream| respond(stream, status, body));
        let error = error_of(&at(&stub.base, 20_000));
        assert!(error.contains(words), "{error}");
        assert_eq!(stub.seen().len(), 1);
    }
}

#[test]
fn an_endpoint_that_refuses_whatever_is_asked_is_away_and_one_that_fails_is_not() {
    for (status, away) in [
        ("401 Unauthorized", true),
        ("404 Not Found", true),
        ("429 Too Many Requests", true),
        ("503 Service Unavailable", false),
        ("504 Gateway Timeout", false),
        ("400 Bad Request", false),
        ("500 Internal Server Error", false),
    ] {
        let stub = Stub::new(move |_, _, stream| respond(stream, status, "{}"));
        assert_eq!(run(&at(&stub.base, 20_000), &[]).0.away, away, "{status}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    assert!(run(&at(&base, 20_000), &[]).0.away, "nothing listens");
    // The question was sent: it may have cost something.
    let cut = Stub::new(|_, _, stream| {
        let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{{");
    });
    let (result, _) = run(&at(&cut.base, 20_000), &[]);
    assert!(result.error.is_some() && !result.away, "{result:?}");
}

#[test]
fn a_redirect_is_not_followed() {
    let other = Stub::new(|_, _, stream| says(stream, "elsewhere"));
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let to = other.base.clone();
        let stub = Stub::new(move |_, _, stream| {
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nLocation: {to}/chat/completions\r\nContent-Length: 0\r\n\r\n"
            );
        });
        let error = error_of(&at(&stub.base, 20_000));
        assert!(error.contains("not followed"), "{error}");
    }
    assert_eq!(other.seen().len(), 0);
}

#[test]
fn a_server_that_hangs_or_trickles_costs_the_whole_time_and_no_more() {
    let silent = Stub::new(|_, _, _| hangs());
    let trickle = Stub::new(|_, _, stream| {
        let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    for stub in [silent, trickle] {
        let (result, took) = run(&at(&stub.base, 1_500), &[]);
        assert_eq!(result.error.as_deref(), Some("the model took too long"));
        assert!(took >= Duration::from_millis(1_400) && took < Duration::from_secs(15), "{took:?}");
    }
}

#[test]
fn an_answer_that_is_too_long_is_given_up() {
    let stub = Stub::new(|_, _, stream| {
        let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 10485760\r\n\r\n");
        let _ = stream.write_all(&vec![b'x'; 10 << 20]);
    });
    let error = error_of(&at(&stub.base, 20_000));
    assert!(error.contains("longer than 1048576"), "{error}");
}

#[test]
fn without_a_server_there_is_an_error_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    assert_eq!(error_of(&at(&base, 20_000)), "there is no server at this address");
    let error = error_of(&at("http://models.example/v1", 20_000));
    assert!(error.contains("this machine alone"), "{error}");
}

#[test]
fn no_proxy_and_no_key_of_the_environment_is_used() {
    let proxy = Stub::new(|_, _, stream| says(stream, "by the proxy"));
    let stub = Stub::new(|_, _, stream| says(stream, "by itself"));
    let address = proxy.base.trim_end_matches("/v1").to_owned();
    let env = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy"];
    let mut env: Vec<(&str, &str)> = env.iter().map(|name| (*name, &*address)).collect();
    env.push(("OPENAI_API_KEY", "sk-of-the-environment"));
    let (result, _) = run(&at(&stub.base, 20_000), &env);
    assert_eq!(result.reply.as_deref(), Some("by itself"));
    assert_eq!(proxy.seen().len(), 0);
    assert!(!stub.seen()[0].contains("sk-of-the-environment"));
}

#[test]
fn a_key_comes_from_its_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    let stub = Stub::new(|_, _, stream| says(stream, "{}"));
    let mut job = at(&stub.base, 20_000);
    if let ModelAddress::Endpoint { key_file, .. } = &mut job.to {
        *key_file = Some(file.to_str().unwrap().to_owned());
    }
    assert!(error_of(&job).contains("cannot be read"));
    std::fs::write(&file, "two words\nX-Other: yes\n").unwrap();
    assert!(error_of(&job).contains("does not hold a key"));
    assert_eq!(stub.seen().len(), 0);
    std::fs::write(&file, "local-key\n").unwrap();
    assert_eq!(run(&job, &[]).0.error, None);
    assert!(stub.seen()[0].to_lowercase().contains("authorization: bearer local-key"));
}

#[test]
fn the_models_are_listed() {
    let stub =
        Stub::new(|_, _, stream| respond(stream, "200 OK", r#"{"data":[{"id":"a"},{"id":"b"},{"no":1}]}"#));
    let (result, _) = run(&ModelJob { question: None, ..at(&stub.base, 20_000) }, &[]);
    assert_eq!(result.models, ["a", "b"]);
    assert!(stub.seen()[0].starts_with("GET /v1/models"));
}

#[test]
fn the_program_ends_when_its_input_closes() {
    let stub = Stub::new(|_, _, _| hangs());
    let mut child = start(&at(&stub.base, 600_000), &[]);
    wait_for("the request", || !stub.seen().is_empty());
    drop(child.stdin.take());
    wait_for("its end", || child.try_wait().unwrap().is_some());
}
