import { createServer } from "node:http";
import { Client, type Server, status } from "@grpc/grpc-js";
import { protos } from "../../src/grpc/protos";
import { serveCsiDriver } from "../../src/serving/serve-csi-driver";
import { tryConnect } from "../../src/unix/unix-socket";
import { serveHandlers } from "../grpc/served-handlers";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { startForeignSocket } from "../support/foreign-socket";
import { identityOf } from "../support/identity-of";
import { recordLog } from "../support/recorded-log";
import { createTestNode } from "../support/registrar-node";

const node = eachTest(createTestNode);
const STRANGER =
  "The driver's socket is taken from a process that may not be a former instance of the driver";

const HINT = "is csiAddress the driver's own path? What listened there is not reached any more";

const serve = (name: string, more: object = {}) =>
  serveCsiDriver({
    csiAddress: node.csiAddress,
    pluginRegistrationPath: node.pluginDir,
    addServices: (server: Server) =>
      server.addService(protos.identity, { GetPluginInfo: () => ({ name, vendorVersion: "1" }) } as never),
    ...more,
  });

test.each([
  ["the same name", "a.example.com", ""],
  ["another name", "b.example.com", "name: a.example.com; former: b.example.com"],
])("a driver takes its path from one with %s, and warns of a stranger", async (_what, other, names) => {
  await using _former = await serve(other);
  const warned = jest.spyOn(process, "emitWarning").mockReturnValue();
  await using _driver = await serve("a.example.com");
  const text = [STRANGER, `csiAddress: ${node.csiAddress}`, names, `hint: ${HINT}`].join("; ");
  expect(warned.mock.calls).toEqual(names === "" ? [] : [[text, { type: "RegistrarWarning" }]]);
});

test("a driver that is stopped while it asks what listens on its path leaves that alone", async () => {
  const asked = jest.spyOn(Client.prototype, "makeUnaryRequest");
  await using _former = await startForeignSocket(node.csiAddress);
  const before = identityOf(node.csiAddress);
  const [log, stop, startedAt] = [recordLog(), new AbortController(), Date.now()];
  const serving = serve("a.example.com", { logger: log.logger, signal: stop.signal });
  serving.catch(() => {});
  await eventually(() => expect(asked).toHaveBeenCalledTimes(1));
  const { deadline } = Object(asked.mock.calls[0])[5];
  expect(deadline).toBeGreaterThanOrEqual(startedAt + 2_000);
  expect(deadline).toBeLessThanOrEqual(Date.now() + 2_000);
  const cancel = jest.spyOn(asked.mock.results[0]?.value, "cancel");
  stop.abort();
  expect(cancel).toHaveBeenCalledTimes(1);
  await expect(serving).rejects.toMatchObject({ code: "ABORTED" });
  expect([log.all(STRANGER), identityOf(node.csiAddress)]).toEqual([[], before]);
});

test("a driver warns where what listens on its path answers no GetPluginInfo, and one that is dead, or ends meanwhile, needs none", async () => {
  const log = recordLog();
  {
    await using _former = await startForeignSocket(node.csiAddress);
    await using _driver = await serve("a.example.com", { logger: log.logger });
    const { severity, fields } = await log.when(STRANGER);
    const err = expect.objectContaining({ code: status.DEADLINE_EXCEEDED });
    expect([severity, fields]).toEqual(["warning", { csiAddress: node.csiAddress, err, hint: HINT }]);
  }
  await (await startForeignSocket(node.csiAddress)).kill();
  {
    await using _again = await serve("a.example.com", { logger: log.logger });
  }
  let connections = 0; // Of the look, and of the call.
  await using ending = await startForeignSocket(
    node.csiAddress,
    () => ++connections === 2 && void ending.kill(),
  );
  await using _third = await serve("a.example.com", { logger: log.logger });
  expect(log.all(STRANGER)).toHaveLength(1);
});

test("a driver warns where a server of HTTP/1, such as Docker's, listens on its path", async () => {
  const log = recordLog();
  const http = createServer();
  await using _former = await startForeignSocket(node.csiAddress, (socket) =>
    http.emit("connection", socket),
  );
  await using _driver = await serve("a.example.com", { logger: log.logger });
  expect(log.all(STRANGER)).toHaveLength(1);
});

test("a driver does not take the path of a gRPC server that is no CSI driver", async () => {
  await using other = await serveHandlers({});
  const { path } = other;
  const before = identityOf(path);
  const message = expect.stringContaining("EADDRINUSE: a gRPC server without GetPluginInfo listens there");
  await expect(serve("a.example.com", { csiAddress: path })).rejects.toMatchObject({
    ...{ code: "SOCKET_UNUSABLE", message },
  });
  expect(identityOf(path)).toBe(before);
  expect(await tryConnect(path)).toBeUndefined();
});
