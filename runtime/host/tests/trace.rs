//! Traces: what a collector is told of requests in and out, and how they hang together.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::{Host, SOON, guest};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// An OTLP collector that keeps what it gets.
#[derive(Clone, Default)]
struct Collector {
    requests: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
}

impl Collector {
    fn start() -> (Self, String) {
        let collector = Collector::default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let kept = collector.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let mut length = 0;
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    let mut line = String::new();
                    stream.read_line(&mut line).unwrap();
                    if let Some(text) = line.to_lowercase().strip_prefix("content-length:") {
                        length = text.trim().parse().unwrap();
                    }
                    head += &line;
                }
                assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
                assert!(head.contains("application/x-protobuf"), "{head}");
                let mut body = vec![0; length];
                stream.read_exact(&mut body).unwrap();
                let request = ExportTraceServiceRequest::decode(&*body).expect("valid protobuf");
                kept.requests.lock().unwrap().push(request);
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                stream.get_mut().write_all(answer).unwrap();
            }
        });
        (collector, endpoint)
    }

    fn spans(&self) -> Vec<Span> {
        let requests = self.requests.lock().unwrap();
        let resources = requests.iter().flat_map(|r| &r.resource_spans);
        let scopes = resources.flat_map(|r| &r.scope_spans);
        scopes.flat_map(|s| s.spans.clone()).collect()
    }

    /// The spans, once there are `count`.
    fn wait(&self, count: usize) -> Vec<Span> {
        let start = Instant::now();
        while self.spans().len() < count && start.elapsed() < SOON {
            thread::sleep(Duration::from_millis(50));
        }
        let spans = self.spans();
        assert_eq!(spans.len(), count, "{spans:#?}");
        spans
    }

    fn service(&self) -> String {
        let requests = self.requests.lock().unwrap();
        let resource = requests[0].resource_spans[0].resource.clone().unwrap();
        let mut attributes = resource.attributes.into_iter();
        let name = attributes.find(|a| a.key == "service.name").unwrap();
        match name.value.unwrap().value {
            Some(Value::StringValue(name)) => name,
            other => panic!("{other:?}"),
        }
    }
}

const SERVER: i32 = 2;
const CLIENT: i32 = 3;

/// An app of `fetch` and `hello`, traced.
fn host(directory: &std::path::Path, environment: &[(&str, &str)]) -> Host {
    let manifest = directory.join("spin.toml");
    let text = format!(
        "spin_manifest_version = 2\n[application]\nname = \"traced\"\n\
         [[trigger.http]]\nroute = \"/fetch/:name\"\ncomponent = \"fetch\"\n\
         [[trigger.http]]\nroute = \"/trap\"\ncomponent = \"trap\"\n\
         [[trigger.http]]\nroute = {{ private = true }}\ncomponent = \"hello\"\n\
         [component.fetch]\nsource = {:?}\n\
         allowed_outbound_hosts = [\"http://127.0.0.1:*\", \"http://hello.spin.internal\"]\n\
         [component.trap]\nsource = {:?}\n\
         [component.hello]\nsource = {:?}\n",
        guest("fetch"),
        guest("trap"),
        guest("hello")
    );
    std::fs::write(&manifest, text).unwrap();
    let from = manifest.to_str().unwrap();
    Host::up_with(&["--from", from, "--workers", "1", "-q"], environment)
}

fn fetch(host: &Host, url: &str, headers: &str) -> common::Answer {
    host.send(&format!(
        "GET /fetch/x HTTP/1.1\r\nhost: test\r\nconnection: close\r\nx-url: {url}\r\n{headers}\r\n"
    ))
}

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// What `span` says of `key`, as text.
fn attribute(span: &Span, key: &str) -> String {
    let found = span.attributes.iter().find(|found| found.key == key);
    match found.and_then(|found| found.value.clone()?.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("{key}: {other:?} in {:?}", span.attributes),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_trace_goes_on_through_the_guest_to_whom_it_asks() {
    let (collector, endpoint) = Collector::start();
    let directory = tempfile::tempdir().unwrap();
    let host = host(
        directory.path(),
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
            ("OTEL_BSP_SCHEDULE_DELAY", "100"),
        ],
    );
    // It sends back what it was sent.
    let server = common::server(|head| {
        let head = head.to_lowercase();
        format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{head}",
            head.len()
        )
    });
    let answer = fetch(
        &host,
        &format!("http://{server}/a?secret=1"),
        &format!("traceparent: 00-{TRACE}-{PARENT}-01\r\ntracestate: a=b\r\n"),
    );
    let spans = collector.wait(2);
    assert_eq!(collector.service(), "traced");
    let of_kind = |kind| spans.iter().find(|span| span.kind == kind).unwrap();
    let (request, outbound) = (of_kind(SERVER), of_kind(CLIENT));
    assert_eq!(request.name, "GET /fetch/:name");
    assert_eq!(attribute(request, "http.request.method"), "GET");
    assert_eq!(attribute(request, "http.route"), "/fetch/:name");
    assert_eq!(attribute(request, "url.path"), "/fetch/x");
    assert_eq!(attribute(request, "spin.component"), "fetch");
    assert_eq!(attribute(request, "http.response.status_code"), "200");
    assert_eq!(attribute(outbound, "server.address"), "127.0.0.1");
    let port = server.port().to_string();
    assert_eq!(attribute(outbound, "server.port"), port);
    let url = format!("http://{server}/a");
    assert_eq!(attribute(outbound, "url.full"), url, "without the query");
    assert_eq!(hex(&request.trace_id), TRACE);
    assert_eq!(hex(&request.parent_span_id), PARENT);
    assert_eq!(request.trace_state, "a=b");
    assert_eq!(outbound.trace_id, request.trace_id);
    assert_eq!(outbound.parent_span_id, request.span_id);
    // What went over the wire names the outbound request's span.
    let sent = format!("traceparent: 00-{TRACE}-{}-01\n", hex(&outbound.span_id));
    assert!(answer.body.contains(&sent), "{sent} in {}", answer.body);
    assert!(answer.body.contains("tracestate: a=b\n"), "{}", answer.body);
}

#[test]
fn requests_in_flight_in_one_instance_keep_their_traces_apart() {
    let (collector, endpoint) = Collector::start();
    let directory = tempfile::tempdir().unwrap();
    let host = host(
        directory.path(),
        &[
            (
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
                &format!("{endpoint}/v1/traces"),
            ),
            ("OTEL_BSP_SCHEDULE_DELAY", "100"),
            ("OTEL_SERVICE_NAME", "mine"),
        ],
    );
    let server = common::server(|_| {
        thread::sleep(Duration::from_millis(300));
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi".to_owned()
    });
    let url = format!("http://{server}/");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(fetch(&host, &url, "").body, "hi"));
        }
    });
    let spans = collector.wait(16);
    assert_eq!(collector.service(), "mine");
    let requests: Vec<_> = spans.iter().filter(|span| span.kind == SERVER).collect();
    for request in &requests {
        assert!(request.parent_span_id.is_empty());
        let below = spans
            .iter()
            .filter(|span| span.parent_span_id == request.span_id);
        assert_eq!(below.count(), 1, "each request asked once");
    }
    let mut traces: Vec<_> = requests.iter().map(|span| &span.trace_id).collect();
    traces.sort();
    traces.dedup();
    assert_eq!(traces.len(), 8);
}

#[test]
fn a_call_of_another_component_is_a_part_of_the_trace() {
    let (collector, endpoint) = Collector::start();
    let directory = tempfile::tempdir().unwrap();
    let host = host(
        directory.path(),
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
            ("OTEL_BSP_SCHEDULE_DELAY", "100"),
        ],
    );
    let answer = fetch(&host, "http://hello.spin.internal/", "");
    let spans = collector.wait(3);
    let outbound = spans.iter().find(|span| span.kind == CLIENT).unwrap();
    let callee = spans
        .iter()
        .find(|span| span.parent_span_id == outbound.span_id)
        .expect("the callee's span is below the call's");
    assert_eq!(callee.kind, SERVER);
    assert_eq!(callee.trace_id, outbound.trace_id);
    // A guest that traces itself goes on below its own request.
    let seen = format!(
        "header traceparent: 00-{}-{}-01\n",
        hex(&callee.trace_id),
        hex(&callee.span_id)
    );
    assert!(answer.body.contains(&seen), "{seen} in {}", answer.body);
}

#[test]
fn a_failed_request_is_an_error_and_an_unsampled_one_is_not_told() {
    let (collector, endpoint) = Collector::start();
    let directory = tempfile::tempdir().unwrap();
    let host = host(
        directory.path(),
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
            ("OTEL_BSP_SCHEDULE_DELAY", "100"),
        ],
    );
    let unsampled = format!("traceparent: 00-{TRACE}-{PARENT}-00\r\n");
    assert!(fetch(&host, "http://10.0.0.1/", &unsampled).status == 200);
    host.get("/nothing");
    let spans = collector.wait(1);
    assert_eq!(spans[0].name, "GET");
    assert_eq!(
        spans[0].status.as_ref().map_or(0, |s| s.code),
        0,
        "a 404 is the client's error"
    );
    fetch(&host, "http://10.0.0.1/", "");
    let spans = collector.wait(3);
    let outbound = spans.iter().find(|span| span.kind == CLIENT).unwrap();
    let status = outbound.status.clone().unwrap();
    assert_eq!(status.code, 2, "denied is an error of the call");
    assert!(status.message.contains("allowed_outbound_hosts"));
    assert_eq!(attribute(outbound, "error.type"), "denied");
}

#[test]
fn a_collector_that_is_not_there_changes_nothing_for_clients() {
    let directory = tempfile::tempdir().unwrap();
    let endpoint = format!("http://127.0.0.1:{}", testbed::free_port());
    let mut host = host(
        directory.path(),
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
            ("OTEL_BSP_SCHEDULE_DELAY", "50"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "10"),
        ],
    );
    for _ in 0..50 {
        assert_eq!(host.get("/fetch/a").status, 200);
    }
    host.terminate();
    assert!(host.wait().success());
}

#[test]
fn the_last_spans_are_exported_at_the_end() {
    let (collector, endpoint) = Collector::start();
    let directory = tempfile::tempdir().unwrap();
    let mut host = host(
        directory.path(),
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
            ("OTEL_BSP_SCHEDULE_DELAY", "3600000"),
        ],
    );
    host.get("/fetch/a");
    host.terminate();
    assert!(host.wait().success());
    collector.wait(1);
}

#[test]
fn without_a_collector_headers_pass_as_they_came() {
    let host = Host::with_guest("hello", &[]);
    let answer = host.send(&format!(
        "GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\ntraceparent: 00-{TRACE}-{PARENT}-01\r\n\r\n"
    ));
    let same = format!("header traceparent: 00-{TRACE}-{PARENT}-01\n");
    assert!(answer.body.contains(&same), "{answer:?}");
}

#[test]
fn a_setting_that_is_not_honoured_is_refused_by_name() {
    for (variable, value) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
    ] {
        let output = common::command(&["up", "--listen", "127.0.0.1:0", "-L", "", "--from"])
            .arg(guest("hello"))
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
            .env(variable, value)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{variable}");
        assert!(text.contains(&format!("{variable}={value}")), "{text}");
    }
}
