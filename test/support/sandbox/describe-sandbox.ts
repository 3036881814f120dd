import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { httpOf } from "../../end-to-end/support/http";
import { DRIVER, nodeTest, refused, registered, type TestNode } from "../../end-to-end/support/node";
import type { CliProcess } from "../../end-to-end/support/process";
import { eventually } from "../eventually";
import { watchNames } from "../owned-socket";
import { ENTRY } from "./image-root";
import { createSandbox, pidInside, REGISTRAR } from "./sandbox";

/** The tests of a root folder with the CLI in it, confined as examples/daemonset.yaml says, on a simulated node. */
export function describeSandbox(rootFolder: () => string): void {
  const podTest = (name: string, access: "ro" | "rw", body: (pod: Pod) => Promise<void>) =>
    nodeTest(name, (node) => body(makePod(node, rootFolder(), access)));

  podTest("registers, serves, answers exec probes, and leaves nothing", "ro", async (pod) => {
    const { node } = pod;
    const kubelet = await node.kubelet();
    const registrar = pod.registrar("--timeout=1m"); // A slow machine is no slow driver.
    const http = await httpOf(registrar);
    expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" });
    await node.driver({ csiAddress: endpointOf(node) });
    expect(await registered(kubelet)).toMatchObject({ driverName: DRIVER, endpoint: endpointOf(node) });
    await registrar.reached("registered");

    expect(await http.get("/readyz")).toMatchObject({ status: 200 });
    expect((await http.get("/metrics")).body).toContain(`registrar_registered{driver_name="${DRIVER}"} 1\n`);
    for (const mode of ["health-probe", "ready-probe"] as const) {
      const probe = pod.probe(registrar, mode);
      expect([mode, await probe.exit(), probe.stderr]).toEqual([mode, { code: 0, signal: null }, ""]);
    }

    expect(await registrar.stop()).toEqual({ code: 0, signal: null });
    expect(node.files()).toEqual([]);
    expect(readFileSync(node.terminationLogPath, "utf8")).toBe("");
    // Nothing was amiss with less than what it has elsewhere.
    expect(registrar.lines().filter(({ severity }) => severity !== "I")).toEqual([]);
  });

  podTest("has no capability, gains none, and is the first process", "ro", async (pod) => {
    const registrar = pod.registrar();
    await registrar.line("HTTP server started");
    const pid = pidInside(registrar.pid);
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, "m").exec(status)?.[1];
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
      expect([set, field(set)]).toEqual([set, "0000000000000000"]);
    expect(field("NoNewPrivs")).toBe("1");
    expect(field("NSpid")?.split(/\s+/).at(-1)).toBe("1");
    const mounts = readFileSync(`/proc/${pid}/mounts`, "utf8");
    const writable = Array.from(mounts.matchAll(/^\S+ (?!\/proc)(\S+) \S+ rw\b/gm), ([, path]) => path);
    expect(writable.sort()).toEqual(["/dev/termination-log", "/registration"]);
  });

  podTest("a refusal's reason is in the termination log", "ro", async (pod) => {
    const { node } = pod;
    await node.driver({ csiAddress: endpointOf(node) });
    const kubelet = await node.kubelet({ faults: [{ kind: "refuse", error: "not on this node" }] });
    const registrar = pod.registrar("--on-registration-failure=exit");
    await refused(kubelet);
    expect(await registrar.exit()).toEqual({ code: 1, signal: null });
    expect(readFileSync(node.terminationLogPath, "utf8")).toContain("not on this node");
    expect(node.files()).toEqual([]);
  });

  podTest("where it could write, it does not, and in /registration only its socket", "rw", async (pod) => {
    const { node } = pod;
    const kubelet = await node.kubelet();
    await node.driver({ csiAddress: endpointOf(node) });
    const before = tracesIn(rootFolder());
    using names = watchNames(node.pluginDir);
    const registrar = pod.registrar();
    await registered(kubelet);
    await registrar.reached("registered");
    await (await httpOf(registrar)).get("/metrics");
    expect(await pod.probe(registrar, "ready-probe").exit()).toMatchObject({ code: 0 });
    expect(await registrar.stop()).toMatchObject({ code: 0 });
    expect(tracesIn(rootFolder())).toEqual(before);
    // Events come in order: what is before this one has been noted when it is.
    mkdirSync(join(node.pluginDir, "the-end"));
    await eventually(() => expect(names.all).toContain("the-end"));
    rmdirSync(join(node.pluginDir, "the-end"));
    const seen = new Set(names.all.filter((name) => !name.startsWith(".reg-")));
    expect([...seen]).toEqual([`${DRIVER}-reg.sock`, "the-end"]);
  });
}

/** The driver's socket in a folder of its own, which is all that the registrar has of it. */
const endpointOf = (node: TestNode) => join(dirname(node.csiAddress), "plugin", "csi.sock");

type Pod = ReturnType<typeof makePod>;

/** A test node whose registrar lives in a sandbox. */
function makePod(node: TestNode, rootFolder: string, root: "ro" | "rw") {
  const plugin = dirname(endpointOf(node));
  const tools = join(dirname(node.csiAddress), "tools");
  mkdirSync(plugin);
  mkdirSync(tools);
  const mounts = {
    volumes: { "/csi": plugin, "/registration": node.pluginDir },
    terminationLog: node.terminationLogPath,
  };
  const sandbox = createSandbox(rootFolder, mounts, { tools, root });
  const args = REGISTRAR.args
    .map((arg) => arg.replace(/^(--kubelet-registration-path)=.*/, `$1=${endpointOf(node)}`))
    .map((arg) => arg.replace(/^(--http-endpoint)=.*/, "$1=127.0.0.1:0"));
  return {
    node,
    /** Starts the DaemonSet's container with its own arguments, except the port and the host's path of the driver. */
    registrar: (...flags: readonly string[]) =>
      node.cli([...args, ...flags], {}, { command: sandbox.run(ENTRY), pidOf: pidInside }),
    probe: (registrar: CliProcess, mode: "health-probe" | "ready-probe") =>
      node.cli([...args, `--mode=${mode}`], {}, { command: sandbox.exec(registrar.pid, ENTRY) }),
  };
}

/** Everything below a root, with what a write changes; what was made and removed again leaves its time on the folder. */
function tracesIn(root: string): readonly string[] {
  return ["", ...readdirSync(root, { recursive: true, encoding: "utf8" }).sort()].map((path) => {
    const { mode, size, ino, ctimeNs } = lstatSync(join(root, path), { bigint: true });
    return [`/${path}`, mode.toString(8), size, ino, ctimeNs].join(" ");
  });
}
