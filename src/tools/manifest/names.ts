import { invalidOption } from "../../base/errors";
import { isLabel, isSubdomain } from "../../kubelet-rules/api-validation";
import { quoteText } from "../../logging/escape";
import { judgeDriverName } from "../../registrar/driver/driver-name";

export function refuseFlag(flag: string, value: string, why: string): never {
  throw invalidOption(`--${flag} ${quoteText(value)} ${why}`);
}

const DOMAIN_PART = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
const DOMAIN = `(?:${DOMAIN_PART}(?:\\.${DOMAIN_PART})*|\\[[A-Fa-f0-9:]+\\])(?::[0-9]+)?`;
const PATH_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
/** The digests of the distribution project: kubelet refuses any other algorithm or length. */
const DIGEST = "(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})";
/** The distribution project's grammar of a reference: kubelet refuses any other as InvalidImageName. */
const IMAGE = new RegExp(
  `^(?:${DOMAIN}/)?${PATH_PART}(?:/${PATH_PART})*(?::\\w[\\w.-]{0,127})?(?:@${DIGEST})?$`,
);

type Rule = readonly [accepts: (value: string) => boolean, why: string];

const matches = (pattern: RegExp) => (value: string) => pattern.test(value);

const RULES = {
  /** Parts of other names, and values of labels (RFC 1123 label). */
  label: [isLabel, "must be 1 to 63 lower case letters, digits and '-', with a letter or digit at both ends"],
  /** Names of objects (RFC 1123 subdomain). */
  subdomain: [
    isSubdomain,
    "must be lower case letters, digits and '-' in parts joined by '.', as in a DNS name",
  ],
  /** The API server does not parse image references, but kubelet does. */
  image: [matches(IMAGE), "is not an image reference: give NAME:TAG or NAME@DIGEST, NAME in lower case"],
  "image name": [matches(/^[a-z0-9][a-z0-9._-]*$/), "must be the last part of an image's name, without tag"],
  /** Absolute paths on the host that a container can mount at the same place. */
  "host path": [
    matches(/^(?:\/(?!\.\.?(?:\/|$))[^/:\s]+)+$/),
    "must be an absolute path below '/', without '..', ':' and spaces",
  ],
} as const satisfies Readonly<Record<string, Rule>>;

export function checkNamed(kind: keyof typeof RULES, flag: string, value: string): void {
  const [accepts, why] = RULES[kind];
  if (!accepts(value)) refuseFlag(flag, value, why);
}

/** Throws INVALID_OPTION for an image without a tag, which is `latest`: a restart could change the program. */
export function checkPinned(flag: string, image: string): void {
  checkNamed("image", flag, image);
  if (!/[:@][^/]*$/.test(image))
    refuseFlag(flag, image, "has no tag and no digest: pods of one DaemonSet could run different programs");
}

/** Throws INVALID_OPTION unless the value can name a CSI driver and its CSIDriver object. */
export function checkDriverName(flag: string, value: string): void {
  const verdict = judgeDriverName(value);
  if (verdict.kind !== "valid") refuseFlag(flag, value, `is not a driver name: ${verdict.problem}`);
  checkNamed("subdomain", flag, value);
}
