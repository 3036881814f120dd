import { execFileSync } from "node:child_process";
import { cpus, loadavg, release } from "node:os";
import { writeFigures } from "../../../bench/figures";
import { KUBERNETES_VERSION } from "./build";
import { imageNode } from "./images";
import { rolesOf } from "./play";
import { outcomeTable, readOutcomes, triesTable } from "./results";
import { SCENARIOS } from "./scenarios";

/** Writes the figures if something was kept in the file. */
export function writePage(outcomesFile: string): void {
  const outcomes = readOutcomes(outcomesFile);
  const titles = [...new Set(SCENARIOS.flatMap(rolesOf).map(({ title }) => title))];
  if (!outcomes.some(({ title }) => titles.includes(title))) return;
  const pods =
    "A pod with an inline volume and no toleration, created before its driver, which the node had never had:";
  const figures = [conditions(), outcomeTable(titles, outcomes), pods, triesTable(outcomes)];
  writeFigures("npm run test:cluster", figures.join("\n\n"));
}

export function conditions(kubernetes = KUBERNETES_VERSION): string {
  const day = new Date().toISOString().slice(0, 10);
  const first = (program: string, ...words: readonly string[]) =>
    execFileSync(program, words, { encoding: "utf8" }).split("\n", 1)[0] ?? "";
  const [containerd, runc] = ["containerd", "runc"].map((one) =>
    /\d+\.\d+\.\d+/.exec(first(one, "--version")),
  );
  return [
    `Played on ${day}: Kubernetes ${kubernetes}, containerd ${containerd}, runc ${runc}, Linux ${release()},`,
    `${cpus().length} processors (load ${loadavg()[1]?.toFixed(1)} at the end), Node ${first(imageNode(), "--version").slice(1)} in our image.`,
  ].join("\n");
}
