import { Agent, type IncomingMessage, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../../../base/errors";
import { list, numberOrNone, text, textOrNone, tree } from "../../../kube-api/objects";
import { boundText } from "../../../logging/escape";

export interface ListRequest {
  /** `/apis/storage.k8s.io/v1/csinodes`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Rows of the table that kubectl shows, with the objects' metadata, in place of whole objects. */
  readonly asTable?: boolean;
  /** Limit of the whole list in bytes. Default 512 MiB. */
  readonly maxBytes?: number;
}

/** Why a list could not be read to its end. */
export interface ListFailure {
  readonly isForbidden: boolean;
  /** The API server has no such resource. */
  readonly isAbsent?: boolean;
  readonly message: string;
}

/** A reference to one of the items keeps all of them in memory. */
export interface ListPage {
  readonly items: readonly unknown[];
  readonly dateMs: number;
}

export interface ListApi extends Disposable {
  /** Calls `onPage` with page after page. Never rejects. */
  list(request: ListRequest, onPage: (page: ListPage) => void): Promise<ListFailure | undefined>;
}

/** Half of kubectl's default: a page is parsed as a whole, and garbage afterwards. */
const PAGE_ITEMS = 250;
const MEBIBYTE = 2 ** 20;
/** A larger page is requested again with a fifth of its objects; one object has 1.5 MiB at most. */
const MAX_PAGE_BYTES = 8 * MEBIBYTE;
const MAX_LIST_BYTES = 512 * MEBIBYTE;
/** Of all lists together: twice what 15,000 nodes with five drivers each have. */
const MAX_BYTES = 1024 * MEBIBYTE;
/** A smaller page counts as this, so that an endless list of empty pages reaches the limit. */
const LEAST_PAGE_BYTES = MEBIBYTE / 16;
/** More requests at once would lengthen the API server's queue and enlarge our memory. */
const AT_ONCE = 2;
/** Time for a large page of a busy server, and for a user to log in. */
const PAGE_TIMEOUT_MS = 120_000;
/** How often a page is requested from a server that is too busy. */
const TRIES = 5;
const MAX_WAIT_MS = 10_000;
const JSON_TYPE = "application/json";
const TABLE_TYPE = `${JSON_TYPE};as=Table;v=v1;g=meta.k8s.io, ${JSON_TYPE}`;

/** Makes a client for the API server behind the unix socket of `kubectl proxy`; `scale` multiplies its limits of bytes. */
export function createListApi(socketPath: string, scale = 1): ListApi {
  const maxPageBytes = MAX_PAGE_BYTES * scale;
  let spent = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

  const get = (path: string, accept: string) =>
    new Promise<Answer>((resolve, reject) => {
      const headers = { host: "localhost", accept };
      const signal = AbortSignal.timeout(PAGE_TIMEOUT_MS);
      request({ socketPath, path, agent, headers, signal }, (response) => {
        readAnswer(response, maxPageBytes).then(resolve, reject);
      })
        .once("error", reject)
        .end();
    });

  const getPatiently = async (path: string, accept: string): Promise<Answer> => {
    for (let tried = 1; ; tried++) {
      const answer = await get(path, accept);
      const { retryAfterMs } = answer;
      if (retryAfterMs === undefined || tried === TRIES) return answer;
      await delay(Math.min(retryAfterMs, MAX_WAIT_MS));
    }
  };

  return {
    list: async ({ path, query = {}, asTable = false, maxBytes = MAX_LIST_BYTES }, onPage) => {
      let limit = PAGE_ITEMS;
      const words = new URLSearchParams({ ...query, limit: String(limit) });
      if (asTable) words.set("includeObject", "Metadata");
      let ownSpent = 0;
      try {
        for (;;) {
          const answer = await getPatiently(`${path}?${words}`, asTable ? TABLE_TYPE : JSON_TYPE);
          const bytes = Math.max(answer.bytes, LEAST_PAGE_BYTES * scale);
          ownSpent += bytes;
          spent += bytes;
          if (ownSpent > maxBytes * scale) return tooMuch("it has", maxBytes);
          if (spent > MAX_BYTES * scale) return tooMuch("the lists together have", MAX_BYTES);
          if (answer.bytes > maxPageBytes) {
            if (limit === 1) return tooMuch("an object has", MAX_PAGE_BYTES);
            limit = Math.ceil(limit / 5);
            words.set("limit", String(limit));
            continue;
          }
          const { metadata, items, rows } = tree(answer.body);
          const next = textOrNone(tree(metadata).continue);
          // 410 with a token: the snapshot of the list expired, the rest comes from a newer one.
          const isExpired = answer.code === 410 && next !== undefined;
          if (answer.code !== 200 && !isExpired) return failureOf(answer);
          if (!isExpired) onPage({ items: list(asTable ? rows : items), dateMs: answer.dateMs });
          if (next === undefined) return undefined;
          words.set("continue", next);
        }
      } catch (error) {
        return { isForbidden: false, message: boundText(messageOf(error)) };
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

type Answer = Awaited<ReturnType<typeof readAnswer>>;

async function readAnswer(response: IncomingMessage, maxBytes: number) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    // Leaving the loop destroys the response, and its connection.
    if (bytes > maxBytes) break;
    chunks.push(chunk);
  }
  const { statusCode: code = 0, headers } = response;
  const raw = Buffer.concat(chunks).toString("utf8");
  const isJson = /\bjson\b/.test(headers["content-type"] ?? "");
  const seconds = Number(headers["retry-after"]);
  const isBusy = code === 429 || code === 503;
  return {
    code,
    /** More than `maxBytes`: the rest was not read. */
    bytes,
    /** The parsed JSON, or the text. */
    body: isJson && bytes <= maxBytes ? (JSON.parse(raw) as unknown) : raw,
    dateMs: Date.parse(headers.date ?? "") || Date.now(),
    retryAfterMs: isBusy && seconds >= 0 ? seconds * 1000 : undefined,
  };
}

function tooMuch(what: string, maxBytes: number): ListFailure {
  return { isForbidden: false, message: `not read to its end: ${what} more than ${maxBytes / MEBIBYTE} MiB` };
}

function failureOf({ code, body }: Answer): ListFailure {
  const { message, code: ownCode } = tree(body);
  const words = typeof body === "string" ? body.trim() : text(message);
  const status = numberOrNone(ownCode) ?? code;
  return {
    isForbidden: status === 403,
    ...(status === 404 && { isAbsent: true }),
    message: boundText(words || `HTTP status ${code}`),
  };
}
