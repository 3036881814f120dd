import { Readable } from "node:stream";
import type { ApiAccess } from "../../src/kube-api/access";

const sent: unknown[] = [];
const { signal } = new AbortController();

/** Makes a client whose requests are recorded, and answered with this status. */
async function connect(access: ApiAccess, statusCode = 200) {
  jest.resetModules();
  jest.doMock("../../src/kube-api/request", () => ({
    ...jest.requireActual("../../src/kube-api/request"),
    sendRequest: async (
      { agent, ...options }: { readonly agent?: unknown },
      _signal: unknown,
      body: unknown,
    ) => {
      sent.push({ ...options, pooled: agent !== false, body });
      const answer = { statusCode, headers: { "content-type": "application/json" } };
      return Object.assign(Readable.from([Buffer.from("{}\n")]), answer, {
        socket: { setKeepAlive: () => {} },
      });
    },
  }));
  return (await import("../../src/kube-api/client")).createApiClient(access);
}

const value = (text: string) => ({ kind: "value", value: text }) as const;
const WITH_ALL: ApiAccess = {
  ...{ server: "https://[fd00::1]:6443/prefix//", serverName: "kube", authority: value("CA") },
  ...{ token: value("T"), certificate: value("CERT"), key: value("KEY") },
};

test.each<[string, ApiAccess]>([
  ["a server alone", { server: "https://k", authority: undefined }],
  ["everything", WITH_ALL],
  ["a certificate without its key", { ...WITH_ALL, key: undefined }],
])("what is sent with the access of %s", async (_what, access) => {
  const client = await connect(access);
  const answers = [
    await client.call({ method: "GET", path: "/a?b" }, signal),
    await client.call({ method: "PATCH", path: "/a", body: {}, contentType: "x/y" }, signal),
    await client.call({ method: "POST", path: "/a", body: {} }, signal),
    await client.follow("/w", { signal, idleMs: 60_000, onOpen: () => {}, onObject: () => {} }),
  ];
  expect([client.calls, answers, ...sent.splice(0)]).toMatchSnapshot();
  client.close();
});

test("a watch that is refused is not open", async () => {
  const [onOpen, onObject] = [jest.fn(), jest.fn()];
  const client = await connect(WITH_ALL, 403);
  const failure = await client.follow("/w", { signal, idleMs: 60_000, onOpen, onObject });
  expect(failure).toMatchObject({ kind: "forbidden" });
  expect([onOpen, onObject].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
  client.close();
});
