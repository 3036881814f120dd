import { once } from "node:events";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import { httpOf } from "../end-to-end/support/http";
import { nodeTest, registered } from "../end-to-end/support/node";
import { descriptorsOf } from "../end-to-end/support/resources";
import { registrarIn } from "../end-to-end/support/surroundings";
import { eventually } from "../support/eventually";

const LIMIT = 64;
const CONNECTIONS = 500;

/** Connections that say nothing, all of them made; who is cut off later does not mind. */
async function occupy(to: NetConnectOpts): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(to).on("error", () => {}));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  return sockets;
}

nodeTest(
  `with ${LIMIT} descriptors, ${CONNECTIONS} connections to each socket keep nobody out`,
  async (node) => {
    await node.driver();
    const limited = { script: `ulimit -n ${LIMIT}` };
    const registrar = registrarIn(node, limited, "--http-endpoint=localhost:0");
    const http = await httpOf(registrar);
    await registrar.reached("listening");
    const before = descriptorsOf(registrar);

    const idle = [
      ...(await occupy({ path: node.socketPath })),
      ...(await occupy({ port: http.port, host: "127.0.0.1" })),
    ];
    const short = await registrar.line("File descriptors run short, closed a connection");
    expect(short.severity).toBe("W");
    expect(short.fields.err).toMatch(/^EMFILE is near: \d\d of 64 file descriptors are in use$/);
    expect(short.fields.check).toContain("ulimit -n");
    await registrar.line("File descriptors run short, closed an HTTP connection");

    // While they last as well as afterwards.
    expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" });
    const kubelet = await node.kubelet();
    await registered(kubelet);
    await registrar.reached("registered");
    for (const socket of idle) socket.destroy();
    await eventually(() => expect(descriptorsOf(registrar)).toBeLessThan(before + 6));
    expect(await http.get("/readyz")).toMatchObject({ status: 200 });
    await kubelet.restart();
    await registered(kubelet, { nth: 2 });
    expect(registrar.lines().filter(({ severity }) => severity !== "I").length).toBeLessThan(6);
  },
);
