/** A request without its body, which no path reads. */
export type HttpRequest = NonNullable<ReturnType<typeof parseRequestHead>>;

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const REQUEST_LINE = new RegExp(`^(${TOKEN}) ([^\\x00-\\x20\\x7f]+) HTTP/1\\.([01])$`);
/** What a server must accept before the path, as a client sends it to a proxy (RFC 9112, section 3.2.2). */
const ABSOLUTE_FORM = /^https?:\/\/[^/?]*/i;
const FIELD_NAME = new RegExp(`^${TOKEN}$`);
/** Visible characters, spaces and tabs, and bytes beyond ASCII. */
const FIELD_VALUE = /^[\t\P{Cc}\x80-\x9f]*$/u;
/** Fields that a request may have once: servers and proxies could disagree about which one counts. */
const ONCE: ReadonlySet<string> = new Set(["host", "content-length", "transfer-encoding"]);

/** Whether a request may begin with these bytes. The server does not wait for clients of other protocols, as of TLS. */
export function mayBeRequest(bytes: Buffer): boolean {
  return /^[A-Z-]{1,23}(?: |$)/.test(bytes.toString("latin1", 0, 24));
}

/**
 * Reads the head of a request in HTTP/1.0 or 1.1, without the empty line that ends it (RFC 9112, sections 3 and 5).
 * Undefined for a bad request.
 */
export function parseRequestHead(text: string) {
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
  const [path = "", ...query] = target
    .replace(ABSOLUTE_FORM, "")
    .replace(/^(?=\?|$)/, "/")
    .split("?");
  return {
    method,
    /** As it was sent, without scheme and host, up to the question mark. */
    path,
    query: new URLSearchParams(query.join("?")),
    accept: fields.get("accept") ?? "",
    /** The connection ends after it: the client asked for that, or a body follows. */
    isLast:
      isOld ||
      /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(fields.get("connection") ?? "") ||
      coding !== undefined ||
      Number(length ?? 0) > 0,
  };
}

/** Values by lower-case names, those of one name joined. Undefined for a malformed line, or a repeated field of ONCE. */
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
