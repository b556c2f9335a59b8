//! An endpoint that answers as a test says, and keeps what it was sent.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the endpoint does with a request. The number counts requests from zero.
pub type Act = dyn Fn(usize, &str, &mut TcpStream) + Send + Sync;

pub struct Stub {
    pub base: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Stub {
    pub fn new(act: impl Fn(usize, &str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let (seen, act): (_, Arc<Act>) = (Arc::<Mutex<Vec<String>>>::default(), Arc::new(act));
        let kept = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (act, kept) = (Arc::clone(&act), Arc::clone(&kept));
                std::thread::spawn(move || serve(stream, &kept, &*act));
            }
        });
        Self { base, seen }
    }

    /// The requests so far: their heads and bodies.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<String>>, act: &Act) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let request = head + "\n" + &String::from_utf8_lossy(&body);
    let n = {
        let mut seen = seen.lock().unwrap();
        seen.push(request.clone());
        seen.len() - 1
    };
    act(n, &request, &mut stream);
}

pub fn respond(stream: &mut TcpStream, status: &str, body: &str) {
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n");
    let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
}

/// An answer with this text.
pub fn says(stream: &mut TcpStream, text: &str) {
    let body = serde_json::json!({
        "choices": [{ "message": { "role": "assistant", "content": text } }],
        "usage": { "prompt_tokens": 120, "completion_tokens": 30 },
    });
    respond(stream, "200 OK", &body.to_string());
}

/// Neither answers nor closes.
pub fn hangs() {
    std::thread::sleep(Duration::from_secs(600));
}
