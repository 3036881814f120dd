import { type HttpRequest, mayBeRequest, parseRequestHead } from "../../../src/diagnostics/http/request-head";

const parse = (...lines: readonly string[]) => parseRequestHead(lines.join("\r\n"));

const withFields = (...fields: readonly string[]) => parse("GET /readyz HTTP/1.1", "Host: x", ...fields);

test("a probe of kubelet's", () => {
  const fields = ["User-Agent: kube-probe/1.36", "Accept: */*", "Connection: close"];
  const head = parse("GET /readyz?verbose&exclude=a%20b HTTP/1.1", "Host: 10.0.0.1:9809", ...fields);
  const query = new URLSearchParams("verbose=&exclude=a b");
  expect(head).toEqual({ method: "GET", path: "/readyz", query, accept: "*/*", isLast: true });
});

test.each<[name: string, HttpRequest | undefined, accept: string]>([
  ["one", withFields("accept: text/plain"), "text/plain"],
  ["several lines of one name", withFields("accept: a/b", "ACCEPT: c/d"), "a/b, c/d"],
  ["spaces and tabs around", withFields("accept: \t a/b;q=1 c \t "), "a/b;q=1 c"],
  ["none", withFields(), ""],
  ["a name of one character before it", withFields("a: b", "accept: c/d"), "c/d"],
  ["bytes beyond ASCII", withFields("accept: \xe4\xff"), "\xe4\xff"],
])("fields: %s", (_what, head, accept) => {
  expect(head?.accept).toBe(accept);
});

test.each([
  ["http://node:9809/healthz?verbose", "/healthz", "verbose="],
  ["HTTPS://[::1]:9809/", "/", ""],
  ["http://node", "/", ""],
  ["http://node?a=b", "/", "a=b"],
  ["/http://node/x", "/http://node/x", ""],
  ["//node/x", "//node/x", ""],
])("the path of %s", (target, path, query) => {
  const head = parse(`GET ${target} HTTP/1.1`, "host: x");
  expect([head?.path, `${head?.query}`]).toEqual([path, query]);
});

test.each<[what: string, isLast: boolean, head: HttpRequest | undefined]>([
  ["goes on by itself", false, withFields()],
  ["is kept", false, withFields("connection: keep-alive")],
  ["is closed by the client", true, withFields("connection: close")],
  ["is closed by the client, among others", true, withFields("connection: upgrade,\tCLOSE")],
  ["is not closed by what looks like it", false, withFields("connection: close-not, x close")],
  ["has no body", false, withFields("content-length: 0")],
  ["has a body", true, withFields("content-length: 1")],
  ["has a body in chunks", true, withFields("transfer-encoding: chunked")],
  ["is of HTTP/1.0", true, parse("GET / HTTP/1.0")],
  ["is of HTTP/1.0 and wants more", true, parse("GET / HTTP/1.0", "connection: keep-alive")],
])("a connection that %s: last is %s", (_what, isLast, head) => {
  expect(head?.isLast).toBe(isLast);
});

test.each<[what: string, lines: readonly string[]]>([
  ["nothing", [""]],
  ["no version", ["GET /"]],
  ["another version", ["GET / HTTP/1.2", "host: x"]],
  ["two spaces", ["GET  / HTTP/1.1", "host: x"]],
  ["a space in the path", ["GET /a b HTTP/1.1", "host: x"]],
  ["no host", ["GET / HTTP/1.1"]],
  ["two hosts", ["GET / HTTP/1.1", "host: x", "Host: x"]],
  ["a field without a name", ["GET / HTTP/1.1", "host: x", ": x"]],
  ["a field without a colon", ["GET / HTTP/1.1", "host: x", "field"]],
  ["a space before the colon", ["GET / HTTP/1.1", "host: x", "field : x"]],
  ["a folded line", ["GET / HTTP/1.1", "host: x", "field: x", " more"]],
  ["a bare line feed", ["GET / HTTP/1.1", "host: x\nfield: y"]],
  ["a bare carriage return", ["GET / HTTP/1.1", "host: x\ry"]],
  ["NUL in a value", ["GET / HTTP/1.1", "host: x\x00"]],
  ["two lengths", ["POST / HTTP/1.1", "host: x", "content-length: 1", "content-length: 1"]],
  ["a length and chunks", ["POST / HTTP/1.1", "host: x", "content-length: 1", "transfer-encoding: chunked"]],
  ["two encodings", ["POST / HTTP/1.1", "host: x", "transfer-encoding: x", "transfer-encoding: chunked"]],
  ["a length that is none", ["POST / HTTP/1.1", "host: x", "content-length: +1"]],
  ["a length with more behind it", ["POST / HTTP/1.1", "host: x", "content-length: 1x"]],
])("refused: %s", (_what, lines) => {
  expect(parse(...lines)).toBeUndefined();
});

test.each<[boolean, string]>([
  [true, "G"],
  [true, "GET "],
  [true, "GET /\x00\xff"],
  [true, "M-SEARCH * HTTP/1.1"],
  [true, "PRI * HTTP/2.0\r\n"],
  [false, " GET"],
  [false, "get /"],
  [false, "GET\r\n"],
  [false, "\x16\x03\x01\x02\x00"],
  [false, "A".repeat(24)],
])("%s: a request may begin with %j", (may, text) => {
  expect(mayBeRequest(Buffer.from(text, "latin1"))).toBe(may);
});

test("a line of spaces is read in linear time", () => {
  expect(withFields(`a:${" ".repeat(1_000_000)}\x01`)).toBeUndefined();
  expect(withFields(`a:${" \t".repeat(500_000)}`)).toBeDefined();
});
