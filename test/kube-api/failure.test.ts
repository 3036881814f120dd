import { type ApiFailure, failureOf, isRefusal, mayPass, retryMs } from "../../src/kube-api/failure";

const CODES = [302, 403, 404, 429, 503];
const OTHER_CODES = [400, 401, 405, 409, 410, 422, 499, 500, 599];
const BODIES = [
  undefined,
  { kind: "Status", reason: "NotFound", message: "told" },
  { kind: "Status", reason: "NotFound", message: "" },
  { reason: "NotFound", message: "no route" },
  { kind: "Status", message: 5 },
];
const WAITS = ["7", "0", "-1", "61", "1e9", "soon", ""];

/** What a failure leads to: whether it may pass, whether a person must act, and the first wait without its random share. */
function shown(failure: ApiFailure): string {
  const wait = retryMs(failure, 0, undefined, () => 0);
  const ways = [mayPass(failure) && "may pass", isRefusal(failure) && "a refusal", `retry in ${wait} ms`];
  return `${JSON.stringify(failure)} ${ways.filter(Boolean).join(", ")}`;
}

test("what an answer of the API server, or of a proxy before it, means", () => {
  const answers = [
    ...CODES.flatMap((code) => BODIES.map((body) => [code, body, undefined] as const)),
    ...OTHER_CODES.map((code) => [code, BODIES[1], undefined] as const),
    ...WAITS.map((wait) => [429, BODIES[1], wait] as const),
    ...[503, 403].map((code) => [code, BODIES[1], "7"] as const),
  ];
  const lines = answers.map(
    ([code, body, wait]) =>
      `${code} ${JSON.stringify(body)} ${wait ?? "-"}\n  ${shown(failureOf(code, body, wait))}`,
  );
  expect(["", ...lines, ""].join("\n")).toMatchSnapshot();
  expect(failureOf(403, { message: "x".repeat(5_000) }, undefined).message).toHaveLength(4_096);
});

test.each<[ApiFailure["kind"], longestMs: number]>([
  ["unavailable", 30_000],
  ["unreachable", 30_000],
  ["conflict", 30_000],
  ["forbidden", 300_000],
  ["unauthorized", 300_000],
])("after %s requests come soon at first, and in the end every %s ms", (kind, longestMs) => {
  const waitMs = (attempt: number, random = 0) =>
    retryMs({ kind, message: "" }, attempt, undefined, () => random);
  expect([0, 1, 2, 50].map((attempt) => waitMs(attempt))).toEqual([500, 1_000, 2_000, longestMs]);
  // Not all nodes of a cluster at once.
  expect(waitMs(0, 1)).toBe(250);
});

test("without an answer the same request may succeed a moment later, without a credential it does not", () => {
  const kinds = ["unreachable", "no-credentials"] as const;
  expect(kinds.map((kind) => shown({ kind, message: "" }))).toEqual([
    '{"kind":"unreachable","message":""} may pass, retry in 500 ms',
    '{"kind":"no-credentials","message":""} retry in 500 ms',
  ]);
});

test("a pace of its own keeps its first wait and its random share after a refusal", () => {
  const waitMs = (kind: ApiFailure["kind"], attempt: number) =>
    retryMs({ kind, message: "" }, attempt, { initialMs: 10, maxMs: 20 }, () => 1);
  expect([waitMs("conflict", 0), waitMs("conflict", 9), waitMs("forbidden", 0)]).toEqual([10, 20, 10]);
  expect(waitMs("forbidden", 50)).toBe(300_000);
});
