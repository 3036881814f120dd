import { quoteGo } from "../logging/escape";
import { MAX_LABEL_LENGTH, MAX_SUBDOMAIN_LENGTH, NAME, SUBDOMAIN } from "./api-validation";
import { behaviourOf, type KubeletBehaviour, NEWEST_SIMULATED } from "./versions";

// In which words the API server refuses what kubelet writes for a driver, unless told otherwise those of the newest release.
type Wording = Pick<KubeletBehaviour, "lengthUnit" | "longNameWording" | "maxNodeIdBytes">;
const NEWEST_WORDING: Wording = behaviourOf(NEWEST_SIMULATED);

const NAME_FORMAT = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_FORMAT = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const CHARACTERS =
  "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const RULES = {
  key: rule(`must ${CHARACTERS}`, ["MyName", "my.name", "123-abc"], NAME_FORMAT),
  value: rule(
    `a valid label must be an empty string or ${CHARACTERS}`,
    ["MyValue", "my_value", "12345"],
    `(${NAME_FORMAT})?`,
  ),
  subdomain: rule(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    ["example.com"],
    `${LABEL_FORMAT}(\\.${LABEL_FORMAT})*`,
  ),
};

/** `RegexError` in apimachinery's `pkg/api/validate/content/errors.go`. */
function rule(text: string, examples: readonly string[], pattern: string): string {
  const shown = examples.map((example) => `'${example}', `).join(" or ");
  return `${text} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

const tooLong = (bytes: number, { lengthUnit }: Pick<Wording, "lengthUnit">) =>
  `must be no more than ${bytes} ${lengthUnit}`;

/** Why a label's prefix is invalid, all reasons: `IsDNS1123Subdomain`. */
function prefixProblems(prefix: string, wording: Wording): readonly string[] {
  if (prefix === "") return ["must be non-empty"];
  const isLong = Buffer.byteLength(prefix) > MAX_SUBDOMAIN_LENGTH;
  return [
    ...(isLong ? [tooLong(MAX_SUBDOMAIN_LENGTH, wording)] : []),
    ...(SUBDOMAIN.test(prefix) ? [] : [RULES.subdomain]),
  ];
}

/** The same for the whole key: `IsLabelKey` in `pkg/api/validate/content/kube.go`, before 1.35 `IsQualifiedName`. */
function keyProblems(key: string, wording: Wording): readonly string[] {
  const [name = "", prefix, ...more] = key.split("/").reverse();
  if (more.length > 0) {
    const what = wording.lengthUnit === "bytes" ? "a valid label key" : "a qualified name";
    return [`${what} ${RULES.key} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const ofPrefix = prefix === undefined ? [] : prefixProblems(prefix, wording);
  const isLong = Buffer.byteLength(name) > MAX_LABEL_LENGTH;
  return [
    ...ofPrefix.map((problem) => `prefix part ${problem}`),
    ...(name === ""
      ? ["name part must be non-empty"]
      : isLong
        ? [`name part ${tooLong(MAX_LABEL_LENGTH, wording)}`]
        : []),
    ...(NAME.test(name) ? [] : [`name part ${RULES.key}`]),
  ];
}

/**
 * Why the API server would reject a driver's topology as labels of a Node, in its words; undefined if it would not.
 * Source: `ValidateLabels` in apimachinery's `pkg/apis/meta/v1/validation/validation.go`.
 */
export function invalidLabels(
  nodeName: string,
  labels: Readonly<Record<string, string>>,
  wording = NEWEST_WORDING,
): string | undefined {
  const problems = Object.entries(labels).flatMap(([key, value]) => {
    const isLong = Buffer.byteLength(value) > MAX_LABEL_LENGTH;
    const ofValue = [
      ...(isLong ? [tooLong(MAX_LABEL_LENGTH, wording)] : []),
      ...(value === "" || NAME.test(value) ? [] : [RULES.value]),
    ];
    return [
      ...keyProblems(key, wording).map((problem) => invalidValue("metadata.labels", key, problem)),
      ...ofValue.map((problem) => invalidValue("metadata.labels", value, problem)),
    ];
  });
  return invalidObject("Node", nodeName, problems);
}

/**
 * Why the API server would reject a driver in a CSINode, after `others` drivers, in its words; undefined if it would not.
 * Source: `validateCSINodeDriver` in `pkg/apis/storage/validation/validation.go`, and `ValidateCSIDriverName` in
 * `pkg/apis/core/validation/validation.go`.
 */
export function invalidCsiNodeDriver(
  nodeName: string,
  { name, nodeId }: { readonly name: string; readonly nodeId: string },
  others = 0,
  { longNameWording, maxNodeIdBytes } = NEWEST_WORDING,
): string | undefined {
  const field = `spec.drivers[${others}]`;
  const isLong = Buffer.byteLength(name) > MAX_LABEL_LENGTH;
  const ofName = [
    ...(isLong ? [`${field}.name: Too long: ${longNameWording} ${MAX_LABEL_LENGTH} bytes`] : []),
    ...(Buffer.byteLength(name) > MAX_SUBDOMAIN_LENGTH
      ? [invalidValue(`${field}.name`, name, tooLong(MAX_SUBDOMAIN_LENGTH, { lengthUnit: "characters" }))]
      : []),
    ...(SUBDOMAIN.test(name.toLowerCase()) ? [] : [invalidValue(`${field}.name`, name, RULES.subdomain)]),
  ];
  const isLongId = Buffer.byteLength(nodeId) > maxNodeIdBytes;
  return invalidObject("CSINode.storage.k8s.io", nodeName, [
    ...(name === "" ? [`${field}.name: Required value`] : ofName),
    ...(nodeId === "" ? [`${field}.nodeID: Required value`] : []),
    ...(isLongId
      ? [invalidValue(`${field}.nodeID`, nodeId, `must be ${maxNodeIdBytes} characters or less`)]
      : []),
  ]);
}

const invalidValue = (field: string, value: string, problem: string) =>
  `${field}: Invalid value: ${quoteGo(value)}: ${problem}`;

/** `NewInvalid` in apimachinery's `pkg/api/errors/errors.go`, which names equal problems once. */
function invalidObject(kind: string, name: string, problems: readonly string[]): string | undefined {
  const different = [...new Set(problems)];
  if (different.length === 0) return undefined;
  const list = different.length === 1 ? different[0] : `[${different.join(", ")}]`;
  return `${kind} ${quoteGo(name)} is invalid: ${list}`;
}
