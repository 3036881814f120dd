import type { IncomingMessage } from "node:http";
import { Agent, type RequestOptions, request } from "node:https";
import { messageOf } from "../../errors";
import { type ApiAccess, readSecret } from "./access";
import { type ApiAnswer, type ApiFailure, failureOf } from "./failure";
import { readJsonLines } from "./json-lines";
import { startTimeLimit } from "./time-limit";

/** One call. */
export interface ApiCall {
  readonly method: "GET" | "PATCH" | "POST";
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  /** Default `application/json`. */
  readonly contentType?: string;
}

/** The API server, for the few calls that a node's readiness needs. */
export interface ApiClient {
  /** Never rejects: a failure is an answer too. Ended by `signal`, and after 10 s. */
  call(call: ApiCall, signal: AbortSignal): Promise<ApiAnswer>;
  /**
   * Hands over each line of an answer that goes on, as a watch has it, until the server ends it, `signal` does, or
   * nothing came for `idleMs`. Never rejects: resolves with what went wrong, undefined where nothing did.
   */
  follow(
    path: string,
    options: { readonly signal: AbortSignal; readonly idleMs: number; readonly onOpen: () => void },
    onObject: (object: unknown) => void,
  ): Promise<ApiFailure | undefined>;
  /** Calls made since the start, watches among them. */
  readonly calls: number;
  close(): void;
}

const CALL_TIMEOUT_MS = 10_000;
/** A connection that is not used for so long is closed: steady state needs none but the watch's. */
const UNUSED_MS = 10_000;
/** Nothing that we ask for is nearly as large: etcd takes 1.5 MB. */
const MAX_ANSWER_BYTES = 8 << 20;
/** The kernel finds out that the other side is gone. */
const KEEP_ALIVE_AFTER_MS = 30_000;

/**
 * Makes a client. TLS is verified, whatever NODE_TLS_REJECT_UNAUTHORIZED says; no redirect is followed and no proxy
 * asked, so that the token goes to the API server only. Files are read anew for each call, as they rotate.
 */
export function createApiClient(access: ApiAccess): ApiClient {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 1, timeout: UNUSED_MS });
  const { protocol, hostname, port, pathname } = new URL(access.server);
  let calls = 0;

  const optionsFor = async ({ method, path, body, contentType }: ApiCall): Promise<RequestOptions> => {
    const [ca, token, cert, key] = await Promise.all(
      [access.authority, access.token, access.certificate, access.key].map(readSecret),
    );
    return {
      agent,
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: port || 443,
      path: `${pathname === "/" ? "" : pathname}${path}`,
      method,
      headers: {
        accept: "application/json",
        "user-agent": "registrar",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": contentType ?? "application/json" }),
      },
      rejectUnauthorized: true,
      minVersion: "TLSv1.2",
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
      ...(access.serverName === undefined ? {} : { servername: access.serverName }),
    };
  };

  /** Resolves with the head of the answer. */
  const send = (options: RequestOptions, body: unknown, signal: AbortSignal) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      calls += 1;
      request({ ...options, signal }, resolve)
        .once("error", reject)
        .end(body === undefined ? undefined : JSON.stringify(body));
    });

  const call: ApiClient["call"] = async (wanted, signal) => {
    using limit = startTimeLimit(signal, CALL_TIMEOUT_MS, `no answer in ${CALL_TIMEOUT_MS / 1000} s`);
    const ready = await attempt(() => optionsFor(wanted), "no-credentials");
    if ("failure" in ready) return { kind: "failed", failure: ready.failure };
    const answered = await attempt(
      async () => {
        const response = await send(ready.value, wanted.body, limit.signal);
        return { response, body: await readAll(response) };
      },
      "unreachable",
      limit.signal,
    );
    if ("failure" in answered) return { kind: "failed", failure: answered.failure };
    return answerOf(answered.value.response, answered.value.body);
  };

  const follow: ApiClient["follow"] = async (path, { signal, idleMs, onOpen }, onObject) => {
    const ready = await attempt(() => optionsFor({ method: "GET", path }), "no-credentials");
    if ("failure" in ready) return ready.failure;
    using limit = startTimeLimit(signal, idleMs, `nothing came in ${idleMs / 1000} s`);
    const followed = await attempt(
      async () => {
        const response = await send(ready.value, undefined, limit.signal);
        response.socket.setKeepAlive(true, KEEP_ALIVE_AFTER_MS);
        if (response.statusCode !== 200) {
          const answer = answerOf(response, await readAll(response));
          return answer.kind === "failed" ? answer.failure : undefined;
        }
        onOpen();
        for await (const object of readJsonLines(response, MAX_ANSWER_BYTES)) {
          limit.refresh();
          onObject(object);
        }
        return undefined;
      },
      "unreachable",
      limit.signal,
    );
    if (signal.aborted) return undefined;
    return "failure" in followed ? followed.failure : followed.value;
  };

  return {
    call,
    follow,
    get calls() {
      return calls;
    },
    close: () => agent.destroy(),
  };
}

type Attempt<Value> = { readonly value: Value } | { readonly failure: ApiFailure };

async function attempt<Value>(
  work: () => Promise<Value>,
  kind: "unreachable" | "no-credentials",
  signal?: AbortSignal,
): Promise<Attempt<Value>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { failure: { kind, message: messageOf(signal?.aborted ? signal.reason : error) } };
  }
}

function answerOf(response: IncomingMessage, body: string): ApiAnswer {
  const code = response.statusCode ?? 0;
  const isJson = /\bjson\b/.test(response.headers["content-type"] ?? "");
  const object = isJson ? parseJson(body) : body;
  if (code >= 200 && code < 300 && isJson && object !== undefined) return { kind: "answered", object };
  return { kind: "failed", failure: failureOf(code, object, response.headers["retry-after"]) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
  }
  return Buffer.concat(chunks).toString("utf8");
}
