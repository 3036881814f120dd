import { resolve } from "node:path";
import { invalidOption } from "../base/errors";
import { isObject, show, textKind } from "../options/option-kinds";
import { type ApiAccess, type Credential, isServer } from "./access";
import { bool, list, type Tree, tree } from "./objects";

/** What `accessFromKubeconfig` uses of a KubeConfig of @kubernetes/client-node. */
export interface KubeConfigLike {
  /** The cluster of the current context. */
  getCurrentCluster(): object | null;
  /** The user of the current context. */
  getCurrentUser(): object | null;
}

/** Reads the current context of a KubeConfig of @kubernetes/client-node. Throws as for a file. */
export function accessFromKubeconfig(config: KubeConfigLike): ApiAccess;
/**
 * Reads the current context of a kubeconfig; `config` is the parsed file, paths in it are relative to `directory`. Throws
 * INVALID_OPTION if the context is missing, TLS is not verified, or a field is not supported.
 */
export function accessFromKubeconfig(config: unknown, directory: string): ApiAccess;
export function accessFromKubeconfig(given: unknown, directory?: string): ApiAccess {
  if (given !== undefined && given !== null && !isObject(given))
    throw invalidOption(
      `accessFromKubeconfig is given ${show(given)}; it takes a parsed kubeconfig, or a KubeConfig`,
    );
  const isLoaded = ["getCurrentCluster", "getCurrentUser"].every(
    (name) => typeof tree(given)[name] === "function",
  );
  const config = isLoaded ? fileOf(given as KubeConfigLike) : given;
  if (!isLoaded) textKind.read(directory, "accessFromKubeconfig: directory");
  const current = textIn(tree(config), "current-context");
  if (current === undefined) throw problem("it has no current-context");
  const context = entryOf(config, "context", current);
  const cluster = entryOf(config, "cluster", textIn(context, "cluster"));
  const user = entryOf(config, "user", textIn(context, "user"));
  const { server } = cluster;
  if (!isServer(server)) throw problem(`the server must be https://HOST:PORT, not ${JSON.stringify(server)}`);
  if (bool(cluster["insecure-skip-tls-verify"]))
    throw problem("insecure-skip-tls-verify is refused: give the server's certificate-authority");
  if (textIn(cluster, "proxy-url") !== undefined)
    throw problem(
      "a cluster with proxy-url is not supported: the registrar connects to the API server itself",
    );
  for (const way of ["exec", "auth-provider", "username", "as"])
    if ((user[way] ?? "") !== "")
      throw problem(`a user with ${way} is not supported: give token, tokenFile or client-certificate`);
  const token = textIn(user, "token");
  const secretOf = (fields: Tree, name: string, fileName = name): Credential | undefined => {
    const data = textIn(fields, `${name}-data`);
    if (data !== undefined) return { kind: "value", value: decoded(data, `${name}-data`) };
    const path = textIn(fields, fileName);
    return path === undefined ? undefined : { kind: "file", path: resolve(directory ?? "", path) };
  };
  const [certificate, key] = [secretOf(user, "client-certificate"), secretOf(user, "client-key")];
  if ((certificate === undefined) !== (key === undefined))
    throw problem(
      `the user has client-${certificate ? "certificate without client-key" : "key without client-certificate"}`,
    );
  return {
    server,
    authority: secretOf(cluster, "certificate-authority"),
    serverName: textIn(cluster, "tls-server-name"),
    // A file wins over a token beside it, because only the file is renewed.
    token:
      secretOf(user, "token", "tokenFile") ??
      (token === undefined ? undefined : { kind: "value", value: token }),
    certificate,
    key,
  };
}

/** A field of another type is refused, as kubectl does: `token: 123456` is a number and would be no token. */
function textIn(fields: Tree, name: string): string | undefined {
  const value = fields[name] ?? "";
  if (typeof value !== "string")
    throw problem(
      `${name} is ${typeof value === "object" ? "not a text" : `a ${typeof value}`}: write it in quotes`,
    );
  return value === "" ? undefined : value;
}

/** A KubeConfig as a file with one context. */
function fileOf(config: KubeConfigLike): Tree {
  const { server, caData, caFile, skipTLSVerify, tlsServerName, proxyUrl } = tree(config.getCurrentCluster());
  const { authProvider, certData, certFile, keyData, keyFile, impersonateUser, ...user } = tree(
    config.getCurrentUser(),
  );
  const { name, config: provider } = tree(authProvider);
  // As `loadFromCluster` writes it.
  const login =
    name === "tokenFile" ? { tokenFile: tree(provider).tokenFile } : { "auth-provider": authProvider };
  const authority = { "certificate-authority-data": caData, "certificate-authority": caFile };
  const certificate = { "client-certificate-data": certData, "client-certificate": certFile };
  const key = { "client-key-data": keyData, "client-key": keyFile };
  const verification = { "insecure-skip-tls-verify": skipTLSVerify, "tls-server-name": tlsServerName };
  return {
    "current-context": config.getCurrentCluster() ? "current" : undefined,
    contexts: [{ name: "current", context: { cluster: "current", user: "current" } }],
    clusters: [
      { name: "current", cluster: { server, "proxy-url": proxyUrl, ...authority, ...verification } },
    ],
    users: [{ name: "current", user: { ...user, as: impersonateUser, ...login, ...certificate, ...key } }],
  };
}

/** Node skips what is not base64. */
function decoded(data: string, name: string): string {
  const plain = data.replace(/\s/g, "");
  const bytes = Buffer.from(plain, "base64");
  if (bytes.length === 0 || bytes.toString("base64") !== plain) throw problem(`${name} is not valid base64`);
  return bytes.toString("utf8");
}

function entryOf(config: unknown, field: "context" | "cluster" | "user", wanted: string | undefined): Tree {
  const found = list(tree(config)[`${field}s`]).find((entry) => tree(entry).name === wanted);
  if (wanted === undefined) throw problem(`its current context names no ${field}`);
  if (found === undefined) throw problem(`there is no ${JSON.stringify(wanted)} among its ${field}s`);
  const entry = tree(found)[field] ?? {};
  if (typeof entry !== "object" || Array.isArray(entry))
    throw problem(`its ${field} ${JSON.stringify(wanted)} is not a map`);
  return tree(entry);
}

const problem = (why: string) => invalidOption(`kubeconfig: ${why}`);
