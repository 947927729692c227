//! Traces by the W3C's headers: a request's span from its head to its answer's head, and one for each outbound request
//! of its guest. Off unless the usual `OTEL_*` variables name a collector; then nothing here costs more than a look at a
//! static.

mod export;
mod settings;
mod tasks;

use std::sync::OnceLock;

use http::{HeaderMap, Method, StatusCode};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{
    Span as _, SpanContext, SpanKind, Status, TraceContextExt, Tracer, TracerProvider,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{HeaderExtractor, HeaderInjector};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span};

pub use self::tasks::{Tasks, of_caller};
use crate::error::Error;
use crate::metrics::{Kind, Outcome};
use crate::outbound::{Outbound, SendError};

const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";

static TRACING: OnceLock<Option<Tracing>> = OnceLock::new();

struct Tracing {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

/// Starts to export if the environment names a collector. `app` is the service's name if that names none. The first
/// call counts.
pub fn start(app: &str) -> Result<(), Error> {
    if TRACING.get().is_some() {
        return Ok(());
    }
    let tracing = settings::provider(app)?.map(|provider| Tracing {
        tracer: provider.tracer("levelfield-host"),
        provider,
    });
    // Called by the one thread that starts apps.
    let _ = TRACING.set(tracing);
    Ok(())
}

/// Exports what is left, within the exporter's own time limit.
pub fn stop() {
    if let Some(Some(tracing)) = TRACING.get()
        && let Err(error) = tracing.provider.shutdown()
    {
        tracing::warn!(%error, "the last spans were not exported");
    }
}

fn tracer() -> Option<&'static SdkTracer> {
    TRACING.get()?.as_ref().map(|tracing| &tracing.tracer)
}

/// The span of a request that came in.
pub struct RequestSpan(Box<Span>);

impl RequestSpan {
    /// A span that continues the trace that the headers name, or begins one; `None` when nobody traces.
    pub fn begin<B>(request: &http::Request<B>) -> Option<Self> {
        let tracer = tracer()?;
        let parent = TraceContextPropagator::new()
            .extract_with_context(&Context::new(), &HeaderExtractor(request.headers()));
        let name = method(request.method());
        let builder = tracer
            .span_builder(name)
            .with_kind(SpanKind::Server)
            .with_attributes([
                KeyValue::new("http.request.method", name),
                KeyValue::new("url.path", request.uri().path().to_owned()),
            ]);
        let span = tracer.build_with_context(builder, &parent);
        Some(RequestSpan(Box::new(span)))
    }

    /// The request takes `route` to `component`.
    pub fn reaches(&mut self, method_of: &Method, route: &str, component: &str) {
        self.0.update_name(format!("{} {route}", method(method_of)));
        self.0
            .set_attribute(KeyValue::new("http.route", route.to_owned()));
        self.0
            .set_attribute(KeyValue::new("spin.component", component.to_owned()));
    }

    /// Has the guest see this span as its parent, and remembers it for what the guest sends.
    pub fn enter<B>(&self, request: &mut http::Request<B>) {
        let context = self.0.span_context().clone();
        inject(&context, request.headers_mut());
        request.extensions_mut().insert(context);
    }

    /// Ends with the answer's status, or without an answer when the client left.
    pub fn end(mut self, status: Option<StatusCode>) {
        match status {
            Some(status) => end(&mut self.0, status, status.is_server_error()),
            None => self
                .0
                .set_status(Status::error("the client left before the answer")),
        }
        self.0.end();
    }
}

/// The span of a request that a guest sends.
pub struct OutboundSpan(Box<Span>);

impl OutboundSpan {
    /// A span below the request that the guest works on, or below what the guest's own headers name; put into the headers
    /// unless they are the guest's own. `None` when nobody traces.
    pub fn begin(request: &mut Outbound) -> Option<Self> {
        let tracer = tracer()?;
        let name = method(&request.line.method);
        let own = request.headers.contains_key(TRACEPARENT);
        let parent = if own {
            TraceContextPropagator::new()
                .extract_with_context(&Context::new(), &HeaderExtractor(&request.headers))
        } else {
            request.parent.take().map_or_else(Context::new, |parent| {
                Context::new().with_remote_span_context(parent)
            })
        };
        let mut attributes = destination(request);
        attributes.push(KeyValue::new("http.request.method", name));
        let builder = tracer
            .span_builder(name)
            .with_kind(SpanKind::Client)
            .with_attributes(attributes);
        let span = tracer.build_with_context(builder, &parent);
        if !own {
            inject(span.span_context(), &mut request.headers);
        }
        Some(OutboundSpan(Box::new(span)))
    }

    /// Ends with the response's status, or with why there was none.
    pub fn end(mut self, result: Result<StatusCode, &SendError>) {
        match result {
            Ok(status) => end(
                &mut self.0,
                status,
                status.is_client_error() || status.is_server_error(),
            ),
            Err(error) => {
                let kind = Outcome::from(error).name();
                self.0.set_attribute(KeyValue::new("error.type", kind));
                self.0.set_status(Status::error(error.to_string()));
            }
        }
        self.0.end();
    }

    /// The guest gave the request up.
    pub fn cancelled(mut self) {
        let kind = Outcome::Cancelled.name();
        self.0.set_attribute(KeyValue::new("error.type", kind));
        self.0
            .set_status(Status::error("the guest did not wait for the response"));
        self.0.end();
    }
}

/// Where a request goes. Without the query, which may hold what no collector should see.
fn destination(request: &Outbound) -> Vec<KeyValue> {
    let scheme = request.line.scheme.as_ref().map_or("http", |s| s.as_str());
    let Some(authority) = &request.line.authority else {
        return vec![KeyValue::new("server.address", "self")];
    };
    let port = authority
        .port_u16()
        .unwrap_or(if scheme == "https" { 443 } else { 80 });
    let path = request.line.path.as_ref().map_or("/", |path| path.path());
    vec![
        KeyValue::new("server.address", authority.host().to_owned()),
        KeyValue::new("server.port", i64::from(port)),
        KeyValue::new("url.full", format!("{scheme}://{authority}{path}")),
    ]
}

fn end(span: &mut Span, status: StatusCode, failed: bool) {
    let code = i64::from(status.as_u16());
    span.set_attribute(KeyValue::new("http.response.status_code", code));
    if failed {
        span.set_attribute(KeyValue::new("error.type", status.as_str().to_owned()));
        span.set_status(Status::error(""));
    }
}

fn inject(context: &SpanContext, headers: &mut HeaderMap) {
    // The propagator would write an empty one.
    headers.remove(TRACESTATE);
    let context = Context::new().with_remote_span_context(context.clone());
    TraceContextPropagator::new().inject_context(&context, &mut HeaderInjector(headers));
    if headers
        .get(TRACESTATE)
        .is_some_and(|state| state.is_empty())
    {
        headers.remove(TRACESTATE);
    }
}

/// The method as spans name it: a client must not make up names without end.
fn method(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        "CONNECT" => "CONNECT",
        "OPTIONS" => "OPTIONS",
        "TRACE" => "TRACE",
        "PATCH" => "PATCH",
        _ => "_OTHER",
    }
}
