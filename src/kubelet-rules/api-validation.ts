import { quoteGo } from "../logging/escape";
import { isLabelValue, isQualifiedName, isSubdomain } from "./resource-name";

const LABEL_KEY = "a label's key is a name of at most 63 characters, after a DNS prefix and '/' if wanted";
const LABEL_VALUE = "a label's value has letters, digits, '-', '_', '.', a letter or digit at both ends";
const DRIVER_NAME = "a driver's name has letters, digits, '-' and '.' only, as a DNS name has";

/** The least `nodeAllocatableUpdatePeriodSeconds`. Source: `pkg/apis/storage/validation/validation.go`. */
export const MIN_LIMIT_PERIOD_S = 10;

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
