import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readText } from "../docs/markdown";
import { nodeTest, refused, registered } from "../end-to-end/support/node";
import { describeSandbox, endpointOf, makePod } from "../support/sandbox/describe-sandbox";
import { ENTRY, NODE } from "../support/sandbox/image-root";
import { makeMountPoints } from "../support/sandbox/sandbox";
import { createTempFolder, type TempFolder } from "../support/temp-folder";
import { createBuildah } from "./support/buildah";
import { type Image, readImage } from "./support/oci-layout";
import { buildRegistrar } from "./support/stand-in-bases";

const BUILDING_MS = 600_000;
const IMAGE = "localhost/registrar";
/** Which Node the image gets: `IMAGE_NODE=/path/to/node npm run test:image`, or the one that runs this. */
const node = process.env.IMAGE_NODE ?? process.execPath;

let folder: TempFolder;
let image: Image;
/** The image's files, as a container has them. */
let root: string;
/** The image that docs/charts.md makes of it, for charts without a value for arguments. */
let derived: Image;

beforeAll(async () => {
  folder = await createTempFolder();
  root = folder.at("root");
  const buildah = createBuildah(folder.path);
  buildRegistrar(buildah, IMAGE, node, folder.path);
  buildah.write(IMAGE, folder.at("layout"));
  image = readImage(folder.at("layout"));
  image.unpack(root);
  makeMountPoints(root);
  mkdirSync(folder.at("derived"));
  const [, recipe = ""] = /```dockerfile\n(.*?)```/s.exec(readText("docs/charts.md")) ?? [];
  writeFileSync(folder.at("derived", "Dockerfile"), recipe.replace(/^FROM .*/m, `FROM ${IMAGE}`));
  buildah.build(`${IMAGE}:derived`, {}, folder.at("derived"));
  buildah.write(`${IMAGE}:derived`, folder.at("derived-layout"));
  derived = readImage(folder.at("derived-layout"));
}, BUILDING_MS);
afterAll(() => folder[Symbol.asyncDispose](), BUILDING_MS);

/** What the Dockerfile puts over its runtime image. */
const ours = () => image.layers.slice(1).flatMap(({ files }) => files);

test("starts the program that charts name, as root, with nothing else said", () => {
  const { Entrypoint, Cmd, User, Env } = image.config;
  expect({ Entrypoint, Cmd, User, Env }).toEqual({
    Entrypoint: [ENTRY],
    Cmd: undefined,
    User: "0:0",
    Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
  });
});

test("says what it is, in the OCI's labels and the official image's", () => {
  expect(image.config.Labels).toMatchObject({
    maintainers: "The registrar authors",
    description: "CSI Node driver registrar",
    "org.opencontainers.image.title": "registrar",
    "org.opencontainers.image.licenses": JSON.parse(readText("package.json")).license,
    "org.opencontainers.image.version": "v1.2.3",
    "org.opencontainers.image.revision": "abc",
    "org.opencontainers.image.source": "https://example.com/registrar",
  });
});

test("adds to its base Node with its libraries, the CLI, its code cache, the doctor's codes and the licences: no shell, no npm", () => {
  expect(
    ours()
      .filter(({ mode }) => !mode.startsWith("d"))
      .map(({ path, mode, owner }) => `${mode} ${owner} ${path.replace(/[^/]+-linux-gnu/, "LIBRARIES")}`)
      .sort(),
  ).toEqual([
    "-rw-r--r-- 0/0 /LICENSE",
    "-rw-r--r-- 0/0 /THIRD-PARTY-LICENSES.txt",
    "-rw-r--r-- 0/0 /nodejs/LICENSE",
    "-rw-r--r-- 0/0 /registrar/cli/cli-logger.js",
    "-rw-r--r-- 0/0 /registrar/cli/commands.js",
    "-rw-r--r-- 0/0 /registrar/cli/doctor-codes.md",
    "-rw-r--r-- 0/0 /registrar/cli/json-line.js",
    "-rw-r--r-- 0/0 /registrar/cli/kubeconfig.js",
    "-rw-r--r-- 0/0 /registrar/cli/main.cache",
    "-rw-r--r-- 0/0 /registrar/cli/main.js",
    "-rw-r--r-- 0/0 /registrar/cli/metrics.js",
    "-rw-r--r-- 0/0 /registrar/cli/node-readiness.js",
    "-rw-r--r-- 0/0 /registrar/cli/register.cache",
    "-rw-r--r-- 0/0 /registrar/cli/register.js",
    "-rw-r--r-- 0/0 /usr/lib/LIBRARIES/libatomic.so.1",
    "-rw-r--r-- 0/0 /usr/lib/LIBRARIES/libgcc_s.so.1",
    "-rw-r--r-- 0/0 /usr/lib/LIBRARIES/libstdc++.so.6",
    "-rw-r--r-- 0/0 /usr/share/doc/libatomic1/copyright",
    "-rw-r--r-- 0/0 /usr/share/doc/libgcc-s1/copyright",
    "-rw-r--r-- 0/0 /usr/share/doc/libstdc++6/copyright",
    "-rw-r--r-- 0/0 /var/lib/dpkg/status.d/libatomic1",
    "-rw-r--r-- 0/0 /var/lib/dpkg/status.d/libgcc-s1",
    "-rw-r--r-- 0/0 /var/lib/dpkg/status.d/libstdc++6",
    "-rwxr-xr-x 0/0 /nodejs/bin/node",
    "-rwxr-xr-x 0/0 /registrar/cli.js",
    `lrwxrwxrwx 0/0 ${ENTRY}`,
    "lrwxrwxrwx 0/0 /csi-sidecars",
    "lrwxrwxrwx 0/0 /usr/local/bin/csi-sidecars",
  ]);
});

test("carries our licence, and that of every package in it", () => {
  expect(readFileSync(`${root}/LICENSE`, "utf8")).toBe(readText("LICENSE"));
  expect(readFileSync(`${root}/THIRD-PARTY-LICENSES.txt`, "utf8")).toBe(
    readText("dist/THIRD-PARTY-LICENSES.txt"),
  );
});

const asRoot = process.geteuid?.() === 0 ? [] : ["--user", "--map-root-user"];

test.each(["/csi-sidecars", "/usr/local/bin/csi-sidecars"])("answers as %s of KEP-4958, too", (program) => {
  const words = ["--root", root, ...asRoot, program, "--controllers=node-driver-registrar", "--version"];
  const { stdout, status } = spawnSync("unshare", words, { encoding: "utf8", env: {} });
  expect(stdout.split(" ")[0]).toBe(program);
  expect(status).toBe(0);
});

test("explains a code of the doctor", () => {
  const words = ["--root", root, ...asRoot, ENTRY, "doctor", "--explain=CSI105"];
  const { stdout, status } = spawnSync("unshare", words, { encoding: "utf8", env: {} });
  expect(stdout).toMatch(/^CSI105 manifest-memory\n/);
  expect(status).toBe(0);
});

describe("the code cache", () => {
  const CHECK = `const { Script } = require("node:vm");
    const { readFileSync } = require("node:fs");
    for (const part of ["/registrar/cli/main", "/registrar/cli/register"]) {
      const cachedData = readFileSync(part + ".cache");
      console.log(new Script(readFileSync(part + ".js", "latin1"), { cachedData }).cachedDataRejected);
    }`;

  test.each([
    ["taken by the image's Node", [], "false\nfalse\n"],
    ["refused where V8 is another", ["--no-lazy"], "true\ntrue\n"],
  ])("is %s", (_what, flags, stdout) => {
    const words = ["--root", root, ...asRoot, NODE, ...flags, "-e", CHECK];
    expect(spawnSync("unshare", words, { encoding: "utf8", env: {} })).toMatchObject({ stdout, stderr: "" });
  });
});

test("its Node has no symbols, and keeps stack traces and the permission model", () => {
  const program = `process.on("exit", () => console.log(process.permission.has("fs.write")));
    function innermost() { throw new Error("a trace") }
    (function outer() { innermost(); })();`;
  // Node 20 has it under the former name.
  const known = process.allowedNodeEnvironmentFlags.has("--permission");
  const permission = node === process.execPath && !known ? "--experimental-permission" : "--permission";
  const { stdout, stderr } = spawnSync(
    "unshare",
    ["--root", root, ...asRoot, NODE, permission, "-e", program],
    { encoding: "utf8", env: {} },
  );
  expect(stdout).toBe("false\n");
  expect(stderr).toMatch(/Error: a trace\n\s+at innermost .*\n\s+at outer /);
  expect(execFileSync("readelf", ["--sections", `${root}${NODE}`], { encoding: "utf8" })).not.toContain(
    ".symtab",
  );
});

test("is as small as Node lets it be", () => {
  const mB = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  const compressed = image.layers.map(({ compressedBytes }) => compressedBytes);
  const unpacked = image.layers.map(({ files }) => files.reduce((sum, { bytes }) => sum + bytes, 0));
  const total = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size, 0);
  process.stdout.write(
    `the image (${image.architecture}, a stand-in base with ${node}): ${mB(total(compressed))} compressed, ` +
      `${mB(total(unpacked))} unpacked; of that ours: ${mB(compressed.at(-1) ?? 0)} compressed, ` +
      `${mB(unpacked.at(-1) ?? 0)} unpacked\n`,
  );
  expect(compressed.at(-1)).toBeLessThan(2e6);
});

describe("as examples/daemonset.yaml confines it, in the image's root", () => {
  describeSandbox(() => root);
});

describe("the derived image of docs/charts.md", () => {
  const entrypoint = () => derived.config.Entrypoint ?? [];
  const REFUSAL = { kind: "refuse", reason: "not on this node", times: 2 } as const;

  test("differs in the arguments that come first, and has nothing that a chart's args replace", () => {
    const { Cmd, ...rest } = derived.config;
    expect(rest).toEqual({ ...image.config, Entrypoint: [ENTRY, "--on-registration-failure=retry"] });
    expect(Cmd).toBeUndefined();
  });

  nodeTest(
    "adds its arguments to those of the container; an exec probe names the program itself",
    async (node) => {
      const pod = makePod(node, root, "ro", entrypoint());
      await node.driver({ csiAddress: endpointOf(node) });
      const kubelet = await node.kubelet({ faults: [REFUSAL] });
      const registrar = pod.registrar();
      expect(await registered(kubelet)).toMatchObject({ endpoint: endpointOf(node) });
      await registrar.reached("registered");
      expect(await pod.probe(registrar, "ready-probe").exit()).toEqual({ code: 0, signal: null });
    },
  );

  nodeTest("has the container's own value of a flag count, which comes last", async (node) => {
    const pod = makePod(node, root, "ro", entrypoint());
    await node.driver({ csiAddress: endpointOf(node) });
    const kubelet = await node.kubelet({ faults: [REFUSAL] });
    const registrar = pod.registrar("--on-registration-failure=exit");
    await refused(kubelet);
    expect(await registrar.exit()).toEqual({ code: 1, signal: null });
  });
});
