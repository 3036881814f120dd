import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { startCsiDriver, startKubelet } from "../../src/testing";
import { startChildProcess } from "../support/child-process";
import { createNodeFolder } from "../support/node-folder";
import { whereIs } from "../support/sandbox/program-files";
import { ROOT } from "./support/packed-package";

/** Where Debian's packages for cross-building put an architecture's C library, libstdc++ and libatomic. */
const LIBRARIES = { s390x: "s390x-linux-gnu", ppc64le: "powerpc64le-linux-gnu" } as const;
const EMULATED_MS = 300_000;
/** The newest that npm has for both. */
const NODE = "20.11.0";
const NAME = "disk.csi.example.com";
const { CROSS_ROOT = "/usr" } = process.env;
const CACHE = join(ROOT, "node_modules", ".cache", "emulated");

/** The command that runs Node of that architecture here; undefined without QEMU or the libraries. */
function emulatedNode(architecture: keyof typeof LIBRARIES): readonly string[] | undefined {
  const qemu =
    whereIs(`qemu-${architecture}-static`) ?? join(CROSS_ROOT, "bin", `qemu-${architecture}-static`);
  const libraries = join(CROSS_ROOT, LIBRARIES[architecture]);
  if (!existsSync(qemu) || !existsSync(join(libraries, "lib", "libatomic.so.1"))) return undefined;
  const folder = join(CACHE, `node-${architecture}`);
  if (!existsSync(join(folder, "package", "bin", "node"))) {
    mkdirSync(folder, { recursive: true });
    const options = { cwd: folder, encoding: "utf8" } as const;
    const packed = execFileSync("npm", ["pack", "--silent", `node-linux-${architecture}@${NODE}`], options);
    execFileSync("tar", ["-xzf", packed.trim(), "package/bin/node"], options);
  }
  return [qemu, "-L", libraries, join(folder, "package", "bin", "node")];
}

/** S390x has its bytes in the other order. */
describe.each(Object.keys(LIBRARIES) as readonly (keyof typeof LIBRARIES)[])(
  "an emulated %s",
  (architecture) => {
    const [qemu = "", ...words] = emulatedNode(architecture) ?? [];
    // Kubelets up to 1.28 send a path as :authority, which the guard rewrites within the frame.
    const versions = ["1.28", "1.37"] as const;

    (qemu === "" ? test.skip : test).each(versions)(
      "registers a driver with kubelet %s, by the bundle",
      async (version) => {
        await using node = await createNodeFolder();
        const csiAddress = node.at("csi.sock");
        await using _driver = await startCsiDriver({ csiAddress, name: NAME, nodeId: "ä-1" });
        await using kubelet = await startKubelet({ pluginRegistrationPath: node.pluginDir, version });
        const args = [`--csi-address=${csiAddress}`, `--kubelet-registration-path=${csiAddress}`];
        const cli = join(ROOT, "dist", "cli.js");
        const flags = [`--plugin-registration-path=${node.pluginDir}`, "-v=4"];
        await using registrar = await startChildProcess(qemu, [...words, cli, ...args, ...flags], String);
        await kubelet.registered(NAME, { timeoutMs: EMULATED_MS });
        expect(kubelet.csiNode().spec.drivers).toMatchObject([{ name: NAME, nodeID: "ä-1" }]);
        registrar.signal("SIGTERM");
        expect(await registrar.exited).toEqual({ code: 0, signal: null });
        expect(await node.visibleFiles()).toEqual([]);
      },
      EMULATED_MS,
    );
  },
);
