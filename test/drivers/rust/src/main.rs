//! A CSI driver with tonic, as far as registration sees one. Flags and output: README.md beside this folder.

mod csi;
mod flags;

use std::{
    collections::HashMap,
    convert::Infallible,
    fs,
    future::{Future, ready},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use csi::{BoolValue, Empty, GetPluginInfoResponse, NodeGetInfoResponse, ProbeResponse};
use flags::Flags;
use prost::Message;
use serde_json::{Value, json};
use tokio::{io::AsyncReadExt, net::UnixListener, signal::unix, time::sleep};
use tokio_stream::{StreamExt, wrappers::UnixListenerStream};
use tonic::{Response, Status, body::Body, server::Grpc, transport::Server};
use tonic_prost::ProstCodec;
use tower::service_fn;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let driver = Arc::new(Driver::new(flags::parse()));
    let Flags {
        socket,
        max_connection_age,
        ..
    } = &driver.flags;
    let _ = fs::remove_file(socket);
    let listener = UnixListener::bind(socket).expect("the socket can be listened on");
    let mut server = Server::builder();
    if let Some(age) = max_connection_age {
        server = server.max_connection_age(*age);
    }
    let service = service_fn({
        let driver = driver.clone();
        move |request| {
            let driver = driver.clone();
            async move { Ok::<_, Infallible>(driver.answer(request).await) }
        }
    });
    let serving = server.serve_with_incoming(service, UnixListenerStream::new(listener));
    println!("{}", json!({ "event": "started" }));
    tokio::select! {
        end = serving => end.expect("the server runs until it is stopped"),
        () = stdin_or_sigterm() => {}
    }
    let _ = fs::remove_file(socket);
    // Tokio would wait for the thread that reads stdin.
    std::process::exit(0);
}

struct Driver {
    flags: Flags,
    info: GetPluginInfoResponse,
    calls: AtomicUsize,
}

impl Driver {
    fn new(flags: Flags) -> Self {
        let info = plugin_info(&flags);
        Self {
            flags,
            info,
            calls: AtomicUsize::new(0),
        }
    }

    async fn answer(self: Arc<Self>, request: http::Request<Body>) -> http::Response<Body> {
        tell_call(&request);
        match request.uri().path() {
            "/csi.v1.Identity/GetPluginInfo" => self.tell_plugin_info(request).await,
            "/csi.v1.Identity/Probe" => {
                unary(
                    request,
                    ready(Ok(ProbeResponse {
                        ready: Some(BoolValue { value: true }),
                    })),
                )
                .await
            }
            "/csi.v1.Node/NodeGetInfo" => {
                unary(
                    request,
                    ready(Ok(NodeGetInfoResponse {
                        node_id: self.flags.node_id.clone(),
                    })),
                )
                .await
            }
            _ => Status::unimplemented("").into_http(),
        }
    }

    async fn tell_plugin_info(
        self: Arc<Self>,
        request: http::Request<Body>,
    ) -> http::Response<Body> {
        if !self.flags.headers_first {
            return unary(request, self.plugin_info()).await;
        }
        // A stream of one message is the same on the wire, and sends its headers before that.
        let service = service_fn(move |_: tonic::Request<Empty>| {
            let driver = self.clone();
            let answers = tokio_stream::once(()).then(move |()| driver.clone().plugin_info());
            ready(Ok(Response::new(answers)))
        });
        Grpc::new(ProstCodec::<GetPluginInfoResponse, Empty>::default())
            .server_streaming(service, request)
            .await
    }

    async fn plugin_info(self: Arc<Self>) -> Result<GetPluginInfoResponse, Status> {
        if self.calls.fetch_add(1, Ordering::Relaxed) < self.flags.times {
            sleep(self.flags.delay).await;
            if let Some(error) = &self.flags.error {
                return Err(error.clone());
            }
        }
        Ok(self.info.clone())
    }
}

async fn unary<Answer: Message + Default + 'static>(
    request: http::Request<Body>,
    answer: impl Future<Output = Result<Answer, Status>> + Send,
) -> http::Response<Body> {
    let mut once = Some(answer);
    let service = service_fn(move |_: tonic::Request<Empty>| {
        let answer = once.take().expect("there is one request");
        async { answer.await.map(Response::new) }
    });
    Grpc::new(ProstCodec::<Answer, Empty>::default())
        .unary(service, request)
        .await
}

fn plugin_info(flags: &Flags) -> GetPluginInfoResponse {
    let mut info = GetPluginInfoResponse {
        name: flags.name.clone(),
        vendor_version: flags.vendor_version.clone(),
        manifest: flags.manifest.clone(),
    };
    if flags.response_bytes > 0 {
        let filler = |length| [("filler".to_owned(), "x".repeat(length))];
        info.manifest.extend(filler(flags.response_bytes));
        let excess = info.encoded_len() - flags.response_bytes;
        info.manifest.extend(filler(flags.response_bytes - excess));
    }
    info
}

fn tell_call(request: &http::Request<Body>) {
    let metadata: HashMap<&str, Value> = request
        .headers()
        .iter()
        .map(|(key, value)| {
            (
                key.as_str(),
                String::from_utf8_lossy(value.as_bytes()).into(),
            )
        })
        .collect();
    let event = json!({
        "event": "called",
        "method": request.uri().path().rsplit('/').next(),
        "authority": request.uri().authority().map(|authority| authority.as_str()),
        "metadata": metadata,
    });
    println!("{event}");
}

async fn stdin_or_sigterm() {
    let mut sigterm = unix::signal(unix::SignalKind::terminate()).expect("signals can be had");
    let mut rest = Vec::new();
    let mut stdin = tokio::io::stdin();
    tokio::select! {
        _ = sigterm.recv() => {}
        _ = stdin.read_to_end(&mut rest) => {}
    }
}
