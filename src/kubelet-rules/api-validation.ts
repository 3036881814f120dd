import { quoteGo } from "../logging/escape";

// What Kubernetes takes as a name: apimachinery's `pkg/util/validation`.

const LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
const SUBDOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const MAX_LABEL_LENGTH = 63;
const MAX_SUBDOMAIN_LENGTH = 253;
const QUALIFIED = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
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
  return QUALIFIED.test(text);
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

const LABEL_KEY = "a label's key is a name of at most 63 characters, after a DNS prefix and '/' if wanted";
const LABEL_VALUE = "a label's value has letters, digits, '-', '_', '.', a letter or digit at both ends";
const DRIVER_NAME = "a driver's name has letters, digits, '-' and '.' only, as a DNS name has";

/**
 * Why the API server would reject a driver's topology as labels of a Node; undefined if it would not.
 * Source: `ValidateLabels` in apimachinery's `pkg/apis/meta/v1/validation/validation.go`.
 */
export function invalidLabels(
  nodeName: string,
  labels: Readonly<Record<string, string>>,
): string | undefined {
  const invalid = (value: string, rule: string) =>
    `Node ${quoteGo(nodeName)} is invalid: metadata.labels: Invalid value: ${quoteGo(value)}: ${rule}`;
  for (const [key, value] of Object.entries(labels)) {
    if (!isQualifiedName(key)) return invalid(key, LABEL_KEY);
    if (value.length > 63) return invalid(value, "must be no more than 63 bytes");
    if (value !== "" && !isLabelValue(value)) return invalid(value, LABEL_VALUE);
  }
  return undefined;
}

/**
 * Why the API server would reject this driver in a CSINode; undefined if it would not.
 * Source: `validateCSINodeDriver` in `pkg/apis/storage/validation/validation.go`.
 */
export function invalidCsiNodeDriver(
  nodeName: string,
  driver: { readonly name: string; readonly nodeId: string },
  maxNodeIdBytes: number,
): string | undefined {
  const { name, nodeId } = driver;
  if (name.length > 63) return invalidField(nodeName, "name", name, "must have at most 63 characters");
  if (!isSubdomain(name.toLowerCase())) return invalidField(nodeName, "name", name, DRIVER_NAME);
  return invalidNodeId(nodeName, nodeId, maxNodeIdBytes);
}

/** The same for its node ID alone. */
export function invalidNodeId(nodeName: string, nodeId: string, maxBytes: number): string | undefined {
  if (Buffer.byteLength(nodeId) <= maxBytes) return undefined;
  return invalidField(nodeName, "nodeID", nodeId, `must be ${maxBytes} characters or less`);
}

function invalidField(nodeName: string, field: string, value: string, rule: string): string {
  return `CSINode.storage.k8s.io ${quoteGo(nodeName)} is invalid: spec.drivers.${field}: Invalid value: ${quoteGo(value)}: ${rule}`;
}

/** The annotation that maps driver names to node IDs, as JSON. Source: `nodeinfomanager.go`. */
export const NODE_ID_ANNOTATION = "csi.volume.kubernetes.io/nodeid";
