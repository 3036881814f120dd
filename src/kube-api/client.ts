import type { IncomingMessage } from "node:http";
import { Agent, type RequestOptions } from "node:https";
import { attempt, messageOf } from "../base/errors";
import { followSignal, unlessAborted } from "../base/pause";
import { boundText } from "../logging/escape";
import { type ApiAccess, readCredential } from "./access";
import { type ApiFailure, failureOf, type Outcome } from "./failure";
import { MAX_JSON_BYTES, parseJson, readBody, readJsonLines, sendRequest } from "./request";

export interface ApiCall {
  readonly method: "GET" | "PATCH" | "POST";
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  /** Default `application/json`. */
  readonly contentType?: string;
}

interface FollowOptions {
  readonly signal: AbortSignal;
  /** The longest time without a line. */
  readonly idleMs: number;
  readonly onOpen: () => void;
  readonly onObject: (object: unknown) => void;
}

export type ApiClient = ReturnType<typeof createApiClient>;

const CALL_TIMEOUT_MS = 10_000;
/** An idle connection is closed after this time: in steady state only the watch needs one. */
const UNUSED_MS = 10_000;
/** TCP keepalive: the kernel finds out that the peer is gone. */
const KEEP_ALIVE_AFTER_MS = 30_000;

/**
 * Makes a client. It verifies TLS, whatever NODE_TLS_REJECT_UNAUTHORIZED says, follows no redirect and uses no proxy, so
 * that only the API server gets the token. It reads the files of `access` for each request, because they rotate.
 */
export function createApiClient(access: ApiAccess) {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 1, timeout: UNUSED_MS });
  const { protocol, hostname, port, pathname } = new URL(access.server);
  let calls = 0;

  const optionsFor = ({ method, path, body, contentType }: ApiCall, signal: AbortSignal) =>
    outcomeOf<RequestOptions>("no-credentials", signal, async () => {
      // One after the other: where their file system hangs, one thread waits, and others are left.
      const ca = await readCredential(access.authority);
      const token = await readCredential(access.token);
      const cert = await readCredential(access.certificate);
      const key = await readCredential(access.key);
      calls += 1;
      const value = {
        agent,
        protocol,
        hostname: hostname.replace(/^\[|\]$/g, ""),
        port: port || 443,
        path: `${pathname.replace(/\/+$/, "")}${path}`,
        method,
        headers: {
          accept: "application/json",
          "user-agent": "registrar",
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { "content-type": contentType ?? "application/json" }),
        },
        rejectUnauthorized: true,
        minVersion: "TLSv1.2" as const,
        ...(ca !== undefined && { ca }),
        ...(cert !== undefined && key !== undefined && { cert, key }),
        ...(access.serverName && { servername: access.serverName }),
      };
      return { kind: "done", value };
    });

  return {
    /** Sends a request. Never rejects; ends with `signal`, or after 10 s. */
    call: async (wanted: ApiCall, signal: AbortSignal): Promise<Outcome<unknown>> => {
      using limit = startTimeLimit(signal, CALL_TIMEOUT_MS, `no answer in ${CALL_TIMEOUT_MS / 1000} s`);
      const options = await optionsFor(wanted, limit.signal);
      if (options.kind === "failed") return options;
      const ask = async () => readAnswer(await sendRequest(options.value, limit.signal, wanted.body));
      return await outcomeOf("unreachable", limit.signal, ask);
    },
    /** Passes on each JSON line of an answer, as in a watch. Never rejects: resolves with the failure that ended it. */
    follow: async (path: string, { signal, idleMs, onOpen, onObject }: FollowOptions) => {
      using limit = startTimeLimit(signal, idleMs, `no data in ${idleMs / 1000} s`);
      const options = await optionsFor({ method: "GET", path }, limit.signal);
      if (options.kind === "failed") return signal.aborted ? undefined : options.failure;
      const read = async (): Promise<Outcome<unknown>> => {
        // On a connection of its own: the agent closes idle ones.
        const response = await sendRequest({ ...options.value, agent: false }, limit.signal);
        response.socket.setKeepAlive(true, KEEP_ALIVE_AFTER_MS);
        if (response.statusCode !== 200) return readAnswer(response);
        onOpen();
        for await (const object of readJsonLines(response)) {
          limit.refresh();
          onObject(object);
        }
        return { kind: "done", value: undefined };
      };
      const followed = await outcomeOf("unreachable", limit.signal, read);
      return followed.kind === "failed" && !signal.aborted ? followed.failure : undefined;
    },
    /** The number of requests since the start, watches included. */
    get calls() {
      return calls;
    },
    close: () => agent.destroy(),
  };
}

/** The outcome of `work`; a failure where it rejects, and as soon as `signal` is aborted. */
async function outcomeOf<Value>(
  kind: ApiFailure["kind"],
  signal: AbortSignal,
  work: () => Promise<Outcome<Value>>,
): Promise<Outcome<Value>> {
  const failed = (error?: unknown) => failedWith(kind, messageOf(signal.aborted ? signal.reason : error));
  if (signal.aborted) return failed();
  return unlessAborted(work(), signal).then((outcome) => outcome ?? failed(), failed);
}

const failedWith = (kind: ApiFailure["kind"], message: string) =>
  ({ kind: "failed", failure: { kind, message } }) as const;

async function readAnswer(response: IncomingMessage): Promise<Outcome<unknown>> {
  const body = await readBody(response, MAX_JSON_BYTES);
  const { statusCode: code = 0, headers } = response;
  const type = headers["content-type"] ?? "no content type";
  const isJson = /\bjson\b/.test(type);
  const unexpected = (why: string) => failedWith("unexpected", boundText(`HTTP status ${code}: ${why}`));
  if (body === undefined) return unexpected(`the answer has more than ${MAX_JSON_BYTES} bytes`);
  if (code < 200 || code >= 300) {
    const object = isJson ? attempt(() => parseJson(body)) : undefined;
    return { kind: "failed", failure: failureOf(code, object, headers["retry-after"]) };
  }
  if (!isJson) return unexpected(`the answer is not JSON but ${type}`);
  try {
    return { kind: "done", value: parseJson(body) };
  } catch (error) {
    return unexpected(messageOf(error));
  }
}

/** A signal that ends with `parent` or after `limitMs`. */
function startTimeLimit(parent: AbortSignal, limitMs: number, reason: string) {
  const limit = followSignal(parent);
  const timer = setTimeout(() => limit.abort(new Error(reason)), limitMs);
  return {
    signal: limit.signal,
    refresh: () => void timer.refresh(),
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      limit[Symbol.dispose]();
    },
  };
}
