import { type ApiAccess, inClusterAccess } from "../../src/kube-api/access";
import { accessFromKubeconfig } from "../../src/kube-api/kubeconfig";
import { resolveNodeReadinessOptions } from "../../src/node-readiness/options";
import { startNodeReadiness } from "../../src/node-readiness/start-node-readiness";
import { NO_REGISTRATIONS as registrations } from "./support/fixture";

const ACCESS = { server: "https://10.0.0.1:443", authority: undefined };

const refused = async (act: () => unknown) => {
  try {
    await act();
  } catch (error) {
    expect(error).toMatchObject({ name: "RegistrarError", code: "INVALID_OPTION" });
    return String((error as Error).message);
  }
  throw new Error("it was taken");
};

test("takes what there is to be told, and fills in the rest", () => {
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
    conditionDelayMs: 0,
  });
  expect(resolveNodeReadinessOptions({ registrations, nodeName: "n", access: ACCESS })).toMatchObject({
    startupTaints: [],
    conditionDelayMs: 30_000,
  });
});

test.each<[given: object, says: string]>([
  [{ startupTaint: ["a/b"] }, 'there is no option "startupTaint"; did you mean startupTaints?'],
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
  const message = await refused(() => startNodeReadiness(options as never));
  expect(message).toContain(says);
  expect(message).not.toContain("\n");
});

test("it is closed by its signal, and with one that is aborted nothing starts", async () => {
  const stop = new AbortController();
  const options = { registrations, nodeName: "node-1", access: ACCESS, signal: stop.signal };
  const { closed } = await startNodeReadiness(options);
  stop.abort();
  expect(await closed).toEqual({ kind: "stopped" });
  await expect(startNodeReadiness(options)).rejects.toMatchObject({ code: "ABORTED" });
});

test("ways to the API server want to be told where to look", async () => {
  const environment = undefined as never;
  expect(await refused(() => inClusterAccess(environment))).toContain("inClusterAccess(process.env)");
  expect(await refused(() => inClusterAccess({}, 5 as never))).toContain("directory is 5; it takes a text");
  expect(await refused(() => accessFromKubeconfig({}, environment))).toContain(
    "directory is missing; it takes a text",
  );
});
