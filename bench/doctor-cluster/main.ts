// npm run bench:doctor-cluster: time and memory of `registrar doctor --cluster` at a real API server with a large cluster.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPrograms } from "../../test/cluster/support/build";
import { startControlPlane } from "../../test/cluster/support/control-plane";
import { createApiWriter } from "../../test/support/api-writer";
import { makeFleet } from "./fleet";

const CLI = join(__dirname, "..", "..", "dist", "cli.js");
const RUNS = 5;
const EVERY_MS = 20;
const size = { nodes: Number(process.argv[2] ?? 5_000), drivers: 5, otherPods: 2, attachments: 20_000 };

const say = (text: string) =>
  void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

/** The most memory that a process has had so far, in MB; undefined where it is gone. */
function peakOf(pid: number): number | undefined {
  try {
    const [, kB] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kB === undefined ? undefined : Number(kB) / 1024;
  } catch {
    return undefined;
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")
        .trim()
        .split(" ")
        .filter(Boolean)
        .map(Number),
    );
  } catch {
    return [];
  }
}

/** One run: its time, and the peaks of the doctor and of kubectl. */
async function run(kubeconfig: string, words: readonly string[]) {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [CLI, "doctor", "--cluster", `--kubeconfig=${kubeconfig}`, ...words],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let bytes = 0;
  let end = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    bytes += text.length;
    end = (end + text).slice(-200);
  });
  let [doctor, kubectl] = [0, 0];
  const timer = setInterval(() => {
    doctor = Math.max(doctor, peakOf(child.pid ?? 0) ?? 0);
    for (const pid of childrenOf(child.pid ?? 0)) kubectl = Math.max(kubectl, peakOf(pid) ?? 0);
  }, EVERY_MS);
  const code = await new Promise((resolve) => child.once("close", resolve));
  clearInterval(timer);
  const seconds = (performance.now() - began) / 1000;
  return { seconds, doctor, kubectl, code, bytes, last: end.trim().split("\n").at(-1) };
}

async function main(): Promise<void> {
  await buildPrograms(say);
  const folder = mkdtempSync(join(tmpdir(), "fleet-"));
  const controlPlane = await startControlPlane({
    folder,
    // Filled as fast as it takes it; what is measured is one reader.
    apiServerFlags: ["--max-mutating-requests-inflight=400", "--event-ttl=6h"],
  });
  try {
    using writer = createApiWriter(controlPlane);
    await makeFleet(writer, size, say);
    const kubeconfig = controlPlane.kubeconfig("admin");
    for (const words of [[], ["-o", "json"], ["--node=node-00007"], ["--driver=disk-0.csi.example.com"]])
      for (let n = 0; n < RUNS; n++) {
        const { seconds, doctor, kubectl, code, bytes, last } = await run(kubeconfig, words);
        const memory = `doctor ${doctor.toFixed(0)} MB, kubectl ${kubectl.toFixed(0)} MB`;
        say(
          `${words.join(" ") || "text"}: ${seconds.toFixed(1)} s, ${memory}, exit ${code}, ${bytes} bytes, ${last}`,
        );
      }
    if (process.argv[3] === "stay") {
      say(`KUBECONFIG=${kubeconfig}`);
      await new Promise((resolve) => process.once("SIGTERM", resolve));
    }
  } finally {
    await controlPlane.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

void main();
