import { createServer } from "node:http";
import { type Server, status } from "@grpc/grpc-js";
import { protos } from "../../src/grpc/protos";
import { serveCsiDriver } from "../../src/serving/serve-csi-driver";
import { tryConnect } from "../../src/unix/unix-socket";
import { serveHandlers } from "../grpc/served-handlers";
import { eachTest } from "../support/each-test";
import { startForeignSocket } from "../support/foreign-socket";
import { identityOf } from "../support/identity-of";
import { recordLog } from "../support/recorded-log";
import { createTestNode } from "../support/registrar-node";

const node = eachTest(createTestNode);
const STRANGER =
  "The driver's socket is taken from a process that may not be a former instance of the driver";

const serve = (name: string, more: object = {}) =>
  serveCsiDriver({
    csiAddress: node.csiAddress,
    pluginRegistrationPath: node.pluginDir,
    addServices: (server: Server) =>
      server.addService(protos.identity, { GetPluginInfo: () => ({ name, vendorVersion: "1" }) } as never),
    ...more,
  });

test.each([
  ["the same name", "a.example.com", []],
  ["another name", "b.example.com", [{ name: "a.example.com", former: "b.example.com" }]],
])("a driver takes its path from one with %s, and warns of a stranger", async (_what, other, warned) => {
  await using _former = await serve(other);
  const log = recordLog();
  await using _driver = await serve("a.example.com", { logger: log.logger });
  expect(log.all(STRANGER).map(({ fields }) => fields)).toEqual(
    warned.map((names) => ({ csiAddress: node.csiAddress, ...names, hint: expect.any(String) })),
  );
});

test("a driver warns where what listens on its path answers no GetPluginInfo, and one that is dead needs none", async () => {
  const log = recordLog();
  {
    await using _former = await startForeignSocket(node.csiAddress);
    await using _driver = await serve("a.example.com", { logger: log.logger });
    const { fields } = await log.when(STRANGER);
    expect(fields).toMatchObject({ csiAddress: node.csiAddress, err: { code: status.DEADLINE_EXCEEDED } });
  }
  await (await startForeignSocket(node.csiAddress)).kill();
  await using _again = await serve("a.example.com", { logger: log.logger });
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
