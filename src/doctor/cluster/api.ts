import { Agent, type IncomingMessage, request } from "node:http";
import { messageOf } from "../../base/errors";
import { boundText } from "../../logging/escape";
import { list, numberOrNone, text, textOrNone, tree } from "../rules/objects";

/** One list, of all namespaces. */
export interface ListRequest {
  /** `/apis/storage.k8s.io/v1/csinodes`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Rows of the table that kubectl shows, with the objects' metadata, in place of whole objects. */
  readonly asTable?: boolean;
  /** How many bytes it may have in all. Default 512 MiB. */
  readonly maxBytes?: number;
}

/** Why a list could not be read to its end. */
export interface ListFailure {
  readonly isForbidden: boolean;
  readonly message: string;
}

/** One page of a list; what holds on to its items holds on to all of them. */
export interface ListPage {
  readonly items: readonly unknown[];
  /** The API server's time. */
  readonly dateMs: number;
}

/** The lists of an API server. */
export interface ListApi extends Disposable {
  /** Hands over page by page. Never rejects: resolves with what went wrong, undefined where nothing did. */
  list(request: ListRequest, onPage: (page: ListPage) => void): Promise<ListFailure | undefined>;
}

/** Half of what kubectl asks for: a page is parsed as a whole, and each is garbage afterwards. */
const PAGE_ITEMS = 250;
const MEBIBYTE = 2 ** 20;
/** A page that is larger is asked for again with a fifth of its objects: one object has 1.5 MiB at most. */
const MAX_PAGE_BYTES = 8 * MEBIBYTE;
const MAX_LIST_BYTES = 512 * MEBIBYTE;
/** Of all lists together: twice what 15,000 nodes with five drivers each have. */
const MAX_BYTES = 1024 * MEBIBYTE;
/** A page counts for no less, so that a list of empty pages ends, too. */
const LEAST_PAGE_BYTES = MEBIBYTE / 16;
/** Pages under way at once: more would only make the API server's queue longer, and our memory larger. */
const AT_ONCE = 2;
/** Enough for a large page of a busy server, and for a user to log in. */
const PAGE_TIMEOUT_MS = 120_000;
/** How often a server may say that it is too busy, or that a list must begin anew. */
const TRIES = 5;
const MAX_WAIT_MS = 10_000;
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io, application/json";

/** Makes a client for the API server behind the unix socket of `kubectl proxy`; `scale` multiplies its limits of bytes. */
export function createListApi(socketPath: string, scale = 1): ListApi {
  let spent = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

  const get = (path: string, asTable: boolean) =>
    new Promise<Answer>((resolve, reject) => {
      const headers = { host: "localhost", accept: asTable ? TABLE : "application/json" };
      const signal = AbortSignal.timeout(PAGE_TIMEOUT_MS);
      request({ socketPath, path, agent, headers, signal }, (response) => {
        readAnswer(response, MAX_PAGE_BYTES * scale).then(resolve, reject);
      })
        .once("error", reject)
        .end();
    });

  const getPatiently = async (path: string, asTable: boolean): Promise<Answer> => {
    for (let tried = 1; ; tried++) {
      const answer = await get(path, asTable);
      const { retryAfterMs } = answer;
      if (retryAfterMs === undefined || tried === TRIES) return answer;
      await new Promise((resolve) => setTimeout(resolve, Math.min(retryAfterMs, MAX_WAIT_MS)));
    }
  };

  return {
    list: async ({ path, query = {}, asTable = false, maxBytes = MAX_LIST_BYTES }, onPage) => {
      let next: string | undefined;
      let limit = PAGE_ITEMS;
      let ownSpent = 0;
      try {
        for (;;) {
          const words = new URLSearchParams({ ...query, limit: String(limit) });
          if (asTable) words.set("includeObject", "Metadata");
          if (next !== undefined) words.set("continue", next);
          const answer = await getPatiently(`${path}?${words}`, asTable);
          ownSpent += Math.max(answer.bytes, LEAST_PAGE_BYTES * scale);
          spent += Math.max(answer.bytes, LEAST_PAGE_BYTES * scale);
          if (ownSpent > maxBytes * scale) return tooMuch("it has", maxBytes);
          if (spent > MAX_BYTES * scale) return tooMuch("the lists together have", MAX_BYTES);
          if (answer.isCut) {
            if (limit === 1) return tooMuch("an object has", MAX_PAGE_BYTES);
            limit = Math.ceil(limit / 5);
            continue;
          }
          const { metadata, items, rows } = tree(answer.body);
          next = textOrNone(tree(metadata).continue);
          // A list that took too long goes on from where it was, if not from the same moment.
          if (answer.code === 410 && next !== undefined) continue;
          if (answer.code !== 200) return failureOf(answer);
          onPage({ items: list(asTable ? rows : items), dateMs: answer.dateMs });
          if (next === undefined) return undefined;
        }
      } catch (error) {
        return { isForbidden: false, message: boundText(messageOf(error)) };
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

interface Answer {
  readonly code: number;
  /** The parsed JSON, or the text if it is not JSON. */
  readonly body: unknown;
  readonly bytes: number;
  /** It was longer than a page may be, and was not read to its end. */
  readonly isCut: boolean;
  readonly dateMs: number;
  /** The server is too busy, and says when to come again. */
  readonly retryAfterMs: number | undefined;
}

async function readAnswer(response: IncomingMessage, maxBytes: number): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    // Leaving the loop destroys the response, and its connection.
    if (bytes > maxBytes) break;
    chunks.push(chunk);
  }
  const isCut = bytes > maxBytes;
  const { statusCode = 0, headers } = response;
  const raw = Buffer.concat(chunks).toString("utf8");
  const seconds = Number(headers["retry-after"]);
  const isBusy = statusCode === 429 || statusCode === 503;
  return {
    code: statusCode,
    body: !isCut && /\bjson\b/.test(headers["content-type"] ?? "") ? JSON.parse(raw) : raw,
    bytes,
    isCut,
    dateMs: Date.parse(headers.date ?? "") || Date.now(),
    retryAfterMs: isBusy && seconds >= 0 ? seconds * 1000 : undefined,
  };
}

function tooMuch(what: string, maxBytes: number): ListFailure {
  return { isForbidden: false, message: `not read to its end: ${what} more than ${maxBytes / MEBIBYTE} MiB` };
}

function failureOf({ code, body }: Answer): ListFailure {
  const { message, code: told } = tree(body);
  const said = typeof body === "string" ? body.trim() : text(message);
  return {
    isForbidden: (numberOrNone(told) ?? code) === 403,
    message: boundText(said === "" ? `HTTP status ${code}` : said),
  };
}
