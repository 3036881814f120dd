import { type IncomingMessage, request as requestInClear } from "node:http";
import { type RequestOptions, request as requestOverTls } from "node:https";

/** Sends a request over TLS, or in clear text over the unix socket `socketPath`. Resolves with the head of the answer. */
export function sendRequest(options: RequestOptions, signal: AbortSignal, body?: unknown) {
  const request = options.socketPath === undefined ? requestOverTls : requestInClear;
  return new Promise<IncomingMessage>((resolve, reject) => {
    request({ ...options, signal }, resolve)
      .once("upgrade", (_response, socket) => {
        socket.destroy();
        reject(new Error("HTTP status 101: the server switched to another protocol"));
      })
      .once("error", reject)
      .end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Reads an answer to its end. Undefined if it has more than `maxBytes`: then the connection is destroyed. */
export async function readBody(response: AsyncIterable<Buffer>, maxBytes: number) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The longest answer with one object, and the longest line of a watch: etcd limits objects to 1.5 MB. */
export const MAX_JSON_BYTES = 2 << 20;
/** The most arrays and objects in one text: an empty one takes 2 bytes of text and 70 of memory. */
const MAX_COLLECTIONS = 50_000;
const [QUOTE, BACKSLASH, BRACKET, BRACE] = Buffer.from('"\\[{');

/** Parses JSON. Throws for invalid JSON, and for more than 50,000 arrays and objects. */
export function parseJson(bytes: Buffer): unknown {
  let collections = 0;
  let isInText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) isInText = !isInText;
    else if (byte === BACKSLASH)
      at++; // Outside of texts it is no JSON.
    else if (!isInText && (byte === BRACKET || byte === BRACE)) collections++;
    if (collections > MAX_COLLECTIONS)
      throw new Error(`the answer has more than ${MAX_COLLECTIONS} arrays and objects`);
  }
  return JSON.parse(bytes.toString("utf8"));
}

/** Reads JSON values, one per line, as they arrive. Throws for a line that is invalid or longer than MAX_JSON_BYTES. */
export async function* readJsonLines(
  source: AsyncIterable<Buffer>,
): AsyncGenerator<unknown, void, undefined> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      const line = Buffer.concat([...pieces, chunk.subarray(start, end)]);
      pieces = [];
      bytes = 0;
      start = end + 1;
      if (line.some((byte) => byte > 0x20)) yield parseJson(line);
    }
    pieces.push(chunk.subarray(start));
    bytes += chunk.length - start;
    if (bytes > MAX_JSON_BYTES) throw new Error(`a line of the answer has more than ${MAX_JSON_BYTES} bytes`);
  }
}
