import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  createListApi,
  type ListApi,
  type ListRequest,
} from "../../../../src/tools/doctor/cluster/read/list-api";
import { createReader, each } from "../../../../src/tools/doctor/cluster/read/reader";
import { itemsOf, orNull } from "../../../../src/tools/doctor/findings/opened";
import { createTempFolder } from "../../../support/temp-folder";
import { NOW_MS } from "./memory-cluster";

type Answer = { readonly code?: number; readonly headers?: Record<string, string>; readonly body: unknown };

/** More than any list asks for: then the list ends, so that a fault fails its test and does not hang it. */
const MOST_ASKED = 3_000;

/** Lists from a server on a unix socket that gives these answers in turn, the last one for ever, or breaks the connection. */
async function listFrom(
  answers: readonly (Answer | "break")[],
  request: ListRequest = { path: "/apis/x/v1/things" },
  scale = 1,
) {
  await using folder = await createTempFolder();
  const seen: { url: URL }[] = [];
  const server = createServer((asked: IncomingMessage, response: ServerResponse) => {
    const answer = seen.length < MOST_ASKED ? answers[Math.min(seen.length, answers.length - 1)] : page([]);
    seen.push({ url: new URL(asked.url ?? "", "http://localhost") });
    if (answer === undefined || answer === "break") return void asked.socket.destroy();
    const { code = 200, headers = {}, body } = answer;
    response.writeHead(code, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  }).listen(folder.at("api.sock"));
  await once(server, "listening");
  const waits: number[] = [];
  using api = createListApi(folder.at("api.sock"), { scale, wait: async (ms) => waits.push(ms) });
  let pages: { items: readonly unknown[]; dateMs: number }[] = [];
  const failure = await api.list(request, (items, dateMs, isFirst) => {
    pages = [...(isFirst ? [] : pages), { items, dateMs }];
  });
  server.close();
  server.closeAllConnections();
  return { failure, seen, pages, waits, items: pages.flatMap(({ items }) => items) };
}

const page = (items: number[], next = ""): Answer => ({
  body: { kind: "ThingList", metadata: { continue: next }, items },
});
const status = (code: number, message: string, more: object = {}): Answer => ({
  code,
  body: { kind: "Status", code, message, ...more },
});

test("a list is read page by page, with the query at each", async () => {
  const { failure, seen, items } = await listFrom([page([1, 2], "a b"), page([3], "c"), page([4])], {
    path: "/api/v1/pods",
    query: { labelSelector: "app=x" },
  });
  expect(items).toEqual([1, 2, 3, 4]);
  expect(failure).toBeUndefined();
  expect(seen.map(({ url }) => url.searchParams.get("continue"))).toEqual([null, "a b", "c"]);
  expect(new Set(seen.map(({ url }) => url.searchParams.get("labelSelector")))).toEqual(new Set(["app=x"]));
  expect(seen[0]?.url.searchParams.get("limit")).toBe("250");
});

test("each page has the server's time", async () => {
  const date = "Sun, 22 Nov 2026 12:00:00 GMT";
  const { pages } = await listFrom([{ ...page([1]), headers: { date } }]);
  expect(pages).toEqual([{ items: [1], dateMs: Date.parse(date) }]);
});

test.each<readonly [what: string, more: object, then: readonly Answer[], from: string | null]>([
  ["goes on where the server says", { metadata: { continue: "later" } }, [page([2])], "later"],
  ["begins again where it does not say", {}, [page([1], "b"), page([2])], null],
])("a list that took too long %s", async (_what, more, then, from) => {
  const { items, failure, seen } = await listFrom([page([1], "a"), status(410, "too old", more), ...then]);
  expect([items, failure]).toEqual([[1, 2], undefined]);
  expect(seen[2]?.url.searchParams.get("continue")).toBe(from);
});

const pod = (name: string) => {
  const metadata = { name, namespace: "x", uid: "1", creationTimestamp: "2026-11-22T12:00:00Z" };
  return { metadata, spec: { containers: [{ name: "x" }] }, status: { phase: "Running" } };
};

test("a list of another kind, and an item without a name, are unread", async () => {
  const { failure, items } = await listFrom([page([1])], { path: "/x", kind: "PodList" });
  expect([failure?.kind, items]).toEqual(["unexpected", []]);
  const list: ListApi["list"] = async ({ kind }, onPage) => {
    onPage([null, { metadata: {} }, pod(`${kind}`)], NOW_MS, true);
    return undefined;
  };
  const { read, gaps } = createReader({ list });
  const parse = each((_, { name }) => name);
  expect(itemsOf(await read("pods", parse))).toEqual(["x/PodList"]);
  expect(gaps().map(({ subject }) => subject)).toEqual(["", ""]);
});

test("a list that begins again drops what was read of it", async () => {
  const list: ListApi["list"] = async (_request, onPage) => {
    for (const name of ["a", "b"]) onPage([pod(name)], NOW_MS, true);
    return undefined;
  };
  const read = await createReader({ list }).read(
    "pods",
    each((_, { name }) => name),
  );
  expect(orNull(read, (all) => all)).toEqual(["x/b"]);
});

const busy: Answer = { ...status(429, "too many requests"), headers: { "retry-after": "0" } };

test.each<readonly [what: string, answer: Answer | "break"]>([
  ["too busy", busy],
  ["in trouble", status(500, "etcd leader changed")],
  ["behind a proxy that misses it", { code: 502, body: "" }],
  ["gone for a moment", "break"],
])(
  "a server that is %s is asked again at growing distances, a limited number of times",
  async (_what, answer) => {
    const passing = await listFrom([page([1], "a"), answer, answer, page([2])]);
    expect([passing.items, passing.failure]).toEqual([[1, 2], undefined]);
    const { failure, seen, waits } = await listFrom([answer]);
    expect(failure).toBeDefined();
    expect(seen).toHaveLength(5);
    expect(waits[0]).toBeGreaterThan(0);
    expect(waits[3]).toBeGreaterThan(2 * (waits[0] ?? 0));
  },
);

const NO_LIST = { kind: "unexpected", message: expect.stringMatching(/^the answer is no list/) };

test.each<readonly [what: string, answer: Answer | "break", failure: object]>([
  ["forbidden", status(403, 'User "u" cannot list'), { kind: "forbidden", message: 'User "u" cannot list' }],
  ["no credentials", status(401, "Unauthorized"), { kind: "unauthorized", message: "Unauthorized" }],
  [
    "a server that is away, in kubectl's words",
    { code: 502, headers: { "content-type": "text/plain" }, body: "dial tcp 10.0.0.1:443: i/o timeout\n" },
    {
      kind: "unavailable",
      message: "kubectl cannot reach the API server: dial tcp 10.0.0.1:443: i/o timeout",
    },
  ],
  [
    "no such resource",
    { code: 404, headers: { "content-type": "text/plain" }, body: "404 page not found\n" },
    { kind: "not-found", message: "HTTP status 404: 404 page not found" },
  ],
  [
    "a failure behind a proxy that names the encoding",
    { ...status(403, "no"), headers: { "content-type": "application/json; charset=utf-8" } },
    { kind: "forbidden", message: "no" },
  ],
  ["no word", { code: 500, body: {} }, { kind: "unavailable", message: "HTTP status 500" }],
  ["a list that has expired for good", status(410, "too old"), { kind: "expired", message: "too old" }],
  ["kubectl that ended", "break", { kind: "unreachable", message: "socket hang up" }],
  ["a login page", { headers: { "content-type": "text/html" }, body: "<html>" }, NO_LIST],
  [
    "a way to a login page",
    { code: 302, headers: { location: "https://x/login?token=1" }, body: "<a>" },
    {
      kind: "unexpected",
      message: expect.stringMatching(/^the answer leads to https:\/\/x\/login: a login page/),
    },
  ],
  ["an object that is no list", { body: { kind: "Status", items: [] } }, NO_LIST],
  ["a list without items", { body: { kind: "ThingList" } }, NO_LIST],
  ["no JSON", { body: "<html>" }, NO_LIST],
  [
    "an error that is no JSON",
    { code: 400, body: "boom" },
    { kind: "unexpected", message: "HTTP status 400: boom" },
  ],
  [
    "a page that names itself",
    page([1], "next"),
    expect.objectContaining({ message: expect.stringMatching(/names itself/) }),
  ],
  [
    "a last page that leaves some out",
    { body: { kind: "ThingList", metadata: { remainingItemCount: 2 }, items: [1] } },
    { kind: "unexpected", message: "not read completely: its last page leaves out 2 and names no next one" },
  ],
])("%s is the result", async (_what, answer, failure) => {
  expect((await listFrom([page([1], "next"), answer])).failure).toEqual(failure);
});

describe("limits, a thousandth of the real ones", () => {
  const thingsOf = (bytes: number, next = ""): Answer => ({
    body: { kind: "ThingList", metadata: { continue: next }, items: ["x".repeat(bytes)] },
  });
  const small = (...answers: readonly Answer[]) => listFrom(answers, { path: "/x" }, 0.001);

  test("a page that is too large is asked for again with fewer objects, to one", async () => {
    const { items, failure, seen } = await small(page([1], "a"), thingsOf(9_999), thingsOf(9_999), page([2]));
    expect([items, failure]).toEqual([[1, 2], undefined]);
    expect(seen.map(({ url }) => ["limit", "continue"].map((name) => url.searchParams.get(name)))).toEqual([
      ["250", null],
      ["250", "a"],
      ["50", "a"],
      ["10", "a"],
    ]);
    const endless = await small(...Array.from({ length: 9 }, () => thingsOf(10_000)));
    expect(endless.failure?.message).toBe("not read completely: an object has more than 8 MiB");
    expect(endless.seen.at(-1)?.url.searchParams.get("limit")).toBe("1");
  });

  test("a server that asks for an hour is asked again after 10 s", async () => {
    const busy: Answer = { ...status(503, "starting"), headers: { "retry-after": "3600" } };
    const { items, waits } = await small(busy, page([1]));
    expect([items, waits]).toEqual([[1], [10_000]]);
  });

  test.each([
    ["large", (next: string) => thingsOf(8_000, next)],
    ["empty", (next: string) => page([], next)],
  ])("a list of endless %s pages is given up", async (_what, pageOf) => {
    const { failure, seen } = await small(...Array.from({ length: MOST_ASKED }, (_, n) => pageOf(`${n}`)));
    expect(failure?.message).toBe(
      "not read completely: the pages of the lists together count as more than 1024 MiB",
    );
    expect(seen.length).toBeLessThan(2_100);
  });
});

describe("silence", () => {
  const patience = { noticeMs: 200, silentMs: 600, longestMs: 900 };

  async function listsFrom(
    answer: (path: string, response: ServerResponse) => void,
    ...turns: readonly (readonly string[])[]
  ) {
    await using folder = await createTempFolder();
    const asked: string[] = [];
    const server = createServer(({ url = "" }, response) => {
      const [path = ""] = url.split("?");
      asked.push(path);
      answer(path, response);
    }).listen(folder.at("api.sock"));
    await once(server, "listening");
    const told = jest.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      using api = createListApi(folder.at("api.sock"), { patience });
      const failures: unknown[] = [];
      for (const paths of turns)
        failures.push(...(await Promise.all(paths.map((path) => api.list({ path }, () => {})))));
      return { failures, asked, told: told.mock.calls.map(([text]) => text) };
    } finally {
      told.mockRestore();
      server.close();
      server.closeAllConnections();
    }
  }
  const empty = JSON.stringify(page([]).body);
  const give = (response: ServerResponse) =>
    void response.setHeader("content-type", "application/json").end(empty);
  const unread = (path: string, seconds = 0.6) => ({
    kind: "unreachable",
    message: `no answer within ${seconds} s: the API server: GET ${path}`,
  });

  const hang = (path: string, response: ServerResponse) => (/^.h/.test(path) ? undefined : give(response));

  test("a list that hangs is requested once and reported; the others are read", async () => {
    const paths = ["/first", "/h1", "/h2", "/last"];
    const { failures, asked, told } = await listsFrom(hang, paths);
    expect(failures).toEqual([undefined, unread("/h1"), unread("/h2"), undefined]);
    expect(asked.toSorted()).toEqual(paths.toSorted());
    const line = (path: string) => `registrar doctor: waiting for the API server: GET ${path}\n`;
    // On a busy machine the others may be slow, too.
    expect(told).toEqual(expect.arrayContaining([line("/h1"), line("/h2")]));
  });

  test("each list that hangs is requested, after many others too: its time begins with its turn", async () => {
    const hanging = ["/h1", "/h2", "/h3", "/h4"];
    const { asked } = await listsFrom(hang, ["/a", "/b", "/c", "/d", "/e"], hanging);
    expect(asked).toEqual(expect.arrayContaining(hanging));
  });

  test("an answer that has begun gets more time, with a limit", async () => {
    const { failures } = await listsFrom((_path, response) => void response.write(" "), ["/x"]);
    expect(failures).toEqual([unread("/x", 0.9)]);
  });

  test("after a list without an answer no further list is requested", async () => {
    const { failures, asked } = await listsFrom(() => {}, ["/a", "/b", "/c", "/d"]);
    expect(asked).toEqual(["/a", "/b"]);
    expect(failures).toEqual(Array(4).fill(expect.objectContaining({ kind: "unreachable" })));
  });
});
