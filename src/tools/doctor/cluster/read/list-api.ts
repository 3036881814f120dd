import { Agent, type IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { attempt, messageOf } from "../../../../base/errors";
import { type ApiFailure, failureOf, mayPass, retryMs } from "../../../../kube-api/failure";
import { anyTree, numberOrNone, text, textOrNone, tree } from "../../../../kube-api/objects";
import { readBody, sendRequest } from "../../../../kube-api/request";
import { boundText } from "../../../../logging/escape";
import { PATIENCE, type Patience, waitFor } from "./patience";

export interface ListRequest {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Of the answer: `PodList`. Default: any list's. */
  readonly kind?: string;
}

/** Why a list could not be read to its end; `not-found`: the API server has no such resource. */
export type ListFailure = Pick<ApiFailure, "kind" | "message">;

/** `isFirst`: the list begins, or begins again. */
type OnPage = (items: readonly unknown[], dateMs: number, isFirst: boolean) => void;

export interface ListApi extends Disposable {
  /** Calls `onPage` with page after page; a reference to an item keeps its whole page in memory. Never rejects. */
  list(request: ListRequest, onPage: OnPage): Promise<ListFailure | undefined>;
}

/** Half of kubectl's default: a page is parsed as a whole, and garbage afterwards. */
const PAGE_ITEMS = 250;
const MEBIBYTE = 2 ** 20;
/** A larger page is requested again with a fifth of its objects; one object has 1.5 MiB at most. */
const MAX_PAGE_BYTES = 8 * MEBIBYTE;
/** Of all lists together: more than 15,000 nodes with five drivers each have. */
const MAX_BYTES = 1024 * MEBIBYTE;
/** A smaller page counts as this, so that an endless list of empty pages reaches the limit. */
const LEAST_PAGE_BYTES = MEBIBYTE / 2;
/** More requests at once would lengthen the API server's queue and enlarge our memory. */
const AT_ONCE = 2;
/** Of a page that may pass, and of a list that expired. */
const RETRIES = 4;
const RESTARTS = 2;
const MAX_WAIT_MS = 10_000;

interface ListApiSettings {
  /** Multiplies the limits of bytes. */
  readonly scale?: number;
  readonly wait?: (ms: number) => Promise<unknown>;
  readonly patience?: Patience;
  readonly isLoggingIn?: () => boolean;
  /** Why the proxy has ended; undefined while it runs. */
  readonly whyEnded?: () => string | undefined;
}

/** Makes a client for the API server behind the unix socket of `kubectl proxy`. */
export function createListApi(
  socketPath: string,
  {
    scale = 1,
    wait = delay,
    patience = PATIENCE,
    isLoggingIn = () => false,
    whyEnded = () => undefined,
  }: ListApiSettings = {},
): ListApi {
  const maxPageBytes = MAX_PAGE_BYTES * scale;
  let spent = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const inTurn = createTurns();
  const getOnce = createGet({ socketPath, agent, patience, isLoggingIn, whyEnded }, maxPageBytes);

  const get = async (path: string) => {
    for (let attempt = 0; ; attempt++) {
      const answer = await inTurn(() => getOnce(path));
      const { failure } = answer;
      const isLast = answer.isSilent || attempt === RETRIES;
      if (failure === undefined || !mayPass(failure) || isLast) return answer;
      await wait(Math.min(retryMs(failure, attempt), MAX_WAIT_MS));
    }
  };

  const readPages = async ({ path, query, kind }: ListRequest, onPage: OnPage) => {
    let limit = PAGE_ITEMS;
    const words = new URLSearchParams({ ...query, limit: String(limit) });
    for (let isFirst = true; ; ) {
      const answer = await get(`${path}?${words}`);
      spent += Math.max(answer.bytes, LEAST_PAGE_BYTES * scale);
      if (spent > MAX_BYTES * scale) return tooMuch("the pages of the lists together count as", MAX_BYTES);
      if (answer.bytes > maxPageBytes) {
        if (limit === 1) return tooMuch("an object has", MAX_PAGE_BYTES);
        limit = Math.ceil(limit / 5);
        words.set("limit", String(limit));
        continue;
      }
      const page = attempt(() => pageOf(answer.body, kind));
      const next = page?.next;
      // 410 with a token: the snapshot of the list expired, the rest comes from a newer one.
      const isExpired = answer.failure?.kind === "expired" && next !== undefined;
      if (answer.failure !== undefined && !isExpired) return answer.failure;
      if (!isExpired && page?.items === undefined) return NO_LIST;
      if (!isExpired) onPage(page?.items ?? [], answer.dateMs, isFirst);
      if (next === undefined) return page?.remain ? cutAt(page.remain) : undefined;
      if (!isExpired && next === words.get("continue")) return ENDLESS;
      isFirst &&= isExpired;
      words.set("continue", next);
    }
  };

  return {
    list: async (request, onPage) => {
      for (let restart = 0; ; restart++) {
        const failure = await readPages(request, onPage);
        // 410 without a token: only a new list helps.
        if (failure?.kind !== "expired" || restart === RESTARTS) return failure;
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** Items of a list alone, because a login page answers with 200, too. Throws for a field of another type. */
function pageOf(body: unknown, wanted: string | undefined) {
  const { kind, metadata, items } = tree(body);
  const isMeant = wanted === undefined ? text(kind).endsWith("List") : kind === wanted;
  const all: readonly unknown[] | undefined = isMeant && Array.isArray(items) ? items : undefined;
  const { continue: next, remainingItemCount } = tree(metadata);
  return { items: all, next: textOrNone(next), remain: numberOrNone(remainingItemCount) };
}

/** The proxy answers so with what Go says of its own connection. */
const UNREACHED =
  /^HTTP status 50[0-4]: (?=dial |read |write |tls: |net\/http: |http2: |proxyconnect |EOF|unexpected EOF|context deadline )/;

type Answer = Awaited<ReturnType<typeof readAnswer>> & {
  /** It was waited for long enough: it is not asked again. */
  readonly isSilent?: boolean;
};

const failed = (failure: ApiFailure, isSilent = false): Answer => ({
  ...{ bytes: 0, body: undefined, dateMs: 0 },
  ...{ failure, isSilent },
});

interface Access extends Pick<Required<ListApiSettings>, "patience" | "isLoggingIn" | "whyEnded"> {
  readonly socketPath: string;
  readonly agent: Agent;
}

/** Makes what asks for one page, once. */
function createGet({ patience, isLoggingIn, whyEnded, ...to }: Access, maxPageBytes: number) {
  let hasAnswered = false;
  /** Why nothing more is asked: the API server never answered, or the proxy has ended. */
  let silent: Answer | undefined;

  return async (path: string): Promise<Answer> => {
    if (silent) return silent;
    const options = { ...to, path, headers: { host: "localhost", accept: "application/json" } };
    let hasBegun = false;
    const ask = async (signal: AbortSignal) => {
      const response = await sendRequest(options, signal);
      hasBegun = true;
      hasAnswered = true;
      return await readAnswer(response, maxPageBytes);
    };
    try {
      const what = `the API server: GET ${path.replace(/\?.*/s, "")}`;
      const waited = await waitFor(what, ask, () => hasBegun || isLoggingIn(), patience);
      if ("value" in waited) return waited.value;
      const answer = failed({ kind: "unreachable", message: waited.silence }, true);
      if (!hasAnswered) silent = answer;
      return answer;
    } catch (error) {
      const ended = whyEnded();
      const answer = failed(
        { kind: "unreachable", message: boundText(ended ?? messageOf(error)) },
        ended !== undefined,
      );
      if (ended !== undefined) silent = answer;
      return answer;
    }
  };
}

/** Starts only so many at once, so that none waits for another while its time runs. */
function createTurns() {
  let free = AT_ONCE;
  const waiting: (() => void)[] = [];
  return async <Value>(act: () => Promise<Value>): Promise<Value> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

async function readAnswer(response: IncomingMessage, maxBytes: number) {
  const { statusCode: code = 0, headers } = response;
  const bytes = await readBody(response, maxBytes);
  const raw = bytes?.toString() ?? "";
  const isJson = bytes !== undefined && /\bjson\b/.test(headers["content-type"] ?? "");
  const parsed: unknown = isJson ? attempt(() => JSON.parse(raw)) : undefined;
  const body: unknown = anyTree(parsed) === parsed ? parsed : { message: raw.trim() };
  const answered = failureOf(code, body, headers["retry-after"]);
  const to = code >= 300 && code < 400 ? headers.location : undefined;
  const failure = {
    ...answered,
    message:
      to === undefined
        ? answered.message.replace(UNREACHED, "kubectl cannot reach the API server: ")
        : boundText(
            `the answer leads to ${to.replace(/\?.*/s, "")}: a login page, or a proxy, is at the API server's address`,
          ),
  };
  return {
    /** More than a page may have: the rest was not read. */
    bytes: bytes?.length ?? maxBytes + 1,
    body,
    // The API server answers in plain text where it does not have a resource.
    failure: code === 200 ? undefined : code === 404 ? { ...failure, kind: "not-found" as const } : failure,
    dateMs: Date.parse(headers.date ?? "") || Date.now(),
  };
}

const unexpected = (message: string): ListFailure => ({ kind: "unexpected", message });
const unfinished = (why: string) => unexpected(`not read completely: ${why}`);
const NO_LIST = unexpected(
  "the answer is no list of Kubernetes: is something else at the API server's address?",
);
const ENDLESS = unfinished("each page names itself as the next one");
const cutAt = (remain: number) => unfinished(`its last page leaves out ${remain} and names no next one`);
const tooMuch = (what: string, maxBytes: number) =>
  unfinished(`${what} more than ${maxBytes / MEBIBYTE} MiB`);
