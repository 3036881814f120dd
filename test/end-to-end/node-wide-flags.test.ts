import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { eventually } from "../support/eventually";
import { nodeTest, onNode, registered } from "./support/node";
import { allRegistered, driverFoldersOf, nameOf, socketOf, socketsIn } from "./support/node-wide";

/** Flags for a pattern below a node's folder, which kubelet is to know by the same path unless told otherwise. */
const pair = (csiAddress: string, hostPath = csiAddress) => [
  `--csi-address=${csiAddress}`,
  `--kubelet-registration-path=${hostPath}`,
];

describe("the pattern", () => {
  test.each([
    ["*/csi.sock", ["a/csi.sock", "b.c/csi.sock"], ["a/csi_sock", ".a/csi.sock", "csi.sock", "a/b/csi.sock"]],
    ["csi-*/csi.sock", ["csi-a/csi.sock"], ["csi-/csi.sock", "my-csi-a/csi.sock"]],
    ["*.sock", ["a.sock"], [".sock", "a.sock.bak", "a/b.sock"]],
    ["*/*/csi.sock", ["a/b/csi.sock"], ["a/csi.sock"]],
    ["*/deep/node-*.sock", ["a/deep/node-1.sock"], ["a/node-1.sock", "a/deep/node-.sock"]],
    [".*/s", [".a/s"], ["a/s"]],
  ])(
    "%s",
    onNode(async (node, pattern, fitting, others) => {
      const at = (path: string) => join(dirname(node.csiAddress), "p", path);
      const nameAt = (path: string) => `at-${path.replace(/[^a-z0-9]+/g, "-")}.csi`;
      const kubelet = await node.kubelet();
      node.cli([...pair(at(pattern)), `--plugin-registration-path=${node.pluginDir}`]);
      for (const path of [...others, ...fitting]) {
        mkdirSync(dirname(at(path)), { recursive: true });
        await node.driver({ csiAddress: at(path), name: nameAt(path) });
      }
      await allRegistered(kubelet, fitting.map(nameAt));
      expect(socketsIn(node)).toEqual(fitting.map(nameAt).map(socketOf).toSorted());
    }),
  );

  nodeTest("kubelet is told the host's path, in which each * stands for the same", async (node) => {
    const folder = dirname(node.csiAddress);
    const host = join(folder, "host", "b", "a.sock");
    const kubelet = await node.kubelet();
    node.cli([
      ...pair(join(folder, "p", "*", "node-*.sock"), join(folder, "*", "b", "*.sock")),
      `--plugin-registration-path=${node.pluginDir}`,
    ]);
    for (const path of [host, join(folder, "p", "host", "node-a.sock")]) {
      mkdirSync(dirname(path), { recursive: true });
      await node.driver({ csiAddress: path });
    }
    expect(await registered(kubelet)).toMatchObject({ endpoint: host });
  });

  nodeTest("many pairs, in their order, one of them without *", async (node) => {
    const folder = dirname(node.csiAddress);
    const paths = Array.from({ length: 12 }, (_, number) => join(folder, `p${number}`, "x", "csi.sock"));
    const patterns = paths.map((path, number) => (number === 5 ? path : path.replace("/x/", "/*/")));
    const kubelet = await node.kubelet();
    const registrar = node.cli([
      ...patterns.map((path) => `--csi-address=${path}`),
      ...patterns.map((path) => `--kubelet-registration-path=${path}`),
      `--plugin-registration-path=${node.pluginDir}`,
    ]);
    for (const [number, csiAddress] of paths.entries()) {
      mkdirSync(dirname(csiAddress), { recursive: true });
      await node.driver({ csiAddress, name: nameOf(number) });
    }
    await allRegistered(
      kubelet,
      paths.map((_, number) => nameOf(number)),
    );
    expect(registrar.stderr).not.toContain("Warning"); // of Node, about listeners
  });

  nodeTest("a folder that is not there yet is spoken of, and followed when it comes", async (node) => {
    const { add, registrar: start, csiAddress } = driverFoldersOf(node);
    const kubelet = await node.kubelet();
    const registrar = start();
    const pattern = csiAddress("*");
    const why = `${dirname(dirname(pattern))} is no folder here: is it mounted?`;
    await eventually(() =>
      expect(registrar.lines("No CSI driver here yet").map(({ fields }) => fields)).toContainEqual({
        pattern,
        why,
      }),
    );
    await add(nameOf(0));
    await registered(kubelet, { driverName: nameOf(0) });
  });
});

describe("only the drivers that are wanted", () => {
  test.each([
    [`--allow-drivers=${nameOf(1)},${nameOf(3)}`, [1, 3]],
    [`--deny-drivers= ${nameOf(1)}, ${nameOf(3)},`, [0, 2]],
    ["--allow-drivers=", [0, 1, 2, 3]],
    [`--allow-drivers=${nameOf(0)}=PLUGINS/*/csi.sock,${nameOf(1)}=PLUGINS/other/csi.sock`, [0]],
    ["--allow-drivers=*=PLUGINS/*/csi.sock", [0, 1, 2, 3]],
  ])(
    "with %s",
    onNode(async (node, flag, expected) => {
      const { add, registrar: start, csiAddress } = driverFoldersOf(node);
      const kubelet = await node.kubelet();
      const registrar = start(flag.replaceAll("PLUGINS", dirname(dirname(csiAddress("*")))));
      for (const number of [0, 1, 2, 3]) await add(nameOf(number));
      await allRegistered(kubelet, expected.map(nameOf));
      if (expected.length < 4)
        await registrar.line("CSI driver is not to be registered by this registrar", { nth: 2 });
      expect(socketsIn(node)).toEqual(expected.map(nameOf).map(socketOf));
    }),
  );
});

describe("what cannot be meant ends it with 1, and a line that says why", () => {
  test.each([
    [pair("/p/x*y*/s"), "a segment can have one '*' only"],
    [pair("/p/**/s"), "a segment can have one '*' only"],
    [pair("/p/*/s", "/h/a/s"), "each '*' must stand for the same in both"],
    [pair("/p/a/s", "/h/*/s"), "each '*' must stand for the same in both"],
    [pair("/p/?/s", "/h/*/s"), "each '*' must stand for the same in both"],
    [[...pair("/p/*/s", "/h/*/s"), "--csi-address=/q/*/s"], "each needs its own"],
    [pair("p/*/s", "/h/*/s"), "not a unix socket path"],
    [pair("'/p/*/s'", "/h/*/s"), "not a unix socket path"],
    [pair("/p/*/s", "h/*/s"), "a pattern must be an absolute path"],
    [pair("/p/*/s", "unix:///h/*/s"), "a pattern must be an absolute path"],
    [pair("/p/../*/s", "/h/*/s"), "no empty, '.' or '..' segment"],
    [pair("/p//*/s", "/h/*/s"), "no empty, '.' or '..' segment"],
    [pair(`/${"p".repeat(107)}/*`, "/h/*"), "too long"],
    [[...pair("/p/*/s"), "--driver-gone-after=-1s"], "driver-gone-after must not be negative"],
    [[...pair("/p/*/s"), "--driver-gone-after=1000h"], "driver-gone-after must be 24 days at most"],
    [[...pair("/p/*/s"), "--timeout=0s"], "timeout must be more than 0"],
    [
      [...pair("/p/*/s"), "--remove-startup-taint=a"],
      "for the driver's name, as in {driver}/agent-not-ready",
    ],
    [[...pair("/p/*/s"), "--node-condition=a"], "for the driver's name, as in {driver}/Registered"],
  ])(
    "%j",
    onNode(async (node, flags, why) => {
      const registrar = node.cli([`--plugin-registration-path=${node.pluginDir}`, ...flags]);
      expect(await registrar.exit()).toEqual({ code: 1, signal: null });
      expect(registrar.stderr).toContain(why);
      expect(node.files()).toEqual([]);
    }),
  );
});
