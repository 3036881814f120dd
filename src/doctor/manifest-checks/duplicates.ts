import { isTemplate, type ManifestFacts } from "../deployment";
import { type Check, problem } from "../finding";

export const manifestDuplicates: Check<ManifestFacts> = {
  code: "CSI110",
  name: "manifest-duplicates",
  asks: "Whether two DaemonSets register the same driver socket.",
  matters: "Two registrars of one driver on a node take the registration from each other.",
  fix: "Leave one of them. Where they are for different nodes, by their node selectors, this is no fault: apply them apart.",
  verdicts: ({ deployments }) => {
    const byPath = new Map<string, readonly string[]>();
    for (const { place, settings, objectKind } of deployments) {
      const path = settings.kubeletRegistrationPath;
      if (objectKind !== "DaemonSet" || path === "" || isTemplate(path)) continue;
      byPath.set(path, [...(byPath.get(path) ?? []), place]);
    }
    return [...byPath].flatMap(([path, places]) =>
      places.length > 1 ? [problem(places.join(" and "), `both register ${path}`, "leave one of them")] : [],
    );
  },
};
