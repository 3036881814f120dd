import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { inClusterAccess, readCredential } from "../../src/kube-api/access";
import { accessFromKubeconfig } from "../../src/kube-api/kubeconfig";
import { readKubeconfig } from "../../src/kube-api/read-kubeconfig";
import { mayMount, mountHanging } from "../support/hanging-mount";
import { createTempFolder } from "../support/temp-folder";

test.each([
  ["10.96.0.1", "https://10.96.0.1:443"],
  ["fd00::1", "https://[fd00::1]:443"],
  ["kubernetes.default.svc", "https://kubernetes.default.svc:443"],
])("a pod reaches %s at %s", (host, server) => {
  const environment = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: "443" };
  expect(inClusterAccess(environment, "/sa")).toEqual({
    server,
    authority: { kind: "file", path: "/sa/ca.crt" },
    token: { kind: "file", path: "/sa/token" },
  });
});

test("a pod's service account is where kubelet puts it", () => {
  const folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  const environment = { KUBERNETES_SERVICE_HOST: "h", KUBERNETES_SERVICE_PORT: "1" };
  expect(inClusterAccess(environment)).toEqual(inClusterAccess(environment, folder));
});

test.each([
  [{}, "are not set, as they are in a pod; on a development node set KUBECONFIG to a kubeconfig file"],
  [{ KUBERNETES_SERVICE_HOST: "h" }, "are not set, as they are in a pod"],
  [{ KUBERNETES_SERVICE_PORT: "1" }, "are not set, as they are in a pod"],
  [{ KUBERNETES_SERVICE_HOST: "h", KUBERNETES_SERVICE_PORT: "x" }, 'give no address: "https://h:x"'],
])("%p is not a pod's environment", (given, why) => {
  expect(() => inClusterAccess(given)).toThrow(why);
});

test("a secret's file is read for each request, without the line's end; an empty file is an error", async () => {
  await using folder = await createTempFolder();
  const path = folder.at("token");
  const secret = { kind: "file", path } as const;
  writeFileSync(path, "one\n");
  expect(await readCredential(secret)).toBe("one");
  writeFileSync(path, "two");
  expect(await readCredential(secret)).toBe("two");
  writeFileSync(path, "\n");
  await expect(readCredential(secret)).rejects.toThrow(`${path} is empty`);
  rmSync(path);
  execFileSync("mkfifo", [path]);
  await expect(readCredential(secret)).rejects.toThrow(`${path} is empty`);
  mkdirSync(folder.at("folder"));
  await expect(readCredential({ kind: "file", path: folder.at("folder") })).rejects.toThrow("EISDIR");
  expect(await readCredential(undefined)).toBeUndefined();
});

const config = (cluster: object, user: object) => ({
  "current-context": "dev",
  contexts: [{ name: "dev", context: { cluster: "c", user: "u" } }],
  clusters: [{ name: "other" }, { name: "c", cluster }],
  users: [{ name: "u", user }],
});
const SERVER = { server: "https://127.0.0.1:6443", "certificate-authority-data": "Q0E=" };
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** As kubectl's `--flatten` does not, but people and templates do. */
const FOLDED = { ...SERVER, "certificate-authority-data": "Q0\nE=\n", "certificate-authority": "other.crt" };
const FILES = { "client-certificate": "me.crt", "client-key-data": base64("KEY"), tokenFile: "/abs/token" };
const EMPTY = { "certificate-authority": "", "tls-server-name": "", "proxy-url": "" };
const BOTH = { token: "old", tokenFile: "token", "client-certificate-data": "", "client-key": "" };
const value = (text: string) => ({ kind: "value", value: text });
const file = (path: string) => ({ kind: "file", path });
const CERTIFICATE = { certificate: file("/home/me.crt"), key: value("KEY") };
const NAMED = { ...SERVER, "tls-server-name": "kube" };
const CA_FILE = { server: SERVER.server, "certificate-authority": "ca.crt" };

test.each<[string, object, object, object]>([
  ["values", NAMED, { token: "t" }, { authority: value("CA"), token: value("t"), serverName: "kube" }],
  ["files", CA_FILE, FILES, { authority: file("/home/ca.crt"), token: file("/abs/token"), ...CERTIFICATE }],
  ["data in lines, which wins over a file", FOLDED, {}, { authority: value("CA"), token: undefined }],
  // As in client-go a tokenFile wins over a token beside it, and an empty text is none.
  ["both", { ...SERVER, ...EMPTY }, BOTH, { authority: value("CA"), token: file("/home/token") }],
])("a kubeconfig's current context, with %s", (_, cluster, user, expected) => {
  const none = { serverName: undefined, certificate: undefined, key: undefined };
  const access = accessFromKubeconfig(config(cluster, user), "/home");
  expect(access).toEqual({ server: SERVER.server, ...none, ...expected });
});

/** As KubeConfig of @kubernetes/client-node 1.4 has them after `loadFromString` and `loadFromCluster`. */
test.each<[string, object, object, object]>([
  [
    "a file",
    { name: "c", server: SERVER.server, caData: "Q0E=", skipTLSVerify: false, tlsServerName: "kube" },
    { name: "u", certData: base64("CERT"), keyData: base64("KEY") },
    { authority: value("CA"), serverName: "kube", certificate: value("CERT"), key: value("KEY") },
  ],
  [
    "a pod",
    { name: "inCluster", server: SERVER.server, caFile: "/sa/ca.crt", skipTLSVerify: false },
    { name: "inClusterUser", authProvider: { name: "tokenFile", config: { tokenFile: "/sa/token" } } },
    { authority: file("/sa/ca.crt"), token: file("/sa/token") },
  ],
  [
    "a file with paths",
    { name: "c", server: SERVER.server, caFile: "/pki/ca.crt", skipTLSVerify: false },
    { name: "u", certFile: "/pki/me.crt", keyFile: "/pki/me.key", token: "t" },
    {
      ...{ authority: file("/pki/ca.crt"), token: value("t") },
      ...{ certificate: file("/pki/me.crt"), key: file("/pki/me.key") },
    },
  ],
])("a KubeConfig of client-node, of %s", (_, cluster, user, expected) => {
  const none = { serverName: undefined, token: undefined, certificate: undefined, key: undefined };
  const access = accessFromKubeconfig({ getCurrentCluster: () => cluster, getCurrentUser: () => user });
  expect(access).toEqual({ server: SERVER.server, ...none, ...expected });
});

test.each([
  ["skips TLS's check", { skipTLSVerify: true }, {}, /insecure-skip-tls-verify is refused/],
  ["runs a program", {}, { exec: { command: "aws" } }, /a user with exec is not supported/],
  ["goes through a proxy", { proxyUrl: "http://p" }, {}, /a cluster with proxy-url is not supported/],
  ["acts as another user", {}, { impersonateUser: "root" }, /a user with as is not supported/],
  ["asks a provider", {}, { authProvider: { name: "oidc" } }, /a user with auth-provider is not supported/],
])("a KubeConfig that %s is refused", (_, cluster, user, message) => {
  const getCurrentCluster = () => ({ server: SERVER.server, ...cluster });
  const given = { getCurrentCluster, getCurrentUser: () => user };
  expect(() => accessFromKubeconfig(given)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  expect(() => accessFromKubeconfig(given)).toThrow(message);
});

test("KUBECONFIG names one file, in whose directory its paths are", async () => {
  await using folder = await createTempFolder();
  const path = folder.at("config");
  writeFileSync(path, JSON.stringify(config(CA_FILE, { tokenFile: "token" })));
  expect(await readKubeconfig(path)).toMatchObject({
    authority: file(folder.at("ca.crt")),
    token: file(folder.at("token")),
  });
  await expect(readKubeconfig(folder.at("no"))).rejects.toMatchObject({
    message: expect.stringContaining(`KUBECONFIG ${folder.at("no")}: ENOENT`),
    cause: { code: "ENOENT" },
  });
  await expect(readKubeconfig(`${path}:${path}`)).rejects.toThrow(
    `KUBECONFIG ${path}:${path}: give one file`,
  );
});

test("a credential, and KUBECONFIG, where the file system does not answer are an error", async () => {
  if (!mayMount()) return;
  await using folder = await createTempFolder();
  mkdirSync(folder.at("hung"));
  const path = folder.at("hung", "file");
  const startBoth = () => {
    using _mount = mountHanging(folder.at("hung")); // Its end would fail calls that hang, in words of its own.
    return Promise.allSettled([readCredential({ kind: "file", path }), readKubeconfig(path)]);
  };
  for (const { status, reason } of (await startBoth()) as PromiseRejectedResult[])
    expect([status, String(reason)]).toEqual(["rejected", expect.stringContaining("ETIMEDOUT")]);
});

test("KUBECONFIG is read as kubectl reads YAML", async () => {
  await using folder = await createTempFolder();
  const path = folder.at("config");
  const { users: _, ...rest } = config(SERVER, {});
  const users = "users:\n- name: u\n  user:\n    <<: &u {token: t}\n";
  writeFileSync(
    path,
    `${Object.entries(rest)
      .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
      .join("\n")}\n${users}`,
  );
  expect(await readKubeconfig(path)).toMatchObject({ token: value("t") });
  writeFileSync(path, "a: [");
  await expect(readKubeconfig(path)).rejects.toThrow(`KUBECONFIG ${path}: unexpected end`);
});

test.each<[string, unknown, string]>([
  ["no file at all", undefined, "it has no current-context"],
  ["a file's text", "kind: Config", 'accessFromKubeconfig is given "kind: Config"; it takes a parsed'],
  [
    "a context without a user",
    { ...config(SERVER, {}), contexts: [{ name: "dev", context: { cluster: "c" } }] },
    "names no user",
  ],
  ["a certificate without its key", config(SERVER, { "client-certificate": "me.crt" }), "without client-key"],
  ["a key alone", config(SERVER, { "client-key-data": "S0VZ" }), "client-key without client-certificate"],
  ["no base64", config(SERVER, { "client-key-data": "-----BEGIN" }), "client-key-data is not valid base64"],
  ["an unknown context", { ...config(SERVER, {}), "current-context": "x" }, 'no "x" among its contexts'],
  ["a cluster that is not there", { ...config(SERVER, {}), clusters: [] }, 'no "c" among its clusters'],
  ["plain HTTP", config({ server: "http://h" }, {}), 'must be https://HOST:PORT, not "http://h"'],
  ["no host", config({ server: "https://" }, {}), 'must be https://HOST:PORT, not "https://"'],
  ["a server that is not proven", config({ ...SERVER, "insecure-skip-tls-verify": true }, {}), "is refused"],
  ["a program", config(SERVER, { exec: { command: "aws" } }), "exec is not supported"],
  ["a query", config({ server: "https://h/?a=b" }, {}), 'must be https://HOST:PORT, not "https://h/?a=b"'],
  ["a password in the address", config({ server: "https://u:p@h" }, {}), "must be https://HOST:PORT"],
  ["a password alone in it", config({ server: "https://:p@h" }, {}), "must be https://HOST:PORT"],
  ["a proxy", config({ ...SERVER, "proxy-url": "http://p" }, {}), "proxy-url is not supported"],
  ["another identity", config(SERVER, { token: "t", as: "root" }), "as is not supported"],
  ["a token of digits alone", config(SERVER, { token: 123456 }), "token is a number: write it in quotes"],
  ["a token that is a map", config(SERVER, { token: {} }), "token is not a text"],
  ["a user that is a text", config(SERVER, "me" as unknown as object), 'its user "u" is not a map'],
  ["a password", config(SERVER, { username: "u", password: "p" }), "username is not supported"],
])("%s is refused", (_what, value, why) => {
  expect(() => accessFromKubeconfig(value, "/home")).toThrow(why);
});
