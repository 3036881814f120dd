import { type Deployment, isTemplate, type ManifestFacts } from "../deployment";
import { type Check, problem } from "../finding";
import { grouped } from "../grouped";
import { mayMeet } from "../node-rules";
import { together } from "../words";

export const manifestDuplicates: Check<ManifestFacts> = {
  code: "CSI110",
  name: "manifest-duplicates",
  verdicts: ({ deployments }) => {
    const pathOf = ({ settings }: Deployment) => settings.kubeletRegistrationPath;
    const daemonSets = deployments.filter(
      (one) => one.objectKind === "DaemonSet" && pathOf(one) !== "" && !isTemplate(pathOf(one)),
    );
    return [...grouped(daemonSets, pathOf)].map(([path, group]) => {
      const ones = mayMeet(group);
      const [places, all] = together(ones.map(({ place }) => place));
      return ones.length > 1 ? problem(places, `${all} register ${path}`, "leave one of them") : undefined;
    });
  },
};
