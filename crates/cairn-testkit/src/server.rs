//! A scripted model as a real HTTP server: which reply answers which request, what was asked, and
//! which faults are due. One thread for each connection.

use crate::asked;
use crate::fault::{Connected, Fault};
use crate::wire::{Connection, Request, Response};
use cairn_provider::http::Wire;
use cairn_provider::scripted::{Script, render, render_whole};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How a server is started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The port, or 0 for any that is free.
    pub port: u16,
    /// A file to which each request's body is appended as a line.
    pub log: Option<PathBuf>,
}

/// A scripted model that speaks every wire format on a port of this machine, until it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    script: Script,
    state: Mutex<State>,
    stop: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct State {
    requests: Vec<Vec<u8>>,
    heads: Vec<String>,
    connections: usize,
    faults: HashMap<usize, Fault>,
    always: Option<Fault>,
    delay: Duration,
    log: Option<File>,
}

/// What is to be done about one request.
struct Due {
    fault: Option<Fault>,
    delay: Duration,
}

impl ModelServer {
    /// Serves a script on a free port.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test without a port to listen on cannot go on")]
    pub fn start(script: Script) -> ModelServer {
        Self::listen(script, &Options::default()).expect("a free port on 127.0.0.1")
    }

    /// Serves a script as the options say.
    pub fn listen(script: Script, options: &Options) -> io::Result<ModelServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        let open = |path| File::options().create(true).append(true).open(path);
        let log = options.log.as_ref().map(open).transpose()?;
        let shared = Arc::new(Shared {
            script,
            state: Mutex::new(State { log, ..State::default() }),
            stop: Arc::default(),
        });
        let address = listener.local_addr()?;
        let serving = Arc::clone(&shared);
        let thread = std::thread::spawn(move || accept(&listener, &serving));
        Ok(ModelServer { address, shared, listener: Some(thread) })
    }

    /// The base URL, for every format.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The bodies of all requests to the model so far, in the order of their arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Vec<u8>> {
        self.shared.state().requests.clone()
    }

    /// The request lines and headers of all requests to the model so far.
    #[must_use]
    pub fn heads(&self) -> Vec<String> {
        self.shared.state().heads.clone()
    }

    /// How many connections were made so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.state().connections
    }

    /// Injects a fault into the response to one request, counted from 0 over the server's life.
    pub fn fault(&self, at_request: usize, fault: Fault) {
        self.shared.state().faults.insert(at_request, fault);
    }

    /// Injects a fault into every response that has none of its own.
    pub fn fault_always(&self, fault: Fault) {
        self.shared.state().always = Some(fault);
    }

    /// Injects no more faults.
    pub fn clear_faults(&self) {
        let mut state = self.shared.state();
        state.faults.clear();
        state.always = None;
    }

    /// Waits so long before each reply.
    pub fn delay(&self, delay: Duration) {
        self.shared.state().delay = delay;
    }

    /// Serves until the process ends.
    pub fn join(mut self) {
        if let Some(thread) = self.listener.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        // Wakes the listener, so that it sees that it shall stop.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.listener.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let mut connection = Connection::new(stream, Arc::clone(&self.stop))?;
        while let Some(request) = connection.next()? {
            if self.answer(&mut connection, request)? == Connected::No {
                break;
            }
        }
        Ok(())
    }

    fn answer(&self, connection: &mut Connection, request: Request) -> io::Result<Connected> {
        let path = request.path.split('?').next().unwrap_or_default();
        if request.method == "GET" && path.ends_with("/models") {
            let model = json!({"id": self.script.name, "object": "model", "owned_by": "script"});
            let list = json!({"object": "list", "data": [model]}).to_string();
            connection.write(&Response::plain(200, &list, None).bytes())?;
            return Ok(Connected::Yes);
        }
        let wire = asked::wire(path).filter(|_| request.method == "POST");
        let Some(wire) = wire else {
            let message = format!("nothing is served at {} {path}", request.method);
            connection.write(&refusal(404, &message).bytes())?;
            return Ok(Connected::Yes);
        };
        let (response, pace) = self.respond(wire, path, &request.body);
        let due = self.arrived(request)?;
        connection.pause(due.delay);
        match due.fault {
            Some(fault) => fault.send(connection, &response),
            None => send(connection, &response, pace),
        }
    }

    /// Takes note of a request, and tells what is due for it.
    fn arrived(&self, request: Request) -> io::Result<Due> {
        let Request { head, body, .. } = request;
        let mut state = self.state();
        state.heads.push(head);
        if let Some(log) = &mut state.log {
            log.write_all(&[&body[..], b"\n"].concat())?;
        }
        let number = state.requests.len();
        state.requests.push(body);
        let fault = state.faults.get(&number).or(state.always.as_ref()).cloned();
        Ok(Due { fault, delay: state.delay })
    }

    fn respond(&self, wire: Wire, path: &str, body: &[u8]) -> (Response, Duration) {
        let Ok(request) = serde_json::from_slice::<Value>(body) else {
            return (refusal(400, "the request is not JSON"), Duration::ZERO);
        };
        let asked = asked::read(wire, path, &request);
        match self.script.reply(asked.spoken, &asked.last) {
            Err(error) => (refusal(400, &error.to_string()), Duration::ZERO),
            Ok(reply) => {
                let model = asked.model.as_deref().unwrap_or(&self.script.name);
                let response = if asked.stream {
                    Response::events(&render(wire, &reply, model))
                } else {
                    let whole = render_whole(wire, &reply, model);
                    Response::plain(200, &String::from_utf8_lossy(&whole), None)
                };
                (response, Duration::from_millis(reply.pace_ms))
            }
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming().flatten() {
        if shared.stop.load(Ordering::SeqCst) {
            return;
        }
        shared.state().connections += 1;
        let shared = Arc::clone(shared);
        // A client that goes away in the middle is what many tests are about.
        std::thread::spawn(move || drop(shared.serve(stream)));
    }
}

fn send(connection: &mut Connection, response: &Response, pace: Duration) -> io::Result<Connected> {
    if pace.is_zero() {
        connection.write(&response.bytes())?;
        return Ok(Connected::Yes);
    }
    for piece in &response.pieces {
        connection.write(piece)?;
        connection.pause(pace);
    }
    Ok(Connected::Yes)
}

/// A refusal that every format's clients understand.
fn refusal(code: u16, message: &str) -> Response {
    let error = json!({
        "type": "error",
        "error": {"message": message, "type": "invalid_request_error", "code": code},
    });
    Response::plain(code, &error.to_string(), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn exchange(server: &ModelServer, request: &str) -> String {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    fn ask(server: &ModelServer, body: &str) -> String {
        let length = body.len();
        let head =
            format!("POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {length}\r\n\r\n");
        exchange(server, &format!("{head}{body}"))
    }

    #[test]
    fn any_http_client_is_answered_and_its_requests_are_kept() {
        let script =
            r#"{"cairn_script":1,"name":"s","replies":[{"say":"one"},{"expect":"x","say":"two"}]}"#;
        let log = crate::TempHome::new();
        let path = log.path().join("requests");
        let options = Options { port: 0, log: Some(path.clone()) };
        let server = ModelServer::listen(Script::parse(script).unwrap(), &options).unwrap();
        let first = r#"{"messages":[{"role":"user","content":"go"}],"stream":true}"#;
        let second = r#"{"messages":[{"role":"assistant","content":"one"},{"role":"user","content":[{"type":"text","text":"x"}]}]}"#;
        let third = r#"{"messages":[{"role":"assistant"},{"role":"user","content":"y"}]}"#;
        assert!(ask(&server, first).contains("data: [DONE]"));
        assert!(ask(&server, second).contains(r#""content":"two""#));
        assert!(ask(&server, third).starts_with("HTTP/1.1 400 "));
        assert_eq!(server.requests(), [first, second, third].map(|b| b.as_bytes().to_vec()));
        let lines = std::fs::read_to_string(&path).unwrap();
        assert_eq!(lines, format!("{first}\n{second}\n{third}\n"));
        assert!(exchange(&server, "GET /v1/models HTTP/1.1\r\n\r\n").contains(r#""id":"s""#));
        assert!(exchange(&server, "GET /v1/x HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    }
}
