import { renameSync } from "node:fs";
import type { FakeRegistrarOptions } from "../../../simulator/fake-registrar";
import type { ScriptedNode, ScriptedRegistrar, Scripts } from "../scripted-node";

type Before = NonNullable<FakeRegistrarOptions["before"]>;
type Method = Parameters<Before>[0];

const hangs: Before = () => new Promise(() => {});
const fails: Before = () => {
  throw new Error("no thanks");
};
const dies: Before = (_method, cut) => {
  cut();
  return hangs(_method, cut);
};

/** Kubelets up to 1.35 use the driver all the same, later ones do not. */
export const UNTOLD_SUCCESS = "cannot tell a registrar of its success";

/** What kubelet makes of a registrar that is not there, or does not answer as it should. */
export const registrars: Scripts = {
  "gives GetInfo a second, and tries again": {
    hangs: "GetInfo",
    script: async (node) => {
      await node.driver();
      await node.accepted({ before: atFirst("GetInfo", hangs) });
    },
  },
  "tries GetInfo again after longer and longer waits, which are the path's and outlive the socket": async (
    node,
  ) => {
    await node.driver();
    await node.refused({ before: fails }, 3);
    await node.accepted();
  },
  "loses a registrar that dies in GetInfo": async (node) => {
    await node.refused({ before: dies });
  },
  "dials a dead socket for ten seconds, waits, and finds a living one at its path": async (node) => {
    await node.driver();
    const dead = await deadSocket(node);
    const living = await node.registrar({ name: ".next.sock" });
    await dead.failed();
    renameSync(node.at(".next.sock"), node.at("a.sock")); // At once: kubelet tries again after 500 ms.
    await living.registered();
  },
  "finds a living socket while it dials the dead one, and registers it once more as a new one": async (
    node,
  ) => {
    await node.driver();
    const dead = await deadSocket(node);
    await dead.dialled();
    await node.accepted({}, 2);
  },
  [UNTOLD_SUCCESS]: async (node) => {
    await node.driver();
    await node.refused({ before: atFirst("NotifyRegistrationStatus", fails) });
    await node.triedAgain();
    await node.accepted();
  },
  "cannot tell a registrar of its refusal": async (node) => {
    const before = always("NotifyRegistrationStatus", fails);
    await node.allRefused(
      [{ type: "Mystery" }, { supportedVersions: [] }, { name: "nobody" }].map((info) => ({ before, info })),
    );
  },
  "gives up a registrar that accepts and never speaks": async (node) => {
    await node.listener("reg/a.sock", (connection) => connection.resume());
    await node.failed("a.sock");
  },
  "loses a registrar that dies when it is told": async (node) => {
    await node.driver();
    await node.refused({ before: always("NotifyRegistrationStatus", dies) });
  },
  "gives a registrar five seconds to hear of its success": {
    hangs: "NotifyRegistrationStatus",
    script: async (node) => {
      await node.driver();
      await node.refused({ before: always("NotifyRegistrationStatus", hangs) });
    },
  },
};

/** A socket file with nobody behind it, which is there when kubelet starts. */
async function deadSocket(node: ScriptedNode): Promise<ScriptedRegistrar> {
  return node.whileDown(async () => {
    const dead = await node.registrar();
    await dead.crash();
    return dead;
  });
}

function always(method: Method, act: Before): Before {
  return (called, cut) => (called === method ? act(called, cut) : undefined);
}

function atFirst(method: Method, act: Before): Before {
  let calls = 0;
  return always(method, (called, cut) => (calls++ === 0 ? act(called, cut) : undefined));
}
