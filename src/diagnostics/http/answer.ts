import { STATUS_CODES } from "node:http";
import type { Readable } from "node:stream";

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** After a stream the connection ends. */
  readonly body: string | Readable;
}

export function textAnswer(status: number, body: string, headers: HttpAnswer["headers"] = {}): HttpAnswer {
  return { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers }, body };
}

/** The head of an answer in HTTP/1.1, with the empty line behind it. After the last answer the connection ends. */
export function answerHead({ status, headers, body }: HttpAnswer, isLast: boolean): string {
  const all = {
    ...headers,
    "x-content-type-options": "nosniff",
    date: new Date().toUTCString(),
    ...(typeof body === "string" && { "content-length": Buffer.byteLength(body) }),
    connection: isLast ? "close" : "keep-alive",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
}
