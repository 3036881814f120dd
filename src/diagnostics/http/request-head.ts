/** A request, as far as a path that only reads needs it. */
export interface HttpRequest {
  readonly method: string;
  /** As it was sent, up to the question mark. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The media types that the client takes; empty where it names none. */
  readonly accept: string;
  /** Its connection takes no further request: the client says so, or a body follows, which is not read. */
  readonly isLast: boolean;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const REQUEST_LINE = new RegExp(`^(${TOKEN}) ([^\\x00-\\x20\\x7f]+) HTTP/1\\.([01])$`);
const FIELD_NAME = new RegExp(`^${TOKEN}$`);
/** Visible characters, spaces and tabs, and bytes beyond ASCII. */
const FIELD_VALUE = /^[\t\P{Cc}\x80-\x9f]*$/u;
/** Two of them would leave open which one counts. */
const ONCE: ReadonlySet<string> = new Set(["host", "content-length", "transfer-encoding"]);

/** How many bytes at the beginning say whether it may become a request. */
const METHOD_BYTES = 24;

/** Whether a request may begin so: not TLS, not garbage. Who speaks another protocol is not waited for. */
export function mayBeRequest(bytes: Buffer): boolean {
  return /^[A-Z-]{1,23}(?: |$)/.test(bytes.toString("latin1", 0, METHOD_BYTES));
}

/**
 * Reads the head of a request in HTTP/1.0 or 1.1, without the empty line that ends it (RFC 9112, sections 3 and 5).
 * Undefined for one to be answered with 400: malformed, folded, with bare line feeds, without the host that 1.1 demands,
 * or with two ways to tell where its body ends.
 */
export function parseRequestHead(text: string): HttpRequest | undefined {
  const [first = "", ...lines] = text.split("\r\n");
  const requestLine = REQUEST_LINE.exec(first);
  const fields = parseFields(lines);
  if (requestLine === null || fields === undefined) return undefined;
  const [, method = "", target = "", minor] = requestLine;
  const isOld = minor === "0";
  if (!isOld && !fields.has("host")) return undefined;
  const length = fields.get("content-length");
  const coding = fields.get("transfer-encoding");
  if (length !== undefined && (coding !== undefined || !/^\d+$/.test(length))) return undefined;
  const [path = "", ...query] = target.split("?");
  return {
    method,
    path,
    query: new URLSearchParams(query.join("?")),
    accept: fields.get("accept") ?? "",
    isLast:
      isOld ||
      /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(fields.get("connection") ?? "") ||
      coding !== undefined ||
      Number(length ?? 0) > 0,
  };
}

/** Values by names in lower case, those of one name in one list; undefined if a line is malformed, or there are too many. */
function parseFields(lines: readonly string[]): ReadonlyMap<string, string> | undefined {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const [name, value] = [line.slice(0, colon).toLowerCase(), line.slice(colon + 1)];
    if (colon < 1 || !FIELD_NAME.test(name) || !FIELD_VALUE.test(value)) return undefined;
    const before = fields.get(name);
    if (before !== undefined && ONCE.has(name)) return undefined;
    fields.set(name, before === undefined ? value.trim() : `${before}, ${value.trim()}`);
  }
  return fields;
}
