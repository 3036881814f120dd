const LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
const SUBDOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const MAX_SUBDOMAIN_LENGTH = 253;
/** What quota puts in front of a resource. */
const QUOTA_PREFIX = "requests.";
const RESOURCE = /^(?<prefix>[^/]+)\/[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** Whether it is a DNS subdomain as Kubernetes has it: `IsDNS1123Subdomain` in apimachinery's `pkg/util/validation`. */
export function isSubdomain(name: string): boolean {
  return name.length <= MAX_SUBDOMAIN_LENGTH && SUBDOMAIN.test(name);
}

/**
 * Whether a device plugin may offer a resource of this name, such as `example.com/disk`: `IsExtendedResourceName` in
 * `pkg/apis/core/v1/helper/helpers.go`, which also checks the name that quota makes of it.
 */
export function isExtendedResource(name: string): boolean {
  const { prefix = "" } = RESOURCE.exec(name)?.groups ?? {};
  if (name.includes("kubernetes.io/") || prefix.startsWith(QUOTA_PREFIX)) return false;
  return isSubdomain(`${QUOTA_PREFIX}${prefix}`);
}
