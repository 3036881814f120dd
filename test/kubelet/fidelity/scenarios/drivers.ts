import { unlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import type { ScriptedNode, Scripts } from "../scripted-node";

/** What kubelet asks of a CSI driver, and what it makes of the answer. */
export const drivers: Scripts = {
  "refuses a driver that does not listen at its endpoint": async (node) => {
    const dead = await node.driver({ name: "dead" });
    await dead.kill();
    await writeFile(node.elsewhere("file"), "");
    await eachFails(node, [
      node.elsewhere("nowhere"),
      node.elsewhere("dead"),
      node.elsewhere("file"),
      node.elsewhere("file", "below"),
      node.elsewhere("."),
      node.elsewhere("long".repeat(30)),
      "unix:///nowhere.sock",
      "nowhere.sock",
    ]);
  },
  "takes the registration socket for the endpoint where none is told": async (node) => {
    await eachFails(node, [""]);
  },
  "refuses a driver whose NodeGetInfo fails, in the driver's words": async (node) => {
    const answers = [
      ["INTERNAL", "boom"],
      ["UNIMPLEMENTED", 'not "here": 100 %'],
      ["UNAVAILABLE", "no metadata service"],
      ["DEADLINE_EXCEEDED", "the backend took too long"],
      ["CANCELLED", ""],
      ["FAILED_PRECONDITION", "Zürich"],
    ] as const;
    const addresses = answers.map(async ([code, message]) => {
      const faults = [{ kind: "error", method: "NodeGetInfo", code, message } as const];
      return (await node.driver({ name: code, faults })).csiAddress;
    });
    await eachFails(node, await Promise.all(addresses));
  },
  "refuses a driver without a node ID": async (node) => {
    await node.driver({ nodeId: "" });
    await node.refused();
  },
  "refuses a driver whose topology contradicts a label of the node": async (node) => {
    await node.registered({ topology: { zone: "z1" } });
    await node.driver({ name: "y.csi", topology: { zone: "z2", rack: "r1" } });
    await node.refused({ name: "b.sock", info: { name: "y.csi" } });
  },
  "caps a limit of volumes, and takes a negative one for none": async (node) => {
    await node.driver({ name: "x.csi", maxVolumes: 2 ** 31 });
    await node.registered({ name: "y.csi", maxVolumes: -1 });
    await node.accepted({ name: "b.sock", info: { name: "y.csi" } });
  },
  "gives up a driver that accepts and never speaks": async (node) => {
    await node.listener("x.csi", (connection) => connection.resume());
    await node.refused();
  },
  "dials a driver once that hangs up at once": async (node) => {
    await node.listener("x.csi", (connection) => connection.resume().end());
    // Before kubelet tries again, and seen before the answer: else the end of this try may come first.
    const before = async (method: string) => {
      if (method === "GetInfo") return;
      unlinkSync(node.at("a.sock"));
      await node.missed("a.sock");
    };
    await node.refused({ before });
    await node.settled();
  },
  "refuses a driver that does not speak HTTP/2": async (node) => {
    await node.listener("x.csi", (connection) => connection.end("SSH-2.0-OpenSSH\r\n"));
    await node.refused();
  },
  "refuses a driver without a name": async (node) => {
    await node.driver();
    await node.refused({ info: { name: "", endpoint: node.elsewhere("x.csi") } });
  },
};

/** A registrar for each endpoint. */
const eachFails = (node: ScriptedNode, endpoints: readonly string[]) =>
  node.allRefused(endpoints.map((endpoint) => ({ info: { endpoint } })));
