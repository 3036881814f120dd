import { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../../../../base/errors";
import { type ApiFailure, failureOf } from "../../../../kube-api/failure";
import { list, textOrNone, tree } from "../../../../kube-api/objects";
import { readBody, sendRequest } from "../../../../kube-api/request";
import { boundText } from "../../../../logging/escape";

export interface ListRequest {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Rows of the table that kubectl shows, with the objects' metadata, in place of whole objects. */
  readonly asTable?: boolean;
  /** Limit of the whole list in bytes. Default 512 MiB. */
  readonly maxBytes?: number | undefined;
}

/** Why a list could not be read to its end; `not-found`: the API server has no such resource. */
export type ListFailure = Pick<ApiFailure, "kind" | "message">;

type OnPage = (items: readonly unknown[], dateMs: number) => void;

export interface ListApi extends Disposable {
  /** Calls `onPage` with page after page; a reference to an item keeps its whole page in memory. Never rejects. */
  list(request: ListRequest, onPage: OnPage): Promise<ListFailure | undefined>;
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
const TRIES = 5;
const MAX_WAIT_MS = 10_000;
const JSON_TYPE = "application/json";
const TABLE_TYPE = `${JSON_TYPE};as=Table;v=v1;g=meta.k8s.io, ${JSON_TYPE}`;

/** Makes a client for the API server behind the unix socket of `kubectl proxy`; `scale` multiplies its limits of bytes. */
export function createListApi(socketPath: string, scale = 1): ListApi {
  const maxPageBytes = MAX_PAGE_BYTES * scale;
  let spent = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

  const getOnce = async (path: string, accept: string) => {
    const options = { socketPath, path, agent, headers: { host: "localhost", accept } };
    const response = await sendRequest(options, AbortSignal.timeout(PAGE_TIMEOUT_MS));
    const { statusCode: code = 0, headers } = response;
    const bytes = await readBody(response, maxPageBytes);
    const raw = bytes?.toString() ?? "";
    const isJson = bytes !== undefined && /\bjson\b/.test(headers["content-type"] ?? "");
    const body: unknown = isJson ? JSON.parse(raw) : { message: raw.trim() };
    const failure = failureOf(code, body, headers["retry-after"]);
    return {
      /** More than a page may have: the rest was not read. */
      bytes: bytes?.length ?? maxPageBytes + 1,
      body,
      // The API server answers in plain text where it does not have a resource.
      failure: code === 200 ? undefined : code === 404 ? { ...failure, kind: "not-found" as const } : failure,
      dateMs: Date.parse(headers.date ?? "") || Date.now(),
    };
  };

  const get = async (path: string, accept: string) => {
    for (let tried = 1; ; tried++) {
      const answer = await getOnce(path, accept);
      const { retryAfterMs } = answer.failure ?? {};
      if (retryAfterMs === undefined || tried === TRIES) return answer;
      await delay(Math.min(retryAfterMs, MAX_WAIT_MS * scale));
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
          const answer = await get(`${path}?${words}`, asTable ? TABLE_TYPE : JSON_TYPE);
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
          const isExpired = answer.failure?.kind === "expired" && next !== undefined;
          if (answer.failure !== undefined && !isExpired) return answer.failure;
          if (!isExpired) onPage(list(asTable ? rows : items), answer.dateMs);
          if (next === undefined) return undefined;
          words.set("continue", next);
        }
      } catch (error) {
        return { kind: "unreachable", message: boundText(messageOf(error)) };
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

function tooMuch(what: string, maxBytes: number): ListFailure {
  return { kind: "unexpected", message: `not read to its end: ${what} more than ${maxBytes / MEBIBYTE} MiB` };
}
