import { readFileSync } from "node:fs";
import { grid, writeFigures } from "../../../bench/figures";
import { KUBERNETES_VERSION } from "../../cluster/support/build";
import { BREAKAGES, type Plan, type Report, type Selection } from "./selection";

export interface Outcome extends Report {
  readonly kubernetes: string;
  readonly conditions: string;
  readonly leftOut: readonly (readonly [why: string, tests: number])[];
  readonly selection: Selection["name"];
  readonly registrar: "ours" | "official";
  readonly breaking: Plan["breaking"];
  readonly registrars: Readonly<Record<string, Registrars>>;
  readonly endings: readonly string[];
}
export type Registrars = Readonly<Record<"containers" | "restarts", number>>;

const SELECTIONS: Readonly<Record<string, string>> = {
  all: "all",
  quick: "subset",
  external: "of any driver, for examples/driver, served by `serveCsiDriver`",
};
const BREAKAGE_TITLES: Readonly<Record<Plan["breaking"], string>> = {
  none: "",
  sockets: ", every registration socket removed every 4 s",
  restarts: ", registrars killed every 30 s, kubelet every 2 minutes",
};

const titleOf = ({ selection = "", breaking }: Pick<Outcome, "selection" | "breaking">) =>
  `${SELECTIONS[selection] ?? selection}${BREAKAGE_TITLES[breaking]}`;

export function describe(outcome: Outcome): string {
  return [
    ...outcome.failed.map((name) => `failed: ${name}`),
    ...Object.entries(outcome.registrars).map(
      ([image, { containers, restarts }]) => `registrars: ${containers} of ${image}, ${restarts} restarts`,
    ),
    ...outcome.endings.map((ending) => `a registrar was restarted after exit code ${ending}`),
    `Kubernetes ${outcome.kubernetes}, ${outcome.registrar}, ${titleOf(outcome)}: passed ${passedOf(outcome)}, in ${outcome.seconds} s`,
  ].join("\n");
}

/** Skipped are those that found at their start that they are not for this driver or cluster. */
const passedOf = ({ passed, failed, skipped }: Report) =>
  `${passed.length} of ${passed.length + failed.length}${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`;

/** Writes those figures whose release is in a file of outcomes; leaves the others as they are. */
export function writePage(outcomesFile: string): void {
  const lines = readFileSync(outcomesFile, "utf8").trim().split("\n");
  const all = lines.map((line) => JSON.parse(line) as Outcome).filter(({ selection }) => selection);
  for (const kubernetes of new Set(all.map((one) => one.kubernetes))) {
    const outcomes = all.filter((one) => one.kubernetes === kubernetes);
    const { conditions = "", leftOut = [] } = outcomes.at(-1) ?? {};
    const figures = [
      conditions.replace("Played", "The last of these runs was played"),
      table(outcomes),
      `Left out: ${leftOut.map(([why, tests]) => `${tests} ${why}`).join("; ")}.`,
    ].join("\n\n");
    const isDefault = kubernetes === KUBERNETES_VERSION;
    const command = `npm run test:storage${isDefault ? "" : ` -- --kubernetes ${kubernetes}`}`;
    writeFigures(command, figures);
  }
}

function pairsOf(outcomes: readonly Outcome[]) {
  const all = Object.keys(SELECTIONS).flatMap((selection) =>
    BREAKAGES.map((breaking) => titleOf({ selection, breaking })),
  );
  return all.flatMap((title) => {
    const last = (registrar: Outcome["registrar"]) =>
      outcomes.findLast((one) => titleOf(one) === title && one.registrar === registrar);
    const [ours, official] = [last("ours"), last("official")];
    return ours || official ? [{ title, ours, official }] : [];
  });
}

function table(outcomes: readonly Outcome[]): string {
  const countsOf = ({ registrars }: Outcome) =>
    Object.values(registrars).map(({ containers, restarts }) => `${containers}, ${restarts}`);
  const rows = pairsOf(outcomes).map(({ title, ours, official }) => {
    const both = (tell: (outcome: Outcome) => string) =>
      [ours, official].map((one) => (one ? tell(one) : "-"));
    const registrars = both((one) => countsOf(one).join("; ") || "-");
    return [title, ...both(passedOf), ...both(({ seconds }) => `${seconds} s`), ...registrars];
  });
  const measures = ["passed, ours", "time, ours", "registrars and restarts, ours"];
  return grid(["tests", ...measures.flatMap((measure) => [measure, "official"])], rows);
}
