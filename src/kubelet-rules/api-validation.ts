// What Kubernetes takes as a name: apimachinery's `pkg/util/validation`.

const LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
export const SUBDOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
export const MAX_LABEL_LENGTH = 63;
export const MAX_SUBDOMAIN_LENGTH = 253;
export const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const QUOTA_PREFIX = "requests.";

/** Whether it is a DNS label: `IsDNS1123Label`. */
export function isLabel(name: string): boolean {
  return name.length <= MAX_LABEL_LENGTH && !name.includes(".") && SUBDOMAIN.test(name);
}

/** Whether it is a DNS subdomain: `IsDNS1123Subdomain`. */
export function isSubdomain(name: string): boolean {
  return name.length <= MAX_SUBDOMAIN_LENGTH && SUBDOMAIN.test(name);
}

/** Whether a label can have this value, if it has any: the second part of a qualified name. */
export function isLabelValue(text: string): boolean {
  return text.length <= MAX_LABEL_LENGTH && NAME.test(text);
}

/** Whether it can be a label's or taint's key, or a condition's type: `NAME` or `DNS-NAME/NAME`, `IsQualifiedName`. */
export function isQualifiedName(text: string): boolean {
  const [name = "", prefix, ...more] = text.split("/").reverse();
  return more.length === 0 && isLabelValue(name) && (prefix === undefined || isSubdomain(prefix));
}

/**
 * Whether a device plugin may offer a resource of this name, such as `example.com/disk`: `IsExtendedResourceName` in
 * `pkg/apis/core/v1/helper/helpers.go`, which also checks the name that quota makes of it.
 */
export function isExtendedResource(name: string): boolean {
  const [prefix = "", ...names] = name.split("/");
  if (name.includes("kubernetes.io/") || prefix.startsWith(QUOTA_PREFIX)) return false;
  return names.length === 1 && isQualifiedName(QUOTA_PREFIX + name);
}

/** The annotation that maps driver names to node IDs, as JSON. Source: `nodeinfomanager.go`. */
export const NODE_ID_ANNOTATION = "csi.volume.kubernetes.io/nodeid";
