import { resolve } from "node:path";
import { RegistrarError } from "../../errors";
import { text } from "../../options/option-kinds";
import { fieldsOf, listOf } from "../node";
import { type ApiAccess, isServer, type Secret } from "./access";

/**
 * The way that a kubeconfig's current context leads; `config` is the parsed file, paths in it are relative to `folder`.
 * Throws INVALID_OPTION where it leads nowhere, leaves the server unproven, or wants a program run for a token.
 */
export function accessFromKubeconfig(config: unknown, folder: string): ApiAccess {
  text.read(folder, "accessFromKubeconfig: folder");
  const { "current-context": current, contexts, clusters, users } = fieldsOf(config);
  const context = entryOf(contexts, "contexts", current, "context");
  const cluster = entryOf(clusters, "clusters", context.cluster, "cluster");
  const user = entryOf(users, "users", context.user, "user");
  const { server, "tls-server-name": serverName } = cluster;
  if (!isServer(server)) return refuse(`the server must be https://HOST:PORT, not ${JSON.stringify(server)}`);
  if (cluster["insecure-skip-tls-verify"] === true)
    refuse("insecure-skip-tls-verify is refused: give the server's certificate-authority");
  for (const way of ["exec", "auth-provider", "username"])
    if (user[way] !== undefined)
      refuse(`a user with ${way} is not supported: give token, tokenFile or client-certificate`);
  const secret = (entry: Fields, name: string, fileName = name): Secret | undefined => {
    const data = entry[`${name}-data`] ?? undefined;
    if (typeof data === "string")
      return { kind: "value", value: Buffer.from(data, "base64").toString("utf8") };
    const path = entry[fileName];
    return typeof path === "string" ? { kind: "file", path: resolve(folder, path) } : undefined;
  };
  const token: Secret | undefined =
    typeof user.token === "string"
      ? { kind: "value", value: user.token }
      : secret(user, "token", "tokenFile");
  return {
    server,
    authority: secret(cluster, "certificate-authority"),
    serverName: typeof serverName === "string" ? serverName : undefined,
    token,
    certificate: secret(user, "client-certificate"),
    key: secret(user, "client-key"),
  };
}

type Fields = ReturnType<typeof fieldsOf>;

function entryOf(list: unknown, listName: string, wanted: unknown, field: string): Fields {
  const found = listOf(list).find((entry) => fieldsOf(entry).name === wanted);
  if (found === undefined) refuse(`there is no ${JSON.stringify(wanted)} among its ${listName}`);
  return fieldsOf(fieldsOf(found)[field]);
}

function refuse(why: string): never {
  throw new RegistrarError("INVALID_OPTION", `kubeconfig: ${why}`);
}
