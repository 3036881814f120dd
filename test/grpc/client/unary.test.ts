import { getEventListeners, once } from "node:events";
import { Metadata, status } from "@grpc/grpc-js";
import { messageOf } from "../../../src/base/errors";
import { callUnary, createUnixClient } from "../../../src/grpc/client/unary";
import type { CallContext } from "../../../src/grpc/handlers";
import { protos } from "../../../src/grpc/protos";
import { grpcCodeName, statusCodeOf } from "../../../src/grpc/status";
import { gate, INFO, LONG_MS, type ServeOptions, serveGrpc } from "../served-grpc";

async function clientOf(getInfo: NonNullable<ServeOptions["getInfo"]>) {
  const served = await serveGrpc({ getInfo });
  const client = createUnixClient(served.path);
  return {
    client,
    call: (options: { timeoutMs?: number; signal?: AbortSignal; metadata?: Record<string, string> } = {}) =>
      callUnary(client, protos.registration.GetInfo, {}, { timeoutMs: LONG_MS, ...options }),
    async [Symbol.asyncDispose]() {
      client.close();
      await served[Symbol.asyncDispose]();
    },
  };
}

async function outcomeOf(call: Promise<unknown>): Promise<readonly unknown[]> {
  return call.then(
    (answer) => [status.OK, answer],
    (error: unknown) => [statusCodeOf(error), (error as Error).message],
  );
}

test.each(["\n", "\r", "\u2028", "\u2029"])(
  "a call on a socket whose name grpc-js cannot read fails, as any does: %j",
  async (line) => {
    const client = createUnixClient(`/a${line}b.sock`);
    const call = callUnary(client, protos.registration.GetInfo, {}, { timeoutMs: LONG_MS });
    const text = "14 UNAVAILABLE: gRPC cannot dial a socket with a line break in its name";
    expect(await outcomeOf(call)).toEqual([status.UNAVAILABLE, text]);
    client.close();
  },
);

describe("what bounds a call", () => {
  test.each([
    ["its deadline", { timeoutMs: 1_000 }, status.DEADLINE_EXCEEDED],
    ["a signal aborted meanwhile", {}, status.CANCELLED],
  ])("%s, and the server sees the cancellation", async (_what, bounds, code) => {
    const { getInfo, entered } = gate();
    await using server = await clientOf(getInfo);
    await new Promise((resolve) => server.client.waitForReady(Number.POSITIVE_INFINITY, resolve));
    const controller = new AbortController();
    const outcome = outcomeOf(server.call({ signal: controller.signal, ...bounds }));
    const { signal } = await entered;
    expect(signal.aborted).toBe(false);
    if (code === status.CANCELLED) controller.abort();
    expect(await outcome).toEqual([code, expect.any(String)]);
    if (!signal.aborted) await once(signal, "abort");
  });

  test.each([
    ["at the deadline, as its clock is first", 60_000, "4 DEADLINE_EXCEEDED: Deadline exceeded after 60s"],
    ["for reasons of its own", 0, "1 CANCELLED: Timeout expired"],
  ])("a server that cancels it %s", async (_when, laterMs, message) => {
    const now = performance.now.bind(performance);
    await using server = await clientOf(() => {
      jest.spyOn(performance, "now").mockImplementation(() => now() + laterMs);
      throw Object.assign(new Error("Timeout expired"), { code: status.CANCELLED });
    });
    const outcome = await outcomeOf(server.call({ timeoutMs: 60_000 }));
    jest.restoreAllMocks();
    expect(outcome).toEqual([Number(message.split(" ")[0]), message]);
  });

  test.each([
    ["an answer", async () => ({ ...INFO, name: "n".repeat(1_025), supportedVersions: ["1.0.0"] }), 1_024],
    ["a failure", () => Promise.reject(new Error("n".repeat(1_025))), "13 INTERNAL: ".length + 1_000],
  ])("%s with a long text", async (_what, getInfo, length) => {
    await using server = await clientOf(getInfo);
    const outcome = await server.call().then(({ name }) => name, messageOf);
    expect(outcome).toHaveLength(length);
    expect(outcome).toMatch(/^(?:13 INTERNAL: )?n+/);
  });

  test("an answer above the size limit fails", async () => {
    await using server = await clientOf(() => ({ ...INFO, name: "n".repeat(4_194_304) }));
    expect(await outcomeOf(server.call())).toEqual([
      status.RESOURCE_EXHAUSTED,
      expect.stringMatching(/the server misbehaves: its answer has \d+ bytes, 4194304 is the most$/),
    ]);
  });

  test("with an aborted signal no call reaches the server", async () => {
    const getInfo = jest.fn(() => INFO);
    await using server = await clientOf(getInfo);
    const failure = outcomeOf(server.call({ signal: AbortSignal.abort() }));
    expect(await failure).toEqual([status.CANCELLED, "1 CANCELLED: aborted before the call"]);
    expect((await outcomeOf(server.call({ timeoutMs: -1 })))[0]).toBe(status.DEADLINE_EXCEEDED);
    await server.call();
    expect(getInfo).toHaveBeenCalledTimes(1);
  });

  test("no listener stays on a signal that outlives the call", async () => {
    await using server = await clientOf(() => INFO);
    const { signal } = new AbortController();
    const added = jest.spyOn(signal, "addEventListener");
    await server.call({ signal });
    expect(added).toHaveBeenCalledTimes(1);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("a client that cannot connect, or was closed, fails its calls", async () => {
    const client = createUnixClient("/nonexistent/csi.sock");
    const call = () => callUnary(client, protos.registration.GetInfo, {}, { timeoutMs: LONG_MS });
    expect(await outcomeOf(call())).toEqual([status.UNAVAILABLE, expect.stringContaining("ENOENT")]);
    client.close();
    expect(await outcomeOf(call())).toEqual([undefined, expect.stringContaining("shut down")]);
  });
});

const boom = (code?: number) => Object.assign(new Error("boom"), { code });
// Others are in test/serving.
test.each<[string, unknown, string]>([
  ["an error", boom(), "13 INTERNAL: boom"],
  ["OK, which is no failure", boom(status.OK), "13 INTERNAL: boom"],
  ["a code that gRPC does not have", boom(99), "13 INTERNAL: boom"],
  ["other letters, and lines", "größer\nals 5 %", "13 INTERNAL: größer\nals 5 %"],
  ["half of a surrogate pair", "a\ud83db", "13 INTERNAL: a\ufffdb"],
  ["a text too long for a header", "x".repeat(1_000_000), `13 INTERNAL: ${"x".repeat(1_000)}`],
])("what a handler throws is answered: %s", async (_name, thrown, message) => {
  await using server = await clientOf(() => Promise.reject(thrown));
  expect(await outcomeOf(server.call())).toEqual([Number.parseInt(message, 10), message]);
});

test("metadata travels both ways, and an answered call is not cancelled", async () => {
  const contexts: CallContext[] = [];
  await using server = await clientOf((context) => {
    contexts.push(context);
    context.sendMetadata(Metadata.fromHttp2Headers({ "x-answer": "b" }));
    return INFO;
  });
  await server.call({ metadata: { "x-question": "a" } });
  await server.call({ timeoutMs: 2 ** 31 }); // More than a timer can be.
  expect(contexts[0]?.deadlineAtMs).toBeLessThanOrEqual(Date.now() + LONG_MS);
  expect(contexts.map(({ metadata }) => metadata.get("x-question"))).toEqual([["a"], []]);
  expect(contexts[0]?.signal.aborted).toBe(false);
});

test.each([
  [status.OK, "OK"],
  [status.CANCELLED, "Canceled"],
  [status.DEADLINE_EXCEEDED, "DeadlineExceeded"],
  [status.UNAUTHENTICATED, "Unauthenticated"],
  [undefined, "unknown-non-grpc"],
  [99, "unknown-non-grpc"],
])("the code %p is called %s", (code, name) => {
  expect(grpcCodeName(code)).toBe(name);
});
