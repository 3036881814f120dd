import type { Scripts } from "../scripted-node";

const TEXT = "the API server does not answer";

const GOOD_VERSIONS = [["v1.0"], ["1.0.0", "1.2", "1.1"], ["2.1", "1.0.0"], ["one", "1.2.3-alpha"]];
const BAD_VERSIONS = [
  [],
  ["2.0.0"],
  ["2.0.0", "0.9"],
  ["0.3.0"],
  ["0.1", "one"],
  ["one"],
  ["1"],
  ["01.0"],
  [""],
];

/** What is offered is not acceptable, or something is registered already. */
export const refusals: Scripts = {
  "tries again what it refused to validate": async (node) => {
    await node.refuse({ stage: "validate", text: TEXT });
    await node.registered();
  },
  "tries again what it refused to register, by itself or when the socket is made anew": async (node) => {
    await node.refuse({ stage: "register", text: TEXT });
    await node.driver();
    await node.refused();
    await node.triedAgain();
    await node.accepted();
  },
  "refuses a plugin of a type that it does not know, again and again": async (node) => {
    await node.refused({ info: { type: "Mystery" } }, 2);
  },
  "takes the highest version 1.x of those offered": async (node) => {
    await node.driver();
    for (const [index, supportedVersions] of GOOD_VERSIONS.entries()) {
      const info = { name: `n${index}.csi`, endpoint: node.elsewhere("x.csi"), supportedVersions };
      await node.accepted({ name: `n${index}.sock`, info });
    }
  },
  "refuses a driver that offers no version 1.x": async (node) => {
    await node.allRefused(BAD_VERSIONS.map((supportedVersions) => ({ info: { supportedVersions } })));
  },
  "refuses an equal version at another path and endpoint until the first is gone": {
    isRandom: true, // How often, depends on when it notices that.
    script: async (node) => {
      await node.driver();
      const { registrar: first } = await node.registered({ name: "y.csi" });
      const second = await node.refused({ name: "b.sock", info: { endpoint: node.elsewhere("y.csi") } });
      await first.close();
      await second.registered();
    },
  },
  "lets a higher version take over, and deregisters it when either socket goes": async (node) => {
    await node.driver({ nodeId: "node of y.csi" });
    const { registrar: first } = await node.registered({ name: "y.csi" });
    const info = { endpoint: node.elsewhere("y.csi"), supportedVersions: ["1.1.0"] };
    const second = await node.accepted({ name: "b.sock", info });
    await first.close();
    await node.deregistered();
    await second.close();
    await node.settled();
  },
  "deregisters what was registered when a higher version fails": async (node) => {
    await node.registered();
    const info = { endpoint: node.elsewhere("nowhere"), supportedVersions: ["1.1.0"] };
    await node.refused({ name: "b.sock", info });
  },
};
