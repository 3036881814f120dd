import { readFileSync } from "node:fs";

export interface Report {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  /** Those that found at their start that this cluster lacks something. */
  readonly skipped: readonly string[];
  readonly seconds: number;
}

interface Suite {
  readonly RunTime: number;
  readonly SpecReports: readonly {
    readonly LeafNodeType: string;
    readonly ContainerHierarchyTexts: readonly string[] | null;
    readonly LeafNodeText: string;
    readonly State: string;
    readonly Failure?: { readonly Message: string };
  }[];
}

/** Reads ginkgo's report in JSON. Tests that were not chosen are in it as skipped, without a reason. */
export function readReport(file: string): Report {
  const suites = JSON.parse(readFileSync(file, "utf8")) as readonly Suite[];
  const specs = suites.flatMap((suite) => suite.SpecReports);
  const named = (isMeant: (spec: Suite["SpecReports"][number]) => boolean) =>
    specs
      .filter(isMeant)
      .map(({ ContainerHierarchyTexts, LeafNodeText }) =>
        [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(" ").trim(),
      )
      .sort();
  return {
    passed: named(({ LeafNodeType, State }) => LeafNodeType === "It" && State === "passed"),
    failed: named(({ State }) => !["passed", "skipped", "pending"].includes(State)),
    skipped: named(({ State, Failure }) => State === "skipped" && Boolean(Failure?.Message)),
    seconds: Math.round(suites.reduce((sum, { RunTime }) => sum + RunTime, 0) / 1e9),
  };
}
