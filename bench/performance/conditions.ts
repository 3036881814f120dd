import { execFileSync } from "node:child_process";
import { cpus, loadavg, release, totalmem } from "node:os";

const version = (program: string) => execFileSync(program, ["--version"], { encoding: "utf8" }).trim();

/** The machine, its system and the Node at this path, in a few words. */
export function describeMachine(node: string): string {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "CPU"}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${machine}, Linux ${release().split("-")[0]}, Node ${version(node)}`;
}

/** What the figures depend on. The load average is taken at this call and at the call of what is returned. */
export function watchConditions({
  node,
  official,
}: {
  readonly node: string;
  readonly official: string | undefined;
}): () => string {
  const load = () => (loadavg()[0] ?? 0).toFixed(1);
  const before = load();
  const officialVersion = official === undefined ? "absent" : version(official).split(" ").at(-1);
  return () =>
    [
      `Measured on ${new Date().toISOString().slice(0, 10)}: ${describeMachine(node)},`,
      `official ${officialVersion}. Load average ${before} before, ${load()} after: the bench itself is part of it.`,
      "In brackets: between what the middle half of the samples lies.",
    ].join("\n");
}
