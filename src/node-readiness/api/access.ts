import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { RegistrarError } from "../../errors";

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

/** Where kubelet puts a pod's service account (`automountServiceAccountToken`). */
export const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The way of every pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, and the files of the service account.
 * Throws INVALID_OPTION outside of a pod; whether the files are there shows when they are needed.
 */
export function inClusterAccess(environment: Environment, folder = SERVICE_ACCOUNT_FOLDER): ApiAccess {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (!host || !port) {
    throw new RegistrarError(
      "INVALID_OPTION",
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
export async function readSecret(secret: Secret | undefined): Promise<string | undefined> {
  if (secret?.kind !== "file") return secret?.value;
  const text = (await readFile(secret.path, "utf8")).trim();
  if (text === "") throw new RegistrarError("INVALID_OPTION", `${secret.path} is empty`);
  return text;
}
