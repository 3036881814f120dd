import { isPattern } from "../../../host-path/path-pattern";
import { problem, type Verdict, warning } from "../../findings/finding";
import { isTemplate } from "../../rules/objects";
import { type Deployment, onHost, type ProbeFacts } from "../deployment";

const OFFICIAL_MODE = "kubelet-registration-probe";

/** Judges a probe that runs the registrar itself; of another program's nothing is known. */
export function judgeExecProbe(probe: ProbeFacts, deployment: Deployment): Verdict | undefined {
  const { kind, command, settings } = probe;
  const { place, isOfficial } = deployment;
  const mode = command.map((word) => /^--?mode=(.*)$/.exec(word)?.[1]).find((value) => value !== undefined);
  const isSecond = isOfficial && mode !== undefined && mode !== OFFICIAL_MODE && !isTemplate(mode);
  if (settings !== undefined && isSecond)
    return problem(
      place,
      `has a ${kind} with --mode=${mode}, for which the official registrar starts a second one`,
      "use --http-endpoint and an httpGet on /healthz, or this registrar's image",
    );
  const failure = settings && judgeWords({ ...probe, settings }, deployment);
  if (failure !== undefined) return failure;
  return mode === OFFICIAL_MODE
    ? warning(
        place,
        `has a ${kind} with --mode=${mode}, which proves nothing`,
        `use --http-endpoint and an httpGet on /healthz${isOfficial ? "" : ", or --mode=health-probe"}`,
      )
    : undefined;
}

type OwnProbe = ProbeFacts & { readonly settings: Deployment["settings"] };

function judgeWords(probe: OwnProbe, deployment: Deployment): Verdict | undefined {
  const { kind, settings } = probe;
  const { place, isOfficial } = deployment;
  const { refusal, kubeletRegistrationPath: asked } = settings;
  switch (settings.task) {
    case undefined:
      return refusal === undefined || isTemplate(refusal.problem)
        ? undefined
        : problem(place, `has a ${kind} that always fails: ${refusal.problem}`, refusal.advice);
    case "register":
      return isOfficial
        ? undefined
        : problem(place, `has a ${kind} that starts a second registrar`, "add --mode=health-probe");
    case "probe":
      if (asked === "" && isInContainer(deployment))
        return problem(
          place,
          `has a ${kind} that always fails: kubelet-registration-path is a required parameter`,
          "add the container's --kubelet-registration-path to it",
        );
      return isOfficial ? undefined : judgePaths(probe, deployment);
    default:
      return undefined;
  }
}

/** Elsewhere the registrar's paths have defaults. */
function isInContainer({ mounts, isOfficial }: Deployment): boolean {
  return isOfficial || mounts.some(({ mountPath }) => mountPath === "/registration");
}

/** A probe with other paths than the container's asks about another driver, or none. */
function judgePaths({ kind, settings: asked }: OwnProbe, deployment: Deployment): Verdict | undefined {
  const { place, unseen, mounts, settings: own } = deployment;
  if (unseen !== undefined || own.refusal !== undefined || asked.refusal !== undefined) return undefined;
  const [path, ownPath] = [asked.kubeletRegistrationPath, own.kubeletRegistrationPath];
  const isKnown =
    path !== "" && ownPath !== "" && ![path, ownPath].some((one) => isTemplate(one) || isPattern(one));
  if (isKnown && path !== ownPath)
    return problem(
      place,
      `has a ${kind} that asks about ${path}, and the registrar tells kubelet ${ownPath}`,
      "give both the same --kubelet-registration-path",
    );
  const folders = [asked.pluginRegistrationPath, own.pluginRegistrationPath];
  const [folder, ownFolder] = folders.map((one) => onHost(one, mounts) ?? one);
  return folder !== ownFolder && !folders.some(isTemplate)
    ? problem(
        place,
        `has a ${kind} that looks in ${folders[0]}, and the registrar's socket is in ${folders[1]}`,
        "give both the same --plugin-registration-path",
      )
    : undefined;
}
