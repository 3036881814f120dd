import { execFileSync } from "node:child_process";
import { cpus, loadavg, release, totalmem } from "node:os";

const version = (program: string) =>
  execFileSync(program, ["--version"], { encoding: "utf8" }).trim().split(" ").at(-1);

/** What the figures depend on. The load average is taken at this call and at the call of what is returned. */
export function watchConditions(node: string, official: string | undefined): () => string {
  const load = () => (loadavg()[0] ?? 0).toFixed(1);
  const before = load();
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "CPU"}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  return () =>
    [
      `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}, Linux ${release().split("-")[0]}, Node`,
      `${version(node)}, official ${official === undefined ? "absent" : version(official)}. Load average ${before} before,`,
      `${load()} after: the measurement itself is part of it.`,
    ].join("\n");
}
