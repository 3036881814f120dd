import { invalidOption } from "../../../base/errors";
import type { AddedArgument } from "../../../manifest/image-policy/changes";
import { RAISES } from "../../../manifest/image-policy/changes";
import {
  dropPolicy,
  IMAGE_POLICY_MINOR,
  type PolicyScope,
  swapPolicy,
} from "../../../manifest/image-policy/image-policy";
import type { NodeAccessOptions } from "../../../manifest/node-access";
import type { Part } from "../../../manifest/options";
import { makeNodeWideManifests } from "../../../manifest/parts";
import { streamOf } from "../../../manifest/template";
import { listFlag, parseChoice, switchFlag, textFlag } from "../../command-flags";
import { camelCase, type FlagValues } from "../../command-line";
import { sidecarArguments } from "./sidecar-argument";

const withPolicy = { implies: "image-policy" } as const;

export const IMAGE_POLICY_FLAGS = {
  "image-policy": switchFlag(
    "a policy that gives every chart's registrar this image; the flags below are its",
  ),
  "match-image": {
    ...listFlag("last part of one more image name that is a registrar's, repeatable", String),
    ...withPolicy,
  },
  "namespace-label": { ...textFlag("only namespaces with this label: KEY, KEY=VALUE"), ...withPolicy },
  arg: {
    ...listFlag("argument for each registrar without that flag, repeatable, written --arg=--v=2", String),
    ...withPolicy,
  },
  keep: {
    ...listFlag(`what not to raise, separated by commas: ${RAISES.join(", ")}`, (text) =>
      text.split(",").map((word) => parseChoice(word, RAISES)),
    ),
    ...withPolicy,
  },
  drop: {
    ...switchFlag("take the registrars out of the pods instead, with one registrar for the whole node"),
    ...withPolicy,
  },
} as const;

interface Values extends FlagValues<typeof IMAGE_POLICY_FLAGS> {
  readonly image: string;
  readonly name?: string | undefined;
  readonly namespace?: readonly string[] | undefined;
  readonly httpPort?: number | undefined;
}

interface Context {
  readonly kubeletRoot: string | undefined;
  readonly parts: readonly Part[] | undefined;
  readonly access: NodeAccessOptions | undefined;
}

/** Flags of the other forms, and those of one of the policy's two. */
const NEVER = ["node-wide", "allow-drivers", "unconfined"];
const WITHOUT_DROP = ["include", "distribution", "kubelet-root", "http-port"];
const WITH_DROP = ["arg", "keep"];

/** Writes the policy, and with `--drop` the DaemonSet that serves the node before it. Throws INVALID_OPTION. */
export function makeImagePolicy(values: Values, flagsOfDrivers: readonly string[], context: Context): string {
  const { image, name, namespace: namespaces = [], matchImage: matchImages = [], drop = false } = values;
  const refused = [...flagsOfDrivers, ...NEVER, ...(drop ? WITH_DROP : WITHOUT_DROP)];
  const given = refused.find((flag) => values[camelCase(flag) as keyof Values] !== undefined);
  if (given !== undefined)
    throw invalidOption(`--${given} means nothing with --image-policy${drop ? " --drop" : ""}`);
  const scope: PolicyScope = { name, matchImages, namespaces, namespaceLabel: values.namespaceLabel };
  const { kubeletRoot, parts, access } = context;
  if (drop) {
    const nodeWide = { image, name, kubeletRoot, httpPort: values.httpPort };
    return `${makeNodeWideManifests(nodeWide, parts, access)}---\n${streamOf(dropPolicy({ ...scope, image, kubeletRoot }))}`;
  }
  const args = [...sidecarArguments(values.arg ?? []), ...readinessArguments(access)];
  return streamOf(swapPolicy({ ...scope, image, args, keep: values.keep?.flat() ?? [] }));
}

/** The flags that ask the API server; a container without a token would end because of them. */
function readinessArguments(access: NodeAccessOptions | undefined): readonly AddedArgument[] {
  const { startupTaints = [], condition } = access ?? {};
  const taints = startupTaints.map(
    ({ key, effect }) => `--remove-startup-taint=${effect ? `${key}:${effect}` : key}`,
  );
  const rows = [
    { words: taints, unless: ["remove-startup-taint"] },
    { words: condition === undefined ? [] : [`--node-condition=${condition}`], unless: ["node-condition"] },
  ];
  return rows.filter(({ words }) => words.length > 0).map((row) => ({ ...row, needsToken: true }));
}

/** Throws INVALID_OPTION for a cluster without the policy. */
export function checkPolicyVersion(minor: number | undefined): void {
  if (minor === undefined || minor >= IMAGE_POLICY_MINOR) return;
  throw invalidOption(
    `Kubernetes 1.${minor} has no MutatingAdmissionPolicy v1: it comes with 1.${IMAGE_POLICY_MINOR}; change the image in each chart`,
  );
}
