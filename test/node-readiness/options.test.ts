import { getEventListeners } from "node:events";
import { type ApiAccess, inClusterAccess } from "../../src/kube-api/access";
import { accessFromKubeconfig } from "../../src/kube-api/kubeconfig";
import { resolveNodeReadinessOptions } from "../../src/node-readiness/options";
import { startNodeReadiness } from "../../src/node-readiness/start-node-readiness";
import { NO_REGISTRATIONS as registrations } from "./support/fixture";

const ACCESS = { server: "https://10.0.0.1:443", authority: undefined };

const invalid = (says: string) =>
  expect.objectContaining({
    ...{ name: "RegistrarError", code: "INVALID_OPTION" },
    message: expect.stringContaining(says),
  });

test("options keep what is given, and get the defaults", () => {
  const access: ApiAccess = {
    server: "https://[::1]:6443/prefix",
    authority: { kind: "file", path: "/ca" },
    serverName: "kube",
    token: { kind: "value", value: "t" },
  };
  const given = {
    registrations,
    nodeName: "node-1",
    access,
    startupTaints: ["{driver}/a:NoSchedule"],
    condition: "a/b",
  };
  expect(resolveNodeReadinessOptions({ ...given, conditionDelayMs: 0 })).toMatchObject({
    access,
    startupTaints: [{ key: "{driver}/a", effect: "NoSchedule" }],
    condition: "a/b",
    conditionDelayMs: 0,
  });
  expect(resolveNodeReadinessOptions({ registrations, nodeName: "n", access: ACCESS })).toMatchObject({
    startupTaints: [],
    conditionDelayMs: 30_000,
  });
});

test.each<[given: object, says: string]>([
  [
    { startupTaint: ["a/b"] },
    'startNodeReadiness: there is no option "startupTaint"; did you mean startupTaints?',
  ],
  [{ nodeName: undefined }, "nodeName is missing; it takes a text"],
  [{ nodeName: "Node" }, 'node name "Node" is not a valid name of a Node'],
  [{ conditionDelayMs: -1 }, "conditionDelayMs is -1; it takes milliseconds, 0 or more"],
  [{ access: undefined }, "access is missing; it takes an object with server, authority"],
  [{ access: { ...ACCESS, server: "http://x" } }, 'server is "http://x"; it takes https://HOST:PORT'],
  [{ access: { ...ACCESS, token: "t" } }, 'token is "t"; it takes an object whose kind is one of "value"'],
  [{ access: { ...ACCESS, tokn: { kind: "x" } } }, 'access: there is no option "tokn"; did you mean token?'],
  [{ startupTaints: ["a b"] }, 'startup taint "a b": the key must be'],
  [{ startupTaints: ["a\u202eb"] }, String.raw`startup taint "a\u202eb": the key must be`],
  [
    { registrations: undefined },
    "registrations is missing; it takes a registration or a node-wide registrar",
  ],
  [{ registrations: { status: () => ({}), subscribe: () => () => {} } }, "registrations is an object; it"],
  [{ registrations: Promise.resolve() }, "registrations is a Promise; it takes a registration"],
])("refuses %j", async (given, says) => {
  const options = { registrations, nodeName: "node-1", access: ACCESS, ...given };
  const error = await startNodeReadiness(options as never).catch((error: unknown) => error);
  expect(error).toEqual(invalid(says));
  expect(error).toMatchObject({ message: expect.not.stringContaining("\n") });
});

test("its signal closes node readiness, and an aborted one starts nothing", async () => {
  const stop = new AbortController();
  const options = { registrations, nodeName: "node-1", access: ACCESS, signal: stop.signal };
  const following = jest.spyOn(AbortSignal, "any");
  await (await startNodeReadiness(options)).close();
  const signals: AbortSignal[] = following.mock.results.map(({ value }) => value);
  expect(signals.map((one) => getEventListeners(one, "abort").length)).toEqual([0]);
  const { closed } = await startNodeReadiness(options);
  stop.abort();
  expect(await closed).toEqual({ kind: "stopped" });
  await expect(startNodeReadiness(options)).rejects.toMatchObject({
    code: "ABORTED",
    message: "node readiness was stopped before it started",
  });
});

test("inClusterAccess and accessFromKubeconfig refuse missing arguments", () => {
  const environment = undefined as never;
  const noText = (given: string) => invalid(`directory is ${given}; it takes a text`);
  expect(() => inClusterAccess(environment)).toThrow(invalid("inClusterAccess(process.env)"));
  expect(() => inClusterAccess({}, 5 as never)).toThrow(noText("5"));
  expect(() => accessFromKubeconfig({}, environment)).toThrow(noText("missing"));
});
