import { type Deployment, isTemplate, type ManifestFacts } from "../deployment";
import { type Check, problem } from "../finding";
import { grouped } from "../grouped";

export const manifestDuplicates: Check<ManifestFacts> = {
  code: "CSI110",
  name: "manifest-duplicates",
  asks: "Whether two DaemonSets register the same driver socket.",
  matters: "Two registrars of one driver on a node take the registration from each other.",
  fix: "Leave one of them. Where they are for different nodes, by their node selectors, this is no fault: apply them apart.",
  verdicts: ({ deployments }) => {
    const pathOf = ({ settings }: Deployment) => settings.kubeletRegistrationPath;
    const daemonSets = deployments.filter(
      (one) => one.objectKind === "DaemonSet" && pathOf(one) !== "" && !isTemplate(pathOf(one)),
    );
    return [...grouped(daemonSets, pathOf)].map(([path, ones]) => {
      const places = ones.map(({ place }) => place).join(" and ");
      return ones.length > 1 ? problem(places, `both register ${path}`, "leave one of them") : undefined;
    });
  },
};
