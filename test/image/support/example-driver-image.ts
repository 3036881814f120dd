import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../docs/markdown";
import { packPackage } from "../../package/support/packed-package";
import { fetchNode } from "../../support/nodes";
import { copyProgram, whereIs } from "../../support/sandbox/program-files";
import { BUILD_VARIABLES, type Buildah } from "./buildah";
import { makeBuildBase } from "./stand-in-bases";

export const EXAMPLE_DRIVER = join(ROOT, "examples", "driver");
const FILES = ["Dockerfile", "package.json", "csi.proto", "src"];
/** What `node:26-slim` has besides: the driver mounts, and a pod that uses its volumes looks at them. */
const PROGRAMS = ["mount", "umount", "df", "sleep"];

export const EXAMPLE_DRIVER_INPUTS: readonly string[] = [
  ...FILES.map((path) => join(EXAMPLE_DRIVER, path)),
  ...["package.json", "package-lock.json", "scripts", "src", "proto"].map((path) => join(ROOT, path)),
];

export async function buildExampleDriver(buildah: Buildah, name: string, folder: string): Promise<void> {
  const [base, context] = [join(folder, "base"), join(folder, "context")];
  for (const one of [base, context]) mkdirSync(one);
  const { path } = await fetchNode("24");
  makeBuildBase(base, path);
  for (const program of PROGRAMS) copyProgram(whereIs(program) ?? program, base, `/usr/bin/${program}`);
  for (const file of FILES) cpSync(join(EXAMPLE_DRIVER, file), join(context, file), { recursive: true });
  await using packed = await packPackage();
  cpSync(packed.tarball, join(context, "registrar-0.1.0.tgz"));
  buildah.imageOf(base, "localhost/node", { PATH: "/usr/bin", ...BUILD_VARIABLES });
  buildah.build(name, { NODE_IMAGE: "localhost/node" }, context);
}
