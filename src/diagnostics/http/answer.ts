import type { Readable } from "node:stream";

const REASONS = {
  200: "OK",
  400: "Bad Request",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  500: "Internal Server Error",
  503: "Service Unavailable",
} as const;

export interface HttpAnswer {
  readonly status: keyof typeof REASONS;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** After a stream the connection ends. */
  readonly body: string | Readable;
}

export function textAnswer(
  status: HttpAnswer["status"],
  body: string,
  headers: HttpAnswer["headers"] = {},
): HttpAnswer {
  return { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers }, body };
}

/** The head of an answer in HTTP/1.1, with the empty line behind it. After the last answer the connection ends. */
export function answerHead(
  { status, headers, body }: HttpAnswer,
  { isLast }: { readonly isLast: boolean },
): string {
  const all = {
    ...headers,
    "x-content-type-options": "nosniff",
    date: new Date().toUTCString(),
    ...(typeof body === "string" && { "content-length": Buffer.byteLength(body) }),
    connection: isLast ? "close" : "keep-alive",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${REASONS[status]}\r\n${lines.join("")}\r\n`;
}
