// Which tables of measurements are older than what they measure: npm run stale-figures, every week. A table is stale if it
// is a week older than a change of its method, or a month older than one of the code. Needs the repository's history.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const PAGES = ["docs/measurements.md", "bench/NOTES.md"];
const METHOD_DAYS = 7;
const CODE_DAYS = 30;
const RUNS_ON_A_NODE = ["src", ":!src/tools", ":!src/simulator", ":!src/kubelet-rules"];

/** What each command measures by, and what it measures. A command that is not here fails. */
const MEASURED = {
  "npm run bench": { method: ["bench/performance", "bench/support"], code: RUNS_ON_A_NODE },
  "npm run bench:reliability": { method: ["bench/reliability", "bench/support"], code: RUNS_ON_A_NODE },
  "npm run bench:hostile": {
    method: ["bench/hostile", "bench/support"],
    code: ["src/grpc", "src/diagnostics/http"],
  },
  "npm run bench:pull": {
    method: ["bench/pull.ts"],
    code: ["Dockerfile", "scripts/release", "package-lock.json"],
  },
  "npm run test:cluster": { method: ["test/cluster/suite"], code: RUNS_ON_A_NODE },
  "npm run test:storage": { method: ["test/storage-tests"], code: RUNS_ON_A_NODE },
  "npm run interop": {
    method: ["test/interop", "test/kubelet/program/versions", "test/drivers/support/servers.ts"],
    code: RUNS_ON_A_NODE,
  },
  "npm run test:mutation": { method: ["test/mutation"], code: ["src"] },
  "npm run soak": { method: ["bench/soak"], code: RUNS_ON_A_NODE },
};

/** The tables of a page that are stale; `changedOn(paths)` is the day, YYYY-MM-DD, on which one of these files last changed. */
export function staleTables(page, changedOn) {
  return Array.from(
    page.matchAll(/<!-- figures: written by (.*?) -->(.*?)<!-- end of figures \w+ -->/gs),
  ).flatMap(([, command, table]) => {
    const { method, code } = MEASURED[command.split(" -- ")[0]] ?? {};
    const [day] = /\d{4}-\d\d-\d\d/.exec(table) ?? [];
    if (method === undefined || day === undefined) return [`${command}: what does it measure, and when?`];
    const after = (days) => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
    const [methodOn, codeOn] = [changedOn(method), changedOn(code)];
    if (methodOn > after(METHOD_DAYS))
      return [`${command}: measured on ${day}, its method changed on ${methodOn}`];
    return codeOn > after(CODE_DAYS) ? [`${command}: measured on ${day}, the code changed on ${codeOn}`] : [];
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const changedOn = (paths) =>
    execFileSync("git", ["log", "-1", "--format=%cs", "--", ...paths], { encoding: "utf8" }).trim();
  const stale = PAGES.flatMap((page) => staleTables(readFileSync(page, "utf8"), changedOn));
  for (const line of stale) process.stdout.write(`${line}\n`);
  process.exitCode = stale.length > 0 ? 1 : 0;
}
