//! The `OTEL_*` variables: the SDK reads most of them itself; here stands whether to trace at all.

use std::env;
use std::time::Duration;

use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;

use super::export::Client;
use crate::error::Error;

const ENDPOINT: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];
const PROTOCOL: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
];
const TIMEOUT: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
];

/// The exporter's default, and the specification's.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// The first of `names` that is set to something.
fn first(names: &[&'static str]) -> Option<(&'static str, String)> {
    names.iter().find_map(|name| {
        let value = env::var(name).ok()?;
        (!value.is_empty()).then_some((*name, value))
    })
}

/// What exports to the collector that the environment names; `None` without one.
pub fn provider(app: &str) -> Result<Option<SdkTracerProvider>, Error> {
    let is = |name, value| env::var(name).is_ok_and(|found| found.eq_ignore_ascii_case(value));
    if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
        return Ok(None);
    }
    let Some((variable, endpoint)) = first(&ENDPOINT) else {
        return Ok(None);
    };
    let refused = |variable: &str, value: &str, reason: &str| Error::Otel {
        variable: variable.to_owned(),
        value: value.to_owned(),
        reason: reason.to_owned(),
    };
    if let Some((variable, protocol)) = first(&PROTOCOL)
        && protocol != "http/protobuf"
    {
        let reason = "this host speaks http/protobuf, usually to port 4318";
        return Err(refused(variable, &protocol, reason));
    }
    let valid = endpoint.parse::<http::Uri>().is_ok_and(|uri| {
        uri.host().is_some() && matches!(uri.scheme_str(), Some("http" | "https"))
    });
    if !valid {
        let reason = "it must be a URL such as http://127.0.0.1:4318";
        return Err(refused(variable, &endpoint, reason));
    }
    let timeout = match first(&TIMEOUT) {
        None => DEFAULT_TIMEOUT,
        Some((variable, text)) => match text.parse() {
            Ok(milliseconds) => Duration::from_millis(milliseconds),
            Err(_) => {
                let reason = "it must be a number of milliseconds";
                return Err(refused(variable, &text, reason));
            }
        },
    };
    let exporter = Client::new(timeout)
        .map_err(|error| error.to_string())
        .and_then(|client| {
            SpanExporter::builder()
                .with_http()
                .with_http_client(client)
                .build()
                .map_err(|error| error.to_string())
        })
        .map_err(|reason| refused(variable, &endpoint, &reason))?;
    let named = env::var("OTEL_SERVICE_NAME").is_ok_and(|name| !name.is_empty())
        || env::var("OTEL_RESOURCE_ATTRIBUTES").is_ok_and(|text| text.contains("service.name="));
    let mut resource = Resource::builder();
    if !named {
        resource = resource.with_service_name(app.to_owned());
    }
    let provider = SdkTracerProvider::builder()
        .with_resource(resource.build())
        .with_batch_exporter(exporter)
        .build();
    Ok(Some(provider))
}
