import { type IncomingMessage, request as requestInClear } from "node:http";
import { type RequestOptions, request as requestOverTls } from "node:https";

/**
 * Sends a request: over TLS, or with `socketPath` in clear text over that unix socket. Resolves with the head of the
 * answer. Rejects if the request ends without one, or the server switches protocols.
 */
export function sendRequest(
  options: RequestOptions,
  signal: AbortSignal,
  body?: unknown,
): Promise<IncomingMessage> {
  const request = options.socketPath === undefined ? requestOverTls : requestInClear;
  return new Promise((resolve, reject) => {
    request({ ...options, signal }, resolve)
      .once("upgrade", (_response, socket) => {
        socket.destroy();
        reject(new Error("HTTP status 101: the server speaks another protocol than HTTP here"));
      })
      .once("error", reject)
      .once("close", () => reject(new Error("the connection was closed before an answer")))
      .end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Reads an answer to its end. Undefined if it has more than `maxBytes`: then the connection is destroyed. */
export async function readBody(
  response: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
