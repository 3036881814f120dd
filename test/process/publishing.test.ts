import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { name, version } from "../../package.json";
import { run, succeeded } from "../support/child-process";
import { createTempFolder } from "../support/temp-folder";

// The steps of release.yml that ask npm, against registries on this machine that answer as npm's does.

const NPM_REGISTRY = "https://npm.test/";

interface Registry {
  /** The hash of each, by default that of the tarball to publish. Undefined: it does not know the package. */
  readonly versions?: Readonly<Record<string, string>>;
  readonly takes: boolean;
  readonly isAway?: boolean;
}

async function startRegistry({ versions, takes }: Registry, own = "") {
  const put: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const isPut = request.method === "PUT";
      if (isPut) put.push(`${request.url} ${Object.keys(JSON.parse(body)["dist-tags"])}`);
      const isFound = isPut ? takes : versions !== undefined;
      const rows = Object.entries(versions ?? {}).map(([one, integrity]) => [
        one,
        { name, version: one, dist: { integrity: integrity || own, tarball: "http://127.0.0.1/x.tgz" } },
      ]);
      const known = { name, versions: Object.fromEntries(rows), "dist-tags": { latest: rows.at(-1)?.[0] } };
      response.writeHead(isFound ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify(isFound ? known : { error: "Not found" }));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return { port, put, [Symbol.dispose]: () => void server.close() };
}

/** Runs the step with a package of one file, where settings name a proxy that is not there. */
async function step(registry: Registry, verb: "check" | "publish", more: object = {}) {
  await using folder = await createTempFolder();
  const manifest = (fields: object) => `${JSON.stringify(fields, null, 2)}\n`;
  writeFileSync(folder.at("package.json"), manifest({ name, version, ...more }));
  const cwd = folder.path;
  succeeded(await run("npm", ["pack", "--silent"], { cwd }));
  writeFileSync(folder.at("package.json"), manifest({ name, version }));
  writeFileSync(folder.at(".npmrc"), "proxy=http://127.0.0.1:1\nregistry=http://127.0.0.1:1\n");
  const tarball = folder.at(`${name}-${version}.tgz`);
  const own = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  using started = await startRegistry(registry, own);
  if (registry.isAway) started[Symbol.dispose]();
  const url = `//127.0.0.1:${started.port}/`;
  const env = {
    NPM_REGISTRY,
    npm_config_fetch_retries: "0",
    npm_config_noproxy: "",
    NO_PROXY: "",
    no_proxy: "",
  };
  const script = `${__dirname}/../../scripts/release/package.mjs`;
  const words = [verb, ...(verb === "publish" ? [tarball] : []), "--", `--registry=http:${url}`];
  const login = verb === "publish" ? [`--${url}:_authToken=x`] : [];
  const { code, stdout, stderr } = await run(process.execPath, [script, ...words, ...login], { cwd, env });
  return { failed: code !== 0, text: stdout + stderr, put: started.put };
}

const FIRST = { takes: false };
const known = { versions: { "0.0.0": "" }, takes: true };
const newer = { versions: { "0.0.0": "", "9.0.0": "" }, takes: true };
const published = { versions: { [version]: "" }, takes: false };
const other = { versions: { [version]: "sha512-other" }, takes: false };
const away = { takes: false, isAway: true };
const says = (text: string) => new RegExp(`^scripts/release/package\\.mjs: ${text}`);

test.each<[string, "check" | "publish", Registry, boolean, readonly string[], RegExp]>([
  [
    "a first release, which npm takes of no workflow",
    "check",
    FIRST,
    true,
    [],
    says("the .* not know \\w+: .*RELEASING"),
  ],
  ["npm's refusal of it, which the step prevents", "publish", FIRST, true, [`/${name} latest`], /E404/],
  ["a package that npm knows", "check", known, false, [], /^/],
  ["the next version of it", "publish", known, false, [`/${name} latest`], /^/],
  ["a fix of an older minor", "publish", newer, false, [`/${name} release-0.1`], /^/],
  ["a release that ended half done", "publish", published, false, [], /^\S+ is published already\n$/],
  ["another tarball of that version", "publish", other, true, [], /is published with sha512-other, and /],
  [
    "a registry that is away, which is no answer",
    "check",
    away,
    true,
    [],
    says("npm view \\w+: .*ECONNREFUSED"),
  ],
])("%s: %s", async (_what, verb, registry, failed, put, text) => {
  expect(await step(registry, verb)).toEqual({ failed, put, text: expect.stringMatching(text) });
});

test("a package whose package.json is not the checkout's never meets npm", async () => {
  const ended = await step(known, "publish", { publishConfig: { proxy: "http://127.0.0.1:1" } });
  const text = expect.stringMatching(says(".* has another package.json than the checkout packs\n$"));
  expect(ended).toEqual({ failed: true, put: [], text });
});

test("no file decides where npm sends this workflow's identity: the flags do, which npm prefers", async () => {
  await using folder = await createTempFolder();
  writeFileSync(folder.at("npm"), `#!/bin/sh\necho "$@" >> ${folder.at("asked")}\necho null\n`, {
    mode: 0o755,
  });
  const PATH = `${folder.path}:${process.env.PATH}`;
  const script = `${__dirname}/../../scripts/release/package.mjs`;
  await run(process.execPath, [script, "check"], { cwd: `${__dirname}/../..`, env: { PATH, NPM_REGISTRY } });
  const asked = readFileSync(folder.at("asked"), "utf8");
  for (const flag of [
    ...[`--registry=${NPM_REGISTRY}`, "--strict-ssl", "--proxy=null", "--https-proxy=null"],
    "--ignore-scripts",
  ])
    expect(asked.split(/\s/)).toContain(flag);
});

test.each(["", "http://npm.test/"])("a registry that is %j is refused before npm is asked", async (given) => {
  const script = `${__dirname}/../../scripts/release/package.mjs`;
  const env = { NPM_REGISTRY: given };
  const { code, stderr } = await run(process.execPath, [script, "check"], { cwd: `${__dirname}/../..`, env });
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(says(`the variable NPM_REGISTRY is "${given}"; it takes `)),
  ]);
});
