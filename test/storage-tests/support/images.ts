import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { programPath } from "../../cluster/support/build";
import { createImageMaker, IMAGES, type Images } from "../../cluster/support/images";
import { makeAccounts } from "../../image/support/stand-in-bases";
import { copyProgram, whereIs } from "../../support/sandbox/program-files";
import { createTempFolder } from "../../support/temp-folder";
import { type Programs, programOf } from "./build";

/** What the hostpath driver runs: its own image is Alpine with util-linux, coreutils and tar. */
const DRIVER_TOOLS = [
  ...["mount", "umount", "losetup", "findmnt", "blkid", "blockdev", "fsck", "fsck.ext4", "mkfs.ext4"],
  ...["mkfs.ext3", "resize2fs", "fallocate", "dd", "cp", "tar", "gzip", "sh", "ls", "mkdir", "rm"],
  ...["cat", "stat"],
];
/** Images that the tests' own pods use, in the list of `e2e.test -list-images`. */
const OF_TESTS = /^registry\.k8s\.io\/(e2e-test-images\/(agnhost|busybox)|pause):/;

export async function makeE2eImages(programs: Programs, hasExampleDriver: boolean): Promise<Images> {
  await using folder = await createTempFolder();
  const { make, made, registrar, exampleDriver, single } = createImageMaker(folder.path);
  const listed = execFileSync(programs.tests, ["-list-images"], { encoding: "utf8" }).split("\n");
  const busybox = whereIs("busybox") ?? "";
  const shell = (root: string) => {
    makeAccounts(root, "/bin/sh"); // Some tests read a group by its name.
    cpSync(busybox, join(root, "bin", "busybox"));
    for (const applet of execFileSync(busybox, ["--list"], { encoding: "utf8" }).trim().split("\n"))
      if (applet !== "busybox") symlinkSync("busybox", join(root, "bin", applet));
  };
  const PATH = "/usr/bin:/usr/sbin:/bin:/sbin";

  await single(IMAGES.pause, programPath("podprogram"), ["/podprogram", "pause"]);
  for (const image of listed.filter((one) => OF_TESTS.test(one))) {
    const [program, entrypoint] = {
      agnhost: [programs.agnhost, ["/agnhost"]] as const,
      pause: [programPath("podprogram"), ["/podprogram", "pause"]] as const,
    }[programOf(image)] ?? [busybox, undefined];
    await make(image, [program, busybox, __filename], (buildah, root) => {
      shell(root);
      if (entrypoint) cpSync(program, join(root, entrypoint[0] ?? ""));
      buildah.imageOf(root, image, { PATH }, entrypoint);
    });
  }
  for (const [image, program] of programs.ofImages)
    await make(image, [program, __filename], (buildah, root) => {
      const name = programOf(image);
      if (name === "hostpathplugin") {
        for (const tool of DRIVER_TOOLS)
          if (whereIs(tool)) copyProgram(whereIs(tool) ?? tool, root, `/usr/bin/${tool}`);
        symlinkSync("usr/bin", join(root, "bin")); // tar calls gzip by /bin/sh
      }
      mkdirSync(join(root, "tmp"), { recursive: true });
      cpSync(program, join(root, name), { dereference: true });
      buildah.imageOf(root, image, { PATH }, [`/${name}`]);
    });
  for (const image of programs.registrarImages)
    await registrar(image, `${basename(image).replace(":", "-")}-ours`);
  if (hasExampleDriver) await exampleDriver();
  return made;
}
