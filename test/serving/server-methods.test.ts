import { readFileSync } from "node:fs";
import type { Server } from "@grpc/grpc-js";
import { protos } from "../../src/grpc/protos";
import { serveCsiDriver } from "../../src/serving/serve-csi-driver";
import { eachTest } from "../support/each-test";
import { createTestNode, DRIVER } from "../support/registrar-node";

const node = eachTest(createTestNode);

/** What adds services, or says what was added; a connection that an author injects is served like any other. */
const FREE = [
  ...["addProtoService", "addService", "createConnectionInjector", "getChannelzRef"],
  ...["register", "removeService", "unregister"],
];
const types = readFileSync(require.resolve("@grpc/grpc-js/build/src/server.d.ts"), "utf8");
const [, declared = ""] = types.split("export declare class Server");
/** The public methods; those of a name with `_` are not. */
const METHODS = [...declared.matchAll(/^ {4}([a-z]\w*)(?:<.*?>)?\(/gm)].map(([, name = ""]) => name);
const OTHERS = METHODS.filter((name) => ![...FREE, "constructor"].includes(name));

test("every method of grpc-js' server is free or refused", () => {
  expect(METHODS).toEqual(expect.arrayContaining([...FREE, "start", "tryShutdown"]));
});

test.each(OTHERS)("server.%s() is refused, with what is right, in addServices and later", async (name) => {
  const options = { csiAddress: node.csiAddress, pluginRegistrationPath: node.pluginDir };
  const call = (server: Server) => Object(server)[name]("0.0.0.0:1");
  const refusal = {
    code: "INVALID_OPTION",
    message: `serveCsiDriver: server.${name}() must not be called: serveCsiDriver listens at ${node.csiAddress}, and the driver's close() ends the server`,
  };
  await expect(serveCsiDriver({ ...options, addServices: call })).rejects.toMatchObject(refusal);
  let kept: Server | undefined;
  await using _driver = await serveCsiDriver({
    ...options,
    addServices: (server) => {
      kept = server;
      server.addService(protos.identity, { GetPluginInfo: () => ({ name: DRIVER }) } as never);
    },
  });
  expect(() => call(kept as Server)).toThrow(expect.objectContaining(refusal));
});
