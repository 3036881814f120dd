import { resolve } from "node:path";
import { invalidOption } from "../base/errors";
import { textKind } from "../options/option-kinds";
import { type ApiAccess, isServer, type Secret } from "./access";
import { list, textOrNone, tree } from "./objects";

/** A parsed kubeconfig file, and the directory of its relative paths. */
export interface Kubeconfig {
  readonly config: unknown;
  readonly directory: string;
}

/**
 * Reads the current context of a kubeconfig; `config` is the parsed file, paths in it are relative to `directory`. Throws
 * INVALID_OPTION if the context is missing, TLS is not verified, or a field is not supported.
 */
export function accessFromKubeconfig(config: unknown, directory: string): ApiAccess {
  textKind.read(directory, "accessFromKubeconfig: directory");
  return accessFromKubeconfigs([{ config, directory }]);
}

/** The same for several files: the first with a value, or an entry of a name, wins, as in client-go. */
export function accessFromKubeconfigs(files: readonly Kubeconfig[]): ApiAccess {
  const current = files.map(({ config }) => textOrNone(tree(config)["current-context"])).find(Boolean);
  const context = entryOf(files, "contexts", current, "context");
  const cluster = entryOf(files, "clusters", context.fields.cluster, "cluster");
  const user = entryOf(files, "users", context.fields.user, "user");
  const { server } = cluster.fields;
  if (!isServer(server)) throw problem(`the server must be https://HOST:PORT, not ${JSON.stringify(server)}`);
  if (cluster.fields["insecure-skip-tls-verify"] === true)
    throw problem("insecure-skip-tls-verify is refused: give the server's certificate-authority");
  if (textOrNone(cluster.fields["proxy-url"]) !== undefined)
    throw problem(
      "a cluster with proxy-url is not supported: the registrar connects to the API server itself",
    );
  for (const way of ["exec", "auth-provider", "username", "as"])
    if ((user.fields[way] ?? "") !== "")
      throw problem(`a user with ${way} is not supported: give token, tokenFile or client-certificate`);
  const token = textOrNone(user.fields.token);
  return {
    server,
    authority: secretOf(cluster, "certificate-authority"),
    serverName: textOrNone(cluster.fields["tls-server-name"]),
    // A file wins over a token beside it, because only the file is renewed.
    token:
      secretOf(user, "token", "tokenFile") ??
      (token === undefined ? undefined : { kind: "value", value: token }),
    certificate: secretOf(user, "client-certificate"),
    key: secretOf(user, "client-key"),
  };
}

type Entry = ReturnType<typeof entryOf>;

function secretOf({ fields, directory }: Entry, name: string, fileName = name): Secret | undefined {
  const data = textOrNone(fields[`${name}-data`]);
  if (data !== undefined) return { kind: "value", value: Buffer.from(data, "base64").toString("utf8") };
  const path = textOrNone(fields[fileName]);
  return path === undefined ? undefined : { kind: "file", path: resolve(directory, path) };
}

function entryOf(files: readonly Kubeconfig[], listName: string, wanted: unknown, field: string) {
  for (const { config, directory } of files) {
    const found = list(tree(config)[listName]).find((entry) => tree(entry).name === wanted);
    if (found !== undefined) return { fields: tree(tree(found)[field]), directory };
  }
  throw problem(`there is no ${JSON.stringify(wanted)} among its ${listName}`);
}

const problem = (why: string) => invalidOption(`kubeconfig: ${why}`);
