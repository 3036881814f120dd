import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { invalidOption } from "../../base/errors";
import { kindOf, text } from "../../options/option-kinds";
import { optional, optionsOf, required, variant } from "../../options/read-options";

/** Something to prove oneself with: itself, or the file that has it, which is read anew for each call as it rotates. */
export type Secret =
  | { readonly kind: "value"; readonly value: string }
  | { readonly kind: "file"; readonly path: string };

/** Where the API server is, and how both sides prove who they are. */
export interface ApiAccess {
  /** `https://HOST:PORT`, perhaps with a path; an IPv6 address stands in brackets. */
  readonly server: string;
  /** Who vouches for the server. Undefined: the authorities that Node knows. */
  readonly authority: Secret | undefined;
  /** The name in the server's certificate, where it is not the one in `server`. */
  readonly serverName?: string | undefined;
  readonly token?: Secret | undefined;
  readonly certificate?: Secret | undefined;
  readonly key?: Secret | undefined;
}

const secret = optional(
  variant<Secret>({ value: { value: required(text) }, file: { path: required(text) } }),
);

/** Whether it is the address of an API server: no query, no credentials in it, which would be ignored. */
export function isServer(given: unknown): given is string {
  if (typeof given !== "string" || !URL.canParse(given)) return false;
  const { protocol, search, hash, username, password } = new URL(given);
  return protocol === "https:" && search + hash + username + password === "";
}

const server = kindOf("https://HOST:PORT", (given) => (isServer(given) ? given : undefined));

/** The way to an API server, checked. */
export const apiAccess = optionsOf<ApiAccess>({
  server: required(server),
  authority: secret,
  serverName: optional(text),
  token: secret,
  certificate: secret,
  key: secret,
});

/** Where kubelet puts a pod's service account (`automountServiceAccountToken`). */
export const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The way of every pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, and the files of the service account.
 * Throws INVALID_OPTION outside of a pod; whether the files are there shows when they are needed.
 */
export function inClusterAccess(environment: Environment, folder = SERVICE_ACCOUNT_FOLDER): ApiAccess {
  if (typeof environment !== "object" || environment === null)
    throw invalidOption("inClusterAccess takes the environment, as in inClusterAccess(process.env)");
  text.read(folder, "inClusterAccess: folder");
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (!host || !port) {
    throw invalidOption(
      "no API server: this is no pod (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set); " +
        "on a development node name a kubeconfig file in KUBECONFIG",
    );
  }
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    authority: { kind: "file", path: join(folder, "ca.crt") },
    token: { kind: "file", path: join(folder, "token") },
  };
}

/** A secret as it is now. Rejects where its file cannot be read, or is empty. */
export async function readSecret(from: Secret | undefined): Promise<string | undefined> {
  if (from?.kind !== "file") return from?.value;
  const found = (await readFile(from.path, "utf8")).trim();
  if (found === "") throw invalidOption(`${from.path} is empty`);
  return found;
}
