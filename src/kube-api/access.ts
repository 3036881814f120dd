import { constants } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { invalidOption } from "../base/errors";
import { quoteText } from "../logging/escape";
import { kindOf, textKind } from "../options/option-kinds";
import { optional, optionsOf, required, variant } from "../options/read-options";
import { callFileSystem } from "../unix/file-calls";

/** A credential, or the file that holds it (read before each request, because it rotates). */
export type Credential =
  | { readonly kind: "value"; readonly value: string }
  | { readonly kind: "file"; readonly path: string };

/** The address of an API server, and the credentials of both sides. */
export interface ApiAccess {
  /** `https://HOST:PORT`, optionally with a path; an IPv6 address is in brackets. */
  readonly server: string;
  /** The CA of the server's certificate. Undefined: the CAs that Node trusts. */
  readonly authority: Credential | undefined;
  /** The name in the server's certificate, if it differs from the one in `server`. */
  readonly serverName?: string | undefined;
  /** A bearer token. @default none */
  readonly token?: Credential | undefined;
  /** A client certificate in PEM; goes with `key`. @default none */
  readonly certificate?: Credential | undefined;
  /** The private key of `certificate`, in PEM. @default none */
  readonly key?: Credential | undefined;
}

const secret = optional(
  variant<Credential>({ value: { value: required(textKind) }, file: { path: required(textKind) } }),
);

/** Whether this is an API server's address. A query or credentials in it would be ignored. */
export function isServer(given: unknown): given is string {
  if (typeof given !== "string" || !URL.canParse(given)) return false;
  const { protocol, search, hash, username, password } = new URL(given);
  return protocol === "https:" && search + hash + username + password === "";
}

const server = kindOf("https://HOST:PORT", (given) => (isServer(given) ? given : undefined));

export const apiAccess = optionsOf<ApiAccess>({
  server: required(server),
  authority: secret,
  serverName: optional(textKind),
  token: secret,
  certificate: secret,
  key: secret,
});

/** Where kubelet puts a pod's service account (`automountServiceAccountToken`). */
export const SERVICE_ACCOUNT_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Environment variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The access of a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, and the files of its service account in
 * `directory` (/var/run/secrets/kubernetes.io/serviceaccount), which are read later. Throws INVALID_OPTION outside of a pod.
 */
export function inClusterAccess(environment: Environment, directory = SERVICE_ACCOUNT_DIRECTORY): ApiAccess {
  if (typeof environment !== "object" || environment === null)
    throw invalidOption("inClusterAccess takes the environment, as in inClusterAccess(process.env)");
  textKind.read(directory, "inClusterAccess: directory");
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (!host || !port) {
    throw invalidOption(
      "no API server: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, as they are in a pod; " +
        "on a development node set KUBECONFIG to a kubeconfig file",
    );
  }
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (!isServer(server))
    throw invalidOption(
      `KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT give no address: ${quoteText(server)}`,
    );
  return {
    server,
    authority: { kind: "file", path: join(directory, "ca.crt") },
    token: { kind: "file", path: join(directory, "token") },
  };
}

/** Without waiting for the writer of a FIFO, which would keep a thread for files. */
const READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/** Reads a credential. Rejects if its file cannot be read, is empty, or if its file system does not answer for 2 s. */
export async function readCredential(from: Credential | undefined): Promise<string | undefined> {
  if (from?.kind !== "file") return from?.value;
  const { path } = from;
  const read = () => readFile(path, { encoding: "utf8", flag: READ_AT_ONCE });
  const found = (await callFileSystem(path, read)).trim();
  if (found === "") throw invalidOption(`${path} is empty`);
  return found;
}
