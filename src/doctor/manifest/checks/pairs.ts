import { check, problem, type Verdicts } from "../../findings/finding";
import { grouped } from "../../findings/grouped";
import { LEAVE_ONE, together } from "../../rules/duplicates";
import { isTemplate } from "../../rules/objects";
import { mayMeet } from "../node-rules";
import type { Deployment, ManifestFacts } from "../read-deployments";
import { isForLinux } from "./each-deployment";

export const manifestPorts = check<ManifestFacts>("CSI109", "manifest-ports", ({ deployments }) => {
  const serving = deployments.filter(({ settings }) => (settings.http?.port ?? 0) !== 0);
  const keyOf = ({ place, settings, hostNetwork }: Deployment) =>
    `port ${settings.http?.port} of ${hostNetwork ? "the node" : place.replace(/, container .*$/s, "")}`;
  return judgePairs(serving, keyOf, "serve on", "give each another --http-endpoint");
});

export const manifestDuplicates = check<ManifestFacts>("CSI110", "manifest-duplicates", ({ deployments }) => {
  const pathOf = ({ settings }: Deployment) => settings.kubeletRegistrationPath;
  const daemonSets = deployments.filter(
    (one) => one.objectKind === "DaemonSet" && pathOf(one) !== "" && !isTemplate(pathOf(one)),
  );
  return judgePairs(daemonSets, pathOf, "register", LEAVE_ONE);
});

function judgePairs(
  ones: readonly Deployment[],
  keyOf: (one: Deployment) => string,
  verb: string,
  fix: string,
): Verdicts {
  return Array.from(grouped(ones.filter(isForLinux), keyOf), ([key, group]) => {
    const some = mayMeet(group);
    const [names, all] = together(some.map(({ place }) => place));
    return some.length > 1 ? problem(names, `${all} ${verb} ${key}`, fix) : undefined;
  });
}
