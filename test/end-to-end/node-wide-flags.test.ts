import { dirname } from "node:path";
import { runCommand } from "../support/run-command";
import { onNode } from "./support/node";
import { allRegistered, driverFoldersOf, nameOf, socketOf, socketsIn } from "./support/node-wide";

/** Flags for a pattern below a node's folder, which kubelet is to know by the same path unless told otherwise. */
const pair = (csiAddress: string, hostPath = csiAddress) => [
  `--csi-address=${csiAddress}`,
  `--kubelet-registration-path=${hostPath}`,
];

describe("only the drivers that are wanted", () => {
  test.each([
    [`--allow-drivers=${nameOf(1)},${nameOf(3)}`, [1, 3]],
    [`--deny-drivers= ${nameOf(1)}, ${nameOf(3)},`, [0, 2]],
    [`--allow-drivers=${nameOf(0)}=PLUGINS/*/csi.sock,${nameOf(1)}=PLUGINS/other/csi.sock`, [0]],
  ])(
    "with %s",
    onNode(async (node, flag, expected) => {
      const { add, registrar: start, csiAddress } = driverFoldersOf(node);
      const kubelet = await node.kubelet();
      const registrar = start(flag.replaceAll("PLUGINS", dirname(dirname(csiAddress("*")))));
      for (const number of [0, 1, 2, 3]) await add(nameOf(number));
      await allRegistered(kubelet, expected.map(nameOf));
      await registrar.line("CSI driver is not to be registered by this registrar", { nth: 2 });
      expect(socketsIn(node)).toEqual(expected.map(nameOf).map(socketOf));
    }),
  );
});

describe("what cannot be meant ends it with 1, and a line that says why", () => {
  test.each([
    [pair("/p/x*y*/s"), "a segment can have one '*' only"],
    [pair("/p/*/s", "/h/a/s"), "each '*' must stand for the same in both"],
    [[...pair("/p/*/s", "/h/*/s"), "--csi-address=/q/*/s"], "each needs its own"],
    [pair("'/p/*/s'", "/h/*/s"), "not a unix socket path"],
    [pair("/p/*/s", "unix:///h/*/s"), "a pattern must be an absolute path"],
    [[...pair("/p/*/s"), "--driver-gone-after=-1s"], "driver-gone-after must not be negative"],
    [[...pair("/p/*/s"), "--driver-gone-after=1000h"], "driver-gone-after must be 24 days at most"],
    [[...pair("/p/*/s"), "--timeout=0s"], "timeout must be more than 0"],
    [[...pair("/p/*/s"), "--remove-startup-taint=a"], "as in {driver}/agent-not-ready"],
    [[...pair("/p/*/s"), "--node-condition=a"], "for the driver's name, as in {driver}/Registered"],
  ])("%j", async (flags, why) => {
    const { status, stderr } = await runCommand("--plugin-registration-path=/nowhere", ...flags);
    expect(stderr).toContain(why);
    expect(status).toBe(1);
  });
});
