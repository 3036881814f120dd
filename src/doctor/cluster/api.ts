import { Agent, type IncomingMessage, request } from "node:http";
import { messageOf } from "../../errors";
import { boundText } from "../../logging/escape";
import { list, numberOrNone, text, textOrNone, tree } from "../objects";

/** One list, of all namespaces. */
export interface ListRequest {
  /** `/apis/storage.k8s.io/v1/csinodes`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Rows of the table that kubectl shows, with the objects' metadata, in place of whole objects. */
  readonly asTable?: boolean;
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
/** Pages under way at once: more would only make the API server's queue longer, and our memory larger. */
const AT_ONCE = 2;
/** Enough for a large page of a busy server; and for somebody who is asked to log in. */
const PAGE_TIMEOUT_MS = 120_000;
/** How often a server may say that it is too busy, or that a list must begin anew. */
const TRIES = 5;
const MAX_WAIT_MS = 10_000;
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io, application/json";

/** Makes a client for the API server behind the unix socket of `kubectl proxy`. */
export function createListApi(socketPath: string, signal: AbortSignal): ListApi {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

  const get = (path: string, asTable: boolean) =>
    new Promise<Answer>((resolve, reject) => {
      const headers = { host: "localhost", accept: asTable ? TABLE : "application/json" };
      const limit = AbortSignal.any([signal, AbortSignal.timeout(PAGE_TIMEOUT_MS)]);
      request({ socketPath, path, agent, headers, signal: limit }, (response) => {
        readAnswer(response).then(resolve, reject);
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
    list: async ({ path, query = {}, asTable = false }, onPage) => {
      let next: string | undefined;
      try {
        do {
          const words = new URLSearchParams({ ...query, limit: String(PAGE_ITEMS) });
          if (asTable) words.set("includeObject", "Metadata");
          if (next !== undefined) words.set("continue", next);
          const answer = await getPatiently(`${path}?${words}`, asTable);
          const { metadata, items, rows } = tree(answer.body);
          next = textOrNone(tree(metadata).continue);
          // A list that took too long goes on from where it was, if not from the same moment.
          if (answer.code === 410 && next !== undefined) continue;
          if (answer.code !== 200) return failureOf(answer);
          onPage({ items: list(asTable ? rows : items), dateMs: answer.dateMs });
        } while (next !== undefined);
        return undefined;
      } catch (error) {
        return { isForbidden: false, message: boundText(messageOf(error)) };
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

interface Answer {
  readonly code: number;
  /** What its JSON says, or its text where it is none. */
  readonly body: unknown;
  readonly dateMs: number;
  /** The server is too busy, and says when to come again. */
  readonly retryAfterMs: number | undefined;
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const { statusCode = 0, headers } = response;
  const raw = Buffer.concat(chunks).toString("utf8");
  const seconds = Number(headers["retry-after"]);
  const isBusy = statusCode === 429 || statusCode === 503;
  return {
    code: statusCode,
    body: /\bjson\b/.test(headers["content-type"] ?? "") ? JSON.parse(raw) : raw,
    dateMs: Date.parse(headers.date ?? "") || Date.now(),
    retryAfterMs: isBusy && seconds >= 0 ? seconds * 1000 : undefined,
  };
}

function failureOf({ code, body }: Answer): ListFailure {
  const { message, code: told } = tree(body);
  const said = typeof body === "string" ? body.trim() : text(message);
  return {
    isForbidden: (numberOrNone(told) ?? code) === 403,
    message: boundText(said === "" ? `HTTP status ${code}` : said),
  };
}
