import type { IncomingMessage } from "node:http";
import { Agent, type RequestOptions, request } from "node:https";
import { messageOf } from "../../base/errors";
import { boundText } from "../../logging/escape";
import { type ApiAccess, readSecret } from "./access";
import { type ApiAnswer, type ApiFailure, failureOf } from "./failure";
import { parseJson, readAll, readJsonLines } from "./json";
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
/** A connection that is not used for so long is closed: steady state needs only the watch's. */
const UNUSED_MS = 10_000;
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
      path: `${pathname.replace(/\/+$/, "")}${path}`,
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
      ...(access.serverName ? { servername: access.serverName } : {}),
    };
  };

  /** Resolves with the head of the answer. Rejects when the request ends without one, or the server switches protocols. */
  const send = (options: RequestOptions, body: unknown, signal: AbortSignal) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      calls += 1;
      request({ ...options, signal }, resolve)
        .once("upgrade", (_response, socket) => {
          socket.destroy();
          reject(new Error("HTTP status 101: the server speaks another protocol than HTTP here"));
        })
        .once("error", reject)
        .once("close", () => reject(new Error("the connection was closed before an answer")))
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
        // On a connection of its own: the agent's are for calls, and it closes a silent one.
        const response = await send({ ...ready.value, agent: false }, undefined, limit.signal);
        response.socket.setKeepAlive(true, KEEP_ALIVE_AFTER_MS);
        if (response.statusCode !== 200) {
          const answer = answerOf(response, await readAll(response));
          return answer.kind === "failed" ? answer.failure : undefined;
        }
        onOpen();
        for await (const object of readJsonLines(response)) {
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

function answerOf(response: IncomingMessage, body: Buffer): ApiAnswer {
  const { statusCode: code = 0, headers } = response;
  const type = headers["content-type"] ?? "no content type";
  const isGood = code >= 200 && code < 300;
  const unexpected = (why: string): ApiAnswer => ({
    kind: "failed",
    failure: { kind: "unexpected", message: boundText(`HTTP status ${code}: ${why}`) },
  });
  let object: unknown;
  if (/\bjson\b/.test(type)) {
    try {
      object = parseJson(body);
    } catch (error) {
      if (isGood) return unexpected(messageOf(error));
    }
  } else if (isGood) return unexpected(`the answer is not JSON but ${type}`);
  if (isGood) return { kind: "answered", object };
  return { kind: "failed", failure: failureOf(code, object, headers["retry-after"]) };
}
