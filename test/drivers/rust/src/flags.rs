use std::{collections::HashMap, env, time::Duration};

use tonic::{Code, Status};

#[derive(Default)]
pub struct Flags {
    pub socket: String,
    pub name: String,
    pub node_id: String,
    pub vendor_version: String,
    pub manifest: HashMap<String, String>,
    pub response_bytes: usize,
    pub error: Option<Status>,
    pub delay: Duration,
    pub times: usize,
    pub headers_first: bool,
    pub max_connection_age: Option<Duration>,
}

/// The flags of this process; panics at one that it does not know.
pub fn parse() -> Flags {
    let mut flags = Flags {
        node_id: "node-1".into(),
        vendor_version: "1.0".into(),
        times: usize::MAX,
        ..Flags::default()
    };
    let mut words = env::args().skip(1);
    while let Some(flag) = words.next() {
        let mut value = || {
            words
                .next()
                .unwrap_or_else(|| panic!("{flag} has no value"))
        };
        match flag.as_str() {
            "--socket" => flags.socket = value(),
            "--name" => flags.name = value(),
            "--node-id" => flags.node_id = value(),
            "--vendor-version" => flags.vendor_version = value(),
            "--manifest" => flags.manifest.extend([split(&value(), '=')]),
            "--response-bytes" => flags.response_bytes = number(&value()) as usize,
            "--error" => flags.error = Some(status(&value())),
            "--delay-ms" => flags.delay = Duration::from_millis(number(&value())),
            "--times" => flags.times = number(&value()) as usize,
            "--headers-first" => flags.headers_first = true,
            "--max-connection-age-ms" => {
                flags.max_connection_age = Some(Duration::from_millis(number(&value())));
            }
            _ => panic!("there is no flag {flag}"),
        }
    }
    flags
}

fn number(text: &str) -> u64 {
    text.parse()
        .unwrap_or_else(|_| panic!("{text} is no number"))
}

fn split(text: &str, separator: char) -> (String, String) {
    let (left, right) = text
        .split_once(separator)
        .unwrap_or_else(|| panic!("{text} has no {separator}"));
    (left.into(), right.into())
}

/// `NOT_FOUND:text`. Tonic writes its codes `NotFound` and reads numbers only.
fn status(text: &str) -> Status {
    let (name, message) = split(text, ':');
    let wanted = name.replace('_', "").to_lowercase();
    let code = (0..17)
        .map(Code::from_i32)
        .find(|code| format!("{code:?}").to_lowercase() == wanted)
        .unwrap_or_else(|| panic!("there is no status {name}"));
    Status::new(code, message)
}
