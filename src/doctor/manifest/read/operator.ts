import type { Tree } from "../../../kube-api/objects";

/** With a repository and a tag or digest: a name alone may be of anything. */
const OFFICIAL_IMAGE =
  /^[\w.-][\w.:-]*\/[\w./-]*node-driver-(?:win-)?registrar(?::[\w.-]+(?:@sha256:\w+)?|@sha256:\w+)$/;

/** The registrar's image that an operator has from a setting: a variable, a ConfigMap, its own resource. */
export function imageForOperator({ kind, spec, data }: Tree): string | undefined {
  // The schema of an operator's resource may have such images as defaults.
  return kind === "CustomResourceDefinition" ? undefined : imageIn([spec, data]);
}

function imageIn(value: unknown): string | undefined {
  if (typeof value === "string") return OFFICIAL_IMAGE.test(value) ? value : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const part of Object.values(value)) {
    const image = imageIn(part);
    if (image !== undefined) return image;
  }
  return undefined;
}
