import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { license } from "../../package.json";
import { imageNode } from "../cluster/support/images";
import { readText } from "../docs/markdown";
import { allTests } from "../support/each-test";
import { describeSandbox } from "../support/sandbox/describe-sandbox";
import { ENTRY, NODE } from "../support/sandbox/image-root";
import { makeMountPoints } from "../support/sandbox/sandbox";
import { createTempFolder } from "../support/temp-folder";
import { createBuildah } from "./support/buildah";
import { buildRegistrar } from "./support/stand-in-bases";

const IMAGE = "localhost/registrar";
const folder = allTests(createTempFolder);
let image: Image;
let root: string;
/** The image that docs/charts.md makes of it, for charts without a value for arguments. */
let derived: Image;

beforeAll(() => {
  root = folder.at("root");
  const buildah = createBuildah(folder.path);
  buildRegistrar(buildah, IMAGE, imageNode(), folder.path);
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
});

function runInside(...program: readonly string[]) {
  const asRoot = process.geteuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  const words = ["--root", root, ...asRoot, ...program];
  return spawnSync("unshare", words, { encoding: "utf8", env: {} });
}

test("the image starts the program that charts name, as root, without arguments", () => {
  const { Entrypoint, Cmd, User, Env } = image.config;
  expect({ Entrypoint, Cmd, User, Env }).toEqual({
    Entrypoint: [ENTRY],
    Cmd: undefined,
    User: "0:0",
    Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
  });
});

test("the image has the OCI's labels and the official image's", () => {
  expect(image.config.Labels).toMatchObject({
    maintainers: "The registrar authors",
    description: "CSI Node driver registrar",
    "org.opencontainers.image.title": "registrar",
    "org.opencontainers.image.licenses": license,
    "org.opencontainers.image.version": "v1.2.3",
    "org.opencontainers.image.revision": "abc",
    "org.opencontainers.image.source": "https://example.com/registrar",
  });
});

test("the image adds Node, its libraries, the CLI, its code cache and licences, and no shell or npm", () => {
  const ours = image.layers.slice(1).flatMap(({ files }) => files);
  const files = ours.filter(({ mode }) => !mode.startsWith("d"));
  const byMode = (mode: string) =>
    files
      .filter((file) => `${file.mode} ${file.owner}` === `${mode} 0/0`)
      .map(({ path }) => path.replace(/[^/]+-linux-gnu/, "LIBRARIES"))
      .sort();
  const [programs, links] = [byMode("-rwxr-xr-x"), byMode("lrwxrwxrwx")];
  const parts = readdirSync("dist/cli").flatMap((name) =>
    name.endsWith(".js") ? basename(name, ".js") : [],
  );
  // What neither a sidecar nor a tool that the build runs loads.
  const uncached = [
    ...["cli-logger", "doctor-cluster", "json-line", "kubeconfig"],
    ...["metrics", "node-readiness", "node-wide", "simulations"],
  ];
  const cached = parts.filter((part) => !uncached.includes(part));
  const isHelp = (path: string) => path.startsWith("/registrar/cli/help/");
  const packages = ["libatomic1", "libgcc-s1", "libstdc++6"];
  expect(programs).toEqual(["/nodejs/bin/node", "/registrar/cli.js"]);
  expect(links).toEqual([ENTRY, "/csi-sidecars", "/usr/local/bin/csi-sidecars"].sort());
  const others = [
    ...["/LICENSE", "/THIRD-PARTY-LICENSES.txt", "/nodejs/LICENSE"],
    ...parts.map((part) => `/registrar/cli/${part}.js`),
    ...cached.map((part) => `/registrar/cli/${part}.cache`),
    ...["libatomic.so.1", "libgcc_s.so.1", "libstdc++.so.6"].map((name) => `/usr/lib/LIBRARIES/${name}`),
    ...packages.flatMap((name) => [`/usr/share/doc/${name}/copyright`, `/var/lib/dpkg/status.d/${name}`]),
  ];
  const texts = byMode("-rw-r--r--");
  expect(texts.filter((path) => !isHelp(path))).toEqual(others.sort());
  expect(texts).toContain("/registrar/cli/help/registrar-80.txt");
  expect(files).toHaveLength([...programs, ...links, ...texts].length);
});

test("the image has our licence and that of every package in it", () => {
  expect(readFileSync(`${root}/LICENSE`, "utf8")).toBe(readText("LICENSE"));
  const licences = readFileSync(`${root}/THIRD-PARTY-LICENSES.txt`, "utf8");
  expect(licences).toBe(readText("dist/THIRD-PARTY-LICENSES.txt"));
});

test.each(["/csi-sidecars", "/usr/local/bin/csi-sidecars"])(
  "the image also runs as %s of KEP-4958",
  (program) => {
    const { stdout, status } = runInside(program, "--controllers=node-driver-registrar", "--version");
    expect([stdout.split(" ")[0], status]).toEqual([program, 0]);
  },
);

const CHECK_CACHE = `const { Script } = require("node:vm");
  const { readFileSync } = require("node:fs");
  for (const part of ["/registrar/cli/main", "/registrar/cli/register"]) {
    const cachedData = readFileSync(part + ".cache");
    console.log(new Script(readFileSync(part + ".js", "latin1"), { cachedData }).cachedDataRejected);
  }`;
test.each([
  ["taken by the image's Node", [], "false\nfalse\n"],
  ["refused where V8 is another", ["--no-lazy"], "true\ntrue\n"],
])("the code cache is %s", (_what, flags, stdout) => {
  expect(runInside(NODE, ...flags, "-e", CHECK_CACHE)).toMatchObject({ stdout, stderr: "" });
});

test("the image's Node is stripped, and keeps stack traces and the permission model", () => {
  const program = `process.on("exit", () => console.log(process.permission.has("fs.write")));
    function innermost() { throw new Error("a trace") }
    (function outer() { innermost(); })();`;
  const { stdout, stderr } = runInside(NODE, "--permission", "-e", program);
  expect(stdout).toBe("false\n");
  expect(stderr).toMatch(/Error: a trace\n\s+at innermost .*\n\s+at outer /);
  const sections = execFileSync("readelf", ["--sections", `${root}${NODE}`], { encoding: "utf8" });
  expect(sections).not.toContain(".symtab");
});

describe("as examples/daemonset.yaml confines it, in the image's root", () => {
  describeSandbox(() => root);
});

test("in the derived image of docs/charts.md a chart's arguments follow those of the ENTRYPOINT", () => {
  const { Cmd, ...rest } = derived.config;
  expect(rest).toEqual({ ...image.config, Entrypoint: [ENTRY, "--on-registration-failure=retry"] });
  expect(Cmd).toBeUndefined();
});

interface Descriptor {
  readonly digest: string;
}

type Image = ReturnType<typeof readImage>;

function readImage(folder: string) {
  const blob = ({ digest }: Descriptor) => join(folder, "blobs", ...digest.split(":"));
  const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));
  const manifest: { readonly config: Descriptor; readonly layers: readonly Descriptor[] } = read(
    blob(read(join(folder, "index.json")).manifests[0]),
  );
  return {
    /** What it says of itself (OCI image specification, `config.md`). */
    config: read(blob(manifest.config)).config,
    /** From the lowest to the topmost. */
    layers: manifest.layers.map((layer) => ({ files: filesIn(blob(layer)) })),
    unpack: (to: string) => {
      mkdirSync(to, { recursive: true });
      for (const layer of manifest.layers) execFileSync("tar", ["-xf", blob(layer), "-C", to]);
    },
  };
}

/** Modes as `ls -l` has them, owners as user ID and group ID, `0/0`. */
function filesIn(tarball: string) {
  const options = { encoding: "utf8", maxBuffer: 2 ** 26 } as const;
  const told = execFileSync("tar", ["--numeric-owner", "-tvf", tarball], options);
  const lines = told.matchAll(/^(\S+) (\S+) +\d+ \S+ \S+ \.?\/?(.*?)(?: -> .*)?$/gm);
  return Array.from(lines, ([, mode = "", owner = "", path = ""]) => ({ path: `/${path}`, mode, owner }));
}
