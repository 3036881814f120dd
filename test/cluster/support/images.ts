import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { ROOT } from "../../docs/markdown";
import { type Buildah, createBuildah } from "../../image/support/buildah";
import { buildExampleDriver, EXAMPLE_DRIVER_INPUTS } from "../../image/support/example-driver-image";
import { buildRegistrar } from "../../image/support/stand-in-bases";
import { fetchNode } from "../../support/nodes";
import { say } from "../../support/run-main";
import { createTempFolder } from "../../support/temp-folder";
import { BIN, programPath } from "./build";

export type Images = Readonly<Record<string, string>>;

export const IMAGES = {
  ours: "localhost/registrar:test",
  /** What `program/podprogram` is in a pod: its sandbox, a driver, a user of a volume. */
  pause: "localhost/pause:test",
  driver: "localhost/driver:test",
  workload: "localhost/workload:test",
  exampleDriver: "localhost/example-driver:test",
  /** The official registrar, where `OFFICIAL_REGISTRAR` names its binary. */
  official: "localhost/official:test",
} as const;

export const officialProgram = process.env.OFFICIAL_REGISTRAR;
/** Set by {@link chooseImageNode}. */
export const imageNode = (): string => process.env.IMAGE_NODE ?? "";

/** Takes the newest release of the Node line that the Dockerfile has, which knows its options, unless `IMAGE_NODE` names another. */
export async function chooseImageNode(): Promise<void> {
  const [, line = ""] =
    /^ARG BUILD_IMAGE=node:(\d+)/m.exec(readFileSync(join(ROOT, "Dockerfile"), "utf8")) ?? [];
  process.env.IMAGE_NODE ??= (await fetchNode(line)).path;
}

const REGISTRAR_INPUTS = ["Dockerfile", "package-lock.json", "scripts", "src", "proto"];

/** Makes images as tarballs, unless the very same were made before; `made` has the tarball of each name. */
export function createImageMaker(folder: string) {
  const made: Record<string, string> = {};
  const make = async (
    name: string,
    inputs: readonly string[],
    build: (buildah: Buildah, root: string) => void | Promise<void>,
    file = basename(name).replace(":", "-"),
  ) => {
    const tarball = join(BIN, "images", `${file}.tar`);
    made[name] = tarball;
    const hash = hashOf(inputs);
    const stamp = `${tarball}.sha256`;
    if (existsSync(tarball) && existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
    say(`making the image ${name}`);
    mkdirSync(join(BIN, "images"), { recursive: true });
    rmSync(tarball, { force: true });
    const root = join(folder, "root", basename(tarball));
    mkdirSync(root, { recursive: true });
    const buildah = createBuildah(folder);
    await build(buildah, root);
    buildah.archive(name, tarball);
    writeFileSync(stamp, hash);
  };
  return {
    ...{ made, make },
    registrar: (name: string = IMAGES.ours, file?: string) =>
      make(
        name,
        [...REGISTRAR_INPUTS, imageNode()],
        (buildah, root) => buildRegistrar(buildah, name, imageNode(), root),
        file,
      ),
    exampleDriver: () =>
      make(IMAGES.exampleDriver, EXAMPLE_DRIVER_INPUTS, (buildah, root) =>
        buildExampleDriver(buildah, IMAGES.exampleDriver, root),
      ),
    /** An image of a program that is linked statically. */
    single: (name: string, program: string, entrypoint: readonly string[]) =>
      make(name, [program], (buildah, root) => {
        if (name === IMAGES.workload) cpSync(program, join(root, "usr", "bin", "sleep"));
        cpSync(program, join(root, entrypoint[0] ?? ""));
        buildah.imageOf(root, name, { PATH: "/usr/bin" }, entrypoint);
      }),
  };
}

export async function makeImages(): Promise<Images> {
  await using folder = await createTempFolder();
  const { made, registrar, exampleDriver, single } = createImageMaker(folder.path);
  await registrar();
  for (const part of ["pause", "driver", "workload"] as const)
    await single(IMAGES[part], programPath("podprogram"), ["/podprogram", part]);
  await exampleDriver();
  if (officialProgram) await single(IMAGES.official, officialProgram, ["/csi-node-driver-registrar"]);
  return made;
}

function hashOf(paths: readonly string[]): string {
  const hash = createHash("sha256").update("docker-archive");
  for (const path of paths.map((one) => resolve(ROOT, one))) {
    const isFolder = statSync(path).isDirectory();
    const names = isFolder ? readdirSync(path, { recursive: true, encoding: "utf8" }).sort() : [""];
    for (const file of names.map((name) => join(path, name)).filter((file) => statSync(file).isFile()))
      hash.update(`\0${file.replace(ROOT, "")}\0`).update(readFileSync(file));
  }
  return hash.digest("hex");
}
