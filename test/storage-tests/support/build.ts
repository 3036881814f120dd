import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildPrograms, e2eFolder, isModuleFile, kubernetesModules } from "../../cluster/support/build";
import { officialProgram } from "../../cluster/support/images";
import { objectsIn } from "../../cluster/support/objects";
import { createGoBuilder } from "../../support/go-build";
import { say } from "../../support/run-main";

/** Everything that the tests need besides the cluster: programs of Kubernetes' module, and one for each image that pods name. */
export type Programs = Awaited<ReturnType<typeof buildE2e>>;

/** Modules by the name of their image. Go does not know the releases of some: their branch stands in for them. */
const MODULES: Readonly<Record<string, string>> = {
  "csi-provisioner": "github.com/kubernetes-csi/external-provisioner/v6",
  "csi-attacher": "github.com/kubernetes-csi/external-attacher/v4",
  "csi-resizer": "github.com/kubernetes-csi/external-resizer/v2",
  "csi-snapshotter": "github.com/kubernetes-csi/external-snapshotter/v8",
  "snapshot-controller": "github.com/kubernetes-csi/external-snapshotter/v8",
  "csi-external-health-monitor-controller": "github.com/kubernetes-csi/external-health-monitor",
  hostpathplugin: "github.com/kubernetes-csi/csi-driver-host-path",
  livenessprobe: "github.com/kubernetes-csi/livenessprobe@master",
  "csi-node-driver-registrar": "github.com/kubernetes-csi/node-driver-registrar@master",
};
/** Never used by a test that runs here: the tests of snapshot metadata need its certificates. */
const UNUSED = ["csi-snapshot-metadata"];
const REGISTRAR = "csi-node-driver-registrar";
const go = createGoBuilder(__dirname);
const MANIFESTS = ["hostpath", "mock", "external-snapshotter"].map((name) =>
  join("test", "e2e", "testing-manifests", "storage-csi", name),
);

export const programOf = (image: string): string => image.replace(/^.*\//, "").replace(/:.*$/, "");
const versionOf = (image: string): string => image.slice(image.lastIndexOf(":") + 1);

/** A program in place of the one that its module would be built to: the module proxy may refuse a module. */
function givenProgram(name: string): string | undefined {
  const { E2E_PROGRAMS = "/none" } = process.env;
  const official = name === REGISTRAR ? officialProgram : undefined;
  return [official ?? join(E2E_PROGRAMS, name)].find((program) => existsSync(program));
}

export async function buildE2e(version: string, hasOfficial: boolean) {
  const kubernetes = await go.download(`k8s.io/kubernetes@v${version}`);
  // What a distribution brings, and the tests expect: snapshots' resources and their controller.
  const snapshotter = await go.download(SNAPSHOTTER);
  const definitions = await go.download(SNAPSHOT_DEFINITIONS);
  const snapshots = [
    ...yamlIn(join(definitions, "config", "crd")),
    ...yamlIn(join(snapshotter, "deploy", "kubernetes", "snapshot-controller")),
  ];
  const manifests = MANIFESTS.flatMap((path) => yamlIn(join(kubernetes, path)));
  const named = imagesOf([...manifests, ...snapshots]);
  const registrarImages = hasOfficial ? [] : named.filter((image) => programOf(image) === REGISTRAR);

  await buildPrograms(version);
  const folder = e2eFolder(version);
  const built = async (module: string, name: string, packages: string, ...flags: readonly string[]) => {
    const file = join(folder, name);
    const command = name === "e2e.test" ? ["test", "-c", "-vet=off"] : ["build"];
    const build = { what: name, file, command, flags, packages, isSource: isModuleFile };
    await createGoBuilder(module).build(build);
    return file;
  };
  const flags = [`-modfile=${await kubernetesModules(version)}`, "-mod=mod", "-ldflags=-s -w"];
  const tests = await built(kubernetes, "e2e.test", "./test/e2e", ...flags);
  const ginkgo = await built(kubernetes, "ginkgo", "github.com/onsi/ginkgo/v2/ginkgo", ...flags);
  const agnhost = await built(kubernetes, "agnhost", "./test/images/agnhost", ...flags);
  const ofImages = new Map<string, string>();
  for (const image of named.filter((one) => !registrarImages.includes(one))) {
    const name = programOf(image);
    const linker = `-ldflags=-s -w -X main.version=${versionOf(image)}`;
    const build = async () =>
      built(
        await downloadOr(MODULES[name] ?? name, versionOf(image)),
        name,
        `./cmd/${name}`,
        "-mod=readonly",
        linker,
      );
    ofImages.set(image, givenProgram(name) ?? (await build()));
  }
  const snapshotObjects = snapshots.flatMap((text) => objectsIn(text));
  return { tests, ginkgo, agnhost, registrarImages, ofImages, snapshotObjects };
}

const SNAPSHOTTER = "github.com/kubernetes-csi/external-snapshotter/v8@v8.5.0";
const SNAPSHOT_DEFINITIONS = "github.com/kubernetes-csi/external-snapshotter/client/v8@v8.4.0";

const yamlIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".yaml") && !file.endsWith("kustomization.yaml"))
    .map((file) => readFileSync(join(folder, file), "utf8"));

function imagesOf(texts: readonly string[]): readonly string[] {
  const named = texts.flatMap((text) =>
    Array.from(text.matchAll(/image: (\S*sig-storage\S*)/g), ([, image = ""]) => image),
  );
  return [...new Set(named)].filter((image) => !UNUSED.includes(programOf(image))).sort();
}

async function downloadOr(module: string, version: string): Promise<string> {
  if (module.includes("@")) return go.download(module); // A branch.
  return go.download(`${module}@${version}`).catch(() => {
    say(`${module} ${version} cannot be downloaded: the newest release stands in for it`);
    return go.download(`${module}@latest`);
  });
}
